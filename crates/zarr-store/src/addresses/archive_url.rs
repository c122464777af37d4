//! Which part of a path or URL names a file that holds a store, and which part a path in it.

use std::path::{Component, Path, PathBuf};

use crate::addresses::scheme::percent_decoded;
use crate::{Address, Opener};

/// A path or URL that leads into a file that holds a store, cut after the file.
#[derive(Debug)]
pub(crate) struct ArchiveUrl {
    pub(crate) opener: &'static dyn Opener,
    pub(crate) file: File,
    /// The path in it.
    pub(crate) within: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum File {
    Local(PathBuf),
    /// The URL of the folder or prefix that holds the file, and its name there.
    Remote {
        parent: String,
        name: String,
    },
}

/// Kinds of stores in files.
type Openers<'o> = &'o [&'static dyn Opener];

/// The first part of a path or URL that names a file of one of these kinds; `None` if there is none.
pub(crate) fn parse(url: &str, openers: Openers<'_>) -> Option<ArchiveUrl> {
    match Address::parse(url).ok()? {
        Address::Folder(path) => in_path(&path, openers),
        Address::Memory => None,
        Address::Remote => in_url(url, openers),
    }
}

fn in_path(path: &Path, openers: Openers<'_>) -> Option<ArchiveUrl> {
    let mut file = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        file.push(part);
        let Component::Normal(name) = part else { continue };
        let name = name.to_string_lossy();
        let found = openers.iter().find(|kind| kind.recognises(&name) && kind.is_at(&file));
        if let Some(opener) = found {
            let within = parts.as_path().to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
            return Some(ArchiveUrl { opener: *opener, file: File::Local(file), within });
        }
    }
    None
}

fn in_url(url: &str, openers: Openers<'_>) -> Option<ArchiveUrl> {
    let (_, rest) = url.split_once("://")?;
    // What follows the server or bucket.
    let mut start = url.len() - rest.len() + rest.find('/')? + 1;
    for segment in url.get(start..)?.split('/') {
        let end = start + segment.len();
        if let Some(opener) = openers.iter().find(|kind| kind.recognises(segment)) {
            let within = url.get(end..)?.trim_matches('/');
            let file = File::Remote {
                parent: url.get(..start)?.trim_end_matches('/').to_owned(),
                name: percent_decoded(segment).ok()?,
            };
            let within = percent_decoded(within).ok()?;
            return Some(ArchiveUrl { opener: *opener, file, within });
        }
        start = end + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Key, MemoryStore, Store, StoreError, StoreOptions};

    /// Files whose names end in `.one`, in small letters or large ones.
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
    fn parsed(url: &str) -> Option<(File, String)> {
        parse(url, &[&One]).map(|found| (found.file, found.within))
    }

    #[test]
    fn the_first_archive_of_a_url_is_found() {
        let file =
            |archive: &str, within: &str| Some((File::Local(archive.into()), within.to_owned()));
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
            Some((File::Remote { parent, name }, within))
        };
        assert_eq!(parsed("s3://b/x.one"), remote("s3://b", "x.one", ""));
        assert_eq!(
            parsed("https://h:1/a/x%20y.one/b/c/"),
            remote("https://h:1/a", "x y.one", "b/c")
        );
    }

    #[test]
    fn a_folder_is_not_an_archive() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("x.one");
        std::fs::create_dir(&inner).expect("creates");
        assert!(in_path(&inner.join("a"), &[&One]).is_none());
    }
}
