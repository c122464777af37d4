//! The arguments of the commands that change the shape of an array.

use std::path::PathBuf;

use super::shared::{Reading, Writing, value};

/// Change the shape of an array.
///
/// A rectilinear axis that grows past its last edge takes new edges from --edges, or repeats the
/// last edge. Elements past the new end are removed. With --keep they stay in the store, and reappear
/// when the array grows.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit resize weather.zarr/temp --shape 120 --edges 'time=30'")]
pub(crate) struct Resize {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    /// The new length of each axis.
    #[arg(long, value_name = "N,N", allow_hyphen_values = true, value_parser = value)]
    pub(crate) shape: String,
    /// Edges of the added chunks, by axis: time=30|31,x=64.
    #[arg(long, value_name = "EDGES", allow_hyphen_values = true, value_parser = value)]
    pub(crate) edges: Option<String>,
    /// Keep the elements past the new end in the store.
    #[arg(long, overrides_with = "_discard")]
    pub(crate) keep: bool,
    // Says the default aloud.
    #[arg(long = "discard", hide = true)]
    _discard: bool,
    /// No other program writes to the array at the same time. Needed to remove elements on stores
    /// without locks between processes, such as object storage.
    #[arg(long)]
    pub(crate) sole_writer: bool,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Append elements to an axis of an array, or whole arrays or groups.
///
/// The arrays or groups MORE are inserted at the end without decoding their chunks, as by `rearrange
/// --insert MORE --at end`: codecs and fill values must be equal, and times are converted to the units
/// of the group. After a last chunk that is not full, the elements of this chunk and of MORE are decoded
/// and encoded in its chunks, at most 4 GiB, and the other chunks are moved as by `rearrange`. Groups
/// whose coordinates overlap or change direction are refused, such as a month that the group has already.
///
/// Appended elements become visible all at once: after an interruption the array is unchanged, and the
/// same command completes the append; of groups, and of arrays after a last chunk that is not full, `check
/// --repair` undoes or completes it. A rectilinear axis takes new edges from --edges, or repeats its last edge.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Elements come from a file or standard input as for `write`, with the array's shape on all other axes.

Example:
  zarr-kit append weather.zarr/temp --from march.npy --edges 31
  zarr-kit append weather.zarr april.zarr may.zarr --axis time")]
pub(crate) struct Append {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    /// Arrays or, for a group, groups to append. Their chunks are not decoded.
    #[arg(value_name = "MORE", conflicts_with_all = ["from", "edges", "format", "cast"])]
    pub(crate) more: Vec<String>,
    /// A .npy, .json, .jsonl, .csv or .raw file; - is standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "more")]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// The axis that grows: its name or number; for a group, its name, or number if no array has names.
    #[arg(long, alias = "along", value_name = "AXIS", default_value = "0", allow_hyphen_values = true, value_parser = value)]
    pub(crate) axis: String,
    /// Also append arrays with numbers of a narrower type, such as int8 to int16. They are decoded and
    /// written, from memory.
    #[arg(long, conflicts_with = "from")]
    pub(crate) promote: bool,
    /// Edges of the added chunks: 30|31x2.
    #[arg(long, value_name = "EDGES", allow_hyphen_values = true, value_parser = value)]
    pub(crate) edges: Option<String>,
    /// No other program writes to the array at the same time. Without this option, on stores without
    /// locks between processes, such as object storage, the array grows first and is written then.
    #[arg(long)]
    pub(crate) sole_writer: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
