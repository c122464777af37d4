//! `array-bench COMMAND ...`: arrays read and written by zarr-kit, by zarrs and by hand (the floor:
//! the same bytes moved with no Zarr at all), in turns in one process.
//!
//! - `whole FOLDER [OPTION...] [CASE...]`: whole arrays of 256 MiB in 64 chunks, on 1 and 2 threads
//! - `regions FOLDER [COUNT [EDGE]]`: small regions of sharded and of uncompressed arrays, 2,000 of them
//! - `shards FOLDER [NAME]`: shards of tiny inner chunks, written and read by all, or by one of them
//! - `chunks`: the million chunks of an array of tiny ones, nothing stored
//! - `tiny FOLDER`: tiny chunks that are stored, in memory and in files
//! - `zarr-benchmarks FOLDER [ARRAY...]`: the three arrays of LDeakin's zarr_benchmarks
//! - `list|tree|delete FOLDER` and `copy FOLDER FOLDER`: by zarrs alone, for `many_objects.py`
//! - `memory FOLDER [CASE...]`: the peak of memory beside what is promised, each in a new process
//!
//! Prints medians, with their ratio to the floor. FOLDER should be in memory or warm.

mod cases;
mod chunks;
mod floor;
mod memory;
mod objects;
mod ours;
mod regions;
mod shards;
mod theirs;
mod tiny;
mod whole;
mod zarr_benchmarks;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match &arguments[..] {
        ["whole", folder, rest @ ..] => whole::run(Path::new(folder), rest),
        ["regions", folder, rest @ ..] => regions::run(Path::new(folder), rest),
        ["shards", folder, rest @ ..] => shards::run(Path::new(folder), rest),
        ["chunks"] => chunks::run(),
        ["tiny", folder] => tiny::run(Path::new(folder)),
        ["zarr-benchmarks", folder, rest @ ..] => zarr_benchmarks::run(Path::new(folder), rest),
        ["memory", folder, rest @ ..] => memory::run(Path::new(folder), rest),
        ["list", folder] => objects::list(Path::new(folder)),
        ["tree", folder] => objects::tree(Path::new(folder)),
        ["copy", from, to] => objects::copy(Path::new(from), Path::new(to)),
        ["delete", folder] => objects::delete(Path::new(folder)),
        ["memory-of", folder, rest @ ..] => memory::child(Path::new(folder), rest),
        _ => Err(
            "usage: array-bench whole|regions|shards|chunks|tiny|zarr-benchmarks|list|tree|copy|delete|memory [FOLDER] [OPTION...] [CASE...]"
                .into(),
        ),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("array-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the seconds that one contender took, for `cargo xtask bench`.
fn record(table: &str, row: &str, who: &str, seconds: f64) {
    if std::env::var_os("BENCH_RECORDS").is_some() {
        let role = match who {
            "floor" => "floor",
            "zarr-kit" => "ours",
            "zarrs" => "peer",
            _ => "other",
        };
        println!("record\t{table}\t{row}\t{role}\t{who}\t{}", seconds * 1e9);
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
