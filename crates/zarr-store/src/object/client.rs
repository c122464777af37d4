//! Single requests.

use std::error::Error as _;
use std::io;
use std::iter;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::ready;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
use object_store::client::HttpError;
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{
    Attribute, Error, GetOptions, GetResult, ListResult, ObjectMeta as Listed,
    ObjectStore as Backend, ObjectStoreExt,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::explain::meaning;
use super::folder_marker::is_folder_marker;
use super::list::key_of;
use super::pages::NotWhole;
use super::retry::{Cause, Limits, QUIET, Tries, is_lengthless, is_unsupported};
use crate::errors::error::RemoteCause;
use crate::store::read_range::OwnedReadRange;
use crate::waiting::{OnWait, Waiting};
use crate::{
    FullMessage, Key, KeyFilter, ObjectMeta, Operation, Prefix, Service, StoreError, StoreOptions,
    Version, reserve, without_secrets,
};

/// A backend and its known properties, before options apply.
pub(super) struct Origin {
    pub(super) backend: Arc<dyn Backend>,
    /// The same backend, if it can list in pages.
    pub(super) pages: Option<Arc<dyn PaginatedListStore>>,
    /// Whether it lists one folder at a time with certainty, and all below a folder without.
    pub(super) by_folder: bool,
    pub(super) base: Path,
    /// Identifies the bucket or server of the paths, if the backend's name does not.
    pub(super) space: Option<String>,
    pub(super) conditional_put: bool,
    /// `None` for a backend of the caller's.
    pub(super) service: Option<Service>,
}

/// The state that all clones of a store share within a process.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) pages: Option<Arc<dyn PaginatedListStore>>,
    pub(super) by_folder: bool,
    pub(super) base: Path,
    /// Identifies the bucket of a service, or the server, that holds the paths.
    pub(super) space: Arc<str>,
    pub(super) service: Option<Service>,
    pub(super) requests: Arc<Semaphore>,
    pub(super) limits: Limits,
    pub(super) on_wait: Option<OnWait>,
    /// Whether it verifies its puts.
    pub(super) checked: bool,
    /// Whether the server copies objects, once a copy has shown it.
    pub(super) copies: Arc<OnceLock<bool>>,
}

/// The name of a backend. If the name is only its kind, the address identifies the backend.
fn space_of(backend: &Arc<dyn Backend>) -> String {
    let name = backend.to_string();
    match name.chars().all(char::is_alphanumeric) {
        true => format!("{name} {:p}", Arc::as_ptr(backend).cast::<()>()),
        false => name,
    }
}

/// An error of the backend with its context. Its text may contain signed URLs, and its `Debug`
/// whole requests: only its complete message is kept, without secrets.
pub(super) fn remote(
    service: Option<Service>,
    operation: Operation,
    name: impl ToString,
    cause: Error,
) -> StoreError {
    let full = without_secrets(&FullMessage(&cause).to_string());
    let may_pass = may_pass(&cause, &full);
    let (fault, mut said) = meaning(service, &full).unwrap_or((None, full.clone()));
    let is_read = matches!(operation, Operation::Get | Operation::Head);
    // Other codes name a fault of the credentials.
    let is_denied = !full.contains("<Code>") || full.contains("<Code>AccessDenied</Code>");
    if is_read && is_denied && matches!(cause, Error::PermissionDenied { .. }) {
        said.push_str(
            "; the object may be missing: S3 answers so if the reader may not list the bucket \
             (s3:ListBucket)",
        );
    }
    let cause = RemoteCause { may_pass, fault, said };
    StoreError::Remote { operation, key: name.to_string(), cause: cause.into() }
}

/// The error of a conditional put if the server refused every attempt because of other requests.
/// The backend would say that the object exists, or has changed.
pub(super) fn refused_without_end(key: &Key) -> StoreError {
    let said = "the server refused every attempt, as if others wrote to it at the same time (status 409 or \
        412); it is as it was before"
        .to_owned();
    let cause = RemoteCause { may_pass: true, fault: None, said };
    StoreError::Remote { operation: Operation::Put, key: key.to_string(), cause: cause.into() }
}

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
fn is_of_http(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<HttpError>()
}

