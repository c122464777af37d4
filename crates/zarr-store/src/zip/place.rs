//! Which part of a path or URL names an archive, and which part a place in it.

use std::path::{Component, Path, PathBuf};

use crate::scheme::{Kind, kind_of, percent_decoded};

/// A URL that leads into an archive.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file, and the place in it.
    File { archive: PathBuf, within: String },
    /// The URL of the folder or prefix with the archive, its name there, and the place in it.
    Remote { parent: String, name: String, within: String },
}

/// The first part of a path that names an archive: `x.zip` that is not a folder. `None` if there
/// is none.
pub(crate) fn place_of(url: &str) -> Option<Place> {
    match kind_of(url).ok()? {
        Kind::Folder(path) => in_path(&path),
        Kind::Memory => None,
        Kind::Remote => in_url(url),
    }
}

fn in_path(path: &Path) -> Option<Place> {
    let mut archive = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        archive.push(part);
        if let Component::Normal(name) = part
            && is_name(&name.to_string_lossy())
            && !archive.is_dir()
        {
            let within = parts.as_path().to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
            return Some(Place::File { archive, within });
        }
    }
    None
}

fn in_url(url: &str) -> Option<Place> {
    let (_, rest) = url.split_once("://")?;
    // What follows the server or bucket.
    let mut start = url.len() - rest.len() + rest.find('/')? + 1;
    for segment in url.get(start..)?.split('/') {
        let end = start + segment.len();
        if is_name(segment) {
            let within = url.get(end..)?.trim_matches('/');
            return Some(Place::Remote {
                parent: url.get(..start)?.trim_end_matches('/').to_owned(),
                name: percent_decoded(segment).ok()?,
                within: percent_decoded(within).ok()?,
            });
        }
        start = end + 1;
    }
    None
}

fn is_name(segment: &str) -> bool {
    segment.len() > 4
        && segment.get(segment.len() - 4..).is_some_and(|end| end.eq_ignore_ascii_case(".zip"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_archive_of_a_url_is_found() {
        let file = |archive: &str, within: &str| {
            Some(Place::File { archive: archive.into(), within: within.to_owned() })
        };
        assert_eq!(place_of("x.zip"), file("x.zip", ""));
        assert_eq!(place_of("a/x.ZIP/b/c.zip/"), file("a/x.ZIP", "b/c.zip"));
        assert_eq!(place_of("file:///a%20b/x.zip/c"), file("/a b/x.zip", "c"));
        for other in
            ["x.zarr", "zip", ".zip", "a.zip.zarr/b", "memory:", "s3://x.zip/a", "", "€zip"]
        {
            assert_eq!(place_of(other), None, "{other}");
        }
        let remote = |parent: &str, name: &str, within: &str| {
            let [parent, name, within] = [parent, name, within].map(str::to_owned);
            Some(Place::Remote { parent, name, within })
        };
        assert_eq!(place_of("s3://b/x.zip"), remote("s3://b", "x.zip", ""));
        assert_eq!(
            place_of("https://h:1/a/x%20y.zip/b/c/"),
            remote("https://h:1/a", "x y.zip", "b/c")
        );
    }

    #[test]
    fn a_folder_is_not_an_archive() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("x.zip");
        std::fs::create_dir(&inner).expect("creates");
        assert_eq!(in_path(&inner.join("a")), None);
    }
}
