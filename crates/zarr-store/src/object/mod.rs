//! Object storage, by way of the `object_store` crate. The only module that shows its types.

mod client;
mod list;
mod open;
mod put;
mod ranges;
mod retry;

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use object_store::ObjectStore as Backend;
use object_store::path::Path;

use self::client::{Client, Origin};
use super::lock_table::LockTable;
use super::runtime::{self, Task};
use super::{
    AsyncStore, DirEntry, Key, Links, Location, LockGuard, LockScope, Object, ObjectMeta,
    Operation, Prefix, PutOutcome, ReadRange, Store, StoreError, StoreFuture, StoreOptions,
    Version,
};
use crate::per_process::PerProcess;

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
/// # Requests that fail
/// They are retried after server errors, resets, time-outs and answers that break off, within the
/// limits of [`StoreOptions::retries`]. If a conditional put fails whose answer may have been lost,
/// the object is read again: the put has succeeded if the object holds the very bytes that were sent.
/// A put that is refused without such a loss is [`PutOutcome::Changed`], whatever the object holds.
/// (Backends of others do not tell of requests that they repeat themselves. Of those, only losses
/// that they report are known.)
///
/// After a loss, bytes that another writer has put look like those that were sent, if they are equal:
/// both writers are then told that they have written. What sets elements, attributes or a shape is
/// as good as done by the other writer, who began with the same version. Changes by
/// [`update`](super::update) that count, and must not agree with others' changes by chance, put
/// something into the object that is their own.
///
/// # After a fork
/// A process that was forked makes a client of its own at first use, by the same URL and options. A
/// store made by [`RemoteStore::new`] cannot do so, and answers [`StoreError::Forked`].
///
/// # Non-goals
/// No multipart uploads: an object is put in one request, of up to 5 GB on S3.
#[derive(Clone)]
pub struct RemoteStore {
    shared: Arc<Shared>,
    checked: bool,
}

/// What all clones of a store share, in whatever process.
struct Shared {
    clients: PerProcess<Result<Client, StoreError>>,
    /// Makes a client in a process that was forked, if anything says how.
    remake: Option<Remake>,
    conditional_put: bool,
    in_flight: NonZeroUsize,
    /// What the backend calls itself.
    name: String,
    base: Path,
    /// What the paths are in: a service's bucket.
    space: Arc<str>,
}

/// Whether a backend writes an object only if its version is still the expected one, atomically:
/// by ETag or version number, as `PutMode::Update` of the `object_store` crate asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionalPut {
    /// It does. Updates from several processes are then safe.
    Supported,
    /// It does not, as plain HTTP and some servers of the S3 protocol.
    Unsupported,
}

type Remake = Box<dyn Fn() -> Result<Client, StoreError> + Send + Sync>;

impl RemoteStore {
    /// A store in `backend`, of the objects whose paths begin with `base`.
    ///
    /// A backend does not say itself whether it has conditional puts: `conditional_put` does.
    pub fn new(
        backend: Arc<dyn Backend>,
        base: Path,
        conditional_put: ConditionalPut,
        options: &StoreOptions,
    ) -> Self {
        let conditional_put = conditional_put == ConditionalPut::Supported;
        let origin = Origin { backend, pages: None, base, space: None, conditional_put };
        Self::of(Client::new(origin, options), conditional_put, options, None)
    }

    /// The store at `url`: `s3://bucket/path`, `gs://bucket/path`, `az://container/path`,
    /// `https://host/path`, and what else the `object_store` crate recognises, with the
    /// environment's usual settings (`AWS_*`, `GOOGLE_*`, `AZURE_*`) and then those of `options`.
    ///
    /// # Errors
    /// [`StoreError::Url`] if the URL or an option is not understood; [`StoreError::Remote`] if the
    /// settings do not do.
    pub fn from_url(url: &str, options: &StoreOptions) -> Result<Self, StoreError> {
        let origin = open::from_url(url, options)?;
        let conditional_put = origin.conditional_put;
        let (again, recipe) = (url.to_owned(), options.clone());
        let remake: Remake =
            Box::new(move || Ok(Client::new(open::from_url(&again, &recipe)?, &recipe)));
        Ok(Self::of(Client::new(origin, options), conditional_put, options, Some(remake)))
    }

