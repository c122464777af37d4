//! Object storage by the `object_store` crate. The only module that exposes its types.

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod answers;
mod client;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod connector;
mod explain;
mod folder_marker;
mod list;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod listed;
mod open;
mod pages;
mod put;
mod ranges;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod redirects;
mod retry;

use std::fmt;
use std::io::IoSlice;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};

use object_store::ObjectStore as Backend;
use object_store::path::Path;

use self::client::{Client, Origin};
use super::{
    AsyncStore, Capabilities, DirEntry, Key, KeyFilter, Links, Listing, Location, LockGuard,
    LockScope, Object, ObjectMeta, ObjectSource, Operation, Prefix, PutFrom, PutMode, PutOutcome,
    ReadRange, Sharing, Store, StoreError, StoreFuture, StoreOptions,
};
use crate::buffer::assemble;
use crate::locks::lock_table::LockTable;
use crate::processes::per_process::PerProcess;
use crate::processes::runtime::{self, Task};
use crate::store::listing::failed_listing;

/// Names that threads of this process have locked, for all stores with backends of the same name.
static HELD: LazyLock<Arc<LockTable<String>>> = LazyLock::new(|| Arc::new(LockTable::new()));

/// A store in S3, Google Cloud Storage, Azure, behind HTTP, or in any other backend of the
/// `object_store` crate.
///
/// [`Store`] and [`AsyncStore`] run the same requests on this crate's own threads, so either can be
/// used from any thread and any executor. At most [`StoreOptions::requests_in_flight`] requests are
/// in flight at a time, over all clones. A [`delete_prefix`](Store::delete_prefix) counts as one
/// request, although it lists while the backend deletes in bulk, with up to 20 requests at once on
/// S3.
///
/// # Requests that fail
/// They are retried after server errors, resets, time-outs, truncated responses, and refusals
/// because of a concurrent request (409), within the limits of [`StoreOptions::retries`]. If a
/// conditional put is refused or its response may have been lost, the object is read again:
///
/// - If it has the expected version, the put is repeated.
/// - If it has the sent bytes, and a response may have been lost, the put has succeeded.
/// - Otherwise the result is [`PutOutcome::Changed`].
///
/// A backend passed to [`RemoteStore::new`] does not report the requests that it retries itself; only
/// losses that it returns as errors are known.
///
/// After a lost response, equal bytes from another writer cannot be distinguished from the sent
/// bytes: both writers learn that they have written. This is harmless for changes that set
/// elements, attributes or a shape, since the other writer began with the same version. A change
/// that must not coincide with another, such as a count or a claim, must put a unique value into
/// the object.
///
/// # Names that end in `/`
/// Consoles of S3 and Google Cloud Storage make such objects for folders. They are no keys: they are
/// not listed, and deletions leave them.
///
/// # After a fork
/// A forked process creates its own client at first use, by the same URL and options. A store of
/// [`RemoteStore::new`] cannot do this, and returns [`StoreError::Forked`].
///
/// # Non-goals
/// No multipart uploads: an object is put in one request, of up to 5 GB on S3. So no parts remain
/// after a failed put.
#[derive(Clone)]
pub struct RemoteStore {
    shared: Arc<Shared>,
    checked: bool,
}

/// The state that all clones of a store share, in every process.
struct Shared {
    clients: PerProcess<Result<Client, StoreError>>,
    /// Creates a client in a forked process, if it was made by URL.
    remake: Option<Remake>,
    conditional_put: bool,
    in_flight: NonZeroUsize,
    /// The name of the backend.
    name: String,
    base: Path,
    /// Identifies the bucket of a service, or the server, that holds the paths.
    space: Arc<str>,
    /// The URL it was opened by, if other processes need only the URL.
    url: Option<String>,
}

/// Whether a backend has conditional puts: it replaces an object atomically only if its version is
/// still the expected one. The version is an ETag or a version number, as for `PutMode::Update` of
/// the `object_store` crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionalPut {
    /// It can. Updates from several processes are then safe.
    Supported,
    /// It cannot, as plain HTTP and some servers of the S3 protocol.
    Unsupported,
}

