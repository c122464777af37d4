//! The arguments of `bench`.

use std::num::NonZeroUsize;

use super::shared::{REGION, value};

/// Time reading an array, and show how much time each step takes.
///
/// Reads the array, or a region of it, three times, each for --seconds at most: first without
/// preparation (the system's cache may have files of an earlier read or write), then again from the
/// system's cache, then on one thread. The time of the third read is divided into fetching bytes from
/// the store, decoding with each codec, and unpacking elements and moving them to their places.
///
/// Memory is needed for 16 MiB of elements or one chunk, and for decoding. A chunk with more than
/// 1 GiB in the region is refused.
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
    /// Threads of the first and the second read [default: one per core, and more for distant stores].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// The longest time of each read. A read then ends after its current chunks [default: 3].
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
