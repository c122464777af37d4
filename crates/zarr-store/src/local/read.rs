//! Reading files at positions.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::path::is_absent;
use super::{LocalStore, direct};
use crate::{GetInto, Key, ObjectMeta, Operation, ReadRange, StoreError, Version, reserve};

pub(super) fn get(
    store: &LocalStore,
    key: &Key,
    range: ReadRange<'_>,
    out: &mut Vec<u8>,
) -> Result<Option<ObjectMeta>, StoreError> {
    let Some((file, meta)) = open(store, Operation::Get, key)? else {
        out.clear();
        return Ok(None);
    };
    // Not cleared first: a buffer that is already long enough is not zeroed again.
    resize(key, out, range.len_within(key, meta.size)?)?;
    let read = |part: &mut [u8], at: u64| {
        read_exact_at(&file, part, at).map_err(|error| StoreError::io(Operation::Get, key, error))
    };
    match range {
        ReadRange::All => read(out, 0)?,
        ReadRange::Suffix(len) => read(out, meta.size.saturating_sub(len))?,
        ReadRange::Ranges(ranges) => {
            let mut rest = out.as_mut_slice();
            for range in ranges {
                // The lengths sum to the buffer's, so the split always succeeds.
                let len = range.end.saturating_sub(range.start) as usize;
                let Some((part, after)) = rest.split_at_mut_checked(len) else { break };
                read(part, range.start)?;
                rest = after;
            }
        }
    }
    Ok(Some(meta))
}

pub(super) fn get_into(
    store: &LocalStore,
    key: &Key,
    out: &mut [u8],
) -> Result<GetInto, StoreError> {
    let Some((file, meta)) = open(store, Operation::Get, key)? else {
        return Ok(GetInto::Missing);
    };
    if meta.size != out.len() as u64 {
        return Ok(GetInto::Unsupported);
    }
    let read = read_exact_at(&file, out, 0);
    read.map_err(|error| StoreError::io(Operation::Get, key, error))?;
    Ok(GetInto::Read(meta))
}

pub(super) fn head(store: &LocalStore, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
    let meta = match locate(store, Operation::Head, key, direct::look) {
        Ok(Located::File(file)) => file.metadata(),
        Ok(Located::Path(_, meta)) => Ok(meta),
        Err(error) => return absent(error),
    };
    let fail = |error| StoreError::io(Operation::Head, key, error);
    match meta {
        Ok(meta) if !meta.is_file() => Ok(None),
        Ok(meta) => {
            let path = store.root.join(key.as_str());
            path.parent().map_or(Ok(()), |folder| store.flush_seen(folder)).map_err(fail)?;
            Ok(Some(describe(&meta)))
        }
        Err(error) => absent(fail(error)),
    }
}

/// The object's file, `None` if there is none; a folder is not an object.
pub(super) fn open(
    store: &LocalStore,
    operation: Operation,
    key: &Key,
) -> Result<Option<(File, ObjectMeta)>, StoreError> {
    let file = match locate(store, operation, key, direct::open) {
        Ok(Located::File(file)) => Ok(file),
        // Not opened unless it is a file: a pipe would wait for its other end.
        Ok(Located::Path(_, meta)) if !meta.is_file() => return Ok(None),
        Ok(Located::Path(path, _)) => File::open(path),
        Err(error) => return absent(error),
    };
    let result = file.and_then(|file| file.metadata().map(|meta| (file, meta)));
    match result {
        Ok((file, meta)) => Ok(meta.is_file().then(|| (file, describe(&meta)))),
        Err(error) => absent(StoreError::io(operation, key, error)),
    }
}

/// An object with a checked path.
enum Located {
    /// Opened by a path that has no links.
    File(File),
    /// At this path; its links do not lead outside.
    Path(PathBuf, Metadata),
}

/// First by one system call that refuses links; if there is a link, or no such call, folder by
/// folder.
fn locate(
    store: &LocalStore,
    operation: Operation,
    key: &Key,
    direct: fn(&Path) -> Option<io::Result<File>>,
) -> Result<Located, StoreError> {
    let path = store.unchecked_path(key.as_str())?;
    match direct(&path) {
        Some(Ok(file)) => Ok(Located::File(file)),
        Some(Err(error)) => Err(StoreError::io(operation, key, error)),
        None => {
            store.check_links(operation, key.as_str(), &path)?;
            match std::fs::metadata(&path) {
                Ok(meta) if store.outside_links => Ok(Located::Path(path, meta)),
                Ok(meta) => locate_real(store, operation, key, &path, meta, direct),
                Err(error) => {
                    if is_absent(&error) {
                        store.check_unlooked(key.as_str(), &path)?;
                    }
                    Err(StoreError::io(operation, key, error))
                }
            }
        }
    }
}

/// Opens what a path with links leads to, by the path that has none: a link that another process has
/// exchanged since the check leads nowhere.
fn locate_real(
    store: &LocalStore,
    operation: Operation,
    key: &Key,
    path: &Path,
    meta: Metadata,
    direct: fn(&Path) -> Option<io::Result<File>>,
) -> Result<Located, StoreError> {
    let fail = |error| StoreError::io(operation, key, error);
    let outside = || StoreError::OutsideRoot { key: key.to_string(), link: path.to_owned() };
    let real = dunce::canonicalize(path).map_err(fail)?;
    if !real.starts_with(&store.root) {
        return Err(outside());
    }
    match direct(&real) {
        Some(opened) => opened.map(Located::File).map_err(fail),
        // The system has no such call, or it is no object.
        None if !meta.is_file() || direct::folder(&store.root).is_none() => {
            Ok(Located::Path(path.to_owned(), meta))
        }
        None => Err(match File::open(&real) {
            Err(error) => fail(error),
            Ok(_) => outside(),
        }),
    }
}

fn absent<T>(error: StoreError) -> Result<Option<T>, StoreError> {
    match error {
        StoreError::Io { cause, .. } if is_absent(&cause) => Ok(None),
        error => Err(error),
    }
}

/// A write gives a key a new file, so inode, size and time identify its version. Two versions look
/// equal only if three things coincide: their sizes are equal, they are written within one tick of
/// the file system's clock (some milliseconds), and the second gets the freed inode of the first.
#[cfg(unix)]
pub(super) fn describe(meta: &Metadata) -> ObjectMeta {
    use std::os::unix::fs::MetadataExt;
    let nanos = meta.mtime().wrapping_mul(1_000_000_000).wrapping_add(meta.mtime_nsec());
    let version = Version::from_numbers([
        meta.dev(),
        meta.ino(),
        meta.len(),
        u64::from_le_bytes(nanos.to_le_bytes()),
    ]);
    ObjectMeta { size: meta.len(), version: Some(version), modified: meta.modified().ok() }
}

#[cfg(not(unix))]
pub(super) fn describe(meta: &Metadata) -> ObjectMeta {
    let nanos = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(0, |time| time.as_nanos());
    let version = Version::from_numbers([0, 0, meta.len(), nanos as u64]);
    ObjectMeta { size: meta.len(), version: Some(version), modified: meta.modified().ok() }
}

fn resize(key: &Key, out: &mut Vec<u8>, len: u64) -> Result<(), StoreError> {
    if (out.capacity() as u64) < len {
        out.clear();
    }
    let missing = len.saturating_sub(out.len() as u64);
    reserve(key, out, missing)?;
    out.resize(len as usize, 0);
    Ok(())
}

#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
pub(super) fn read_exact_at(file: &File, mut out: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                out = out.get_mut(read..).unwrap_or_default();
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
pub(super) fn read_exact_at(mut file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(out)
}
