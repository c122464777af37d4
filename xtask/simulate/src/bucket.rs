//! A bucket of object storage: what lies below `RemoteStore`.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::DateTime;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{
    Attributes, CopyMode, CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload,
    ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions,
    PutPayload, PutResult, Result,
};

use crate::world::{Connection, Content, Does, Failure, FaultKind, Stored};

/// The objects of a page of a listing. Others may go on between two pages.
const PAGE: usize = 8;

/// The bucket as the process of a client reaches it.
#[derive(Debug, Clone)]
pub(crate) struct Bucket(pub(crate) Connection);

impl fmt::Display for Bucket {
    /// Locks among the threads of a process go by this name: each process has its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// The words of the client library for a failure.
fn error(path: &str, failure: Failure) -> Error {
    let path = path.to_owned();
    match failure {
        Failure::Conflict => Error::AlreadyExists { path, source: failure.into() },
        Failure::Lost => {
            let lost = HttpError::new(HttpErrorKind::Timeout, failure);
            Error::Generic { store: "simulated", source: lost.into() }
        }
        failure => Error::Generic { store: "simulated", source: failure.into() },
    }
}

impl Bucket {
    async fn run<T>(
        &self,
        does: Does,
        verb: &str,
        path: &str,
        effect: impl FnOnce(&mut Content) -> T,
    ) -> Result<(T, Option<FaultKind>)> {
        let fail = |failure| error(path, failure);
        let turn = self.0.turn_async().ok_or_else(|| fail(Failure::Dead))?;
        turn.await.map_err(|stuck| fail(Failure::Stuck(stuck)))?;
        self.0.request(does, &format!("{verb} {path}"), effect).map_err(fail)
    }

    fn tag(&self, stored: &Stored) -> String {
        match self.0.world.tag_by_content {
            // Tags that differ in few bits find digests in which differences cancel out.
            true if stored.bytes.len() <= 64 => format!("\"{:x?}\"", &*stored.bytes),
            true => format!("\"{:016x}\"", hash(&stored.bytes)),
            false => format!("\"{}\"", stored.written),
        }
    }

    fn meta(&self, key: &str, stored: &Stored) -> ObjectMeta {
        let second = i64::try_from(stored.written).unwrap_or(i64::MAX);
        ObjectMeta {
            location: Path::from(key),
            last_modified: DateTime::from_timestamp(1_700_000_000 + second, 0).unwrap_or_default(),
            size: stored.bytes.len() as u64,
            e_tag: Some(self.tag(stored)),
            version: None,
        }
    }

    async fn listed(&self, prefix: Option<&Path>) -> Result<Vec<ObjectMeta>> {
        let start = prefix.map_or_else(String::new, |prefix| format!("{prefix}/"));
        let start = if start == "/" { String::new() } else { start };
        let (mut found, mut is_stale) = (Vec::new(), false);
        loop {
            let last = found.last().map(|(_, meta): &(u64, ObjectMeta)| meta.location.to_string());
            let page = self.run(Does::List, "list", &start, |content| {
                let below = content.objects.iter().filter(|(key, _)| key.starts_with(&start));
                let page = below.filter(|(key, _)| last.as_ref().is_none_or(|last| *key > last));
                let page = page.map(|(key, stored)| (stored.written, self.meta(key, stored)));
                page.take(PAGE).collect::<Vec<_>>()
            });
            let (page, fault) = page.await?;
            is_stale |= fault == Some(FaultKind::Stale);
            let is_last = page.len() < PAGE;
            found.extend(page);
            if is_last {
                break;
            }
        }
        if is_stale && let Some(last) = found.iter().map(|(written, _)| *written).max() {
            found.retain(|(written, _)| *written != last);
        }
        Ok(found.into_iter().map(|(_, meta)| meta).collect())
    }
}

/// FNV-1a, of the words of 8 bytes.
fn hash(bytes: &[u8]) -> u64 {
    let words = bytes.chunks(8).map(|word| {
        let mut padded = [0; 8];
        padded[..word.len()].copy_from_slice(word);
        u64::from_le_bytes(padded)
    });
    let first = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    words.fold(first, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29))
}

/// The bytes that are requested.
fn part(range: Option<&GetRange>, size: u64) -> Option<Range<u64>> {
    match range {
        None => Some(0..size),
        Some(GetRange::Bounded(range)) if range.start >= size => None,
        Some(GetRange::Bounded(range)) => Some(range.start..range.end.min(size)),
        Some(GetRange::Offset(start)) if *start >= size => None,
        Some(GetRange::Offset(start)) => Some(*start..size),
        Some(GetRange::Suffix(length)) => Some(size.saturating_sub(*length)..size),
    }
}

