//! A file assembled from ranges of the file that it replaces.

use std::fs::File;
use std::io::{self, IoSlice, Write as _};
use std::ops::Range;

use super::write::{finish, in_folder, write_all};
use super::{LocalStore, TemporaryFile, read};
use crate::{Key, ObjectMeta, Operation, Rewrite, RewritePiece, StoreError};

/// Bytes that are read and written at a time where the system cannot copy them.
const STEP: usize = 1 << 20;

/// See [`Store::rewrite`](crate::Store::rewrite). Bytes go to a temporary file that is renamed, as in a
/// [put](super::write::put).
pub(super) fn rewrite(
    store: &LocalStore,
    key: &Key,
    expected: &ObjectMeta,
    pieces: &[RewritePiece<'_>],
) -> Result<Rewrite, StoreError> {
    rewrite_then(store, key, expected, pieces, || ())
}

/// As [`rewrite`]; `copied` is called when all bytes are in the temporary file.
fn rewrite_then(
    store: &LocalStore,
    key: &Key,
    expected: &ObjectMeta,
    pieces: &[RewritePiece<'_>],
    copied: impl Fn(),
) -> Result<Rewrite, StoreError> {
    let mut opened = read::open(store, Operation::Put, key)?;
    in_folder(store, key, |folder, path| {
        let again = || read::open(store, Operation::Put, key).map_err(io::Error::other);
        let Some((file, meta)) = opened.take().map_or_else(again, |found| Ok(Some(found)))? else {
            return Ok(Rewrite::Changed);
        };
        if crate::step!("local rewrite: comparison with the read object") && meta != *expected {
            return Ok(Rewrite::Changed);
        }
        let mut temporary = TemporaryFile::beside(path)?;
        let mut new: Vec<IoSlice<'_>> = Vec::new();
        for piece in pieces {
            match piece {
                RewritePiece::New(bytes) => new.push(IoSlice::new(bytes)),
                RewritePiece::Old(range) => {
                    write_all(&mut temporary.file, &std::mem::take(&mut new))?;
                    copy_range(&file, range.clone(), &mut temporary.file)?;
                }
            }
        }
        write_all(&mut temporary.file, &new)?;
        copied();
        // Nothing is kept if somebody has written into the file meanwhile.
        if crate::step!("local rewrite: comparison after the copy")
            && read::describe(&file.metadata()?) != meta
        {
            return Ok(Rewrite::Changed);
        }
        // Some systems replace no file that is open.
        drop(file);
        finish(store, temporary, folder)?;
        Ok(Rewrite::Written)
    })
}

/// Appends bytes of a file to another: by the system if it can, which may share them.
fn copy_range(from: &File, mut range: Range<u64>, to: &mut File) -> io::Result<()> {
    let copied = copy_by_system(from, range.clone(), to)?;
    range.start += copied;
    let mut buffer = Vec::new();
    while !range.is_empty() {
        let len = usize::try_from(range.end - range.start).unwrap_or(STEP).min(STEP);
        buffer.resize(len, 0);
        read::read_exact_at(from, &mut buffer, range.start)?;
        to.write_all(&buffer)?;
        range.start += len as u64;
    }
    Ok(())
}

/// Copies as many bytes of the range as the system does; 0 if it cannot copy between these files.
#[cfg(target_os = "linux")]
fn copy_by_system(from: &File, range: Range<u64>, to: &File) -> io::Result<u64> {
    use rustix::io::Errno;

    let mut at = range.start;
    while at < range.end {
        let left = usize::try_from(range.end - at).unwrap_or(usize::MAX);
        match rustix::fs::copy_file_range(from, Some(&mut at), to, None, left) {
            // The file has fewer bytes: reading says so.
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(
                Errno::NOSYS
                | Errno::XDEV
                | Errno::INVAL
                | Errno::OPNOTSUPP
                | Errno::PERM
                | Errno::BADF,
            ) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(at - range.start)
}

#[cfg(not(target_os = "linux"))]
fn copy_by_system(_: &File, _: Range<u64>, _: &File) -> io::Result<u64> {
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Store as _, StoreExt as _};

    const PIECES: [RewritePiece<'static>; 5] = [
        RewritePiece::New(b"<"),
        RewritePiece::Old(4..8),
        RewritePiece::New(b"-"),
        RewritePiece::New(b"+"),
        RewritePiece::Old(0..2),
    ];

    fn stored() -> (tempfile::TempDir, LocalStore, Key, ObjectMeta) {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::open(folder.path()).unwrap();
        let key = Key::new("c/0").unwrap();
        store.put(&key, b"01234567").unwrap();
        let meta = store.head(&key).unwrap().unwrap();
        (folder, store, key, meta)
    }

    #[test]
    fn the_new_file_has_the_pieces() {
        let (folder, store, key, meta) = stored();
        assert_eq!(rewrite(&store, &key, &meta, &PIECES).unwrap(), Rewrite::Written);
        assert_eq!(store.read(&key).unwrap().unwrap(), b"<4567-+01");
        assert_eq!(fs::read_dir(folder.path().join("c")).unwrap().count(), 1);
    }

    #[test]
    fn what_is_not_the_read_object_stays() {
        let (folder, store, key, meta) = stored();
        store.put(&key, b"abcdefghi").unwrap();
        assert_eq!(rewrite(&store, &key, &meta, &PIECES).unwrap(), Rewrite::Changed);
        assert_eq!(store.read(&key).unwrap().unwrap(), b"abcdefghi");
        store.delete(&key).unwrap();
        assert_eq!(rewrite(&store, &key, &meta, &PIECES).unwrap(), Rewrite::Changed);
        assert_eq!(store.read(&key).unwrap(), None);
        assert_eq!(fs::read_dir(folder.path().join("c")).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_others_write_into_meanwhile_stays() {
        let (folder, store, key, meta) = stored();
        let path = folder.path().join("c/0");
        let write = || fs::write(&path, b"abcdefghi").unwrap();
        let done = rewrite_then(&store, &key, &meta, &PIECES, write).unwrap();
        assert_eq!(done, Rewrite::Changed);
        assert_eq!(store.read(&key).unwrap().unwrap(), b"abcdefghi");
        assert_eq!(fs::read_dir(folder.path().join("c")).unwrap().count(), 1);
    }

    /// As where the object has fewer bytes than its index says; nothing is put.
    #[test]
    fn ranges_past_the_end_are_refused() {
        let (_folder, store, key, meta) = stored();
        assert!(rewrite(&store, &key, &meta, &[RewritePiece::Old(4..9)]).is_err());
        assert_eq!(store.read(&key).unwrap().unwrap(), b"01234567");
    }
}
