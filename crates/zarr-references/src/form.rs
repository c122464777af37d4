//! The forms that references have, told by the names of their files.

use std::path::Path;

/// The document of a folder of tables.
pub(super) const DOCUMENT: &str = ".zmetadata";

/// The forms of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A file of JSON.
    File,
    /// A folder of tables.
    Table,
}

/// The form of references in a file or folder of this name, if it may hold references.
pub(super) fn form_of(name: &str) -> Option<Form> {
    let name = Path::new(name);
    match name.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "json" if name.file_stem()? != "zarr" => Some(Form::File),
        "parq" | "parquet" => Some(Form::Table),
        _ => None,
    }
}

/// Whether a folder of this name has tables of references.
pub(super) fn is_table(name: &str) -> bool {
    form_of(name) == Some(Form::Table)
}
