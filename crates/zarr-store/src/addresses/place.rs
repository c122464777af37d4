//! Paths and URLs of stores: parsing them, and opening the stores there.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::addresses::below::below;
#[cfg(not(feature = "object_store"))]
use crate::addresses::scheme::schemes;
use crate::addresses::scheme::{percent_decoded, scheme_of};
use crate::{Key, MemoryStore, Opener, Prefix, Store, StoreError, StoreOptions, shown_url};

/// A parsed path or URL of a store: the kind of place, whether it leads into a file that holds a
/// store, and the store there.
///
/// Its text, also by `{}` and `{:?}`, has no secrets.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use zarr_store::{Place, PlaceKind, StoreOptions};
///
/// let options = StoreOptions::new();
/// let place = Place::parse("file:///my%20data", &options)?;
/// assert_eq!(place.folder(), Some(Path::new("/my data")));
/// let place = Place::parse("https://me:secret@host/data.zarr", &options)?;
/// assert_eq!((place.kind(), place.folder()), (&PlaceKind::Remote, None));
/// assert_eq!(place.to_string(), "https://host/data.zarr");
/// assert!(Place::parse("file://host/a", &options).is_err());
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct Place {
    /// As it was written, with all secrets.
    text: String,
    kind: PlaceKind,
    in_file: Option<InFile>,
}

/// The kind of place that a path or URL names, by its scheme alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceKind {
    /// A path of the local file system.
    Local(PathBuf),
    /// A new store in memory.
    Memory,
    /// A place on a server, of any scheme.
    Remote,
}

/// A file that holds a store, and the path in it.
#[derive(Clone)]
struct InFile {
    opener: &'static dyn Opener,
    file: FileAt,
    within: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FileAt {
    Local(PathBuf),
    /// The URL of the folder or prefix that holds the file, and its name there.
    Remote {
        parent: String,
        name: String,
    },
}

/// Kinds of stores in files.
type Openers<'o> = &'o [&'static dyn Opener];

impl Place {
    /// Parses a path or URL. [`StoreOptions::openers`] gives the kinds of stores in files. The
    /// first such file on the path counts, as far as the text and the local folders show.
    ///
    /// # Errors
    /// [`StoreError::Url`] if it is empty, a URL of a file that has a host or is not
    /// percent-encoded, or a URL of memory with a path.
    pub fn parse(text: &str, options: &StoreOptions) -> Result<Self, StoreError> {
        let refused = |reason| StoreError::Url { url: shown_url(text), reason };
        let kind = kind_of(text).map_err(refused)?;
        let in_file = in_file(text, &kind, options.openers);
        Ok(Self { text: text.to_owned(), kind, in_file })
    }

    /// The kind of place, by its scheme alone.
    #[must_use]
    pub fn kind(&self) -> &PlaceKind {
        &self.kind
    }

    /// The folder, if the store is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match &self.kind {
            PlaceKind::Local(path) if self.in_file.is_none() => Some(path),
            _ => None,
        }
    }

    /// The folders on its path that do not exist, the innermost first: opening it with
    /// [`create`](StoreOptions::create) makes them. Empty if the store is not a folder.
    #[must_use]
    pub fn missing_folders(&self) -> Vec<PathBuf> {
        let all = self.folder().into_iter().flat_map(Path::ancestors);
        let is_missing = |folder: &&Path| {
            **folder != *Path::new("") && folder.try_exists().is_ok_and(|exists| !exists)
        };
        all.take_while(is_missing).map(PathBuf::from).collect()
    }

    /// Whether it leads to or into a file that holds a store.
    #[must_use]
    pub fn is_in_file(&self) -> bool {
        self.in_file.is_some()
    }

    /// Opens the store.
    ///
    /// # Errors
    /// [`StoreError::Url`] if this build has no client for it, or if a setting is unknown or has a value
    /// that it cannot have; otherwise the errors of the store.
    pub fn open(&self, options: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
        if self.kind != PlaceKind::Remote {
            options
                .check_names()
                .map_err(|reason| StoreError::Url { url: shown_url(&self.text), reason })?;
        }
        if let Some(found) = &self.in_file
            && let Some(store) = found.open(options)?
        {
            return Ok(store);
        }
        Ok(match &self.kind {
            PlaceKind::Local(path) => Arc::new(options.open_folder(path)?),
            PlaceKind::Memory => Arc::new(MemoryStore::new()),
            PlaceKind::Remote => open_remote(&self.text, options)?,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_url(&self.text))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&shown_url(&self.text)).finish()
    }
}