/// Without a client there are no requests.
#[cfg(not(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http")))]
fn is_of_http(_: &(dyn std::error::Error + 'static)) -> bool {
    false
}

/// The statuses of failures that a later request may not meet: timeouts, conflicts, throttling and
/// faults of the server.
const PASSING: [&str; 8] = ["408", "409", "412", "429", "500", "502", "503", "504"];

/// Whether the same request may succeed later: no answer, or an answer of a [`PASSING`] status. The
/// backend hides the statuses of listings, except in its text. What a server does not know it will not
/// know later either. A server whose listing cannot be relied on is not one that cannot list.
fn may_pass(error: &Error, said: &str) -> bool {
    if is_unsupported(error) {
        return false;
    }
    if matches!(error, Error::AlreadyExists { .. } | Error::Precondition { .. }) {
        return true;
    }
    let mut sources = iter::successors(error.source(), |&error| error.source());
    sources.any(|error| is_of_http(error) || error.is::<NotWhole>())
        || PASSING.iter().any(|status| said.contains(&format!("status code: {status} ")))
}

/// Error codes of servers for a missing bucket or container, in their responses to reads.
const NO_BUCKET: [&str; 2] = ["NoSuchBucket", "ContainerNotFound"];

/// Whether the object is missing because the whole bucket is missing. An array in it must not read
/// as fill values.
fn has_no_bucket(error: &Error) -> bool {
    let Error::NotFound { source, .. } = error else { return false };
    let said = FullMessage(source.as_ref()).to_string();
    NO_BUCKET.iter().any(|name| said.contains(name))
}

/// Words in the header `Content-Encoding` that say nothing of the bytes: of uploads in signed pieces,
/// and of texts.
const NO_ENCODINGS: [&str; 4] = ["", "identity", "aws-chunked", "utf-8"];

/// Refuses an answer whose bytes are not those of the object, but encoded, such as by gzip: a range is
/// one of the encoded bytes, and an uncompressed chunk would take any bytes.
pub(super) fn refuse_encoded(key: &Key, found: &GetResult) -> Result<(), StoreError> {
    let Some(said) = found.attributes.get(&Attribute::ContentEncoding) else { return Ok(()) };
    let is_none = |word: &str| NO_ENCODINGS.contains(&word.trim().to_ascii_lowercase().as_str());
    if said.split(',').all(is_none) {
        return Ok(());
    }
    let message = format!(
        "the server sends it in the encoding {:?}, which is not decoded; store it without \
         Content-Encoding",
        said.as_ref()
    );
    Err(StoreError::io(Operation::Get, key, io::Error::new(io::ErrorKind::InvalidData, message)))
}

/// The direct children of a path. A server that lists others, as under another name of the folder,
/// is refused: the folder would seem to be empty.
pub(super) async fn children(backend: &dyn Backend, path: &Path) -> Result<ListResult, Error> {
    let children = backend.list_with_delimiter(Some(path)).await?;
    let objects = children.objects.iter().map(|meta| &meta.location);
    let is_other = |child: &&Path| child.prefix_match(path).is_none_or(|names| names.count() > 1);
    if let Some(other) = children.common_prefixes.iter().chain(objects).find(is_other) {
        let said =
            format!("the server lists {:?} in the folder {:?}", other.as_ref(), path.as_ref());
        return Err(Error::Generic { store: "zarr-kit", source: said.into() });
    }
    Ok(children)
}

/// Size and version from the backend. The version is the ETag and version number, else the time of
/// the last change, which may be in whole seconds; none if the server tells nothing of these.
pub(super) fn describe(meta: &object_store::ObjectMeta) -> ObjectMeta {
    let modified = modified(meta);
    let version = match (&meta.e_tag, &meta.version) {
        (None, None) => modified.map(|_| {
            let millis = meta.last_modified.timestamp_millis();
            Version::from_numbers([u64::from_le_bytes(millis.to_le_bytes()), meta.size, 0, 0])
        }),
        (tag, number) => {
            // Neither holds a line feed: both come from HTTP headers.
            let tag = tag.as_deref().unwrap_or_default();
            let number = number.as_deref().unwrap_or_default();
            Some(Version::from_tag(&format!("{tag}\n{number}")))
        }
    };
    ObjectMeta { size: meta.size, version, modified }
}

/// When an object was modified. The client has the beginning of 1970 for servers that do not say.
fn modified(meta: &object_store::ObjectMeta) -> Option<SystemTime> {
    let time = meta.last_modified;
    let seconds = u64::try_from(time.timestamp()).ok().filter(|seconds| *seconds > 0)?;
    UNIX_EPOCH.checked_add(Duration::new(seconds, time.timestamp_subsec_nanos()))
}

impl Client {
    /// Repeats an idempotent, unconditional operation for the causes of its error, such as
    /// [`Cause::of`]: its response is lost or breaks off, or the server refuses it because of another
    /// request. Other responses that are errors have already been retried by the backend.
    pub(super) async fn retrying<T, F: Future<Output = Result<T, Error>>>(
        &self,
        cause: impl Fn(&Error) -> Option<Cause>,
        attempt: impl Fn() -> F,
    ) -> Result<T, Error> {
        let mut tries = Tries::new(self.limits);
        loop {
            let result = attempt().await;
            match result.as_ref().err().and_then(&cause) {
                Some(cause) if tries.next(cause).await => {}
                _ => return result,
            }
        }
    }

    /// Requests an object, or a part of it.
    pub(super) async fn ask(
        &self,
        key: &Key,
        path: &Path,
        options: &GetOptions,
    ) -> Result<GetResult, Error> {
        self.retrying(Cause::of_read, || {
            let asked = self.backend.get_opts(path, options.clone());
            self.answer(Operation::Get, key.as_str(), asked)
        })
        .await
    }

    /// Awaits a response, and reports if it takes long.
    pub(super) async fn answer<T>(
        &self,
        operation: Operation,
        name: &str,
        answer: impl Future<Output = T>,
    ) -> T {
        let Some(on_wait) = &self.on_wait else { return answer.await };
        let mut answer = pin!(answer);
        let begun = Instant::now();
        let mut patience = QUIET;
        loop {
            match timeout(patience, answer.as_mut()).await {
                Ok(answer) => return answer,
                Err(_) => on_wait.tell(&Waiting {
                    operation,
                    key: name.to_owned(),
                    place: self.space.to_string(),
                    waited: begun.elapsed(),
                    limit: self.limits.timeout,
                }),
            }
            patience = begun.elapsed();
        }
    }

    pub(super) fn new(origin: Origin, options: &StoreOptions) -> Self {
        let Origin { backend, pages, by_folder, base, space, service, .. } = origin;
        let in_flight = options.in_flight().get().min(Semaphore::MAX_PERMITS);
        let space = space.unwrap_or_else(|| space_of(&backend)).into();
        let requests = Arc::new(Semaphore::new(in_flight));
        let limits = Limits::new(options);
        let on_wait = options.waiting();
        let copies = Arc::default();
        let checked = false;
        Self {
            backend,
            pages,
            by_folder,
            base,
            space,
            service,
            requests,
            limits,
            on_wait,
            checked,
            copies,
        }
    }

    /// An error of the backend with its context.
    pub(super) fn failed(
        &self,
        operation: Operation,
        name: impl ToString,
        cause: Error,
    ) -> StoreError {
        remote(self.service, operation, name, cause)
    }

    /// `None` if the error says that there is no such object.
    pub(super) fn present<T>(
        &self,
        operation: Operation,
        key: &Key,
        result: Result<T, Error>,
    ) -> Result<Option<T>, StoreError> {
        match result {
            Ok(found) => Ok(Some(found)),
            Err(error @ Error::NotFound { .. }) if !has_no_bucket(&error) => Ok(None),
            Err(error) => Err(self.failed(operation, key, error)),
        }
    }

    pub(super) fn path(&self, operation: Operation, name: &str) -> Result<Path, StoreError> {
        let below = Path::parse(name)
            .map_err(|error| self.failed(operation, name, Error::InvalidPath { source: error }))?;
        Ok(self.base.parts().chain(below.parts()).collect())
    }

    /// Waits until another request may be made. The semaphore is never closed.
    pub(super) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.requests).acquire_owned().await.ok()
    }

    pub(super) async fn get(
        self,
        key: Key,
        range: OwnedReadRange,
        out: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<ObjectMeta>), StoreError> {
        match range {
            OwnedReadRange::All => self.get_all(key, out).await,
            OwnedReadRange::Suffix(len) => self.get_suffix(key, len, out).await,
            OwnedReadRange::Ranges(ranges) => self.get_ranges(key, ranges, out).await,
        }
    }

    pub(super) async fn get_all(
        self,
        key: Key,
        mut out: Vec<u8>,
    ) -> Result<(Vec<u8>, Option<ObjectMeta>), StoreError> {
        out.clear();
        let path = self.path(Operation::Get, key.as_str())?;
        let _permit = self.permit().await;
        let found = self.ask(&key, &path, &GetOptions::default()).await;
        let Some(found) = self.present(Operation::Get, &key, found)? else {
            return Ok((out, None));
        };
        let meta = describe(&found.meta);
        let encoded = match refuse_encoded(&key, &found) {
            Err(error) if !key.is_document() => return Err(error),
            encoded => encoded.err(),
        };
        reserve(&key, &mut out, meta.size)?;
        self.receive(&key, found, |_, bytes| out.extend_from_slice(bytes)).await?;
        // A document may be plain all the same.
        match encoded.filter(|_| !out.trim_ascii_start().starts_with(b"{")) {
            Some(error) => Err(error),
            None => Ok((out, Some(meta))),
        }
    }

    pub(super) async fn head(self, key: Key) -> Result<Option<ObjectMeta>, StoreError> {
        let path = self.path(Operation::Head, key.as_str())?;
        let _permit = self.permit().await;
        let found = self.retrying(Cause::of_read, || {
            self.answer(Operation::Head, key.as_str(), self.backend.head(&path))
        });
        let found = match found.await {
            // The first byte tells, and an empty object has none.
            Err(error) if is_lengthless(&error) => {
                let options = GetOptions { range: Some((0..1).into()), ..GetOptions::default() };
                match self.ask(&key, &path, &options).await {
                    Ok(found) => Ok(found.meta),
                    Err(Error::NotFound { path, source }) => Err(Error::NotFound { path, source }),
                    Err(_) => {
                        self.ask(&key, &path, &GetOptions::default()).await.map(|found| found.meta)
                    }
                }
            }
            found => found,
        };
        Ok(self.present(Operation::Head, &key, found)?.map(|meta| describe(&meta)))
    }

    pub(super) async fn delete(self, key: Key) -> Result<(), StoreError> {
        let path = self.path(Operation::Delete, key.as_str())?;
        let _permit = self.permit().await;
        let deleted = self.retrying(Cause::of, || {
            self.answer(Operation::Delete, key.as_str(), self.backend.delete(&path))
        });
        self.present(Operation::Delete, &key, deleted.await).map(drop)
    }

    /// All objects below a path.
    pub(super) fn objects(&self, path: &Path) -> BoxStream<'static, Result<Listed, Error>> {
        if let Some(pages) = &self.pages {
            return self.paged_objects(Arc::clone(pages), path);
        }
        if !self.by_folder {
            return self.backend.list(Some(path));
        }
        let backend = Arc::clone(&self.backend);
        let folders = stream::try_unfold(vec![path.clone()], move |mut left| {
            let backend = Arc::clone(&backend);
            async move {
                let Some(folder) = left.pop() else { return Ok::<_, Error>(None) };
                let children = children(&*backend, &folder).await?;
                left.extend(children.common_prefixes);
                Ok(Some((stream::iter(children.objects.into_iter().map(Ok)), left)))
            }
        });
        folders.try_flatten().boxed()
    }

    /// Deletes in bulk while listing, where the backend supports it.
    pub(super) async fn delete_where(
        self,
        prefix: Prefix,
        which: KeyFilter,
    ) -> Result<(), StoreError> {
        let path = self.path(Operation::Delete, prefix.as_str())?;
        let _permit = self.permit().await;
        // Repeated from the start, where fewer objects are left.
        let deleted = self.retrying(Cause::of, || async {
            let paths = self.objects(&path).map_ok(|meta| meta.location);
            // Their real names end in "/", which a `Path` cannot.
            let paths = paths.try_filter(|path| ready(!is_folder_marker(path)));
            let (base, which) = (self.base.clone(), Arc::clone(&which));
            // A name that is no key belongs to another program.
            let is_meant = move |path: &Path| key_of(&base, path).is_some_and(|key| which(&key));
            let paths = paths.try_filter(move |path| ready(is_meant(path))).boxed();
            let mut deleted = self.backend.delete_stream(paths);
            loop {
                let next = deleted.next();
                match self.answer(Operation::Delete, prefix.as_str(), next).await {
                    Some(Ok(_) | Err(Error::NotFound { .. })) => {}
                    Some(Err(error)) => return Err(error),
                    None => return Ok(()),
                }
            }
        });
        deleted.await.map_err(|error| self.failed(Operation::Delete, &prefix, error))
    }

    /// Receives a response piece by piece, with each piece's position in the object; an error if it
    /// is longer or shorter than announced.
    pub(super) async fn receive(
        &self,
        key: &Key,
        found: GetResult,
        mut take: impl FnMut(u64, &[u8]),
    ) -> Result<(), StoreError> {
        let mut at = found.range.start;
        let end = found.range.end;
        let mut stream = found.into_stream();
        while let Some(piece) = self.answer(Operation::Get, key.as_str(), stream.next()).await {
            let piece = piece.map_err(|error| self.failed(Operation::Get, key, error))?;
            let next = at + piece.len() as u64;
            if next > end {
                let message = "the server sent more bytes than it announced";
                let cause = io::Error::new(io::ErrorKind::InvalidData, message);
                return Err(StoreError::io(Operation::Get, key, cause));
            }
            take(at, &piece);
            at = next;
        }
        if at < end {
            let message = format!("the server sent {} bytes less than it announced", end - at);
            let cause = io::Error::new(io::ErrorKind::UnexpectedEof, message);
            return Err(StoreError::io(Operation::Get, key, cause));
        }
        Ok(())
    }
}
