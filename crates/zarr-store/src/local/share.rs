//! Objects from files of other stores: hard links, reflinks and copies by the system.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use super::TemporaryFile;
use super::write::{finish, in_folder};
use super::{LocalStore, names, read};
use crate::{Key, ObjectFile, ObjectMeta, PutFrom, Sharing, Store, StoreError};

/// See [`Store::put_from`](crate::Store::put_from). Bytes go to a temporary file that is renamed, as in a
/// [put](super::write::put).
pub(super) fn put_from(
    store: &LocalStore,
    key: &Key,
    from: &dyn Store,
    from_key: &Key,
    expected: &ObjectMeta,
    sharing: Sharing,
) -> Result<PutFrom, StoreError> {
    if sharing == Sharing::HardLink
        && expected.version.is_some()
        && let Some(source) = from.file_path(from_key)?
        && let Some(done) = link(store, key, &source, expected)?
    {
        return Ok(done);
    }
    let Some(ObjectFile { file, meta }) = from.file(from_key)? else {
        return Ok(PutFrom::Unsupported);
    };
    if meta != *expected {
        return Ok(PutFrom::Changed);
    }
    in_folder(store, key, |folder, path| {
        let mut temporary = TemporaryFile::beside(path)?;
        let done = copy(&file, &mut temporary.file, meta.size)?;
        // Nothing is kept if somebody has written into the file meanwhile.
        if done == PutFrom::Changed || read::describe(&file.metadata()?) != meta {
            return Ok(PutFrom::Changed);
        }
        finish(store, temporary, folder)?;
        Ok(done)
    })
}

/// Makes `key` a second name of the file at `source`, if that is the expected version: else the
/// name is removed again. `None` if the file systems cannot.
///
/// The expected version names the file by its inode, which was found without following links out
/// of the store. So a path that leads elsewhere since is noticed.
fn link(
    store: &LocalStore,
    key: &Key,
    source: &Path,
    expected: &ObjectMeta,
) -> Result<Option<PutFrom>, StoreError> {
    if !cfg!(unix) {
        // Only there does a version name a file.
        return Ok(None);
    }
    in_folder(store, key, |folder, path| {
        match fs::hard_link(source, path) {
            Ok(()) => {
                let found = linked(path, expected)?;
                if found != Some(PutFrom::Linked) {
                    fs::remove_file(path)?;
                }
                store.flush_folder(folder)?;
                return Ok(found);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // The folder is missing, or the source: `in_folder` finds out, and reading does.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return if source.try_exists()? { Err(error) } else { Ok(Some(PutFrom::Changed)) };
            }
            Err(_) => return Ok(None),
        }
        // Replaced in one step. Renaming one name of a file to another does nothing at all.
        let temporary = folder.join(names::temporary(key.name()));
        fs::hard_link(source, &temporary)?;
        let renamed = match linked(&temporary, expected) {
            Ok(Some(PutFrom::Linked)) => {
                fs::rename(&temporary, path).map(|()| Some(PutFrom::Linked))
            }
            other => other,
        };
        let _gone_if_renamed = fs::remove_file(&temporary);
        store.flush_folder(folder)?;
        renamed
    })
}

/// The file with a new name: the expected version, or another version. `None` if the name was given
/// to a symbolic link and not to its target.
fn linked(path: &Path, expected: &ObjectMeta) -> io::Result<Option<PutFrom>> {
    let meta = fs::symlink_metadata(path)?;
    if meta.is_symlink() {
        return Ok(None);
    }
    let same = meta.is_file() && read::describe(&meta) == *expected;
    Ok(Some(if same { PutFrom::Linked } else { PutFrom::Changed }))
}

/// Copies the bytes of a file to a new one: by reference if the file system can, else by the system.
fn copy(mut from: &File, to: &mut File, size: u64) -> io::Result<PutFrom> {
    if clone(from, to) {
        let whole = to.metadata()?.len() == size;
        return Ok(if whole { PutFrom::Reflinked } else { PutFrom::Changed });
    }
    from.rewind()?;
    let copied = io::copy(&mut from.take(size), to)?;
    Ok(if copied == size { PutFrom::Copied } else { PutFrom::Changed })
}

#[cfg(target_os = "linux")]
fn clone(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clone(_: &File, _: &File) -> bool {
    false
}