/// Not one of the requests that `RemoteStore` makes.
fn unused(operation: &str) -> Error {
    Error::NotImplemented { operation: operation.to_owned(), implementer: "Bucket".to_owned() }
}

#[async_trait]
impl ObjectStore for Bucket {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let key = location.as_ref();
        let bytes: Arc<[u8]> = payload.iter().flat_map(|piece| piece.iter().copied()).collect();
        let verb = match &options.mode {
            PutMode::Overwrite => "put",
            PutMode::Create => "create",
            PutMode::Update(_) => "update",
        };
        let put = self.run(Does::Write, verb, key, |content| {
            let found = content.objects.get(key).map(|stored| self.tag(stored));
            let is_met = match options.mode {
                PutMode::Overwrite => true,
                PutMode::Create => found.is_none(),
                PutMode::Update(expected) => found.is_some() && found == expected.e_tag,
            };
            let stored = Stored { bytes: bytes.clone(), written: 0 };
            is_met.then(|| Stored { written: content.put(key, bytes), ..stored })
        });
        match put.await?.0 {
            Some(stored) => Ok(PutResult {
                e_tag: Some(self.tag(&stored)),
                version: None,
                extensions: Default::default(),
            }),
            None => Err(Error::Precondition {
                path: key.to_owned(),
                source: "simulated: 412 Precondition Failed".into(),
            }),
        }
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(unused("put_multipart_opts"))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let key = location.as_ref();
        let verb = if options.head { "head" } else { "get" };
        let (found, fault) =
            self.run(Does::Read, verb, key, |content| content.objects.get(key).cloned()).await?;
        let Some(stored) = found else {
            return Err(Error::NotFound { path: key.to_owned(), source: "simulated: 404".into() });
        };
        let meta = self.meta(key, &stored);
        if options.if_match.as_ref().is_some_and(|tag| Some(tag) != meta.e_tag.as_ref()) {
            let source = "simulated: 412 Precondition Failed".into();
            return Err(Error::Precondition { path: key.to_owned(), source });
        }
        let range = part(options.range.as_ref(), meta.size);
        let range = range.ok_or_else(|| error(key, Failure::Failed))?;
        let at = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
        let end = match fault {
            Some(FaultKind::Truncated) => range.start + (range.end - range.start) / 2,
            _ => range.end,
        };
        let bytes = Bytes::copy_from_slice(&stored.bytes[at(range.start)..at(end)]);
        let payload = GetResultPayload::Stream(stream::iter([Ok(bytes)]).boxed());
        let (attributes, extensions) = (Attributes::default(), Default::default());
        Ok(GetResult { payload, meta, range, attributes, extensions })
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let bucket = self.clone();
        let deleted = locations.then(move |path| {
            let bucket = bucket.clone();
            async move {
                let path = path?;
                let key = path.as_ref();
                bucket
                    .run(Does::Write, "delete", key, |content| content.objects.remove(key))
                    .await?;
                Ok(path)
            }
        });
        deleted.boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (bucket, prefix) = (self.clone(), prefix.cloned());
        let listed = async move {
            match bucket.listed(prefix.as_ref()).await {
                Ok(found) => stream::iter(found.into_iter().map(Ok)).boxed(),
                Err(error) => stream::iter([Err(error)]).boxed(),
            }
        };
        stream::once(listed).flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let (mut common_prefixes, mut objects) = (Vec::new(), Vec::new());
        let depth = prefix.map_or(0, |prefix| prefix.parts().count());
        for meta in self.listed(prefix).await? {
            let parts: Vec<_> = meta.location.parts().collect();
            match parts.len() > depth + 1 {
                true => common_prefixes.push(parts.into_iter().take(depth + 1).collect()),
                false => objects.push(meta),
            }
        }
        common_prefixes.dedup();
        Ok(ListResult { common_prefixes, objects, extensions: Default::default() })
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        if matches!(options.mode, CopyMode::Create) {
            return Err(unused("copy_if_not_exists"));
        }
        let (key, target) = (from.as_ref(), to.as_ref());
        let verb = format!("copy {key} to");
        let copied = self.run(Does::Write, &verb, target, |content| {
            let bytes = content.objects.get(key)?.bytes.clone();
            Some(content.put(target, bytes))
        });
        match copied.await?.0 {
            Some(_) => Ok(()),
            None => Err(Error::NotFound { path: key.to_owned(), source: "simulated: 404".into() }),
        }
    }
}
