//! The bytes of an archive, wherever it is, as the zip library reads them.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::slice::from_ref;
use std::sync::Arc;

use zarr_store::{Key, ObjectMeta, Operation, ReadRange, Store, StoreError};

/// The bytes that are read at a time of data with many small parts, such as the archive's
/// directory.
pub(super) const WINDOW: u64 = 256 << 10;

/// One version of an archive: an object in another store.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) store: Arc<dyn Store>,
    pub(super) key: Key,
    /// Size and version that the archive had when it was opened.
    pub(super) meta: ObjectMeta,
}

impl Source {
    /// The current archive; `None` if there is none.
    pub(super) fn open(store: Arc<dyn Store>, key: Key) -> Result<Option<Self>, StoreError> {
        let Some(meta) = store.head(&key)? else { return Ok(None) };
        Ok(Some(Self { store, key, meta }))
    }

    /// Reads these ranges of the archive, which must still have the opened version.
    pub(super) fn get(&self, ranges: &[Range<u64>], out: &mut Vec<u8>) -> Result<(), StoreError> {
        let found = self.store.get(&self.key, ReadRange::Ranges(ranges), out);
        let reason = match found {
            Ok(Some(meta)) if meta == self.meta => return Ok(()),
            Ok(Some(_)) => "the archive was replaced after it was opened; open it again",
            Ok(None) => "the archive was removed after it was opened",
            Err(StoreError::Range { .. }) => "the archive was truncated after it was opened",
            Err(error) => return Err(error),
        };
        Err(StoreError::container(Operation::Get, &self.key, reason))
    }

    /// As [`get`](Self::get), one range.
    pub(super) fn get_one(&self, range: Range<u64>, out: &mut Vec<u8>) -> Result<(), StoreError> {
        self.get(from_ref(&range), out)
    }

    /// A reader that asks for up to `window` bytes at a time.
    pub(super) fn reader(&self, window: u64) -> Reader {
        Reader { source: self.clone(), window: window.max(1), at: 0, start: 0, bytes: Vec::new() }
    }
}

/// A position in an archive, and the bytes around it that were read last.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    source: Source,
    window: u64,
    at: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Reader {
    /// The bytes that were read from the position on; none if a window must be read.
    fn rest(&self) -> &[u8] {
        let offset =
            self.at.checked_sub(self.start).and_then(|offset| usize::try_from(offset).ok());
        offset.and_then(|offset| self.bytes.get(offset..)).unwrap_or_default()
    }
}

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let size = self.source.meta.size;
        if self.at >= size || out.is_empty() {
            return Ok(0);
        }
        if self.rest().is_empty() {
            let end = self.at.saturating_add(self.window).min(size);
            let mut bytes = std::mem::take(&mut self.bytes);
            self.source.get_one(self.at..end, &mut bytes).map_err(io::Error::other)?;
            self.start = self.at;
            self.bytes = bytes;
        }
        let rest = self.rest();
        let len = rest.len().min(out.len());
        for (to, from) in out.iter_mut().zip(rest) {
            *to = *from;
        }
        self.at += len as u64;
        Ok(len)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.source.meta.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