type Remake = Box<dyn Fn() -> Result<Client, StoreError> + Send + Sync>;

impl RemoteStore {
    /// A store of the objects in `backend` with paths below `base`.
    ///
    /// `conditional_put` says whether the backend has conditional puts; the backend itself does not
    /// tell.
    pub fn new(
        backend: Arc<dyn Backend>,
        base: Path,
        conditional_put: ConditionalPut,
        options: &StoreOptions,
    ) -> Self {
        let conditional_put = conditional_put == ConditionalPut::Supported;
        let (pages, by_folder, space) = (None, false, None);
        let origin =
            Origin { backend, pages, by_folder, base, space, conditional_put, service: None };
        Self::of(Client::new(origin, options), conditional_put, options, None, None)
    }

    /// The store at `url`: `s3://bucket/path`, `gs://bucket/path`, `az://container/path`,
    /// `https://host/path`, and any other URL that the `object_store` crate recognises. Uses the
    /// environment's usual settings (`AWS_*`, `GOOGLE_*`, `AZURE_*`), then `options`.
    ///
    /// # Errors
    /// [`StoreError::Url`] if the URL or an option is invalid; [`StoreError::Remote`] if the client
    /// refuses the settings.
    pub fn from_url(url: &str, options: &StoreOptions) -> Result<Self, StoreError> {
        let origin = open::from_url(url, options)?;
        let conditional_put = origin.conditional_put;
        let (again, recipe) = (url.to_owned(), options.clone());
        let remake: Remake =
            Box::new(move || Ok(Client::new(open::from_url(&again, &recipe)?, &recipe)));
        // A query holds a signature or a token, and the part before an @ a password.
        let open = Some(url.to_owned()).filter(|url| !url.contains(['?', '#', '@']));
        Ok(Self::of(Client::new(origin, options), conditional_put, options, Some(remake), open))
    }

    fn of(
        client: Client,
        conditional_put: bool,
        options: &StoreOptions,
        remake: Option<Remake>,
        url: Option<String>,
    ) -> Self {
        let (name, base) = (client.backend.to_string(), client.base.clone());
        let space = Arc::clone(&client.space);
        let clients = PerProcess::new();
        clients.get(|| Ok(client));
        let in_flight = options.in_flight();
        let shared = Shared { clients, remake, conditional_put, in_flight, name, base, space, url };
        Self { shared: Arc::new(shared), checked: false }
    }

    /// The client of this process. Errors name `operation` and the key or prefix `name`.
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

    /// All of the bucket or server, by the same client.
    fn whole(&self) -> Self {
        let Shared { conditional_put, in_flight, name, space, .. } = &*self.shared;
        let below = self.clone();
        let remake: Remake = Box::new(move || {
            let client = below.client(Operation::Open, "")?;
            Ok(Client { base: Path::default(), ..client })
        });
        let shared = Shared {
            clients: PerProcess::new(),
            remake: Some(remake),
            conditional_put: *conditional_put,
            in_flight: *in_flight,
            name: name.clone(),
            base: Path::default(),
            space: Arc::clone(space),
            url: None,
        };
        Self { shared: Arc::new(shared), checked: self.checked }
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

impl RemoteStore {
    /// The path of an object of another store in this store's bucket, if it is there.
    fn path_here(&self, from: &dyn Store, key: &Key) -> Option<Path> {
        let place = from.location(&Prefix::new(key.as_str()).ok()?)?;
        if place.space != *self.shared.space {
            return None;
        }
        let segments = place.segments.iter().map(|segment| std::str::from_utf8(segment));
        let segments: Vec<&str> = segments.collect::<Result<_, _>>().ok()?;
        Path::parse(segments.join("/")).ok()
    }
}

/// Lends the caller's buffer to a task.
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

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        if !self.shared.conditional_put {
            mode.require_overwrite(key)?;
        }
        let bytes = assemble(key, pieces)?;
        let expected = match mode {
            PutMode::Overwrite => {
                self.run(Operation::Put, key, |client, key| client.put(key, bytes))?;
                return Ok(PutOutcome::Written);
            }
            PutMode::Create => None,
            PutMode::Update(version) => Some(version.clone()),
        };
        self.run(Operation::Put, key, |client, key| client.put_if(key, bytes, expected))
    }

