//! Options for opening a store.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use crate::waiting::{OnWait, Waiting};
use crate::{DocumentLimit, Durability, LocalStore, Opener, Service, StoreError};

/// Options for opening a store by URL.
///
/// # Examples
/// ```
/// use zarr_store::StoreOptions;
///
/// let anonymous = StoreOptions::new()
///     .setting("skip_signature", "true")
///     .setting("region", "us-west-2")
///     .requests_in_flight(16);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct StoreOptions {
    create: bool,
    durability: Durability,
    outside_links: bool,
    pub(super) targets: Vec<String>,
    pub(super) only_targets: bool,
    pub(super) anonymous: bool,
    pub(super) openers: &'static [&'static dyn Opener],
    documents: DocumentLimit,
    settings: Settings,
    in_flight: NonZeroUsize,
    max_retries: usize,
    retry_timeout: Duration,
    on_wait: Option<OnWait>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl StoreOptions {
    /// The environment's settings, 64 requests in flight, up to 10 retries within 3 minutes.
    pub fn new() -> Self {
        Self {
            create: false,
            durability: Durability::default(),
            outside_links: false,
            targets: Vec::new(),
            only_targets: false,
            anonymous: false,
            openers: &[],
            documents: DocumentLimit::default(),
            settings: Settings::default(),
            in_flight: NonZeroUsize::MIN.saturating_add(63),
            max_retries: 10,
            retry_timeout: Duration::from_secs(180),
            on_wait: None,
        }
    }

    /// Whether to create a missing folder (local stores; object storage has no folders).
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// The failures that a finished write to a local store survives: see
    /// [`LocalStore::with_durability`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Whether a local store follows symbolic links out of its folder: see
    /// [`LocalStore::with_outside_links`].
    pub fn outside_links(mut self, allowed: bool) -> Self {
        self.outside_links = allowed;
        self
    }

    /// The kinds of stores in files, such as zip archives: none by default. `zarr_kit::OPENERS` has the
    /// kinds of all features.
    pub fn openers(mut self, openers: &'static [&'static dyn Opener]) -> Self {
        self.openers = openers;
        self
    }

    /// Allows documents to lead into a folder, or to objects below a URL, which are then read with the
    /// credentials of the environment. May be called several times.
    ///
    /// Without it, a `ReferenceStore` reads local files only in the folder of its reference file. It and
    /// virtual joins read objects on servers without credentials, unless they are in the bucket of the
    /// document.
    pub fn target(mut self, folder_or_url: impl Into<String>) -> Self {
        self.targets.push(folder_or_url.into());
        self
    }

    /// Whether the places of [`target`](Self::target) are the only ones to which a document may lead:
    /// not even the folder of a reference file is, unless it is named. Redirects to other servers are
    /// then refused, too.
    ///
    /// A service that reads documents of other people should set it: otherwise these lead to any
    /// server that it can reach, also to one in its own network.
    pub fn only_targets(mut self, only: bool) -> Self {
        self.only_targets = only;
        self
    }

    /// The most bytes of a document, such as `zarr.json`, that is deflated in a zip archive or the
    /// target of a reference: 256 MiB by default. There a few bytes can expand to a gigabyte, and
    /// readers keep whole documents in memory.
    pub fn max_document(mut self, bytes: u64) -> Self {
        self.documents = DocumentLimit::new(bytes);
        self
    }

    /// A setting of the client, which overrides the environment. The `object_store` crate defines
    /// the names for this kind of store, such as `region`, `endpoint`, `access_key_id`,
    /// `skip_signature`, `allow_http` and `timeout`.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.0.push((name.into(), value.into()));
        self
    }

    /// The most requests to a remote store in flight at a time, from all threads together; at least
    /// one.
    pub fn requests_in_flight(mut self, requests: usize) -> Self {
        self.in_flight = NonZeroUsize::new(requests).unwrap_or(NonZeroUsize::MIN);
        self
    }

    /// The [requests in flight](crate::Capabilities::requests_in_flight) of the store at a path or URL,
    /// which is not opened: those of these options for a place on a server, otherwise one.
    ///
    /// # Examples
    /// ```
    /// use zarr_store::StoreOptions;
    ///
    /// let options = StoreOptions::new().requests_in_flight(16);
    /// let requests = ["s3://bucket/data.zarr", "data.zarr"].map(|url| options.requests_at(url));
    /// assert_eq!(requests.map(|requests| requests.get()), [16, 1]);
    /// ```
    #[must_use]
    pub fn requests_at(&self, url: &str) -> NonZeroUsize {
        if Service::of(url).is_some() { self.in_flight } else { NonZeroUsize::MIN }
    }

    /// The number of retries of a request to a remote store, and the time after its start until
    /// which it is retried.
    pub fn retries(mut self, retries: usize, timeout: Duration) -> Self {
        self.max_retries = retries;
        self.timeout(timeout)
    }

    /// The time after its start until which a request to a remote store is retried; 3 minutes by
    /// default. A single attempt lasts at most 30 s, or a sixth of this if that is longer, and never
    /// longer than this. The [setting](StoreOptions::setting) `timeout` replaces that limit. A large
    /// object on a slow line needs a longer attempt. A request to a server that accepts and never
    /// responds fails after this time plus the time of the last attempt.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.retry_timeout = timeout;
        self
    }

    /// Calls `told` when a remote store has not responded for 5 s, or another process has held a lock
    /// of a local store for 5 s, then for 10 s, 20 s and so on.
    ///
    /// It is called on threads that move the bytes of other requests, so it should return quickly.
    ///
    /// # Examples
    /// ```
    /// use zarr_store::StoreOptions;
    ///
    /// let options = StoreOptions::new().on_wait(|waiting| eprintln!("{waiting}"));
    /// ```
    pub fn on_wait(mut self, told: impl Fn(&Waiting) + Send + Sync + 'static) -> Self {
        self.on_wait = Some(OnWait::new(told));
        self
    }

    #[cfg(feature = "object_store")]
    pub(crate) fn in_flight(&self) -> NonZeroUsize {
        self.in_flight
    }

    /// Refuses a setting that no client knows, where there is no client: a misspelled one would do
    /// nothing.
    #[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
    pub(super) fn check_names(&self) -> Result<(), String> {
        let mut names = self.settings.0.iter().map(|(name, _)| name);
        match names.find(|name| !crate::addresses::settings::is_known(name)) {
            Some(name) => Err(format!("the option {name:?} is unknown for any store")),
            None => Ok(()),
        }
    }

    /// Without clients, no settings are known.
    #[cfg(not(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http")))]
    pub(super) fn check_names(&self) -> Result<(), String> {
        Ok(())
    }

    /// Settings of the client; later ones override earlier ones.
    #[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        // The default of the clients.
        const DEFAULT_TRY: Duration = Duration::from_secs(30);
        let longest = self.retry_timeout.min(DEFAULT_TRY.max(self.retry_timeout / 6));
        let timeout = format!("{} ms", longest.as_millis().max(1));
        let other = (longest != DEFAULT_TRY).then(|| ("timeout".to_owned(), timeout));
        other.into_iter().chain(self.settings.0.iter().cloned()).collect()
    }

    /// The limits that [`retries`](Self::retries) sets.
    #[must_use]
    pub fn retry_limits(&self) -> (usize, Duration) {
        (self.max_retries, self.retry_timeout)
    }

    #[cfg(feature = "object_store")]
    pub(crate) fn waiting(&self) -> Option<OnWait> {
        self.on_wait.clone()
    }

    /// Whether a missing store is created.
    #[must_use]
    pub fn creates(&self) -> bool {
        self.create
    }

    /// The failures that a finished write survives.
    #[must_use]
    pub fn write_durability(&self) -> Durability {
        self.durability
    }

    /// The folders and URLs that [`target`](Self::target) allows.
    #[must_use]
    pub fn targets(&self) -> &[String] {
        &self.targets
    }

    /// The limit that [`max_document`](Self::max_document) sets.
    #[must_use]
    pub fn document_limit(&self) -> DocumentLimit {
        self.documents
    }

    /// Whether the [targets](Self::target) are the only places to which a document may lead.
    #[must_use]
    pub fn has_only_targets(&self) -> bool {
        self.only_targets
    }

    /// Whether servers get no credentials, since a document led there: see
    /// [`following`](Self::following).
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.anonymous
    }

    /// Opens the folder at a local path with these options, even if its name belongs to another
    /// kind of store.
    ///
    /// # Errors
    /// As [`LocalStore::open`] and [`LocalStore::create`].
    pub fn open_folder(&self, path: impl AsRef<Path>) -> Result<LocalStore, StoreError> {
        let store = if self.create { LocalStore::create(path) } else { LocalStore::open(path) }?;
        let store = store.with_durability(self.durability).with_outside_links(self.outside_links);
        Ok(store.telling(self.on_wait.clone()))
    }
}

/// Settings of a client by their names.
#[derive(Clone, Default)]
struct Settings(Vec<(String, String)>);

/// Without the values, which may be secrets.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use std::time::Duration;

    use super::StoreOptions;

    #[test]
    fn attempts_last_longer_where_requests_are_retried_for_longer() {
        let attempt = |seconds| {
            let options = StoreOptions::new().timeout(Duration::from_secs(seconds));
            options.settings().pop().map(|(name, time)| format!("{name}: {time}"))
        };
        // 30 s are the default of the clients.
        assert_eq!([30, 180].map(attempt), [None, None]);
        let expected = ["timeout: 10000 ms", "timeout: 100000 ms"];
        assert_eq!([10, 600].map(attempt), expected.map(|text| Some(text.to_owned())));
    }
}
