//! Stores by URL.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::waiting::{OnWait, Waiting};
use super::{Durability, LocalStore, MemoryStore, Store, StoreError, shown_url};

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
#[derive(Clone)]
pub struct StoreOptions {
    create: bool,
    durability: Durability,
    outside_links: bool,
    settings: Vec<(String, String)>,
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
    #[must_use]
    pub fn new() -> Self {
        Self {
            create: false,
            durability: Durability::default(),
            outside_links: false,
            settings: Vec::new(),
            in_flight: NonZeroUsize::MIN.saturating_add(63),
            max_retries: 10,
            retry_timeout: Duration::from_secs(180),
            on_wait: None,
        }
    }

    /// Whether a missing folder is created (local stores; object storage has no folders).
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// What a finished write to a local store survives: see [`LocalStore::with_durability`].
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Whether a local store follows symbolic links out of its folder: see
    /// [`LocalStore::with_outside_links`].
    #[must_use]
    pub fn outside_links(mut self, allowed: bool) -> Self {
        self.outside_links = allowed;
        self
    }

    /// A setting of the client, which overrides the environment's: `region`, `endpoint`,
    /// `access_key_id`, `skip_signature`, `allow_http`, `timeout` and any other setting that the
    /// `object_store` crate has for this kind of store, under the name it has there.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// The most requests to a remote store in flight at a time, from all threads together; at least
    /// one.
    #[must_use]
    pub fn requests_in_flight(mut self, requests: usize) -> Self {
        self.in_flight = NonZeroUsize::new(requests).unwrap_or(NonZeroUsize::MIN);
        self
    }

    /// How often a request to a remote store is retried, and for how long after its start.
    #[must_use]
    pub fn retries(mut self, retries: usize, timeout: Duration) -> Self {
        self.max_retries = retries;
        self.timeout(timeout)
    }

    /// How long after its start a request to a remote store is retried; 3 minutes by default. No
    /// single attempt lasts longer than that, nor longer than 30 s unless the
    /// [setting](StoreOptions::setting) `timeout` says otherwise: a request to a server that
    /// accepts and never responds fails after this time plus that of the last attempt.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.retry_timeout = timeout;
        self
    }

    /// Calls `told` when a remote store has not responded for 5 s, then for 10 s, 20 s and so on.
    ///
    /// It is called on threads that move the bytes of other requests, and should return quickly.
    ///
    /// # Examples
    /// ```
    /// use zarr_store::StoreOptions;
    ///
    /// let options = StoreOptions::new().on_wait(|waiting| eprintln!("{waiting}"));
    /// ```
    #[must_use]
    pub fn on_wait(mut self, told: impl Fn(&Waiting) + Send + Sync + 'static) -> Self {
        self.on_wait = Some(OnWait::new(told));
        self
    }

    #[cfg(feature = "object_store")]
    pub(super) fn in_flight(&self) -> NonZeroUsize {
        self.in_flight
    }

    /// Settings of the client; later ones override earlier ones.
    #[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        // The default of the clients.
        const LONGEST_TRY: Duration = Duration::from_secs(30);
        let timeout = format!("{} ms", self.retry_timeout.as_millis().max(1));
        let shorter = (self.retry_timeout < LONGEST_TRY).then(|| ("timeout".to_owned(), timeout));
        shorter.into_iter().chain(self.settings.iter().cloned()).collect()
    }

    #[cfg(feature = "object_store")]
    pub(super) fn retry_limits(&self) -> (usize, Duration) {
        (self.max_retries, self.retry_timeout)
    }

    #[cfg(feature = "object_store")]
    pub(super) fn waiting(&self) -> Option<OnWait> {
        self.on_wait.clone()
    }
}

/// Without the settings' values, which may be secrets.
impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.settings.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("StoreOptions")
            .field("create", &self.create)
            .field("durability", &self.durability)
            .field("outside_links", &self.outside_links)
            .field("settings", &names)
            .field("in_flight", &self.in_flight)
            .field("max_retries", &self.max_retries)
            .field("retry_timeout", &self.retry_timeout)
            .field("on_wait", &self.on_wait)
            .finish()
    }
}

/// Opens the store at `url`, or in the folder `url` if it is no URL.
///
/// `file:///path` and plain paths are local stores, `memory:` a new empty store in memory. With
/// features: `s3://bucket/path` (`aws`), `gs://bucket/path` (`gcp`),
/// `az://container/path` (`azure`), `http://` and `https://` (`http`). Credentials come from the
/// environment as those services' own tools take them (`AWS_ACCESS_KEY_ID`,
/// `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on).
///
/// # Errors
/// [`StoreError::Url`] if the URL is invalid or this build has no client for it; otherwise those of
/// the store.
///
/// # Examples
/// ```
/// use zarr_store::{open_url, Key, StoreExt, StoreOptions};
///
/// let store = open_url("memory:", &StoreOptions::new())?;
/// store.put(&Key::new("zarr.json")?, b"{}")?;
/// assert!(open_url("gopher://host/data.zarr", &StoreOptions::new()).is_err());
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
pub fn open_url(url: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    let refuse = |reason: String| StoreError::Url { url: shown_url(url), reason };
    Ok(match kind_of(url).map_err(refuse)? {
        Kind::Folder(path) => Arc::new(local(&path, options)?),
        Kind::Memory => Arc::new(MemoryStore::new()),
        #[cfg(feature = "object_store")]
        Kind::Remote => Arc::new(super::RemoteStore::from_url(url, options)?),
        #[cfg(not(feature = "object_store"))]
        Kind::Remote => {
            return Err(refuse(no_client()));
        }
    })
}

