//! Where members are: references from the document's folder, and the stores that they lead to.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::Hierarchy;
use zarr_array::store::{
    Key, Operation, Place, Prefix, Remedy, Store, StoreError, StoreOptions, archive_of, names_in,
    place_below, real_path, scheme, shown_url,
};

use crate::document::{LOCATION, is_location};
use crate::document_url::is_virtual_join;
use crate::error::VirtualJoinError;
use crate::options::{AllowedMembers, OpenOptions};

/// The folder of a document, and the stores of members elsewhere.
#[derive(Debug)]
pub(crate) struct DocumentFolder {
    /// Its path or URL.
    pub(crate) url: String,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) options: OpenOptions,
    opener: Opener,
    /// Stores of places that are not below the folder, by URL.
    others: Mutex<HashMap<String, Hierarchy>>,
}

/// Opens the store at a path or URL that a document at this nesting depth names.
type Open = fn(&str, &OpenOptions, usize) -> Result<Hierarchy, VirtualJoinError>;

/// Opens the stores of members, which may be virtual joins themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opener {
    pub(crate) open: Open,
    /// The nesting depth of the document.
    pub(crate) depth: usize,
}

/// The store that a member is in, and where it is there.
pub(crate) struct MemberStore {
    pub(crate) store: Hierarchy,
    pub(crate) prefix: Prefix,
    /// The file or folder, if it is a local one.
    pub(crate) file: Option<PathBuf>,
    /// Whether it is a folder by its name, and no virtual join, archive or file of references.
    pub(crate) is_folder: bool,
}

/// A reference, taken apart.
#[derive(Debug, PartialEq, Eq)]
enum Reference {
    /// Names below the document's folder, not percent-encoded.
    Below(Vec<String>),
    /// Names below an ancestor of the folder, this many levels up.
    Above(usize, Vec<String>),
    /// A path or URL that does not depend on the folder.
    Absolute,
}

impl DocumentFolder {
    pub(crate) fn new(
        url: String,
        store: Arc<dyn Store>,
        options: OpenOptions,
        opener: Opener,
    ) -> Self {
        Self { url, store, options, opener, others: Mutex::default() }
    }

    /// Follows a reference.
    pub(crate) fn resolve(&self, location: &str) -> Result<MemberStore, VirtualJoinError> {
        let refuse = |reason: &str| VirtualJoinError::Reference {
            location: shown_url(location),
            reason: reason.to_owned(),
        };
        let parsed = parse(location).map_err(refuse)?;
        if self.options.members == AllowedMembers::Below && !matches!(parsed, Reference::Below(_)) {
            let reason = "it leads out of the folder of the virtual join";
            let (place, remedy) = (shown_url(location), Remedy::OutsideMembers);
            return Err(StoreError::not_allowed(Operation::Open, place, reason, remedy).into());
        }
        let url = address(&self.url, location, &parsed).map_err(refuse)?;
        let options = &self.options.store;
        let (file, is_folder) = (folder_at(&url, options), !is_other_kind(&url, options));
        match parsed {
            // All members below the folder share its store: its connections, and its care for links.
            Reference::Below(names) if is_folder => {
                let prefix = Prefix::new(names.join("/")).map_err(StoreError::from)?;
                Ok(MemberStore { store: self.store.clone().into(), prefix, file, is_folder })
            }
            parsed => {
                if let Reference::Below(names) = parsed {
                    self.check_links(&names)?;
                }
                let (root, prefix) = match split(&url, options) {
                    Some((root, prefix)) => (root, prefix),
                    None => (url, Prefix::root()),
                };
                Ok(MemberStore { store: self.other(&root)?, prefix, file, is_folder })
            }
        }
    }

    /// Refuses a document, archive or file of references if a link to it leads out of the folder:
    /// it is opened by its path, which the folder's store does not see.
    fn check_links(&self, names: &[String]) -> Result<(), VirtualJoinError> {
        let options = &self.options.store;
        if folder_at(&self.url, options).is_none() {
            return Ok(());
        }
        let mut starts = (1..=names.len()).filter_map(|length| names.get(..length));
        let file = starts.find(|names| is_other_kind(&joined(&self.url, names), options));
        self.store.head(&Key::new(file.unwrap_or(names).join("/")).map_err(StoreError::from)?)?;
        Ok(())
    }

