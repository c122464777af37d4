//! Which part of a path or URL names a file that holds a store, and which part a path in it.

use std::path::{Component, Path, PathBuf};

use crate::scheme::{Kind, kind_of, percent_decoded};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Zip,
    References,
    /// A folder of tables of references.
    Table,
}

/// A path or URL that leads into a file that holds a store, cut after the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ArchiveUrl {
    pub(crate) format: Format,
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

/// The first part of a path that names such a file: `x.zip` that is not a folder, `x.json` that is a
/// file and no document of Zarr, or a folder `x.parq` or `x.parquet` with `.zmetadata`. `None` if
/// there is none.
pub(crate) fn parse(url: &str) -> Option<ArchiveUrl> {
    match kind_of(url).ok()? {
        Kind::Folder(path) => in_path(&path),
        Kind::Memory => None,
        Kind::Remote => in_url(url),
    }
}

fn in_path(path: &Path) -> Option<ArchiveUrl> {
    let mut file = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        file.push(part);
        let Component::Normal(name) = part else { continue };
        let Some(format) = format_of(&name.to_string_lossy()) else { continue };
        let is_one = match format {
            // It may be one that is to be made.
            Format::Zip => !file.is_dir(),
            Format::References => file.is_file(),
            Format::Table => file.join(".zmetadata").is_file(),
        };
        if is_one {
            let within = parts.as_path().to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
            return Some(ArchiveUrl { format, file: File::Local(file), within });
        }
    }
    None
}

fn in_url(url: &str) -> Option<ArchiveUrl> {
    let (_, rest) = url.split_once("://")?;
    // What follows the server or bucket.
    let mut start = url.len() - rest.len() + rest.find('/')? + 1;
    for segment in url.get(start..)?.split('/') {
        let end = start + segment.len();
        if let Some(format) = format_of(segment) {
            let within = url.get(end..)?.trim_matches('/');
            let file = File::Remote {
                parent: url.get(..start)?.trim_end_matches('/').to_owned(),
                name: percent_decoded(segment).ok()?,
            };
            return Some(ArchiveUrl { format, file, within: percent_decoded(within).ok()? });
        }
        start = end + 1;
    }
    None
}

/// What a file of this name holds, if this build reads it.
fn format_of(name: &str) -> Option<Format> {
    let (start, end) = name.rsplit_once('.').filter(|(start, _)| !start.is_empty())?;
    match end.to_ascii_lowercase().as_str() {
        "zip" if cfg!(feature = "zip") => Some(Format::Zip),
        // The document of a node, which completion in a shell leads to, is not a file of references.
        "json" if cfg!(feature = "references") && start != "zarr" => Some(Format::References),
        "parq" | "parquet" if cfg!(feature = "references") => Some(Format::Table),
        _ => None,
    }
}

/// Whether a folder of this name has tables of references.
#[cfg(feature = "references")]
pub(crate) fn is_table(name: &str) -> bool {
    format_of(name) == Some(Format::Table)
}

#[cfg(all(test, feature = "zip"))]
mod tests {
    use super::*;

    #[test]
    fn the_first_archive_of_a_url_is_found() {
        let file = |archive: &str, within: &str| {
            let file = File::Local(archive.into());
            Some(ArchiveUrl { format: Format::Zip, file, within: within.to_owned() })
        };
        assert_eq!(parse("x.zip"), file("x.zip", ""));
        assert_eq!(parse("a/x.ZIP/b/c.zip/"), file("a/x.ZIP", "b/c.zip"));
        assert_eq!(parse("file:///a%20b/x.zip/c"), file("/a b/x.zip", "c"));
        for other in
            ["x.zarr", "zip", ".zip", "a.zip.zarr/b", "memory:", "s3://x.zip/a", "", "€zip"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
        let remote = |parent: &str, name: &str, within: &str| {
            let [parent, name, within] = [parent, name, within].map(str::to_owned);
            Some(ArchiveUrl { format: Format::Zip, file: File::Remote { parent, name }, within })
        };
        assert_eq!(parse("s3://b/x.zip"), remote("s3://b", "x.zip", ""));
        assert_eq!(
            parse("https://h:1/a/x%20y.zip/b/c/"),
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
