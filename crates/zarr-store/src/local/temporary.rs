//! Temporary files, which take the place of others at once.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::durable::flush_entries;
use super::lock_file::again_if_refused;
use super::{Durability, leftovers, lock_file, names};
use crate::StoreError;

/// A new file beside a local file; it replaces the local file atomically. It removes itself unless
/// it is installed: for stores that write to the local file system.
///
/// It is locked until dropped. So [`clean_beside`](Self::clean_beside) and
/// [`LocalStore::leftovers`](crate::LocalStore::leftovers) can distinguish it from the file of a
/// dead writer: the system releases the locks of a killed process. A
/// [`LocalStore`](crate::LocalStore) does not list it.
///
/// # Examples
/// ```
/// use std::io::Write;
/// use zarr_store::{Durability, TemporaryFile};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("archive");
/// let temporary = TemporaryFile::beside(&path)?;
/// temporary.file().write_all(b"all of it")?;
/// assert!(!path.exists());
/// temporary.install(Durability::PowerFailure)?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TemporaryFile {
    pub(super) file: File,
    /// `None` once it has been renamed.
    path: Option<PathBuf>,
    target: PathBuf,
}

impl TemporaryFile {
    /// A new file in the folder of `target`; `target` need not exist yet. If it does, the new file has
    /// its permissions.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn beside(target: &Path) -> io::Result<Self> {
        let folder = target.parent().unwrap_or(target);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let permissions = Permissions::of(target);
        loop {
            let path = folder.join(names::temporary(&name));
            match permissions.create(&path) {
                Ok(file) => {
                    // Without locks on this file system it looks like a leftover, but then it is
                    // removed only on request.
                    let _ = lock_file::locked(|| Ok(file.try_lock()?));
                    return Ok(Self { file, path: Some(path), target: target.to_owned() });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The file, open to read and to write.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Puts the file in the place of its target: readers see the old file until then, and the new one
    /// from then on. With [`Durability::PowerFailure`], both the bytes and the name are on the device
    /// afterwards.
    ///
    /// # Errors
    /// Errors of the system. The target is unchanged, unless the last step failed: the flush of the
    /// folder.
    pub fn install(self, durability: Durability) -> io::Result<()> {
        let folder = self.target.parent().map(Path::to_owned);
        self.rename(durability)?;
        match folder {
            Some(folder)
                if durability == Durability::PowerFailure
                    && crate::step!("install: flush of the folder") =>
            {
                flush_entries(&folder)
            }
            _ => Ok(()),
        }
    }

    /// As [`install`](Self::install), without the flush of the folder.
    pub(super) fn rename(mut self, durability: Durability) -> io::Result<()> {
        if durability == Durability::PowerFailure && crate::step!("local put: flush of the bytes") {
            self.file.sync_all()?;
        }
        if let Some(path) = &self.path {
            if crate::step!("local put: rename") {
                again_if_refused(|| fs::rename(path, &self.target))?;
            } else {
                fs::write(&self.target, fs::read(path)?)?;
                fs::remove_file(path)?;
            }
        }
        self.path = None;
        Ok(())
    }

    /// Removes the files that dead writers of `target` left beside it, but not `own`, and reports
    /// the name of each file.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the folder cannot be read, or a file not be removed.
    pub fn clean_beside(
        target: &Path,
        own: Option<&Self>,
        removed: &mut dyn FnMut(&str),
    ) -> Result<(), StoreError> {
        leftovers::clean_beside(target, own.and_then(|own| own.path.as_deref()), removed)
    }
}

/// Who may read and write a new file: who may read a file's old bytes may read its new ones, and
/// nobody else.
struct Permissions(#[cfg(unix)] Option<u32>);

impl Permissions {
    #[cfg(unix)]
    fn of(target: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(fs::metadata(target).ok().map(|found| found.mode() & 0o777))
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> Self {
        Self()
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        if let Self(Some(mode)) = *self {
            use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
            let file = options.mode(mode).open(path)?;
            // The process's mask takes these away from a new file.
            if mode & 0o022 != 0 {
                file.set_permissions(fs::Permissions::from_mode(mode))?;
            }
            return Ok(file);
        }
        options.open(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nothing can be done about a file that cannot be removed; `leftovers` lists it.
            let _ = fs::remove_file(path);
        }
    }
}
