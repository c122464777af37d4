//! Object storage, by way of the `object_store` crate. The only module that shows its types.

mod client;
mod list;
mod open;
mod ranges;

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use object_store::ObjectStore as Backend;
use object_store::path::Path;
use tokio::sync::Semaphore;

use self::client::Client;
use super::lock_table::LockTable;
use super::runtime::Task;
use super::{
    AsyncStore, ByteRange, DirEntry, Key, Location, LockGuard, LockScope, Object, ObjectMeta,
    Operation, Prefix, PutOutcome, Store, StoreError, StoreFuture, StoreOptions, Version,
};

/// Names that threads of this process hold: of whatever handle, if their stores call themselves the
/// same.
static HELD: LazyLock<Arc<LockTable<String>>> = LazyLock::new(|| Arc::new(LockTable::new()));

/// A store in S3, Google Cloud Storage, Azure, behind HTTP, or in any other backend of the
/// `object_store` crate.
///
/// Both faces, [`Store`] and [`AsyncStore`], run the same requests on threads of this crate's own,
/// so that either can be used from any thread and any executor. No more than
/// [`StoreOptions::requests_in_flight`] requests are under way at a time, over all clones; a
/// [`delete_prefix`](Store::delete_prefix) counts as one, though it lists while the backend deletes
/// in bulk, by up to 20 requests at once on S3.
///
/// Requests are retried as the backend's settings say. A conditional put whose answer was lost may
/// have taken effect though it is then reported as [`PutOutcome::Changed`]: an update is then
/// applied once more, to bytes that already hold it.
///
/// # Non-goals
/// No multipart uploads: an object is put in one request, of up to 5 GB on S3.
#[derive(Clone)]
pub struct ObjectStore {
    client: Client,
    conditional_put: bool,
    in_flight: NonZeroUsize,
}

impl ObjectStore {
    /// A store in `backend`, of the objects whose paths begin with `base`.
    ///
    /// `conditional_put` says whether the backend compares ETags or versions when it writes
    /// (`PutMode::Update`), atomically.
    pub fn new(
        backend: Arc<dyn Backend>,
        base: Path,
        conditional_put: bool,
        options: &StoreOptions,
    ) -> Self {
        let in_flight = options.in_flight();
        let requests = Arc::new(Semaphore::new(in_flight.get().min(Semaphore::MAX_PERMITS)));
        let space = space_of(&backend);
        let client = Client { backend, pages: None, base, space, requests };
        Self { client, conditional_put, in_flight }
    }

    /// The store at `url`: `s3://bucket/path`, `gs://bucket/path`, `az://container/path`,
    /// `https://host/path`, and what else the `object_store` crate recognises, with the
    /// environment's usual settings (`AWS_*`, `GOOGLE_*`, `AZURE_*`) and then those of `options`.
    ///
    /// # Errors
    /// [`StoreError::Url`] if the URL or an option is not understood; [`StoreError::Remote`] if the
    /// settings do not do.
    pub fn from_url(url: &str, options: &StoreOptions) -> Result<Self, StoreError> {
        open::from_url(url, options)
    }

    fn run<T, F>(
        &self,
        operation: Operation,
        key: &Key,
        work: impl FnOnce(Client, Key) -> F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        Task::start(operation, key.as_str(), work(self.client.clone(), key.clone()))?.wait()
    }

    fn start<F>(
        &self,
        key: &Key,
        work: impl FnOnce(Client, Key) -> F + Send + 'static,
    ) -> StoreFuture<Option<Object>>
    where
        F: Future<Output = Result<(Vec<u8>, Option<ObjectMeta>), StoreError>> + Send + 'static,
    {
        let client = self.client.clone();
        let key = key.clone();
        Box::pin(async move {
            let name = key.to_string();
            let (bytes, meta) = Task::start(Operation::Get, &name, work(client, key))?.await?;
            Ok(meta.map(|meta| Object { bytes, meta }))
        })
    }

    fn no_conditional_put(key: &Key) -> StoreError {
        StoreError::Unsupported {
            operation: Operation::Put,
            key: key.to_string(),
            missing: "conditional writes",
        }
    }
}

/// What a backend calls itself. One that says no more than its kind is told by its address.
fn space_of(backend: &Arc<dyn Backend>) -> Arc<str> {
    let name = backend.to_string();
    match name.chars().all(char::is_alphanumeric) {
        true => format!("{name} {:p}", Arc::as_ptr(backend).cast::<()>()).into(),
        false => name.into(),
    }
}

impl fmt::Debug for ObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The backend's own text names it without its secrets.
        f.debug_struct("ObjectStore")
            .field("backend", &self.client.backend.to_string())
            .field("base", &self.client.base.as_ref())
            .field("conditional_put", &self.conditional_put)
            .finish()
    }
}

/// Hands the caller's buffer to a task and back.
fn lend<T>(
    out: &mut Vec<u8>,
    run: impl FnOnce(Vec<u8>) -> Result<(Vec<u8>, T), StoreError>,
) -> Result<T, StoreError> {
    let (buffer, result) = run(std::mem::take(out))?;
    *out = buffer;
    Ok(result)
}

impl Store for ObjectStore {
    fn get_versioned(
        &self,
        key: &Key,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        lend(out, |buffer| self.run(Operation::Get, key, |client, key| client.get(key, buffer)))
    }

    fn get_ranges(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let ranges = ranges.to_vec();
        lend(out, |buffer| {
            self.run(Operation::Get, key, |client, key| client.get_ranges(key, ranges, buffer))
        })
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.run(Operation::Head, key, Client::head)
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        let bytes = bytes.to_vec();
        self.run(Operation::Put, key, |client, key| client.put(key, bytes))
    }

    fn conditional_put(&self) -> bool {
        self.conditional_put
    }

    fn put_if(
        &self,
        key: &Key,
        bytes: &[u8],
        expected: Option<&Version>,
    ) -> Result<PutOutcome, StoreError> {
        if !self.conditional_put {
            return Err(Self::no_conditional_put(key));
        }
        let (bytes, expected) = (bytes.to_vec(), expected.cloned());
        self.run(Operation::Put, key, |client, key| client.put_if(key, bytes, expected))
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.run(Operation::Delete, key, Client::delete)
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let work = self.client.clone().delete_prefix(prefix.clone());
        Task::start(Operation::Delete, prefix.as_str(), work)?.wait()
    }

    fn list(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        list::list(&self.client, prefix, visit)
    }

    fn list_dir(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        list::list_dir(&self.client, prefix, visit)
    }

    /// Only among the threads of this process: object storage has no locks.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let name = format!("{}\0{}\0{key}", self.client.backend, self.client.base);
        Ok(LockGuard::new(LockScope::Process, HELD.lock(name)))
    }

    fn requests_in_flight(&self) -> NonZeroUsize {
        self.in_flight
    }

    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(self.clone()))
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        let base = self.client.base.parts();
        let base: Vec<String> = base.map(|part| part.as_ref().to_owned()).collect();
        let segments = base.iter().map(String::as_str).chain(prefix.segments());
        Some(Location::new(&*self.client.space, segments))
    }
}

impl AsyncStore for ObjectStore {
    fn get(&self, key: &Key, buffer: Vec<u8>) -> StoreFuture<Option<Object>> {
        self.start(key, move |client, key| client.get(key, buffer))
    }

    fn get_ranges(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        buffer: Vec<u8>,
    ) -> StoreFuture<Option<Object>> {
        let ranges = ranges.to_vec();
        self.start(key, move |client, key| client.get_ranges(key, ranges, buffer))
    }
}
