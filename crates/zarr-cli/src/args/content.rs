//! The arguments of commands that look at elements as a whole.

use std::path::PathBuf;

use zarr_kit::array::Part;

use super::{REGION, value};

/// Show counts, extremes, mean and a histogram of an array's elements.
///
/// Reads every chunk once, on all processors. Elements that the attributes `_FillValue` or
/// `missing_value` declare as missing are left out, and so is NaN; elements that equal the array's
/// fill value are counted and kept. With the attributes `scale_factor` and `add_offset`, decoded
/// values are in brackets.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit stats weather.zarr/temp_max --region 0:365
  zarr-kit stats weather.zarr/temp_max --part 3/16 --json > 3.json
  zarr-kit stats weather.zarr/temp_max --combine *.json")]
pub(crate) struct Stats {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    #[arg(long, short, help = REGION, value_name = "R")]
    #[arg(allow_hyphen_values = true, value_parser = value)]
    pub(crate) region: Option<String>,
    /// Count one part, such as 3/16: its chunks of the array. With --json, --combine takes the
    /// output.
    #[arg(long, value_name = "K/N", conflicts_with = "region", value_parser = super::part)]
    pub(crate) part: Option<Part>,
    /// Combine what --part --json has printed for all parts: one file for each.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["region", "part"])]
    pub(crate) combine: Vec<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Compare two arrays, or two groups with everything below them: metadata, then every element.
///
/// Elements differ if their bits do: NaN equals the same NaN, and 0.0 does not equal -0.0. Other
/// chunks or codecs are reported, but are no difference of the content. The exit status is 1 if the
/// content differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit copy weather.zarr copy.zarr --codecs '[{\"name\": \"bytes\"}]'
  zarr-kit diff weather.zarr copy.zarr")]
pub(crate) struct Diff {
    /// An array or group: a folder or a URL.
    pub(crate) one: String,
    /// The array or group that it is compared with.
    pub(crate) other: String,
    /// Compare no elements.
    #[arg(long)]
    pub(crate) metadata_only: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