/// The folder that [`open_url`] would open; `None` if `url` is not a local store.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use zarr_store::local_path;
///
/// assert_eq!(local_path("data.zarr").as_deref(), Some(Path::new("data.zarr")));
/// assert_eq!(local_path("file:///my%20data").as_deref(), Some(Path::new("/my data")));
/// assert_eq!(local_path("s3://bucket/data.zarr"), None);
/// ```
#[must_use]
pub fn local_path(url: &str) -> Option<PathBuf> {
    match kind_of(url) {
        Ok(Kind::Folder(path)) => Some(path),
        Ok(Kind::Memory | Kind::Remote) | Err(_) => None,
    }
}

#[cfg(not(feature = "object_store"))]
fn no_client() -> String {
    format!("this build has clients for {} alone", schemes())
}

fn local(path: &Path, options: &StoreOptions) -> Result<LocalStore, StoreError> {
    let store = if options.create { LocalStore::create(path) } else { LocalStore::open(path) }?;
    Ok(store.with_durability(options.durability).with_outside_links(options.outside_links))
}

/// The schemes that this build can open.
pub(super) fn schemes() -> String {
    let all = [
        (true, "file:"),
        (true, "memory:"),
        (cfg!(feature = "aws"), "s3:"),
        (cfg!(feature = "gcp"), "gs:"),
        (cfg!(feature = "azure"), "az:"),
        (cfg!(feature = "http"), "http(s):"),
    ];
    let built: Vec<&str> = all.iter().filter(|(built, _)| *built).map(|(_, name)| *name).collect();
    built.join(", ")
}

/// The kind of store that a URL names.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Folder(PathBuf),
    Memory,
    Remote,
}

/// Splits a URL after its scheme; `None` for a path. A scheme has two letters or more: `C:\data` is
/// a path.
pub(super) fn scheme_of(url: &str) -> Option<(&str, &str)> {
    url.split_once(':').filter(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

fn kind_of(url: &str) -> Result<Kind, String> {
    match scheme_of(url) {
        Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
            "file" => file_path(rest).map(Kind::Folder),
            "memory" if rest.trim_matches('/').is_empty() => Ok(Kind::Memory),
            "memory" => Err("a store in memory has no path: memory: alone is allowed".to_owned()),
            _ => Ok(Kind::Remote),
        },
        _ if url.is_empty() => Err("the empty text is neither a path nor a URL".to_owned()),
        _ => Ok(Kind::Folder(PathBuf::from(url))),
    }
}

/// The path in what follows `file:`, which is `/path`, `///path` or `//localhost/path`.
fn file_path(rest: &str) -> Result<PathBuf, String> {
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(host) => {
            host.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(host)
        }
    };
    if !path.starts_with('/') {
        return Err("a file URL has an absolute path and no host: file:///path".to_owned());
    }
    if path.contains(['?', '#']) {
        return Err("a store's URL has no '?' or '#'; in a path they are %3F and %23".to_owned());
    }
    let text = percent_decoded(path)?;
    // On Windows file:///C:/data is C:/data.
    let drive = text.as_bytes().get(2) == Some(&b':');
    let path = if cfg!(windows) && drive { text.trim_start_matches('/') } else { &text };
    Ok(PathBuf::from(path))
}

fn percent_decoded(text: &str) -> Result<String, String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        // Digits alone: a number may have a sign, too.
        let digits = |hex: &str| hex.bytes().all(|digit| digit.is_ascii_hexdigit());
        let (code, rest) = piece
            .split_at_checked(2)
            .filter(|(hex, _)| digits(hex))
            .and_then(|(hex, rest)| Some((u8::from_str_radix(hex, 16).ok()?, rest)))
            .ok_or_else(|| {
                let found: String = piece.chars().take(2).collect();
                let found = format!("%{found}");
                format!("{found:?} is not a percent encoding: '%' must be followed by two hexadecimal digits")
            })?;
        bytes.push(code);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| "the path is not UTF-8 once decoded".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_are_told_apart() {
        let folder = |path: &str| Ok(Kind::Folder(PathBuf::from(path)));
        assert_eq!(kind_of("data.zarr"), folder("data.zarr"));
        assert_eq!(kind_of("/a b/c%20d"), folder("/a b/c%20d"));
        assert_eq!(kind_of("./a:b"), folder("./a:b"));
        assert_eq!(kind_of("file:///a%20b/%C3%A9"), folder("/a b/é"));
        assert_eq!(kind_of("file:/a"), folder("/a"));
        assert_eq!(kind_of("FILE://localhost/a"), folder("/a"));
        assert_eq!(kind_of("memory:"), Ok(Kind::Memory));
        assert_eq!(kind_of("memory://"), Ok(Kind::Memory));
        assert_eq!(kind_of("s3://bucket/a"), Ok(Kind::Remote));
        assert_eq!(kind_of("https://host/a"), Ok(Kind::Remote));
        for wrong in [
            "",
            "file://host/a",
            "file:a",
            "file:///a?b",
            "file:///%2",
            "file:///%f_",
            "file:///%FF",
            "memory:x",
        ] {
            assert!(kind_of(wrong).is_err(), "{wrong}");
        }
        for (wrong, found) in [
            ("file:///tmp/b%+9g", r#""%+9""#),
            ("file:///a%-1", r#""%-1""#),
            ("file:///a% 1", r#""% 1""#),
            ("file:///a%", r#""%""#),
            ("file:///a%4", r#""%4""#),
            ("file:///a%%41", r#""%""#),
            ("file:///a%é", r#""%é""#),
            ("file:///a%\u{1b}[", r#""%\u{1b}[""#),
        ] {
            let message = kind_of(wrong).unwrap_err();
            assert_eq!(
                message,
                format!(
                    "{found} is not a percent encoding: '%' must be followed by two hexadecimal digits"
                )
            );
        }
    }
}
