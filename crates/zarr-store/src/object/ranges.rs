//! Several ranges of one object by few requests.

use std::ops::Range;

use futures_util::TryStreamExt;
use futures_util::stream::FuturesUnordered;
use object_store::{GetOptions, GetRange};

use super::client::{Client, describe, refuse_encoded};
use super::retry::is_unsupported;
use crate::store::read_range::len_within;
use crate::store::types::FAR_RANGE_COST;
use crate::{Key, ObjectMeta, Operation, ReadRange, StoreError, reserve};

/// The largest gap between two ranges that one request fetches.
const MAX_GAP: u64 = FAR_RANGE_COST;
/// The most bytes that adjacent ranges share one request for; longer ones are split into concurrent
/// requests.
const MAX_REQUEST: u64 = 8 << 20;
/// The most memory that is allocated before the object's size is known: ranges may come from a
/// damaged shard index.
const MAX_BLIND: u64 = 16 << 20;
/// How often reading starts again because the object has changed.
const MAX_ATTEMPTS: u32 = 10;

/// One request and the parts of the result that it fills, in order of their starts.
struct Request<'a> {
    span: Range<u64>,
    parts: Vec<(Range<u64>, &'a mut [u8])>,
}

/// Why an attempt to read ranges failed.
enum RangeFailure {
    /// Two requests read two versions of the object.
    Changed,
    /// The server does not support ranges, or not this kind.
    NoRanges,
    Failed(StoreError),
}

impl From<StoreError> for RangeFailure {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl Client {
    /// All ranges of one version of the object, into `out` one after another.
    pub(super) async fn get_ranges(
        self,
        key: Key,
        ranges: Vec<Range<u64>>,
        mut out: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<ObjectMeta>), StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            match self.try_ranges(&key, &ranges, &mut out).await {
                Ok(meta) => return Ok((out, meta)),
                Err(RangeFailure::Changed) => {}
                Err(RangeFailure::NoRanges) => {
                    return self.cut(key, ReadRange::Ranges(&ranges), out).await;
                }
                Err(RangeFailure::Failed(error)) => return Err(error),
            }
        }
        Err(StoreError::Unsteady { key: key.to_string(), attempts: MAX_ATTEMPTS })
    }

    async fn try_ranges(
        &self,
        key: &Key,
        ranges: &[Range<u64>],
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, RangeFailure> {
        let total = ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(len(range)));
        let backwards = ranges.iter().any(|range| range.start > range.end);
        // Ranges that need no request still need to know whether there is such an object.
        let known = if !backwards && (1..=MAX_BLIND).contains(&total) {
            None
        } else {
            let Some(meta) = self.clone().head(key.clone()).await? else {
                out.clear();
                return Ok(None);
            };
            check(key, ranges, meta.size)?;
            Some(meta)
        };
        out.clear();
        reserve(key, out, total)?;
        out.resize(total as usize, 0);
        let requests = divide(ranges, out);
        // Concurrently; each waits for its own permit.
        let requests: FuturesUnordered<_> =
            requests.into_iter().map(|request| self.request(key, request)).collect();
        let metas = requests.try_collect::<Vec<_>>().await;
        let metas = match metas {
            Ok(metas) => metas,
            Err(RangeFailure::Failed(error)) => {
                return Err(self.explain(key, ReadRange::Ranges(ranges), error).await);
            }
            Err(miss) => return Err(miss),
        };
        let mut metas = metas.into_iter().chain(known.map(Some));
        let Some(first) = metas.next() else { return Ok(None) };
        if metas.any(|meta| meta != first) {
            return Err(RangeFailure::Changed);
        }
        match &first {
            Some(meta) => check(key, ranges, meta.size)?,
            None => out.clear(),
        }
        Ok(first)
    }

    /// Fetches one request's span into its parts.
    async fn request(
        &self,
        key: &Key,
        request: Request<'_>,
    ) -> Result<Option<ObjectMeta>, RangeFailure> {
        let Request { span, mut parts } = request;
        let path = self.path(Operation::Get, key.as_str())?;
        let _permit = self.permit().await;
        let options = GetOptions::new().with_range(Some(GetRange::Bounded(span.clone())));
        let found = match self.ask(key, &path, &options).await {
            Err(error) if is_unsupported(&error) => return Err(RangeFailure::NoRanges),
            result => self.present(Operation::Get, key, result)?,
        };
        let Some(found) = found else { return Ok(None) };
        refuse_encoded(key, &found)?;
        let meta = describe(&found.meta);
        if found.range != span {
            let (key, size) = (key.to_string(), meta.size);
            return Err(StoreError::Range { key, range: span, size }.into());
        }
        let mut first = 0;
        self.receive(key, found, |at, bytes| {
            let end = at + bytes.len() as u64;
            while parts.get(first).is_some_and(|(part, _)| part.end <= at) {
                first += 1;
            }
            for (part, target) in parts.iter_mut().skip(first) {
                if part.start >= end {
                    break;
                }
                copy_overlap(part, target, at, bytes);
            }
        })
        .await?;
        Ok(Some(meta))
    }

    /// The end of an object, such as the index of a shard, by one request.
    pub(super) async fn get_suffix(
        self,
        key: Key,
        len: u64,
        mut out: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<ObjectMeta>), StoreError> {
        match self.try_suffix(&key, len, &mut out).await {
            Ok(meta) => Ok((out, meta)),
            Err(RangeFailure::Failed(error)) => Err(error),
            Err(RangeFailure::NoRanges | RangeFailure::Changed) => {
                self.end_by_size(key, len, out).await
            }
        }
    }

    async fn try_suffix(
        &self,
        key: &Key,
        len: u64,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, RangeFailure> {
        out.clear();
        if len == 0 {
            // No bytes can be requested.
            return Ok(self.clone().head(key.clone()).await?);
        }
        let path = self.path(Operation::Get, key.as_str())?;
        let permit = self.permit().await;
        let options = GetOptions::new().with_range(Some(GetRange::Suffix(len)));
        let found = match self.ask(key, &path, &options).await {
            Err(error) if is_unsupported(&error) => return Err(RangeFailure::NoRanges),
            result => self.present(Operation::Get, key, result),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                // `explain` makes another request: if all requests kept their permits, they would
                // wait for each other.
                drop(permit);
                return Err(self.explain(key, ReadRange::Suffix(len), error).await);
            }
        };
        let Some(found) = found else { return Ok(None) };
        refuse_encoded(key, &found)?;
        let meta = describe(&found.meta);
        if meta.size.checked_sub(len).map(|start| start..meta.size) != Some(found.range.clone()) {
            return Err(StoreError::Suffix { key: key.to_string(), len, size: meta.size }.into());
        }
        reserve(key, out, len)?;
        self.receive(key, found, |_, bytes| out.extend_from_slice(bytes)).await?;
        Ok(Some(meta))
    }

    /// As [`get_suffix`](Client::get_suffix), for servers that do not support suffixes: requests
    /// the size first, and repeats both until the object that is read has that size.
    async fn end_by_size(
        self,
        key: Key,
        len: u64,
        mut out: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<ObjectMeta>), StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            let Some(known) = self.clone().head(key.clone()).await? else {
                out.clear();
                return Ok((out, None));
            };
            ReadRange::Suffix(len).len_within(&key, known.size)?;
            let range = known.size.saturating_sub(len)..known.size;
            match self.try_ranges(&key, std::slice::from_ref(&range), &mut out).await {
                Ok(meta) if meta.as_ref() == Some(&known) => return Ok((out, meta)),
                Ok(_) | Err(RangeFailure::Changed) => {}
                Err(RangeFailure::NoRanges) => {
                    return self.cut(key, ReadRange::Suffix(len), out).await;
                }
                // The object may have become shorter.
                Err(RangeFailure::Failed(StoreError::Range { .. })) => {}
                Err(RangeFailure::Failed(error)) => return Err(error),
            }
        }
        Err(StoreError::Unsteady { key: key.to_string(), attempts: MAX_ATTEMPTS })
    }

    /// The error of a read, or a more precise one: how a range beyond the end fails depends on the
    /// server, but the object's size tells.
    async fn explain(&self, key: &Key, range: ReadRange<'_>, error: StoreError) -> RangeFailure {
        let size = match self.clone().head(key.clone()).await {
            Ok(Some(meta)) => meta.size,
            Ok(None) | Err(_) => return RangeFailure::Failed(error),
        };
        RangeFailure::Failed(range.len_within(key, size).err().unwrap_or(error))
    }

    /// Reads the whole object and cuts the range out of it, for servers without ranges.
    async fn cut(
        self,
        key: Key,
        range: ReadRange<'_>,
        mut out: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<ObjectMeta>), StoreError> {
        let (whole, meta) = self.get_all(key.clone(), Vec::new()).await?;
        out.clear();
        if meta.is_some() {
            range.copy(&key, &whole, &mut out)?;
        }
        Ok((out, meta))
    }
}

