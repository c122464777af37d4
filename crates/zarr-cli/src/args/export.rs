//! The arguments of `zarr-kit export`.

use std::path::PathBuf;

/// Write the references of a virtual join, or of any store, for programs that read kerchunk's.
///
/// fsspec, zarr-python, Xarray and VirtualiZarr read the result. All chunks must have one length, and
/// all members of a virtual join the codecs and the fill value of the joined array. Nothing is copied:
/// members must stay where they are. Local files are named by absolute paths.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit export year.zjoin year.json")]
pub(crate) struct Export {
    /// An array or group: a virtual join, a folder or a URL.
    pub(crate) path: String,
    /// The file of references, where there must be none yet.
    #[arg(value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