    fn capabilities(&self) -> Capabilities {
        let Shared { conditional_put, in_flight, .. } = &*self.shared;
        Capabilities::new().conditional_put(*conditional_put).requests_in_flight(*in_flight)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.run(Operation::Delete, key, Client::delete)
    }

    fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<(), StoreError> {
        let client = self.client(Operation::Delete, prefix.as_str())?;
        let work = client.delete_where(prefix.clone(), Arc::clone(which));
        runtime::wait(Operation::Delete, prefix.as_str(), work)
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        let client = self.client(Operation::List, prefix.as_str());
        client.map_or_else(failed_listing, |client| list::list(client, prefix.clone()))
    }

    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        let client = self.client(Operation::List, prefix.as_str());
        Some(client.map_or_else(failed_listing, |c| list::list_described(c, prefix.clone())))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let client = self.client(Operation::List, prefix.as_str());
        client.map_or_else(failed_listing, |client| list::list_dir(client, prefix.clone()))
    }

    /// Excludes only threads of this process: object storage has no locks.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        // The same for all handles of the bucket, wherever they begin.
        let base = self.shared.base.as_ref();
        let slash = if base.is_empty() { "" } else { "/" };
        let name = format!("{}\0{base}{slash}{key}", self.shared.name);
        let held = HELD.lock(name).map_err(|cause| cause.of(key))?;
        Ok(LockGuard::new(LockScope::Process, held))
    }

    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(self.clone()))
    }

    fn checked(&self) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self { checked: true, ..self.clone() }))
    }

    fn outer_stores(&self) -> Vec<(Arc<dyn Store>, Prefix)> {
        let base = Prefix::new(self.shared.base.as_ref());
        let outer = |base| (Arc::new(self.whole()) as Arc<dyn Store>, base);
        base.ok().filter(|base| !base.is_root()).map(outer).into_iter().collect()
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        let base = self.shared.base.parts();
        let base: Vec<String> = base.map(|part| part.as_ref().to_owned()).collect();
        let segments = base.iter().map(String::as_str).chain(prefix.segments());
        Some(Location::new(&*self.shared.space, segments))
    }

    fn source(&self, key: &Key) -> Result<Option<ObjectSource>, StoreError> {
        let Some(url) = &self.shared.url else { return Ok(None) };
        let url = crate::place_below(url, key.as_str());
        Ok(self.head(key)?.map(|meta| ObjectSource { url, offset: 0, length: meta.size }))
    }

    fn put_from(
        &self,
        key: &Key,
        from: &dyn Store,
        from_key: &Key,
        expected: &ObjectMeta,
        _: Sharing,
    ) -> Result<PutFrom, StoreError> {
        let Some(path) = self.path_here(from, from_key) else { return Ok(PutFrom::Unsupported) };
        let size = expected.size;
        let done = self.run(Operation::Put, key, |client, key| client.copy(path, key, size));
        // The server copied the object's content at the time of the copy.
        let is_changed = done.as_ref().is_ok_and(|done| *done == PutFrom::Copied)
            && (expected.version.is_none() || from.head(from_key)?.as_ref() != Some(expected));
        if is_changed {
            self.delete(key)?;
            return Ok(PutFrom::Changed);
        }
        done
    }

    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let client = self.client(Operation::List, prefix.as_str())?;
        list::without_key(client, prefix.clone()).try_for_each(|name| {
            found(&name?);
            Ok(())
        })
    }
}

impl AsyncStore for RemoteStore {
    fn get(&self, key: &Key, range: ReadRange<'_>, buffer: Vec<u8>) -> StoreFuture<Option<Object>> {
        let range = range.to_owned();
        self.start(key, move |client, key| client.get(key, range, buffer))
    }
}
