//! Whole arrays, written and read.
//!
//! Options: `--without CONTENDER` (any number of times), `--threads N`, `--repetitions N`, and
//! `--raw`, which also writes the elements into `FOLDER/CASE.raw` for other programs to compare.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cases::{BYTES, CASES, CHUNKS, Case, Layout, Work, counts, unravel};
use crate::{Result, floor, median, ours, record, theirs};

/// One way of doing the work.
struct Contender {
    name: &'static str,
    /// Whether it writes and reads the turned array.
    turned: bool,
    write: fn(&Work, &Path, usize) -> Result<()>,
    /// Reads into the buffer, which is as long as the array, or into fresh memory if it is empty.
    read: fn(&Work, &Path, &mut Vec<u8>, usize) -> Result<()>,
}

const FLOOR: &str = "floor";
const OURS: &str = "zarr-kit";
const TURNED: &str = "zarr-kit, stored turned";

const CONTENDERS: &[Contender] = &[
    Contender { name: FLOOR, turned: true, write: floor::write, read: floor::read },
    Contender { name: OURS, turned: false, write: ours::write, read: ours::read },
    Contender { name: TURNED, turned: true, write: ours::write, read: ours::read },
    Contender { name: "zarrs", turned: false, write: theirs::write, read: theirs::read },
];

struct Options<'a> {
    without: Vec<&'a str>,
    threads: Vec<usize>,
    repetitions: usize,
    raw: bool,
    cases: Vec<&'a str>,
}

impl<'a> Options<'a> {
    fn parse(arguments: &[&'a str]) -> Result<Self> {
        let mut options = Self {
            without: Vec::new(),
            threads: vec![1, 2],
            repetitions: 7,
            raw: false,
            cases: Vec::new(),
        };
        let mut arguments = arguments.iter();
        while let Some(&argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument}: no value"));
            match argument {
                "--without" => options.without.push(value()?),
                "--threads" => options.threads = vec![value()?.parse()?],
                "--repetitions" => options.repetitions = value()?.parse()?,
                "--raw" => options.raw = true,
                name if CASES.iter().any(|case| case.name == name) => options.cases.push(name),
                _ => return Err(format!("{argument}: no such case or option").into()),
            }
        }
        Ok(options)
    }
}

pub fn run(folder: &Path, arguments: &[&str]) -> Result<()> {
    let options = Options::parse(arguments)?;
    let is_chosen = |case: &&Case| options.cases.is_empty() || options.cases.contains(&case.name);
    for case in CASES.iter().filter(is_chosen) {
        let data = case.data();
        let turned = case.turn(&data)?;
        if options.raw {
            fs::write(folder.join(format!("{}.raw", case.name)), &data)?;
        }
        let declared = Work { case, layout: case.layout(), data: &data };
        let turned = Work { case, layout: case.turned_layout(), data: &turned };
        for &threads in &options.threads {
            measure(folder, &options, &declared, &turned, threads)
                .map_err(|error| format!("{}: {error}", case.name))?;
        }
    }
    Ok(())
}

fn path_of(folder: &Path, case: &Case, contender: &str) -> PathBuf {
    folder.join(format!("{}-{}", case.name, contender.replace(", ", "-").replace(' ', "-")))
}

fn measure(
    folder: &Path,
    options: &Options,
    declared: &Work,
    turned: &Work,
    threads: usize,
) -> Result<()> {
    let case = declared.case;
    let contenders: Vec<_> = CONTENDERS
        .iter()
        .filter(|one| !options.without.contains(&one.name))
        .filter(|one| one.name != TURNED || case.is_turned())
        .collect();
    let mut times = vec![[const { Vec::new() }; 4]; contenders.len()];
    // In huge pages, as large arrays of numpy are.
    let mut reused = zarr_kit::view::zeroed(declared.data.len())?;
    for round in 0..options.repetitions {
        for turn in 0..contenders.len() {
            // Each has every place in the order.
            let number = (round + turn) % contenders.len();
            let (contender, times) = (contenders[number], &mut times[number]);
            let work = if contender.turned { turned } else { declared };
            let path = path_of(folder, case, contender.name);
            let start = Instant::now();
            (contender.write)(work, &path, threads)?;
            times[0].push(start.elapsed().as_secs_f64());

            for (primed, times) in [true, false].into_iter().zip(&mut times[1..3]) {
                let mut owned = Vec::new();
                if primed {
                    prime()?;
                }
                let start = Instant::now();
                (contender.read)(work, &path, &mut owned, threads)?;
                times.push(start.elapsed().as_secs_f64());
                if owned != work.data {
                    return Err(format!("{} reads other data", contender.name).into());
                }
            }

            reused.fill(0);
            let start = Instant::now();
            (contender.read)(work, &path, &mut reused, threads)?;
            times[3].push(start.elapsed().as_secs_f64());
            if reused != work.data {
                return Err(format!("{} reads other data into a buffer", contender.name).into());
            }
        }
    }
    let stored = same_chunks(folder, case, &turned.layout)?;
    let ratio = declared.data.len() as f64 / stored as f64;
    let name = case.name;
    println!("{name}, {threads} threads, {ratio:.2}:1 (seconds, ratio to the floor)");
    let kinds = ["write", "read, fresh", "read, unprimed", "read, reused"];
    print!("  {:<24}", "");
    kinds.iter().for_each(|kind| print!(" {kind:>14}"));
    println!();
    let floor = times[0].clone().map(median);
    let threads_of = format!("arrays of 256 MiB, {threads} threads");
    for (contender, times) in contenders.iter().zip(&times) {
        for (what, times) in kinds.into_iter().zip(times) {
            record(&threads_of, &format!("{name}, {what}"), contender.name, median(times.clone()));
        }
    }
    for (contender, times) in contenders.iter().zip(times) {
        print!("  {:<24}", contender.name);
        for (times, floor) in times.into_iter().zip(floor) {
            let seconds = median(times);
            print!(" {seconds:>7.3} {:>6.2}", seconds / floor);
        }
        println!();
    }
    Ok(())
}

/// Takes as much memory as a result and gives it back, so that it is there for whoever comes next:
/// to find large pages in a full memory can take longer than the read.
pub fn prime() -> Result<()> {
    let mut memory = zarr_kit::view::zeroed(BYTES)?;
    memory.fill(1);
    drop(black_box(memory));
    Ok(())
}

/// The chunks of zarr-kit, of its turned array and of the floor hold the same bytes, as far as
/// they were written; returns how many.
fn same_chunks(folder: &Path, case: &Case, turned: &Layout) -> Result<u64> {
    let counts = counts(&turned.shape, &turned.chunk);
    let mut total = 0;
    for chunk in 0..CHUNKS {
        let mut first: Option<Vec<u8>> = None;
        let names = [
            (FLOOR, PathBuf::from(chunk.to_string())),
            (OURS, key(&case.declared_chunk(chunk))),
            (TURNED, key(&unravel(chunk, &counts))),
        ];
        for (contender, name) in names {
            let path = path_of(folder, case, contender);
            if !path.exists() {
                continue;
            }
            let bytes = fs::read(path.join(name))?;
            if first.get_or_insert_with(|| bytes.clone()) != &bytes {
                return Err(format!("chunk {chunk} of {contender} has other bytes").into());
            }
        }
        total += first.map_or(0, |bytes| bytes.len() as u64);
    }
    Ok(total)
}

fn key(chunk: &[usize]) -> PathBuf {
    std::iter::once("c".to_owned()).chain(chunk.iter().map(usize::to_string)).collect()
}