impl InFile {
    /// The store in the file; `None` if there is no such file, but perhaps a prefix of that name.
    fn open(&self, options: &StoreOptions) -> Result<Option<Arc<dyn Store>>, StoreError> {
        let within = Prefix::new(&self.within)?;
        let store = match &self.file {
            FileAt::Local(path) => Some(self.opener.open_local(path, options)?),
            FileAt::Remote { parent, name } => {
                let (around, key) = (open_url(parent, options)?, Key::new(name)?);
                self.opener.open_within(around, parent, &key, options)?
            }
        };
        Ok(store.map(|store| below(store, within)))
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
/// With [`StoreOptions::openers`], a path or URL may lead to or into a file that holds a store:
/// `data/x.zip/group`.
///
/// # Errors
/// [`StoreError::Url`] if the URL is invalid or this build has no client for it; otherwise the
/// errors of the store.
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
    Place::parse(url, options)?.open(options)
}

/// The beginning of a path or URL up to a file that holds a store, such as a zip archive.
/// [`StoreOptions::openers`] gives the kinds of such files. `None` if it leads into no such file.
///
/// # Examples
/// ```
/// use zarr_store::{StoreOptions, archive_of};
///
/// assert_eq!(archive_of("data/x.zarr/group", &StoreOptions::new()), None);
/// ```
#[must_use]
pub fn archive_of<'u>(url: &'u str, options: &StoreOptions) -> Option<&'u str> {
    // Longer texts lead into the archive too, so bisection finds the shortest one.
    let ends = url.match_indices(std::path::is_separator).map(|(at, _)| at).chain([url.len()]);
    let starts: Vec<&str> = ends.filter_map(|end| url.get(..end)).collect();
    let leads_in =
        |start: &&str| Place::parse(start, options).is_ok_and(|place| place.is_in_file());
    starts.get(starts.partition_point(|start| !leads_in(start))).copied()
}

fn kind_of(url: &str) -> Result<PlaceKind, String> {
    match scheme_of(url) {
        Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
            "file" => file_path(rest).map(PlaceKind::Local),
            "memory" if rest.trim_matches('/').is_empty() => Ok(PlaceKind::Memory),
            "memory" => Err("a store in memory has no path: memory: alone is allowed".to_owned()),
            _ => Ok(PlaceKind::Remote),
        },
        _ if url.is_empty() => Err("the empty text is neither a path nor a URL".to_owned()),
        _ => Ok(PlaceKind::Local(PathBuf::from(url))),
    }
}

/// The path in the text after `file:`, which is `/path`, `///path` or `//localhost/path`.
fn file_path(rest: &str) -> Result<PathBuf, String> {
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(host) => {
            host.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(host)
        }
    };
    // Also `file://C:\data`, which is what `file://` and a path are together.
    let is_drive = |path: &str| cfg!(windows) && path.as_bytes().get(1) == Some(&b':');
    if !path.starts_with('/') && !is_drive(path) {
        return Err("a file URL has an absolute path and no host: file:///path".to_owned());
    }
    if path.contains(['?', '#']) {
        return Err("a store's URL has no '?' or '#'; in a path they are %3F and %23".to_owned());
    }
    let text = percent_decoded(path)?;
    // On Windows file:///C:/data is C:/data.
    let drive = text.strip_prefix('/').filter(|path| is_drive(path));
    Ok(PathBuf::from(drive.unwrap_or(&text)))
}

/// The first part of a path or URL that names a file of one of these kinds; `None` if there is none.
fn in_file(url: &str, kind: &PlaceKind, openers: Openers<'_>) -> Option<InFile> {
    match kind {
        PlaceKind::Local(path) => in_path(path, openers),
        PlaceKind::Memory => None,
        PlaceKind::Remote => in_url(url, openers),
    }
}

fn in_path(path: &Path, openers: Openers<'_>) -> Option<InFile> {
    let mut file = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        file.push(part);
        let Component::Normal(name) = part else { continue };
        let name = name.to_string_lossy();
        let found = openers.iter().find(|kind| kind.recognises(&name) && kind.is_at(&file));
        if let Some(opener) = found {
            let within = parts.as_path().to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
            return Some(InFile { opener: *opener, file: FileAt::Local(file), within });
        }
    }
    None
}

fn in_url(url: &str, openers: Openers<'_>) -> Option<InFile> {
    let (_, rest) = url.split_once("://")?;
    // The path after the server or bucket.
    let mut start = url.len() - rest.len() + rest.find('/')? + 1;
    for segment in url.get(start..)?.split('/') {
        let end = start + segment.len();
        let name = percent_decoded(segment).unwrap_or_default();
        if let Some(opener) = openers.iter().find(|kind| kind.recognises(&name)) {
            let within = url.get(end..)?.trim_matches('/');
            let file =
                FileAt::Remote { parent: url.get(..start)?.trim_end_matches('/').to_owned(), name };
            let within = percent_decoded(within).ok()?;
            return Some(InFile { opener: *opener, file, within });
        }
        start = end + 1;
    }
    None
}

/// Opens the store at a URL of a server.
#[cfg(feature = "object_store")]
fn open_remote(url: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(crate::RemoteStore::from_url(url, options)?))
}