    fn of(
        client: Client,
        conditional_put: bool,
        options: &StoreOptions,
        remake: Option<Remake>,
    ) -> Self {
        let (name, base) = (client.backend.to_string(), client.base.clone());
        let space = Arc::clone(&client.space);
        let clients = PerProcess::new();
        clients.get(|| Ok(client));
        let in_flight = options.in_flight();
        let shared = Shared { clients, remake, conditional_put, in_flight, name, base, space };
        Self { shared: Arc::new(shared), checked: false }
    }

    /// The client of this process, on behalf of `operation` on the key or prefix `name`.
    fn client(&self, operation: Operation, name: &str) -> Result<Client, StoreError> {
        let Shared { clients, remake, .. } = &*self.shared;
        let made = clients.get(|| match remake {
            Some(remake) => remake(),
            None => Err(StoreError::Forked {
                operation,
                key: name.to_owned(),
                reason: "the client of this store was made before the process was forked; open the \
                         store anew in this process",
            }),
        });
        match made.ok_or_else(|| StoreError::too_many_forks(operation, name))? {
            Ok(client) => Ok(Client { checked: self.checked, ..client.clone() }),
            Err(StoreError::Forked { reason, .. }) => {
                Err(StoreError::Forked { operation, key: name.to_owned(), reason })
            }
            Err(error) => {
                let cause = error.to_string().into();
                Err(StoreError::Remote { operation, key: name.to_owned(), cause })
            }
        }
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
        let client = self.client(operation, key.as_str())?;
        runtime::wait(operation, key.as_str(), work(client, key.clone()))
    }

    fn start<F>(
        &self,
        key: &Key,
        work: impl FnOnce(Client, Key) -> F + Send + 'static,
    ) -> StoreFuture<Option<Object>>
    where
        F: Future<Output = Result<(Vec<u8>, Option<ObjectMeta>), StoreError>> + Send + 'static,
    {
        let (store, key) = (self.clone(), key.clone());
        Box::pin(async move {
            let client = store.client(Operation::Get, key.as_str())?;
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

impl fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The backend's own text names it without its secrets.
        f.debug_struct("RemoteStore")
            .field("backend", &self.shared.name)
            .field("base", &self.shared.base.as_ref())
            .field("conditional_put", &self.shared.conditional_put)
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

impl Store for RemoteStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let range = range.to_owned();
        lend(out, |buffer| {
            self.run(Operation::Get, key, |client, key| client.get(key, range, buffer))
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
        self.shared.conditional_put
    }

    fn put_if(
        &self,
        key: &Key,
        bytes: &[u8],
        expected: Option<&Version>,
    ) -> Result<PutOutcome, StoreError> {
        if !self.shared.conditional_put {
            return Err(Self::no_conditional_put(key));
        }
        let (bytes, expected) = (bytes.to_vec(), expected.cloned());
        self.run(Operation::Put, key, |client, key| client.put_if(key, bytes, expected))
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.run(Operation::Delete, key, Client::delete)
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let client = self.client(Operation::Delete, prefix.as_str())?;
        let work = client.delete_prefix(prefix.clone());
        runtime::wait(Operation::Delete, prefix.as_str(), work)
    }

    fn list(
        &self,
        prefix: &Prefix,
        _: Links,
        visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        list::list(&self.client(Operation::List, prefix.as_str())?, prefix, visit)
    }

    fn list_dir(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        list::list_dir(&self.client(Operation::List, prefix.as_str())?, prefix, visit)
    }

    /// Only among the threads of this process: object storage has no locks.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        let name = format!("{}\0{}\0{key}", self.shared.name, self.shared.base);
        let held = HELD.lock(name);
        let held = held.ok_or_else(|| StoreError::too_many_forks(Operation::Lock, key))?;
        Ok(LockGuard::new(LockScope::Process, held))
    }

    fn requests_in_flight(&self) -> NonZeroUsize {
        self.shared.in_flight
    }

    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(self.clone()))
    }

    fn checked(&self) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self { checked: true, ..self.clone() }))
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        let base = self.shared.base.parts();
        let base: Vec<String> = base.map(|part| part.as_ref().to_owned()).collect();
        let segments = base.iter().map(String::as_str).chain(prefix.segments());
        Some(Location::new(&*self.shared.space, segments))
    }
}

impl AsyncStore for RemoteStore {
    fn get(&self, key: &Key, range: ReadRange<'_>, buffer: Vec<u8>) -> StoreFuture<Option<Object>> {
        let range = range.to_owned();
        self.start(key, move |client, key| client.get(key, range, buffer))
    }
}