    /// A store that is opened once.
    fn other(&self, url: &str) -> Result<Hierarchy, VirtualJoinError> {
        let others = || self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = others().get(url) {
            return Ok(store.clone());
        }
        let Opener { open, depth } = self.opener;
        // The document may come from anybody: it leads to servers without the reader's credentials.
        let options = self.options.clone().store(self.options.store.following(&self.url, url)?);
        let store = open(url, &options, depth + 1)?;
        others().insert(url.to_owned(), store.clone());
        Ok(store)
    }
}

fn parse(location: &str) -> Result<Reference, &'static str> {
    let drive = location.as_bytes().get(1) == Some(&b':');
    if location.starts_with(['/', '\\']) || drive || scheme(location).is_some() {
        return Ok(Reference::Absolute);
    }
    let (mut levels, mut names) = (0_usize, Vec::new());
    for name in location.trim_end_matches('/').split('/') {
        match name {
            "." => {}
            ".." if names.pop().is_none() => levels += 1,
            ".." => {}
            "" => return Err("has a name of no characters"),
            name => names.push(name.to_owned()),
        }
    }
    Ok(match levels {
        0 => Reference::Below(names),
        levels => Reference::Above(levels, names),
    })
}

/// The path or URL for which a location stands in a document of this folder.
fn address(folder: &str, location: &str, parsed: &Reference) -> Result<String, &'static str> {
    Ok(match parsed {
        Reference::Below(names) => joined(folder, names),
        Reference::Above(levels, names) => {
            joined(&above(folder, *levels).ok_or("leads above the root")?, names)
        }
        Reference::Absolute => location.to_owned(),
    })
}

/// The path or URL for which a location stands in a document of this folder; `None` if it stands for
/// none.
pub(crate) fn address_of(folder: &str, location: &str) -> Option<String> {
    address(folder, location, &parse(location).ok()?).ok()
}

/// The folder that a path or URL names, unless that is a file that holds a store.
fn folder_at(url: &str, options: &StoreOptions) -> Option<PathBuf> {
    Place::parse(url, options).ok()?.folder().map(Path::to_owned)
}

/// Whether a path or URL leads into something other than a folder or bucket: another document, an
/// archive, or references.
fn is_other_kind(url: &str, options: &StoreOptions) -> bool {
    is_virtual_join(url) || Place::parse(url, options).is_ok_and(|place| place.is_in_file())
}

/// Appends names to a folder or URL.
fn joined(url: &str, names: &[String]) -> String {
    place_below(if url.is_empty() { "." } else { url }, &names.join("/"))
}

/// The ancestor this many levels up; `None` above the root of a server or bucket.
fn above(url: &str, levels: usize) -> Option<String> {
    if scheme(url).is_none() {
        let steps = vec![".."; levels].join("/");
        return Some(match url {
            "" | "." => steps,
            url => joined(url, &[steps]),
        });
    }
    let mut rest = url.trim_end_matches('/');
    for _ in 0..levels {
        let (parent, name) = rest.rsplit_once('/')?;
        if name.is_empty() || parent.ends_with('/') || parent.ends_with(':') {
            return None;
        }
        rest = parent;
    }
    Some(rest.to_owned())
}

/// The bucket, server or archive that a URL leads into, so that members there share its store, and the
/// path in it. `None` for anything else.
fn split(url: &str, options: &StoreOptions) -> Option<(String, Prefix)> {
    if is_virtual_join(url) {
        return None;
    }
    let (root, path) = match archive_of(url, options) {
        Some(archive) => (archive.to_owned(), url.get(archive.len()..)?),
        None => {
            let scheme = scheme(url).filter(|scheme| scheme != "file")?;
            let rest = url.get(scheme.len()..)?.strip_prefix("://")?;
            let (server, path) = rest.split_once('/')?;
            (format!("{scheme}://{server}"), path)
        }
    };
    let path = path.trim_matches('/');
    let names = names_in(url, path).ok()?;
    // An encoded `/` is no separator, and stores refuse a URL with a `?` or `#`.
    let is_plain = names.matches('/').count() == path.matches('/').count()
        && !(scheme(url).is_some() && path.contains(['?', '#']));
    is_plain.then(|| Some((root, Prefix::new(names).ok()?))).flatten()
}

