//! The arguments of `rearrange`.

use super::shared::value;

/// Remove, reorder or insert whole chunks along an axis, without decoding them.
///
/// Chunks get other keys but the same bytes: a local file system links them, object storage copies
/// them on the server, twice. All ranges begin and end at edges of chunks, or of inner chunks: a shard
/// that is cut becomes a shard for each part, with the same inner chunks. A regular grid stays regular if all chunks still have one
/// length; otherwise it becomes rectilinear.
///
/// At every moment, also after a kill, a program that opens the array finds the old or the new array.
/// `check --repair` then removes the leftovers, or completes the command. Programs that have the array
/// open must open it again. No other program may write to the array meanwhile.
///
/// In a group, all arrays that have the dimension named by --axis are rearranged together. After a kill
/// at the moment of the change, some arrays may be new and others old; `check` reports this, and `check
/// --repair` completes the command. Consolidated metadata has all old or all new arrays at every moment.
///
/// In a virtual join (.zjoin), whole members are removed, reordered and inserted; only the document is
/// written. In a virtual join of groups, all arrays that have the dimension are rearranged at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ranges are indices of the axis, as in numpy: 0:31, 59:, -28:. Labels of its coordinate are allowed
too, as for `read`: 2012-01, 2012-03:2012-05; a label that could be an index needs an @ before it.

Examples:
  zarr-kit rearrange weather.zarr/temp --remove 0:31
  zarr-kit rearrange weather.zarr/temp --axis time --order 59:90,0:59
  zarr-kit rearrange weather.zarr/temp --axis time --insert february.zarr/temp --at 31
  zarr-kit rearrange weather.zarr --axis time --remove 2012-01
  zarr-kit rearrange weather.zarr --axis time --insert march.zarr --at end")]
pub(crate) struct Rearrange {
    /// The array or group: a folder or a URL.
    pub(crate) array: String,
    /// The axis, by name or number; in a group, by name, or number if no array has names.
    #[arg(long, alias = "along", value_name = "AXIS", default_value = "0", allow_hyphen_values = true, value_parser = value)]
    pub(crate) axis: String,
    /// Remove these ranges. Later elements move to the front.
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true, value_parser = value)]
    #[arg(required_unless_present_any = ["order", "insert"])]
    #[arg(conflicts_with_all = ["order", "insert"])]
    pub(crate) remove: Option<String>,
    /// Keep these ranges, in this order, and remove everything else.
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true, value_parser = value)]
    #[arg(conflicts_with = "insert")]
    pub(crate) order: Option<String>,
    /// Insert all of this array: a folder or a URL. It must have the same data type, codecs, fill value
    /// and dimension names, and the same chunks on the other axes; for a virtual join, only the same
    /// data type, dimension names and lengths of the other axes. For a group, insert all arrays of this
    /// group that have the dimension. Times are converted to the units of the rearranged array. May be
    /// given several times.
    #[arg(long, value_name = "ARRAY", requires = "at")]
    pub(crate) insert: Vec<String>,
    /// Also insert arrays with numbers of a narrower type, such as int8 into int16. They are decoded and
    /// written, from memory.
    #[arg(long, requires = "insert")]
    pub(crate) promote: bool,
    /// The index or label before which to insert, or end.
    #[arg(long, value_name = "INDEX", requires = "insert", allow_hyphen_values = true, value_parser = value)]
    pub(crate) at: Option<String>,
    /// No other program writes to the array at the same time. Needed on stores without locks between
    /// processes, such as object storage.
    #[arg(long)]
    pub(crate) sole_writer: bool,
    /// Print the plan, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result, or with --dry-run the plan, as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
    /// Whether it is `append`.
    #[arg(skip)]
    pub(crate) appends: bool,
}