/// The length of a range, 0 if it ends before it starts.
fn len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

fn check(key: &Key, ranges: &[Range<u64>], size: u64) -> Result<(), StoreError> {
    ranges.iter().try_for_each(|range| len_within(key, range, size).map(drop))
}

/// Requests for `ranges`. Their bytes are concatenated in `out`, which has their total length.
fn divide<'a>(ranges: &[Range<u64>], mut out: &'a mut [u8]) -> Vec<Request<'a>> {
    let mut parts: Vec<(Range<u64>, &'a mut [u8])> = Vec::with_capacity(ranges.len());
    for range in ranges {
        let Some((target, rest)) = out.split_at_mut_checked(len(range) as usize) else { break };
        out = rest;
        if !target.is_empty() {
            parts.push((range.clone(), target));
        }
    }
    parts.sort_by_key(|(part, _)| part.start);
    let mut requests: Vec<Request<'a>> = Vec::new();
    for (part, target) in parts {
        match requests.last_mut() {
            Some(last)
                if part.start <= last.span.end.saturating_add(MAX_GAP)
                    && part.end - last.span.start <= MAX_REQUEST.max(part.end - part.start) =>
            {
                last.span.end = last.span.end.max(part.end);
                last.parts.push((part, target));
            }
            _ => requests.push(Request { span: part.clone(), parts: vec![(part, target)] }),
        }
    }
    requests
}

/// Copies the overlap of `part` and `bytes`, which start at position `at` of the object.
fn copy_overlap(part: &Range<u64>, target: &mut [u8], at: u64, bytes: &[u8]) {
    let start = part.start.max(at);
    let end = part.end.min(at + bytes.len() as u64);
    let Some(len) = end.checked_sub(start) else { return };
    let from = (start - at) as usize;
    let to = (start - part.start) as usize;
    let len = len as usize;
    if let (Some(from), Some(to)) = (bytes.get(from..from + len), target.get_mut(to..to + len)) {
        to.copy_from_slice(from);
    }
}
