//! Writing by temporary file and rename.

use std::fs::{self, File};
use std::io::{self, BufWriter, IoSlice, Write};
use std::path::{Path, PathBuf};

use super::list::{Step, Walk};
use super::path::is_absent;
use super::{Durability, LocalStore, TemporaryFile, leftovers};
use crate::{Key, KeyFilter, Links, Operation, PieceWriter, Prefix, StoreError};

/// How often a write or a lock starts again because its folder or its file has vanished. Other
/// processes may remove them between any two steps of a thread that waits for a core.
pub(super) const ATTEMPTS: u32 = 10_000;

/// Small pieces of an object are written together, up to so many bytes.
const BUFFER: usize = 1 << 16;

/// 1. Write the bytes to a new temporary file in the object's folder, which is created if missing.
/// 2. With [`Durability::PowerFailure`], flush the file to the device.
/// 3. Rename it to the object's name: from now on readers see the new bytes.
/// 4. With [`Durability::PowerFailure`], flush the folder, and those above it that are not known to be
///    flushed.
///
/// If the process ends before step 3, the object is unchanged and a temporary file may remain.
pub(super) fn put(store: &LocalStore, key: &Key, pieces: &[IoSlice<'_>]) -> Result<(), StoreError> {
    in_folder(store, key, |folder, path| {
        let mut temporary = TemporaryFile::beside(path)?;
        write_all(&mut temporary.file, pieces)?;
        finish(store, temporary, folder)
    })
}

/// As [`put`], of bytes that come one after another. Only the beginning starts again if the folder
/// vanishes: the caller may not have the bytes twice.
pub(super) fn put_in_pieces<'s>(
    store: &'s LocalStore,
    key: &Key,
) -> Result<Box<dyn PieceWriter + 's>, StoreError> {
    in_folder(store, key, |folder, path| {
        let temporary = TemporaryFile::beside(path)?;
        let buffered = BufWriter::with_capacity(BUFFER, temporary.file.try_clone()?);
        let (key, folder) = (key.clone(), folder.to_owned());
        Ok(Box::new(FileInPieces { buffered, temporary, store, key, folder }) as _)
    })
}

/// A temporary file that becomes an object.
struct FileInPieces<'s> {
    buffered: BufWriter<File>,
    temporary: TemporaryFile,
    store: &'s LocalStore,
    key: Key,
    folder: PathBuf,
}

impl Write for FileInPieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffered.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.buffered.flush()
    }
}

impl PieceWriter for FileInPieces<'_> {
    fn put(self: Box<Self>) -> Result<(), StoreError> {
        let Self { mut buffered, temporary, store, key, folder } = *self;
        let put = buffered.flush().and_then(|()| {
            drop(buffered);
            finish(store, temporary, &folder)
        });
        put.map_err(|error| StoreError::io(Operation::Put, &key, error))
    }
}

/// Runs an operation with the folder of an object and the path of its file; runs it again if the
/// folder was missing and had to be created.
pub(super) fn in_folder<T>(
    store: &LocalStore,
    key: &Key,
    mut work: impl FnMut(&Path, &Path) -> io::Result<T>,
) -> Result<T, StoreError> {
    let path = store.path_of(Operation::Put, key)?;
    let folder = path.parent().unwrap_or(&store.root);
    let fail = |error| StoreError::io(Operation::Put, key, error);
    let mut attempt = 1;
    loop {
        match work(folder, &path) {
            // Another process may have removed an empty folder, or a temporary file that it took
            // for a leftover.
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {
                attempt += 1;
                store.check_unlooked(key.as_str(), folder)?;
                make_folder(folder).map_err(fail)?;
            }
            result => return result.map_err(fail),
        }
    }
}

/// Makes a folder, unless others remove it or one above it meanwhile: then the caller's next attempt
/// finds it missing again. A file in its place is an error of that attempt.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir_all(folder) {
        // Where a folder was made by another and then removed, the library says that it exists.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) =>
        {
            Ok(())
        }
        made => made,
    }
}

/// The steps after the bytes are in the temporary file.
pub(super) fn finish(
    store: &LocalStore,
    temporary: TemporaryFile,
    folder: &Path,
) -> io::Result<()> {
    temporary.rename(store.durability)?;
    match crate::step!("local put: flush of the folder") {
        true => store.flush_folder(folder),
        false => Ok(()),
    }
}

impl LocalStore {
    /// Flushes the names in a folder if writes are to survive a power failure.
    pub(super) fn flush_folder(&self, folder: &Path) -> io::Result<()> {
        match self.durability {
            Durability::PowerFailure => self.folders.flush(folder, &self.root),
            Durability::ProcessEnd => Ok(()),
        }
    }

    /// Flushes the names in a folder that a caller sees, in case their writers ended before the
    /// flush: a resumed copy relies on the objects that it finds.
    pub(super) fn flush_seen(&self, folder: &Path) -> io::Result<()> {
        if !crate::step!("local look: flush of the folder") {
            return Ok(());
        }
        match self.flush_folder(folder) {
            // Who may not read a folder cannot write to it with this durability either.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                ) =>
            {
                Ok(())
            }
            flushed => flushed,
        }
    }
}

