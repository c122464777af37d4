//! `array-bench FOLDER [--without CONTENDER] [CASE...]`: whole arrays of 256 MiB in 64 chunks, written and read by zarr-kit,
//! by zarrs and by hand (the floor: the same bytes moved with no Zarr at all), interleaved in one
//! process, on 1 and 2 threads.
//!
//! Prints medians in seconds and their ratio to the floor. FOLDER should be in memory or warm.

#![forbid(unsafe_code)]

mod cases;
mod floor;
mod ours;
mod theirs;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use cases::{CASES, Case};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const REPETITIONS: usize = 7;

/// One way of doing the work.
struct Contender {
    name: &'static str,
    write: fn(&Case, &Path, &[u8], usize) -> Result<()>,
    /// Reads into the buffer, which is as long as the array, or into fresh memory if it is empty.
    read: fn(&Case, &Path, &mut Vec<u8>, usize) -> Result<()>,
}

const CONTENDERS: &[Contender] = &[
    Contender { name: "floor", write: floor::write, read: floor::read },
    Contender { name: "zarr-kit", write: ours::write, read: ours::read },
    Contender { name: "zarrs", write: theirs::write, read: theirs::read },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((folder, names)) = arguments.split_first() else {
        eprintln!("usage: array-bench FOLDER [--without CONTENDER] [CASE...]");
        return ExitCode::FAILURE;
    };
    let (without, names) = match names {
        [option, without, names @ ..] if option == "--without" => (without.as_str(), names),
        names => ("", names),
    };
    for case in CASES {
        if !names.is_empty() && !names.iter().any(|name| name == case.name) {
            continue;
        }
        for threads in [1, 2] {
            if let Err(error) = run(case, &PathBuf::from(folder), threads, without) {
                eprintln!("array-bench: {}: {error}", case.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn run(case: &Case, folder: &Path, threads: usize, without: &str) -> Result<()> {
    let data = case.data();
    let contenders: Vec<_> = CONTENDERS.iter().filter(|one| one.name != without).collect();
    let mut times = vec![[const { Vec::new() }; 3]; contenders.len()];
    let mut reused = vec![0; data.len()];
    for _ in 0..REPETITIONS {
        for (contender, times) in contenders.iter().zip(&mut times) {
            let path = folder.join(format!("{}-{}", case.name, contender.name));
            let start = Instant::now();
            (contender.write)(case, &path, &data, threads)?;
            times[0].push(start.elapsed().as_secs_f64());

            let mut owned = Vec::new();
            let start = Instant::now();
            (contender.read)(case, &path, &mut owned, threads)?;
            times[1].push(start.elapsed().as_secs_f64());
            if owned != data {
                return Err(format!("{} reads other data", contender.name).into());
            }
            drop(owned);

            let start = Instant::now();
            (contender.read)(case, &path, &mut reused, threads)?;
            times[2].push(start.elapsed().as_secs_f64());
        }
    }
    println!("{}, {threads} threads (seconds, ratio to the floor)", case.name);
    println!("  {:<10} {:>14} {:>14} {:>14}", "", "write", "read, fresh", "read, reused");
    let floor = times[0].clone().map(median);
    for (contender, times) in contenders.iter().zip(times) {
        print!("  {:<10}", contender.name);
        for (times, floor) in times.into_iter().zip(floor) {
            let seconds = median(times);
            print!(" {seconds:>7.3} {:>6.2}", seconds / floor);
        }
        println!();
    }
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
