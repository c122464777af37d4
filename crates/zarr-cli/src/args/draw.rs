//! The arguments of `draw`.

use std::path::PathBuf;

use super::shared::value;

/// Draw the chunk grid in the terminal or as SVG, or the values as PNG.
///
/// Stored chunks are shaded, and a region is marked. If there are several axes, the last two with
/// more than one chunk are drawn, unless --axes selects others. On long axes, a cell is several chunks.
///
/// --values draws the elements of two axes, from dark to bright: the first index at the top, every n-th
/// index of long axes. NaN, missing values and fill values are transparent, but not the 0 of integers. A
/// colour bar below shows the range and the unit. If there are more axes, the region selects the plane.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zarr-kit draw weather.zarr/daily --region 28:34
  zarr-kit draw weather.zarr/daily -o grid.svg
  zarr-kit draw weather.zarr/temp --values --region time=0
  zarr-kit draw weather.zarr/temp --values --region time=0 -o temp.png")]
pub(crate) struct Draw {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    /// The region to mark, or with --values to draw, as for `read`.
    #[arg(long, short, value_name = "R", allow_hyphen_values = true, value_parser = value)]
    pub(crate) region: Option<String>,
    /// Draw the values, not the chunks.
    #[arg(long, conflicts_with_all = ["axes", "json"])]
    pub(crate) values: bool,
    /// Write a picture to this file: SVG of the chunks, PNG of the values.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The vertical and the horizontal axis: names or numbers.
    #[arg(long, value_name = "AXIS,AXIS")]
    pub(crate) axes: Option<String>,
    /// Print the picture as one JSON document: the start of each cell, and the number of its
    /// stored chunks.
    #[arg(long, conflicts_with = "output")]
    pub(crate) json: bool,
}
