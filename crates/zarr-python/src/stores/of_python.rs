//! Stores of Python: any store of zarr-python, through `zarr_kit._adapter`.
//!
//! Every method calls the adapter, which runs the store's own methods on the event loop of the
//! store's package and waits without the GIL.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::io::IoSlice;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarr_kit::array::store::{
    Capabilities, DirEntry, Key, Links, Listing, LockGuard, LockScope, ObjectMeta, Operation,
    ProcessLocks, PutMode, PutOutcome, ReadRange, StoreError,
};
use zarr_kit::{Prefix, Store};

/// How the text begins that stands for a store of Python.
const SCHEME: &str = "python-store:";

/// The largest gap between two ranges that one request reads, and the most bytes of one request: as
/// for object storage.
const MAX_GAP: u64 = 64 << 10;
const MAX_REQUEST: u64 = 8 << 20;

/// The locks of what stores' objects are in: several stores, with several roots, share them.
static LOCKS: LazyLock<Mutex<HashMap<String, ProcessLocks>>> = LazyLock::new(Mutex::default);

/// A store of Python.
pub(crate) struct PyStore {
    adapter: Py<PyAny>,
    shown: String,
    identity: String,
    /// The store's place in what the locks are of.
    root: String,
    /// Whether no other process can write to it.
    is_exclusive: bool,
    requests: NonZeroUsize,
    locks: ProcessLocks,
}

impl PyStore {
    /// Whether this text stands for a store of Python.
    pub(crate) fn is_named(url: &str) -> bool {
        url.starts_with(SCHEME)
    }

    /// The store for which this text stands.
    pub(crate) fn open(py: Python<'_>, url: &str) -> PyResult<Self> {
        let adapter = py.import("zarr_kit._adapter")?.call_method1("adapter_of", (url,))?;
        let owner: String = adapter.getattr("locks")?.extract()?;
        let locks =
            LOCKS.lock().unwrap_or_else(PoisonError::into_inner).entry(owner).or_default().clone();
        Ok(Self {
            shown: adapter.getattr("shown")?.extract()?,
            is_exclusive: adapter.getattr("is_exclusive")?.extract()?,
            requests: adapter.getattr("requests")?.extract()?,
            root: adapter.getattr("root")?.extract()?,
            identity: adapter.getattr("identity")?.extract()?,
            locks,
            adapter: adapter.unbind(),
        })
    }

    /// The place without secrets.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Tells the store apart from all others.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// Whether no request waits for a network.
    pub(crate) fn is_quick(&self) -> bool {
        self.requests == NonZeroUsize::MIN
    }

    /// Whether it is a transaction that gives stored chunks other numbers without a copy.
    pub(crate) fn renumbers(&self) -> Result<bool, StoreError> {
        self.ask(Operation::Get, "", |adapter| adapter.getattr("renumbers")?.extract())
    }

    /// Gives the chunks of an array other numbers on an axis: those of each range the numbers from the
    /// given one on. Removes all others.
    pub(crate) fn renumber(
        &self,
        prefix: &Prefix,
        axis: usize,
        ranges: &[(Range<u64>, u64)],
    ) -> Result<(), StoreError> {
        let ranges: Vec<_> = ranges.iter().map(|(from, at)| (from.start, from.end, *at)).collect();
        self.ask(Operation::Put, prefix.as_str(), |adapter| {
            adapter.call_method1("renumber", (prefix.as_str(), axis, ranges)).map(drop)
        })
    }

