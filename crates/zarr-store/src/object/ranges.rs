//! Several ranges of one object by few requests.

use std::ops::Range;

use futures_util::TryStreamExt;
use futures_util::stream::FuturesUnordered;
use object_store::{Error, GetOptions, GetRange};

use super::client::{Client, describe, present};
use crate::read_range::len_within;
use crate::{Key, ObjectMeta, Operation, ReadRange, StoreError, reserve};

/// Bytes between two ranges that are fetched along rather than by a request of their own: at
/// 20 ms a request and 50 MB/s a connection, they cost less than a tenth of it.
const MAX_GAP: u64 = 64 << 10;
/// Bytes after which ranges that could go on in one request go by several at once.
const MAX_REQUEST: u64 = 8 << 20;
/// The most memory that is taken before it is known that the object has so many bytes: ranges may
/// come from a damaged shard index.
const MAX_BLIND: u64 = 16 << 20;
/// How often reading starts anew because the object changed meanwhile.
const MAX_ATTEMPTS: u32 = 10;

/// One request, and where its bytes go: parts in order of their starts.
struct Request<'a> {
    span: Range<u64>,
    parts: Vec<(Range<u64>, &'a mut [u8])>,
}

/// Why an attempt at reading came to nothing.
enum Miss {
    /// Two requests met two versions of the object.
    Changed,
    /// The server knows no ranges, or not this kind.
    NoRanges,
    Failed(StoreError),
}

impl From<StoreError> for Miss {
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
                Err(Miss::Changed) => {}
                Err(Miss::NoRanges) => {
                    return self.cut(key, ReadRange::Ranges(&ranges), out).await;
                }
                Err(Miss::Failed(error)) => return Err(error),
            }
        }
        Err(StoreError::Unsteady { key: key.to_string(), attempts: MAX_ATTEMPTS })
    }

    async fn try_ranges(
        &self,
        key: &Key,
        ranges: &[Range<u64>],
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, Miss> {
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
        // All at once: each waits for a permit of its own.
        let requests: FuturesUnordered<_> =
            requests.into_iter().map(|request| self.request(key, request)).collect();
        let metas = requests.try_collect::<Vec<_>>().await;
        let metas = match metas {
            Ok(metas) => metas,
            Err(Miss::Failed(error)) => {
                return Err(self.explain(key, ReadRange::Ranges(ranges), error).await);
            }
            Err(miss) => return Err(miss),
        };
        let mut metas = metas.into_iter().chain(known.map(Some));
        let Some(first) = metas.next() else { return Ok(None) };
        if metas.any(|meta| meta != first) {
            return Err(Miss::Changed);
        }
        match &first {
            Some(meta) => check(key, ranges, meta.size)?,
            None => out.clear(),
        }
        Ok(first)
    }

    /// Fetches one request's span, into the parts that lie within.
    async fn request(&self, key: &Key, request: Request<'_>) -> Result<Option<ObjectMeta>, Miss> {
        let Request { span, mut parts } = request;
        let path = self.path(Operation::Get, key.as_str())?;
        let _permit = self.permit().await;
        let options = GetOptions::new().with_range(Some(GetRange::Bounded(span.clone())));
        let asked = self.backend.get_opts(&path, options);
        let found = match self.answer(Operation::Get, key.as_str(), asked).await {
            Err(Error::NotSupported { .. }) => return Err(Miss::NoRanges),
            result => present(Operation::Get, key, result)?,
        };
        let Some(found) = found else { return Ok(None) };
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
            Err(Miss::Failed(error)) => Err(error),
            Err(Miss::NoRanges | Miss::Changed) => self.end_by_size(key, len, out).await,
        }
    }

    async fn try_suffix(
        &self,
        key: &Key,
        len: u64,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, Miss> {
        out.clear();
        if len == 0 {
            // No bytes can be asked for.
            return Ok(self.clone().head(key.clone()).await?);
        }
        let path = self.path(Operation::Get, key.as_str())?;
        let permit = self.permit().await;
        let options = GetOptions::new().with_range(Some(GetRange::Suffix(len)));
        let asked = self.backend.get_opts(&path, options);
        let found = match self.answer(Operation::Get, key.as_str(), asked).await {
            Err(Error::NotSupported { .. }) => return Err(Miss::NoRanges),
            result => present(Operation::Get, key, result),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                // To explain takes a request of its own: holding on to this permit, as many as
                // there are would wait for each other.
                drop(permit);
                return Err(self.explain(key, ReadRange::Suffix(len), error).await);
            }
        };
        let Some(found) = found else { return Ok(None) };
        let meta = describe(&found.meta);
        if meta.size.checked_sub(len).map(|start| start..meta.size) != Some(found.range.clone()) {
            return Err(StoreError::Suffix { key: key.to_string(), len, size: meta.size }.into());
        }
        reserve(key, out, len)?;
        self.receive(key, found, |_, bytes| out.extend_from_slice(bytes)).await?;
        Ok(Some(meta))
    }

    /// As [`get_suffix`](Client::get_suffix), from servers that know no suffixes: the size is asked
    /// first, until the object that is then read has it.
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
                Ok(_) | Err(Miss::Changed) => {}
                Err(Miss::NoRanges) => return self.cut(key, ReadRange::Suffix(len), out).await,
                // The object may have become shorter.
                Err(Miss::Failed(StoreError::Range { .. })) => {}
                Err(Miss::Failed(error)) => return Err(error),
            }
        }
        Err(StoreError::Unsteady { key: key.to_string(), attempts: MAX_ATTEMPTS })
    }

    /// The error of a read, or a better one: a range beyond the end fails in a manner that depends
    /// on the server, but the object's size tells.
    async fn explain(&self, key: &Key, range: ReadRange<'_>, error: StoreError) -> Miss {
        let size = match self.clone().head(key.clone()).await {
            Ok(Some(meta)) => meta.size,
            Ok(None) | Err(_) => return Miss::Failed(error),
        };
        Miss::Failed(range.len_within(key, size).err().unwrap_or(error))
    }

    /// What was asked for out of the whole object, for servers that send nothing less.
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

/// Requests for `ranges`, whose bytes go one after another into `out`, which is as long as they all
/// are.
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

/// Copies what `bytes`, which lie `at` that position of the object, and `part` of it share.
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
