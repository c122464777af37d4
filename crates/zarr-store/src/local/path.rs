//! Converts keys to paths that stay below the root.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{LocalStore, names};
use crate::location::FILES;
use crate::{Key, Location, Operation, Prefix, StoreError};

impl LocalStore {
    /// The path of an object's file; all its folders lie below the root. For operations that do not
    /// follow a link at the end of a path, such as renaming and removing.
    pub(super) fn path_of(&self, operation: Operation, key: &Key) -> Result<PathBuf, StoreError> {
        let path = self.unchecked_path(key.as_str())?;
        self.check_links(operation, key.as_str(), path.parent().unwrap_or(&self.root))?;
        Ok(path)
    }

    /// The path of a folder below the root.
    pub(super) fn folder_of(
        &self,
        operation: Operation,
        prefix: &Prefix,
    ) -> Result<PathBuf, StoreError> {
        if prefix.is_root() {
            return Ok(self.root.clone());
        }
        let path = self.unchecked_path(prefix.as_str())?;
        self.check_links(operation, prefix.as_str(), &path)?;
        Ok(path)
    }

    /// The path of a folder below the root if it is a link, else `None`.
    pub(super) fn linked_folder(
        &self,
        operation: Operation,
        prefix: &Prefix,
    ) -> Result<Option<PathBuf>, StoreError> {
        if prefix.is_root() {
            return Ok(None);
        }
        let path = self.unchecked_path(prefix.as_str())?;
        self.check_links(operation, prefix.as_str(), path.parent().unwrap_or(&self.root))?;
        match fs::symlink_metadata(&path) {
            Ok(meta) => Ok(meta.is_symlink().then_some(path)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(StoreError::io(operation, prefix, error)),
        }
    }

    /// The path of a key, with unchecked links.
    pub(super) fn unchecked_path(&self, text: &str) -> Result<PathBuf, StoreError> {
        let mut path = PathBuf::with_capacity(self.root.as_os_str().len() + 1 + text.len());
        path.push(&self.root);
        for segment in text.split('/') {
            if segment.starts_with(names::RESERVED) || !names::is_file_name(segment) {
                return Err(StoreError::Reserved {
                    key: text.to_owned(),
                    segment: segment.to_owned(),
                });
            }
            path.push(segment);
        }
        Ok(path)
    }

    /// Refuses `path` if a link between the root and it leads outside.
    pub(super) fn check_links(
        &self,
        operation: Operation,
        key: &str,
        path: &Path,
    ) -> Result<(), StoreError> {
        if self.outside_links {
            return Ok(());
        }
        let Ok(below) = path.strip_prefix(&self.root) else { return Ok(()) };
        let mut here = self.root.clone();
        for segment in below {
            here.push(segment);
            match fs::symlink_metadata(&here) {
                Ok(meta) if !meta.is_symlink() => {}
                Ok(_) => match self.leads_outside(&here) {
                    Ok(false) => {}
                    Ok(true) => {
                        return Err(StoreError::OutsideRoot { key: key.to_owned(), link: here });
                    }
                    Err(error) if is_absent(&error) => return self.check_dangling(key, path),
                    Err(error) => return Err(StoreError::io(operation, key, error)),
                },
                // A missing path, or one below a file, cannot be a link; the operation itself
                // reports it.
                Err(error) if is_absent(&error) => return Ok(()),
                Err(error) => return Err(StoreError::io(operation, key, error)),
            }
        }
        Ok(())
    }

    /// Refuses `path`, at which nothing is found, if that is because a link on the way leads nowhere.
    pub(super) fn check_dangling(&self, key: &str, path: &Path) -> Result<(), StoreError> {
        let Ok(below) = path.strip_prefix(&self.root) else { return Ok(()) };
        let mut here = self.root.clone();
        for segment in below {
            here.push(segment);
            if fs::metadata(&here).is_err_and(|error| is_absent(&error)) {
                return match here.is_symlink() {
                    true => Err(StoreError::DanglingLink { key: key.to_owned(), link: here }),
                    false => Ok(()),
                };
            }
        }
        Ok(())
    }

    /// As [`check_dangling`](Self::check_dangling), where [`check_links`](Self::check_links) has not
    /// looked for links.
    pub(super) fn check_unlooked(&self, key: &str, path: &Path) -> Result<(), StoreError> {
        if self.outside_links { self.check_dangling(key, path) } else { Ok(()) }
    }

    /// Whether a folder of a prefix is a link.
    pub(super) fn passes_link(&self, prefix: &Prefix) -> bool {
        let mut path = self.root.clone();
        prefix.segments().any(|segment| {
            path.push(segment);
            path.is_symlink()
        })
    }

    /// Whether the target of `link`, all links followed, lies outside the root.
    pub(super) fn leads_outside(&self, link: &Path) -> io::Result<bool> {
        Ok(!dunce::canonicalize(link)?.starts_with(&self.root))
    }
}

/// Where a folder is, with all links followed. A missing folder is located by its parents.
pub(super) fn location(root: &Path, prefix: &Prefix) -> Option<Location> {
    let mut path = root.to_owned();
    path.extend(prefix.segments());
    let real = real_path(&path)?;
    let segments = real.components().map(|part| part.as_os_str().as_encoded_bytes());
    Some(Location::new(FILES, segments))
}

/// The path of a file or folder with all links followed, without `.` and `..`. The file and the last
/// folders need not exist: after the last folder that does, `..` takes the name before it away.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use zarr_store::real_path;
///
/// let here = real_path(Path::new(".")).expect("a path");
/// assert_eq!(real_path(Path::new("./missing/../new.zarr")), Some(here.join("new.zarr")));
/// ```
#[must_use]
pub fn real_path(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|known| {
        let mut found = dunce::canonicalize(known).ok()?;
        for part in path.strip_prefix(known).ok()?.components() {
            match part {
                Component::ParentDir => drop(found.pop()),
                part => found.push(part),
            }
        }
        Some(found)
    })
}

/// Whether the error says that there is no such file. Windows may say of a path below a file that its
/// name is invalid; names that are invalid by themselves are refused before.
pub(super) fn is_absent(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => true,
        io::ErrorKind::InvalidFilename => cfg!(windows),
        _ => false,
    }
}