    /// Refuses a thread that would wait for itself, and a process that was forked since.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.ask(Operation::Get, "", |adapter| adapter.call_method0("check").map(drop))
    }

    /// Asks the adapter. The interpreter's lock is held, but not while the adapter waits.
    fn ask<T>(
        &self,
        operation: Operation,
        name: &str,
        question: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, StoreError> {
        let answer = Python::attach(|py| question(self.adapter.bind(py)));
        answer.map_err(|error| StoreError::io(operation, name, io::Error::other(error)))
    }

    /// Reads spans of an object, or all of it, one after another. `None` if it does not exist.
    fn read(
        &self,
        key: &Key,
        spans: Option<&[(u64, u64)]>,
        suffix: Option<u64>,
        out: &mut Vec<u8>,
    ) -> Result<Option<(Vec<u64>, u64)>, StoreError> {
        out.clear();
        self.ask(Operation::Get, key.as_str(), |adapter| {
            let found = adapter.call_method1("get", (key.as_str(), spans, suffix))?;
            let found = found.extract::<Option<(Vec<Bound<'_, PyBytes>>, u64)>>()?;
            let Some((found, size)) = found else { return Ok(None) };
            let parts = found.iter().map(|part| {
                out.extend_from_slice(part.as_bytes());
                part.as_bytes().len() as u64
            });
            Ok(Some((parts.collect(), size)))
        })
    }

    fn read_ranges(
        &self,
        key: &Key,
        ranges: &[Range<u64>],
        out: &mut Vec<u8>,
    ) -> Result<Option<u64>, StoreError> {
        let spans = joined(ranges);
        let asked: Vec<(u64, u64)> = spans.iter().map(|span| (span.start, span.end)).collect();
        let mut read = Vec::new();
        let Some((lengths, size)) = self.read(key, Some(&asked), None, &mut read)? else {
            return Ok(None);
        };
        let mut found = Vec::with_capacity(spans.len());
        let mut start = 0;
        for (span, length) in spans.iter().zip(lengths) {
            found.push((span.start, read.get(start..start + length as usize).unwrap_or_default()));
            start += length as usize;
        }
        out.clear();
        for range in ranges {
            let part = found.iter().rev().find_map(|(start, bytes)| {
                let from = range.start.checked_sub(*start)?;
                bytes.get(from as usize..range.end.checked_sub(*start)? as usize)
            });
            let Some(part) = part else {
                let (key, range) = (key.to_string(), range.clone());
                return Err(StoreError::Range { key, range, size });
            };
            out.extend_from_slice(part);
        }
        Ok(Some(size))
    }
}

/// The ranges in order, with short gaps between them read as well.
fn joined(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted: Vec<Range<u64>> = ranges.to_vec();
    sorted.sort_by_key(|range| range.start);
    let mut spans: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match spans.last_mut() {
            Some(last)
                if range.start <= last.end.saturating_add(MAX_GAP)
                    && (range.end <= last.end || range.end - last.start <= MAX_REQUEST) =>
            {
                last.end = last.end.max(range.end);
            }
            _ => spans.push(range),
        }
    }
    spans
}

impl fmt::Debug for PyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyStore").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// An object without a version: readers cannot tell whether two calls read the same one.
fn of_size(size: u64) -> ObjectMeta {
    ObjectMeta { size, version: None, modified: None }
}

impl Store for PyStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let found = match range {
            ReadRange::All => self.read(key, None, None, out)?.map(|(_, size)| size),
            ReadRange::Ranges([]) => {
                out.clear();
                return self.head(key);
            }
            ReadRange::Ranges(ranges) => self.read_ranges(key, ranges, out)?,
            ReadRange::Suffix(len) => {
                let found = self.read(key, None, Some(len), out)?.map(|(_, size)| size);
                if let Some(size) = found.filter(|size| *size < len) {
                    return Err(StoreError::Suffix { key: key.to_string(), len, size });
                }
                found
            }
        };
        Ok(found.map(of_size))
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        let size = self.ask(Operation::Head, key.as_str(), |adapter| {
            adapter.call_method1("size", (key.as_str(),))?.extract::<Option<u64>>()
        })?;
        Ok(size.map(of_size))
    }

    // Whether `set_if_not_exists` has set is not told, so that no condition can be relied on.
    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        mode.require_overwrite(key)?;
        let length = pieces.iter().map(|piece| piece.len()).sum();
        self.ask(Operation::Put, key.as_str(), |adapter| {
            let bytes = PyBytes::new_with(adapter.py(), length, |mut out| {
                for piece in pieces {
                    let (start, rest) = out.split_at_mut(piece.len());
                    start.copy_from_slice(piece);
                    out = rest;
                }
                Ok(())
            })?;
            adapter.call_method1("set", (key.as_str(), bytes)).map(drop)
        })?;
        Ok(PutOutcome::Written)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.ask(Operation::Delete, key.as_str(), |adapter| {
            adapter.call_method1("delete", ([key.as_str()],)).map(drop)
        })
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.ask(Operation::Delete, prefix.as_str(), |adapter| {
            let keys = adapter.call_method1("keys", (prefix.as_str(),))?;
            adapter.call_method1("delete", (keys,)).map(drop)
        })
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        let keys = self.ask(Operation::List, prefix.as_str(), |adapter| {
            adapter.call_method1("keys", (prefix.as_str(),))?.extract::<Vec<String>>()
        });
        match keys {
            Ok(keys) => Box::new(keys.into_iter().map(|key| Ok(Key::new(&key)?))),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let entries = self.ask(Operation::List, prefix.as_str(), |adapter| {
            adapter.call_method1("children", (prefix.as_str(),))?.extract::<Vec<(String, bool)>>()
        });
        let entry = |(name, is_object): (String, bool)| match is_object {
            true => Ok(DirEntry::Object(prefix.key(&name)?)),
            false => Ok(DirEntry::Prefix(prefix.join(&name)?)),
        };
        match entries {
            Ok(entries) => {
                let entries: Vec<_> = entries.into_iter().map(entry).collect();
                Box::new(entries.into_iter())
            }
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let held = self.locks.lock_below(&self.root, key)?;
        Ok(if self.is_exclusive { LockGuard::new(LockScope::AllProcesses, held) } else { held })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new().requests_in_flight(self.requests)
    }
}
