//! The arguments of `check`.

use zarr_kit::array::Part;

use super::shared::part;

/// Check an array, or a group with everything below it, against the specifications.
///
/// Prints one finding per line: error, warning or note, key, JSON path, the fault, the allowed values,
/// and the finding's id, which --explain explains. The exit status is 1 if there is an error or a
/// warning. An object that could not be checked is a warning; a harmless leftover of an ordinary
/// writer is a note.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit check weather.zarr --data

--repair removes unfinished files and locks of ended processes, and undoes or completes an
interrupted rearrangement. It does not change elements.")]
pub(crate) struct Check {
    /// An array or group: a folder or a URL.
    #[arg(required_unless_present = "explain")]
    pub(crate) path: Option<String>,
    /// Explain the finding with this id, its causes and its repair, and check nothing.
    #[arg(long, value_name = "ID", conflicts_with_all = ["path", "data", "complete", "part", "repair", "json"])]
    pub(crate) explain: Option<String>,
    /// Report every chunk that is not stored. Without this option, a note counts them, if they are few.
    #[arg(long, conflicts_with = "part")]
    pub(crate) complete: bool,
    /// Accept findings with this id, or with id:pattern those of keys that fit: stray-object:*.parquet, in
    /// which * is any text. Repeat it for more.
    #[arg(long, value_name = "ID")]
    pub(crate) ignore: Vec<String>,
    /// Also read and decode every chunk.
    #[arg(long)]
    pub(crate) data: bool,
    /// Check one part, such as 3/16: each part reads its own chunks, and the first part also checks
    /// documents and keys.
    #[arg(long, value_name = "K/N", requires = "data", value_parser = part)]
    pub(crate) part: Option<Part>,
    /// Memory for the elements of chunks that are decoded at the same time: 64MiB, 2GiB.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = crate::notation::size::parse)]
    pub(crate) memory: u64,
    /// First remove the files of killed writers, and undo or complete interrupted rearrangements; list
    /// these repairs.
    #[arg(long)]
    pub(crate) repair: bool,
    /// With --repair: no other program writes at the same time. Needed for rearrangements on stores
    /// without locks between processes, such as object storage.
    #[arg(long, requires = "repair")]
    pub(crate) sole_writer: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
