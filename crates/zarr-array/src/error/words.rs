//! Parts of messages.

use zarr_journal::UnfinishedParts;

/// The methods for elements of a type of variable length.
pub(super) fn variable_methods(data_type: &str) -> &'static str {
    match data_type {
        "string" => "`read_as::<String>` and `write_as`",
        _ => "`read_as::<Vec<u8>>` and `write_as`",
    }
}

pub(super) fn what_to_do(resumable: bool, parts: Option<&UnfinishedParts>) -> String {
    match parts {
        _ if !resumable => "it cannot be resumed: start again".to_owned(),
        Some(parts) => parts.to_string(),
        None => "resume it, or start again".to_owned(),
    }
}

pub(super) fn other_objects(count: u64, may_be_chunks: bool) -> String {
    match (count, may_be_chunks) {
        (_, true) => {
            format!(
                "a chunk key encoding is not known, so that {count} objects may be chunks or not"
            )
        }
        (1, false) => "1 object in it is not of Zarr".to_owned(),
        (_, false) => format!("{count} objects in it are not of Zarr"),
    }
}

pub(super) fn of(from: Option<&str>) -> String {
    from.map_or_else(String::new, |from| format!(" of {from}"))
}