/// The reference to `target` in a document that lies in the folder or at the URL `base`: relative
/// if possible.
///
/// # Errors
/// [`VirtualJoinError::Reference`] if a reader of the document would refuse it, or be led elsewhere.
pub(crate) fn reference(base: &str, target: &str) -> Result<String, VirtualJoinError> {
    let location = location(base, target);
    match refusal(base, target, &location) {
        None => Ok(location),
        Some(reason) => Err(VirtualJoinError::Reference { location: shown_url(&location), reason }),
    }
}

/// Why a document of this folder may not name `target` by this location.
fn refusal(base: &str, target: &str, location: &str) -> Option<String> {
    if !is_location(location) {
        return Some(format!("has control characters: the location of a member is {LOCATION}"));
    }
    let found = parse(location).and_then(|parsed| {
        let address = address(base, location, &parsed)?;
        Ok((parsed, address))
    });
    let (parsed, address) = match found {
        Ok(found) => found,
        Err(reason) => return Some(reason.to_owned()),
    };
    // Such members share a store, in which their names are keys.
    if let Reference::Below(names) = parsed
        && let Err(error) = Prefix::new(names.join("/"))
    {
        return Some(error.to_string());
    }
    let file = |url: &str| real_path(&folder_at(url, &StoreOptions::new())?);
    (file(&address) != file(target)).then(|| {
        format!(
            "leads to another place than {}, and no other location of it is known",
            shown_url(target)
        )
    })
}

fn location(base: &str, target: &str) -> String {
    // For files of any kind on the path.
    let options = StoreOptions::new();
    let absolute = |url: &str| std::path::absolute(folder_at(url, &options)?).ok();
    let relative = match (absolute(base), absolute(target)) {
        (Some(base), Some(target)) => {
            Some(relative_file(&base, &target).unwrap_or_else(|| target.display().to_string()))
        }
        // Relative to a URL, the path would mean an object there.
        (None, Some(target)) => Some(target.display().to_string()),
        (None, None) => relative_url(base, target),
        (Some(_), None) => None,
    };
    relative.unwrap_or_else(|| target.to_owned())
}

/// The relative path from one absolute path to another: by their names, so that a link in the
/// folder is named as one; between their real folders if the names lead elsewhere, as `..` does
/// behind a link.
fn relative_file(base: &Path, target: &Path) -> Option<String> {
    let (real_base, real_target) = (real_path(base)?, real_path(target)?);
    relative_path(base, target)
        .filter(|path| real_path(&real_base.join(path)).as_ref() == Some(&real_target))
        .or_else(|| relative_path(&real_base, &real_target))
}

/// The relative path from one absolute path to another.
fn relative_path(base: &Path, target: &Path) -> Option<String> {
    let clean = |path: &Path| -> Option<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(names.pop()),
                Component::CurDir => {}
                part => names.push(part.as_os_str().to_str()?.to_owned()),
            }
        }
        Some(names)
    };
    way(&clean(base)?, &clean(target)?)
}

fn relative_url(base: &str, target: &str) -> Option<String> {
    if base.contains(['?', '#']) || target.contains(['?', '#']) {
        return None;
    }
    // The names there, as in a folder. An encoded `/` is not part of the name.
    let names = |url: &str| -> Option<Vec<String>> {
        let names = url.trim_end_matches('/').split('/').map(|name| {
            let name = names_in(url, name).ok()?;
            (!name.contains('/')).then_some(name)
        });
        names.collect()
    };
    let (base, target) = (names(base)?, names(target)?);
    // Scheme and server are the first three.
    (base.get(..3)? == target.get(..3)?).then(|| way(&base, &target)).flatten()
}

