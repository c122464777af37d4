//! The arguments of commands that look at elements as a whole.

use std::path::PathBuf;

use zarr_kit::array::Part;

use super::shared::{REGION, part, value};

/// Show counts, extremes, mean and a histogram of an array's elements.
///
/// Reads every chunk once, on all processors. NaN is omitted, as are elements that the attributes
/// `_FillValue` or `missing_value` declare as missing; elements that equal the array's fill value are
/// included, and counted. With the attributes `scale_factor` and `add_offset`, decoded values are in
/// brackets.
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
    /// Count the elements of one part of the chunks, such as 3/16: the third of 16 parts. --combine
    /// takes the output with --json.
    #[arg(long, value_name = "K/N", conflicts_with = "region", value_parser = part)]
    pub(crate) part: Option<Part>,
    /// Show the statistics of the whole array from the output of --part with --json: one file for
    /// each part.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["region", "part"])]
    pub(crate) combine: Vec<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Compare two arrays, or two groups with everything below them: metadata, then every element.
///
/// Elements are compared by their bits: a NaN equals a NaN with the same bits, and 0.0 differs from
/// -0.0. Different chunks or codecs are reported, but do not count as a difference. Where lengths
/// differ, elements with the same labels are compared, if the axes have coordinate arrays. The exit
/// status is 1 if metadata or elements differ, and 2 if something could not be compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit copy weather.zarr copy.zarr --codecs '[{\"name\": \"bytes\"}]'
  zarr-kit diff weather.zarr copy.zarr
  zarr-kit diff weather.zarr copy.zarr --region time=2012-03")]
pub(crate) struct Diff {
    /// An array or group: a folder or a URL.
    pub(crate) one: String,
    /// The array or group to compare it with.
    pub(crate) other: String,
    #[arg(long, short, help = REGION, value_name = "R", conflicts_with = "metadata_only")]
    #[arg(allow_hyphen_values = true, value_parser = value)]
    pub(crate) region: Option<String>,
    /// Compare no elements.
    #[arg(long)]
    pub(crate) metadata_only: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
