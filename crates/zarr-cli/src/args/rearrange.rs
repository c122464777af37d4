//! The arguments of `rearrange`.

use super::shared::value;

/// Remove, reorder or insert whole chunks along an axis, without decoding them.
///
/// Chunks get other keys and stay as they are: on a local file system they are linked, on object
/// storage the server copies them, twice. All ranges begin and end at edges of chunks. Chunks of one
/// length stay so if they can; otherwise the grid becomes rectilinear.
///
/// Readers that open the array find the old one or the new one at every moment, also if this is
/// killed; `check --repair` then removes the leftovers, or completes it. Programs that have the
/// array open must open it again, and nobody may write to it meanwhile.
///
/// In a group, all arrays that have the dimension named by --axis are rearranged together. If this is
/// killed just when they change over, some may be rearranged and others not; `check` says so, and
/// `check --repair` completes it. Consolidated metadata has all old or all new ones at every moment.
///
/// Of a virtual join (.zjoin), whole members are removed, reordered and inserted in the document, and
/// nothing else is written. In a group of one, all arrays that have the dimension are rearranged at
/// once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ranges are indices of the axis, as in numpy: 0:31, 59:, -28:. Labels of its coordinate are allowed
too, as with read: 2012-01, 2012-03:2012-05; a label that could be an index follows @.

Examples:
  zarr-kit rearrange weather.zarr/temp --remove 0:31
  zarr-kit rearrange weather.zarr/temp --axis time --order 59:90,0:59
  zarr-kit rearrange weather.zarr/temp --axis time --insert february.zarr/temp --at 31
  zarr-kit rearrange weather.zarr --axis time --remove 2012-01
  zarr-kit rearrange weather.zarr --axis time --insert march.zarr --at end")]
pub(crate) struct Rearrange {
    /// The array or group: a folder or a URL.
    pub(crate) array: String,
    /// The axis, by name or number; in a group, by name.
    #[arg(long, alias = "along", value_name = "AXIS", default_value = "0", allow_hyphen_values = true, value_parser = value)]
    pub(crate) axis: String,
    /// Remove these ranges. What comes after them moves to the front.
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true, value_parser = value)]
    #[arg(required_unless_present_any = ["order", "insert"])]
    #[arg(conflicts_with_all = ["order", "insert"])]
    pub(crate) remove: Option<String>,
    /// Keep these ranges, in this order, and remove everything else.
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true, value_parser = value)]
    #[arg(conflicts_with = "insert")]
    pub(crate) order: Option<String>,
    /// Insert all of this array: a folder or a URL. It has the same data type, codecs, fill value and
    /// dimension names, and the same chunks on the other axes; of a virtual join only the data type,
    /// dimension names and lengths of the other axes. Into a group, all arrays of this group that
    /// have the dimension. Times are converted to the units there. May be given several times.
    #[arg(long, value_name = "ARRAY", requires = "at")]
    pub(crate) insert: Vec<String>,
    /// The index or label before which to insert it, or end.
    #[arg(long, value_name = "INDEX", requires = "insert", allow_hyphen_values = true, value_parser = value)]
    pub(crate) at: Option<String>,
    /// Nobody else writes to the array at the same time. Needed on stores without locks between
    /// processes, such as object storage.
    #[arg(long)]
    pub(crate) sole_writer: bool,
    /// Only say what would be done.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result, or with --dry-run the plan, as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
    /// Whether it is `append`.
    #[arg(skip)]
    pub(crate) appends: bool,
}
