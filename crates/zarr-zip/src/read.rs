//! Reading an entry: by range if it is stored, by decompressing it if it is deflated.

use std::io::Read;
use std::ops::Range;
use std::slice::from_ref;

use flate2::read::DeflateDecoder;
use zip::CompressionMethod;

use zarr_store::{DocumentLimit, Key, Operation, ReadRange, StoreError, reserve};

use super::archive::{Archive, Entry, LOCAL_HEADER};

/// The most that deflate compresses by: a match of 258 bytes takes two bits.
const MOST_DEFLATED: u64 = 1032;

/// Deflate seldom compresses encoded chunks by more, and memory of so many times the input follows
/// the input.
const ORDINARY_DEFLATED: u64 = 4;

/// The signature of a local header.
const SIGNATURE: &[u8] = b"PK\x03\x04";

/// Room for extra fields of the usual lengths, read along with the local header.
const EXTRA: u64 = 64;

impl Archive {
    pub(super) fn get(
        &self,
        key: &Key,
        entry: &Entry,
        range: ReadRange<'_>,
        documents: DocumentLimit,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let len = range.len_within(key, entry.size)?;
        self.refuse_unreadable(key, entry)?;
        if entry.method != CompressionMethod::Stored
            && let Some(refusal) = documents.refusal(key, self.shown(key), entry.size)
        {
            return Err(refusal);
        }
        let suffix = entry.size.saturating_sub(len)..entry.size;
        let ranges = match range {
            ReadRange::All => return self.whole(key, entry, out),
            ReadRange::Suffix(_) => from_ref(&suffix),
            ReadRange::Ranges(ranges) => ranges,
        };
        match ranges {
            [] => out.clear(),
            [all] if *all == (0..entry.size) => self.whole(key, entry, out)?,
            ranges if entry.method == CompressionMethod::Stored => {
                let start = self.data_start(key, entry)?;
                let at = |offset: u64| start.saturating_add(offset);
                let shifted: Vec<Range<u64>> =
                    ranges.iter().map(|range| at(range.start)..at(range.end)).collect();
                self.source.get(&shifted, out)?;
            }
            ranges => {
                let end = ranges.iter().map(|range| range.end).max().unwrap_or_default();
                let mut bytes = Vec::new();
                self.inflate(key, entry, &self.stored(key, entry)?, end, &mut bytes)?;
                ReadRange::Ranges(ranges).copy(key, &bytes, out)?;
            }
        }
        Ok(())
    }

    /// Reads all of an entry, and compares its checksum.
    fn whole(&self, key: &Key, entry: &Entry, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let stored = self.stored(key, entry)?;
        if entry.method == CompressionMethod::Stored {
            *out = stored;
        } else {
            self.inflate(key, entry, &stored, entry.size, out)?;
        }
        if crc32fast::hash(out) != entry.crc {
            return Err(self.damaged(key, "its checksum differs from the archive's directory"));
        }
        Ok(())
    }

