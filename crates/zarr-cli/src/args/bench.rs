//! The arguments of `bench`.

use std::num::NonZeroUsize;

use super::shared::{REGION, value};

/// Time reading an array as it is stored, and tell what the time goes to.
///
/// Reads the array, or a region of it, three times, each for --seconds at most: the first time as it
/// comes, again for what the system then has in memory, and once more on one thread, whose time is
/// divided: fetching bytes from the store, decoding with each codec, and the rest: unpacking
/// elements and moving them to their places. Whether the first read finds files in the memory of the
/// system, from an earlier read or write, is up to the system.
///
/// This takes the memory of 16 MiB of elements, or of one chunk, and of decoding. A chunk with more
/// than 1 GiB in the region is refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zarr-kit bench weather.zarr/temp_max
  zarr-kit bench s3://bucket/weather.zarr/temp_max --region time=2015 --threads 32")]
pub(crate) struct Bench {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    #[arg(long, short, help = REGION, value_name = "R")]
    #[arg(allow_hyphen_values = true, value_parser = value)]
    pub(crate) region: Option<String>,
    /// Threads of the first read and of the read again [default: one per core, and more for distant
    /// stores].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// The longest time for each of the three reads, which end after the chunks that are being read
    /// [default: 3].
    #[arg(long, value_name = "SECONDS", default_value_t = 3, hide_default_value = true, value_parser = seconds)]
    pub(crate) seconds: u32,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// More threads than this are a mistake.
const MOST_THREADS: usize = 1024;

/// A day.
const MOST_SECONDS: u32 = 86_400;

fn seconds(text: &str) -> Result<u32, String> {
    let seconds = text.trim().parse().ok().filter(|n| (1..=MOST_SECONDS).contains(n));
    seconds.ok_or_else(|| format!("1 to {MOST_SECONDS} whole seconds are allowed"))
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.trim().parse().ok().filter(|n: &NonZeroUsize| n.get() <= MOST_THREADS);
    threads.ok_or_else(|| format!("1 to {MOST_THREADS} threads are allowed"))
}
