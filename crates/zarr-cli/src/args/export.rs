//! The arguments of `zarr-kit export`.

use std::path::PathBuf;

/// Write references to the chunks of a virtual join, or of any store, in kerchunk's form.
///
/// fsspec, zarr-python, Xarray and VirtualiZarr read the result. All chunks must have one length, and
/// all members of a virtual join the codecs and the fill value of the joined array. No chunk is copied:
/// members must stay in place. Local files are named by absolute paths.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit export year.zjoin year.json")]
pub(crate) struct Export {
    /// An array or group: a virtual join, a folder or a URL.
    pub(crate) path: String,
    /// The new reference file, which must not exist yet.
    #[arg(value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
