//! Which part of a path or URL names the document of a virtual join.

use zarr_array::store::{Key, Place, StoreOptions, names_in};

use crate::document::SUFFIX;
use crate::error::VirtualJoinError;

/// Whether a path or URL names a virtual join, or something in one.
#[must_use]
pub fn is_virtual_join(url: &str) -> bool {
    DocumentUrl::of(url).is_some()
}

/// A path or URL, cut at the document.
pub(crate) struct DocumentUrl {
    /// The document's own path or URL.
    pub(crate) url: String,
    /// The folder or URL that the document is in.
    pub(crate) parent: String,
    pub(crate) name: String,
    /// The path in the joined hierarchy.
    pub(crate) inner: String,
}

impl DocumentUrl {
    /// `None` if no name in it ends like a document's, or if a folder has the name.
    pub(crate) fn of(url: &str) -> Option<Self> {
        let url = url.trim_end_matches('/');
        let mut start = 0_usize;
        for name in url.split('/') {
            let end = start + name.len();
            if name.len() > SUFFIX.len() && name.ends_with(SUFFIX) {
                let document = url.get(..end)?;
                let place = Place::parse(document, &StoreOptions::new()).ok();
                if place.and_then(|place| Some(place.folder()?.is_dir())) == Some(true) {
                    return None;
                }
                let parent = match url.get(..start)? {
                    "" => ".".to_owned(),
                    "/" => "/".to_owned(),
                    root if root.ends_with("//") => root.to_owned(),
                    parent => match parent.trim_end_matches('/') {
                        // `file:///` is the root of the file system.
                        scheme if scheme.ends_with(':') => parent.to_owned(),
                        parent => parent.to_owned(),
                    },
                };
                // Names that are not UTF-8 are refused by the store.
                let name = names_in(url, name).ok()?;
                let inner = names_in(url, url.get(end..)?.trim_matches('/')).ok()?;
                return Some(Self { url: document.to_owned(), parent, name, inner });
            }
            start = end + 1;
        }
        None
    }

    pub(crate) fn key(&self) -> Result<Key, VirtualJoinError> {
        Ok(Key::new(&self.name).map_err(zarr_array::store::StoreError::from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_by_their_names() {
        for (url, parent, name, inner) in [
            ("a.zjoin", ".", "a.zjoin", ""),
            ("/a.zjoin", "/", "a.zjoin", ""),
            ("data/a.zjoin/temp/max", "data", "a.zjoin", "temp/max"),
            ("/data/a.zjoin/", "/data", "a.zjoin", ""),
            ("s3://bucket/a.zjoin", "s3://bucket", "a.zjoin", ""),
            ("s3://bucket/x/a.zjoin/b", "s3://bucket/x", "a.zjoin", "b"),
            ("file:///a.zjoin", "file:///", "a.zjoin", ""),
        ] {
            let place = DocumentUrl::of(url).expect(url);
            assert_eq!(
                (place.parent.as_str(), place.name.as_str(), place.inner.as_str()),
                (parent, name, inner),
                "{url}"
            );
            assert!(url.starts_with(&place.url), "{url}");
        }
        for url in ["a.zarr", ".zjoin", "a.zjoin.zarr/b", "s3://bucket", ""] {
            assert!(!is_virtual_join(url), "{url}");
        }
    }
}