/// Writes all pieces, as many per call as the system accepts.
pub(super) fn write_all(file: &mut File, pieces: &[IoSlice<'_>]) -> io::Result<()> {
    if let [bytes] = pieces {
        return file.write_all(bytes);
    }
    let mut pieces = pieces.to_vec();
    let mut left = pieces.as_mut_slice();
    // Past empty pieces, which would count as nothing written.
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut left, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

pub(super) fn delete(store: &LocalStore, key: &Key) -> Result<(), StoreError> {
    let path = store.path_of(Operation::Delete, key)?;
    let removed = fs::remove_file(&path);
    if removed.as_ref().is_err_and(is_absent) {
        store.check_unlooked(key.as_str(), path.parent().unwrap_or(&store.root))?;
    }
    let removed = match removed {
        Ok(()) => Ok(()),
        // Another process may have removed it without flushing that yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if is_absent(&error) => return Ok(()),
        Err(error) => {
            // A folder is not an object: there is none.
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => return Ok(()),
                _ => Err(error),
            }
        }
    };
    removed
        .and_then(|()| match (store.durability, path.parent()) {
            (Durability::PowerFailure, Some(folder))
                if crate::step!("local removal: flush of the folder") =>
            {
                store.folders.flush_removal(folder, &store.root)
            }
            _ => Ok(()),
        })
        .map_err(|error| StoreError::io(Operation::Delete, key, error))
}

/// Removes the objects that are meant, and each folder once it is empty.
///
/// Links are removed and not followed, also if the prefix itself is one. Leftover files of killed
/// writers are removed as well. Other files that are not objects stay, and so do their folders.
pub(super) fn delete_where(
    store: &LocalStore,
    prefix: &Prefix,
    which: &KeyFilter,
) -> Result<(), StoreError> {
    if let Some(link) = store.linked_folder(Operation::Delete, prefix)? {
        if !which(&Key::new(prefix.as_str())?) {
            return Ok(());
        }
        return remove_link(&link)
            .map_err(|error| StoreError::io(Operation::Delete, prefix, error));
    }
    loop {
        // Some file systems skip entries of a folder that shrinks while it is read.
        let mut removed = false;
        for step in Walk::new(store, prefix, Links::AsObjects) {
            match step? {
                Step::Object(key) | Step::Dangling(key, _) | Step::LinkToOther(key, _) => {
                    if which(&key) {
                        delete(store, &key)?;
                        removed = true;
                    }
                }
                // A folder that is not empty stays: it holds something that is not an object.
                Step::FolderEnd(path) => drop(fs::remove_dir(path)),
                // A file that cannot be removed stays, with its folder; `leftovers` lists it.
                Step::Other(path) => drop(leftovers::remove_unless_held(&path)),
            }
        }
        if !removed {
            break;
        }
    }
    if !prefix.is_root() {
        let _ = fs::remove_dir(store.folder_of(Operation::Delete, prefix)?);
    }
    Ok(())
}

fn remove_link(path: &Path) -> io::Result<()> {
    // Windows distinguishes links to folders from links to files.
    let removed = match fs::remove_file(path) {
        Err(error) if cfg!(windows) => fs::remove_dir(path).map_err(|_| error),
        removed => removed,
    };
    match removed {
        Err(error) if is_absent(&error) => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store as _, StoreExt as _};

    #[test]
    fn pieces_make_an_object_once_they_are_put() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::open(folder.path()).unwrap();
        let key = Key::new("a/c/0").unwrap();
        let mut writer = store.put_in_pieces(&key).unwrap().unwrap();
        (0..100_000_u32).for_each(|number| writer.write_all(&number.to_le_bytes()).unwrap());
        assert_eq!(store.read(&key).unwrap(), None);
        writer.put().unwrap();
        let whole = store.read(&key).unwrap().unwrap();
        assert!(whole.as_chunks().0.iter().map(|four| u32::from_le_bytes(*four)).eq(0..100_000));
        let mut writer = store.put_in_pieces(&key).unwrap().unwrap();
        writer.write_all(b"other").unwrap();
        drop(writer);
        assert_eq!(store.read(&key).unwrap().unwrap(), whole);
        assert_eq!(fs::read_dir(folder.path().join("a/c")).unwrap().count(), 1);
    }

    #[test]
    fn pieces_whose_file_was_removed_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::open(folder.path()).unwrap();
        let key = Key::new("c/0").unwrap();
        let mut writer = store.put_in_pieces(&key).unwrap().unwrap();
        writer.write_all(b"bytes").unwrap();
        fs::remove_dir_all(folder.path().join("c")).unwrap();
        assert!(writer.put().is_err());
        assert_eq!(store.read(&key).unwrap(), None);
    }
}
