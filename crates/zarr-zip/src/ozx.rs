//! Archives of one OME-Zarr hierarchy, by RFC 9 of OME-NGFF: names end in `.ozx`, documents come first,
//! and a comment says so.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Seek, Write};
use std::path::Path;

use serde_json::{Map, Value, json};
use zip::result::ZipError;
use zip::{ZipArchive, ZipWriter};

const DOCUMENT: &str = "zarr.json";

/// Whether the name is that of such an archive.
pub(super) fn is_ozx(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|end| end.eq_ignore_ascii_case("ozx"))
}

/// Copies an archive with the documents before other objects, the root's first and others by depth. If the
/// root is an image or plate, the comment has its version.
pub(super) fn arrange(from: &File, to: impl Write + Seek) -> Result<(), ZipError> {
    let mut archive = ZipArchive::new(from)?;
    let names = archive.file_names().enumerate();
    let names = names.map(|(number, name)| Ok((number, name?.into_owned())));
    let mut names: Vec<(usize, String)> = names.collect::<Result<_, ZipError>>()?;
    names.sort_by_key(|(number, name)| {
        let is_document = name == DOCUMENT || name.ends_with("/zarr.json");
        match is_document {
            true => (0, name.matches('/').count(), name.clone()),
            false => (1, *number, String::new()),
        }
    });
    let mut arranged = ZipWriter::new(to);
    for (number, _) in &names {
        arranged.raw_copy_file(archive.by_index_raw(*number)?)?;
    }
    // What else the comment says stays.
    let comment = archive.comment().to_vec();
    let version = version(&mut archive)?;
    let members = serde_json::from_slice(&comment).unwrap_or_default();
    match version {
        Some(version) => {
            let mut members: Map<String, Value> = members;
            let listed = json!({"centralDirectory": {"jsonFirst": true}});
            members.insert("ome".to_owned(), json!({"version": version, "zipFile": listed}));
            arranged.set_comment(Value::from(members).to_string())?;
        }
        None => arranged.set_raw_comment(comment.into())?,
    }
    arranged.finish()?;
    Ok(())
}

/// The version of OME-Zarr in the root's document.
fn version(archive: &mut ZipArchive<&File>) -> Result<Option<String>, ZipError> {
    let mut text = Vec::new();
    match archive.by_name(DOCUMENT) {
        Ok(mut document) => document.read_to_end(&mut text)?,
        Err(ZipError::FileNotFound) => return Ok(None),
        Err(error) => return Err(error),
    };
    let document: Value = serde_json::from_slice(&text).unwrap_or_default();
    Ok(document.pointer("/attributes/ome/version").and_then(Value::as_str).map(str::to_owned))
}