    /// The bytes of an entry as they are in the archive, in one request where the local header has
    /// the usual length.
    fn stored(&self, key: &Key, entry: &Entry) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        if entry.data_start.get().is_none() {
            let name = (key.as_str().len() as u64).saturating_add(EXTRA);
            let end = entry.header_start.saturating_add(LOCAL_HEADER).saturating_add(name);
            let end = end.saturating_add(entry.compressed).min(self.directory);
            self.source.get_one(entry.header_start..end, &mut bytes)?;
            let start = self.data_start_in(key, entry, &bytes)?;
            let before = start.saturating_sub(entry.header_start) as usize;
            let len = entry.compressed as usize;
            if bytes.len() >= before.saturating_add(len) {
                bytes.truncate(before.saturating_add(len));
                bytes.drain(..before);
                return Ok(bytes);
            }
        }
        let start = self.data_start(key, entry)?;
        self.source.get_one(start..start.saturating_add(entry.compressed), &mut bytes)?;
        Ok(bytes)
    }

    /// Where an entry's bytes begin, behind its local header.
    fn data_start(&self, key: &Key, entry: &Entry) -> Result<u64, StoreError> {
        if let Some(start) = entry.data_start.get() {
            return Ok(*start);
        }
        let mut header = Vec::new();
        let end = entry.header_start.saturating_add(LOCAL_HEADER);
        self.source.get_one(entry.header_start..end, &mut header)?;
        self.data_start_in(key, entry, &header)
    }

    /// The same from the bytes that begin with the local header. Its name and extra fields need not
    /// have the lengths that those in the archive's directory have.
    fn data_start_in(&self, key: &Key, entry: &Entry, header: &[u8]) -> Result<u64, StoreError> {
        let length = |at: usize| match header.get(at..) {
            Some([low, high, ..]) => u64::from(u16::from_le_bytes([*low, *high])),
            _ => 0,
        };
        let start = entry.header_start.saturating_add(LOCAL_HEADER);
        let start = start.saturating_add(length(26)).saturating_add(length(28));
        let fits = start.saturating_add(entry.compressed) <= self.directory;
        if !header.starts_with(SIGNATURE) || !fits {
            return Err(self.fail(key, "it is not where the archive's directory says"));
        }
        Ok(*entry.data_start.get_or_init(|| start))
    }

    /// The first `len` bytes of a deflated entry. No more than the directory says are produced.
    fn inflate(
        &self,
        key: &Key,
        entry: &Entry,
        deflated: &[u8],
        len: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        out.clear();
        reserve(key, out, len)?;
        let mut decoder = DeflateDecoder::new(deflated);
        let corrupt = |error| self.damaged(key, format!("its deflated bytes are corrupt: {error}"));
        decoder.by_ref().take(len).read_to_end(out).map_err(corrupt)?;
        let mut more = [0];
        let is_longer = len == entry.size && decoder.read(&mut more).map_err(corrupt)? != 0;
        if is_longer || out.len() as u64 != len {
            let found = if is_longer { "more" } else { "fewer" };
            let declared = entry.size;
            return Err(self.damaged(
                key,
                format!(
                    "it has {found} than the {declared} bytes that the archive's directory says"
                ),
            ));
        }
        Ok(())
    }

    /// Refuses a deflated entry of more than `most` bytes, unless it is only a small multiple of
    /// its stored bytes, like a shard with unused bytes between compressed chunks.
    pub(super) fn refuse_inflated(
        &self,
        key: &Key,
        entry: &Entry,
        most: u64,
    ) -> Result<(), StoreError> {
        let (size, compressed) = (entry.size, entry.compressed);
        let most = most.max(compressed.saturating_mul(ORDINARY_DEFLATED));
        if entry.method == CompressionMethod::Stored || size <= most {
            return Ok(());
        }
        let reason = format!(
            "its {compressed} deflated bytes stand for {size}, and by the array's metadata a chunk has at \
             most {most}"
        );
        Err(self.fail(key, reason))
    }

    fn refuse_unreadable(&self, key: &Key, entry: &Entry) -> Result<(), StoreError> {
        let (size, compressed) = (entry.size, entry.compressed);
        let reason = match entry.method {
            _ if entry.encrypted => "it is encrypted".to_owned(),
            CompressionMethod::Stored if size != compressed => {
                format!("it has {compressed} bytes, and the archive's directory says {size}")
            }
            // This bounds the memory that a small file can demand.
            CompressionMethod::DEFLATE if size / MOST_DEFLATED > compressed => {
                format!(
                    "{compressed} deflated bytes cannot hold the {size} that the archive's directory says"
                )
            }
            CompressionMethod::Stored | CompressionMethod::DEFLATE => return Ok(()),
            other => format!("it is compressed by {other}; stored and deflated entries are read"),
        };
        Err(self.fail(key, reason))
    }

    fn damaged(&self, key: &Key, reason: impl Into<String>) -> StoreError {
        let key = format!("{}/{key}", self.source.key.name());
        StoreError::Damaged { key, reason: reason.into() }
    }

    fn fail(&self, key: &Key, reason: impl Into<String>) -> StoreError {
        StoreError::container(Operation::Get, self.shown(key), reason)
    }

    fn shown(&self, key: &Key) -> String {
        format!("{}/{key}", self.source.key.name())
    }
}