/// Refuses the URL of a server, since this build has no client.
#[cfg(not(feature = "object_store"))]
fn open_remote(url: &str, _: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    let reason = format!("this build has clients for {} alone", schemes());
    Err(StoreError::Url { url: shown_url(url), reason })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Files with names that end in `.one`, in lower or upper case.
    #[derive(Debug)]
    struct One;

    impl Opener for One {
        fn recognises(&self, name: &str) -> bool {
            Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("one"))
        }

        fn is_at(&self, path: &Path) -> bool {
            !path.is_dir()
        }

        fn open_local(&self, _: &Path, _: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
            Ok(Arc::new(MemoryStore::new()))
        }

        fn open_within(
            &self,
            _: Arc<dyn Store>,
            _: &str,
            _: &Key,
            _: &StoreOptions,
        ) -> Result<Option<Arc<dyn Store>>, StoreError> {
            Ok(None)
        }
    }

    /// The file that a path or URL leads into, and the path in it.
    fn parsed(url: &str) -> Option<(FileAt, String)> {
        in_file(url, &kind_of(url).ok()?, &[&One]).map(|found| (found.file, found.within))
    }

    /// Counts the names that it is asked about.
    #[derive(Debug)]
    struct Asked(AtomicUsize);

    impl Opener for Asked {
        fn recognises(&self, name: &str) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            One.recognises(name)
        }

        fn is_at(&self, path: &Path) -> bool {
            One.is_at(path)
        }

        fn open_local(&self, path: &Path, o: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
            One.open_local(path, o)
        }

        fn open_within(
            &self,
            store: Arc<dyn Store>,
            url: &str,
            key: &Key,
            options: &StoreOptions,
        ) -> Result<Option<Arc<dyn Store>>, StoreError> {
            One.open_within(store, url, key, options)
        }
    }

    /// It was asked about half a million names of a path of a thousand.
    #[test]
    fn an_archive_on_a_long_way_is_found_with_few_questions() {
        static ASKED: Asked = Asked(AtomicUsize::new(0));
        static OPENERS: [&dyn Opener; 1] = [&ASKED];
        let options = StoreOptions::new().openers(&OPENERS);
        let (before, after) = ("a/".repeat(700), "/b".repeat(300));
        for (way, found) in [("x.one", true), ("x", false)] {
            ASKED.0.store(0, Ordering::Relaxed);
            for scheme in ["", "s3://bucket/"] {
                let archive = format!("{scheme}{before}{way}");
                let place = format!("{archive}{after}");
                let expected = found.then_some(archive.as_str());
                assert_eq!(archive_of(&place, &options), expected);
            }
            let asked = ASKED.0.load(Ordering::Relaxed);
            assert!(asked < 2 * 12 * 1001, "{asked} names");
        }
    }

    #[test]
    fn the_first_archive_of_a_url_is_found() {
        let file =
            |archive: &str, within: &str| Some((FileAt::Local(archive.into()), within.to_owned()));
        assert_eq!(parsed("x.one"), file("x.one", ""));
        assert_eq!(parsed("a/x.ONE/b/c.one/"), file("a/x.ONE", "b/c.one"));
        assert_eq!(parsed("file:///a%20b/x.one/c"), file("/a b/x.one", "c"));
        for other in
            ["x.zarr", "one", ".one", "a.one.zarr/b", "memory:", "s3://x.one/a", "", "€one"]
        {
            assert_eq!(parsed(other), None, "{other}");
        }
        let remote = |parent: &str, name: &str, within: &str| {
            let [parent, name, within] = [parent, name, within].map(str::to_owned);
            Some((FileAt::Remote { parent, name }, within))
        };
        assert_eq!(parsed("s3://b/x.one"), remote("s3://b", "x.one", ""));
        assert_eq!(
            parsed("https://h:1/a/x%20y.one/b/c/"),
            remote("https://h:1/a", "x y.one", "b/c")
        );
        // The dot is percent-encoded, as in a URL of a file.
        assert_eq!(parsed("s3://b/x%2Eone/c"), remote("s3://b", "x.one", "c"));
    }

    #[test]
    fn a_folder_is_not_an_archive() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("x.one");
        std::fs::create_dir(&inner).expect("creates");
        assert!(in_path(&inner.join("a"), &[&One]).is_none());
    }

    #[test]
    fn paths_and_urls_are_told_apart() {
        let folder = |path: &str| Ok(PlaceKind::Local(PathBuf::from(path)));
        assert_eq!(kind_of("data.zarr"), folder("data.zarr"));
        assert_eq!(kind_of("/a b/c%20d"), folder("/a b/c%20d"));
        assert_eq!(kind_of("./a:b"), folder("./a:b"));
        assert_eq!(kind_of("file:///a%20b/%C3%A9"), folder("/a b/é"));
        assert_eq!(kind_of("file:/a"), folder("/a"));
        assert_eq!(kind_of("FILE://localhost/a"), folder("/a"));
        if cfg!(windows) {
            for url in ["file:///C:/a%20b", "file:C:/a%20b", "file://localhost/C:/a b"] {
                assert_eq!(kind_of(url), folder("C:/a b"), "{url}");
            }
            assert_eq!(kind_of(r"file://C:\a\b"), folder(r"C:\a\b"));
        }
        assert_eq!(kind_of("memory:"), Ok(PlaceKind::Memory));
        assert_eq!(kind_of("memory://"), Ok(PlaceKind::Memory));
        assert_eq!(kind_of("s3://bucket/a"), Ok(PlaceKind::Remote));
        assert_eq!(kind_of("https://host/a"), Ok(PlaceKind::Remote));
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
