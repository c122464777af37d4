//! The arguments of the commands that change the shape of an array.

use std::path::PathBuf;

use super::shared::{Writing, value};

/// Change the shape of an array.
///
/// A rectilinear axis that grows past its last edge takes new edges from --edges, or repeats the
/// last edge. Elements that a shrinking array cuts off stay in the store and reappear when it
/// grows, unless --discard is given.
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
    /// Remove the elements that the new shape cuts off.
    #[arg(long)]
    pub(crate) discard: bool,
    /// Nobody else writes to the array at the same time. Needed for --discard on stores without
    /// locks between processes, such as object storage.
    #[arg(long)]
    pub(crate) sole_writer: bool,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Append elements to an axis of an array, or whole arrays or groups.
///
/// MORE are inserted at the end without decoding their chunks, as by `rearrange --insert MORE --at
/// end`: codecs and fill values must be equal, and times are converted to the units of the group.
/// Groups whose coordinates overlap or go backwards are refused, such as a month that is there.
///
/// They become visible all at once when all are written: an interrupted append leaves the array
/// unchanged, and repeating it completes it. A rectilinear axis takes new edges from --edges, or
/// repeats its last edge.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Elements come from a .npy file, whose shape is the array's but on that axis, or raw: C order, little
endian.

Example:
  zarr-kit append weather.zarr/temp --from march.npy --edges 31
  zarr-kit append weather.zarr april.zarr may.zarr --axis time")]
pub(crate) struct Append {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    /// Arrays or, for a group, groups, whose chunks are appended as they are.
    #[arg(value_name = "MORE", conflicts_with_all = ["from", "edges"])]
    pub(crate) more: Vec<String>,
    /// A .npy, .json or .jsonl file, or raw elements; - is standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "more")]
    pub(crate) from: Option<PathBuf>,
    /// The axis that grows, by name or number; of a group, its name.
    #[arg(long, alias = "along", value_name = "AXIS", default_value = "0", allow_hyphen_values = true, value_parser = value)]
    pub(crate) axis: String,
    /// Edges of the added chunks: 30|31x2.
    #[arg(long, value_name = "EDGES", allow_hyphen_values = true, value_parser = value)]
    pub(crate) edges: Option<String>,
    /// Nobody else writes to the array at the same time. On stores without locks between processes,
    /// such as object storage, the array otherwise grows first and is written then.
    #[arg(long)]
    pub(crate) sole_writer: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