fn way(base: &[String], target: &[String]) -> Option<String> {
    let common = base.iter().zip(target).take_while(|(a, b)| a == b).count();
    // On Windows two drives have nothing in common.
    if common == 0 {
        return None;
    }
    let up = base.iter().skip(common).map(|_| "..");
    let names: Vec<&str> = up.chain(target.iter().skip(common).map(String::as_str)).collect();
    Some(match names.join("/") {
        names if names.is_empty() => ".".to_owned(),
        // A name such as `run:1` is not a URL.
        names if parse(&names) == Ok(Reference::Absolute) => format!("./{names}"),
        names => names,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_taken_apart() {
        let below = |names: &[&str]| {
            Ok(Reference::Below(names.iter().map(|name| (*name).to_owned()).collect()))
        };
        assert_eq!(parse("a.zarr"), below(&["a.zarr"]));
        assert_eq!(parse("./a b/../c/"), below(&["c"]));
        assert_eq!(parse("."), below(&[]));
        assert_eq!(parse("a/../../b"), Ok(Reference::Above(1, vec!["b".to_owned()])));
        assert_eq!(parse("../.."), Ok(Reference::Above(2, Vec::new())));
        for absolute in ["/etc", "s3://bucket/a", "file:///a", "C:\\data", "\\\\host\\a", "c:a"] {
            assert_eq!(parse(absolute), Ok(Reference::Absolute), "{absolute}");
        }
        assert_eq!(parse("./run:1.zarr"), below(&["run:1.zarr"]));
        assert_eq!(parse("100%/a?b#c"), below(&["100%", "a?b#c"]));
        assert!(parse("a//b").is_err());
    }

    #[test]
    fn references_are_relative_where_they_can_be() {
        for (base, target, expected) in [
            ("/data", "/data/a.zarr", "a.zarr"),
            ("/data/joined", "/data/a.zarr/temp", "../a.zarr/temp"),
            ("file:///data", "/data/a.zarr", "a.zarr"),
            ("/data/../x", "/x/a", "a"),
            ("s3://bucket/x", "s3://bucket/x/a.zarr", "a.zarr"),
            ("s3://bucket/x/y", "s3://bucket/a.zarr", "../../a.zarr"),
            ("s3://bucket/x", "s3://other/x/a.zarr", "s3://other/x/a.zarr"),
            ("/data", "s3://bucket/a.zarr", "s3://bucket/a.zarr"),
            ("s3://bucket/x", "/data/a.zarr", "/data/a.zarr"),
            ("/data", "/data/x.zip", "x.zip"),
            ("/data", "/data/in/x.zip/a", "in/x.zip/a"),
            ("/data/joined", "/data/refs.json/a", "../refs.json/a"),
            ("s3://bucket/x", "/data/x.zip/a", "/data/x.zip/a"),
            ("s3://bucket/x", "s3://bucket/x/y.zip/a", "y.zip/a"),
            ("/data", "/data/100%/a?b#c.zarr", "100%/a?b#c.zarr"),
            ("/data", "/data/run:1.zarr", "./run:1.zarr"),
            ("/data/x", "/data/run:1.zarr", "../run:1.zarr"),
            ("/data", "/data/a:1.zarr", "./a:1.zarr"),
            ("s3://bucket/x", "s3://bucket/x/100%25/a%3Fb%23c.zarr", "100%/a?b#c.zarr"),
            ("s3://bucket/a%20b", "s3://bucket/a b/c", "c"),
            ("s3://bucket/x", "s3://bucket/x/a%2Fb", "s3://bucket/x/a%2Fb"),
            ("s3://bucket/x", "s3://bucket/x/a%FF", "s3://bucket/x/a%FF"),
            ("s3://bucket/x", "file:///data/a%20b.zip/c%20d", "/data/a b.zip/c d"),
        ] {
            assert_eq!(reference(base, target).expect("is named"), expected, "{base} {target}");
        }
    }

    #[test]
    fn folders_above_are_found() {
        assert_eq!(above("s3://bucket/a/b", 1).as_deref(), Some("s3://bucket/a"));
        assert_eq!(above("s3://bucket/a", 1).as_deref(), Some("s3://bucket"));
        assert_eq!(above("s3://bucket/a", 2), None);
        assert_eq!(above("data/x", 2).as_deref(), Some("data/x/../.."));
        assert_eq!(above(".", 1).as_deref(), Some(".."));
        let (root, prefix) = split("s3://bucket/a/b", &StoreOptions::new()).expect("of a bucket");
        assert_eq!((root.as_str(), prefix.as_str()), ("s3://bucket", "a/b"));
        let split = |url| split(url, &StoreOptions::new());
        for (url, root, path) in [
            ("s3://bucket/a%20b/c%25", "s3://bucket", "a b/c%"),
            ("https://server/a/100%/", "https://server", "a/100%"),
        ] {
            let (found, prefix) = split(url).expect(url);
            assert_eq!((found.as_str(), prefix.as_str()), (root, path));
        }
        for url in ["/a/b", "s3://bucket/a%2Fb", "https://server/a?b", "s3://bucket/a.zjoin/b"] {
            assert_eq!(split(url), None, "{url}");
        }
    }
}
