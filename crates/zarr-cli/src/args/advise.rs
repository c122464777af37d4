//! The arguments of `advise`.

use std::time::Duration;

use clap::ValueEnum;
use zarr_kit::report::advise::Goal;

use super::shared::{REGION, value};
use crate::notation::size;

/// Try codecs, chunks and shards on sampled chunks: sizes, speeds, and the options to use.
///
/// Runs chains of packbits with the used bits, shuffle, delta, zstd, gzip, blosc and pcodec (if this
/// build has them) on chunks from all over the array. Sizes are exact for the sample; speeds are
/// measured on one thread of this machine. In a sharded array, chains are tried on inner chunks.
/// With --reads, chunks and shards are tried too, with the best chain: requests, bytes and time of
/// each read, objects, and the memory of a write.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zarr-kit advise weather.zarr/temp
  zarr-kit advise frames.npy --for size
  zarr-kit advise mask.zarr --for read --rate 5GB
  zarr-kit advise weather.zarr/temp --reads time=1 --reads lat=16,lon=16 --latency 20")]
pub(crate) struct Advise {
    /// The array: a folder, a URL, or a .npy file.
    pub(crate) array: String,
    #[arg(long, short, help = REGION, value_name = "R")]
    #[arg(allow_hyphen_values = true, value_parser = value)]
    pub(crate) region: Option<String>,
    /// The quantity to minimize.
    #[arg(long = "for", value_enum, value_name = "GOAL", default_value = "both")]
    pub(crate) goal: For,
    /// Bytes of elements in the sample.
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = size::parse)]
    pub(crate) sample: u64,
    /// Bytes per second that the store moves, to weigh size against speed. A disk or a server moves
    /// some 200MB, memory several GB.
    #[arg(long, value_name = "SIZE", default_value = "200MB", value_parser = size::parse)]
    pub(crate) rate: u64,
    /// How the array is read: the lengths of a region on some axes, time=1 or lat=16,lon=16, with all
    /// of the others; or whole. May be given several times. Each read may begin anywhere, and all
    /// count the same.
    #[arg(long, value_name = "LENGTHS", value_parser = value)]
    pub(crate) reads: Vec<String>,
    /// Milliseconds of a request to the store [default: 0.1, or 20 of a remote store]. From 1 on, for
    /// stores that answer many requests at once.
    #[arg(long, value_name = "MS", value_parser = milliseconds, requires = "reads")]
    pub(crate) latency: Option<Duration>,
    /// The most memory of the elements of a chunk or a shard.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size::parse)]
    #[arg(requires = "reads")]
    pub(crate) memory: u64,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|ms: f64| Duration::try_from_secs_f64(ms / 1e3).ok());
    time.ok_or_else(|| format!("{text:?} is not a number of milliseconds"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum For {
    /// The time to write and to read once.
    Both,
    /// The time to read.
    Read,
    /// The time to write.
    Write,
    /// The stored bytes.
    Size,
}

impl From<For> for Goal {
    fn from(goal: For) -> Self {
        match goal {
            For::Both => Self::Both,
            For::Read => Self::Read,
            For::Write => Self::Write,
            For::Size => Self::Size,
        }
    }
}
