//! `cargo xtask simulate`: clients in a store that fails, a million runs if wished.
//!
//! Runs on all cores, one process each, in blocks of seeds. Blocks that passed are kept in
//! `target/simulate`, so that a run that was interrupted goes on, until the program changes.

mod faults;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::run::{Outcome, cargo, root, target, tracked};

const USAGE: &str = "usage: cargo xtask simulate --seeds N [--seed FIRST] | --seed SEED | \
    --faults [--quick | --seeds N | STEP]";

/// The program is a workspace of its own.
pub(crate) const MANIFEST: &str = "xtask/simulate/Cargo.toml";

/// The seeds of a block.
const BLOCK: u64 = 500;

/// Runs `--seeds` seeds from `--seed` on, or shows the run of one seed.
pub(crate) fn simulate(arguments: &[String]) -> Outcome {
    if let Some(("--faults", rest)) = arguments.split_first().map(|(flag, rest)| (&**flag, rest)) {
        return faults::faults(rest);
    }
    let (mut seeds, mut first) = (None, None);
    for pair in arguments.chunks(2) {
        let [name, number] = pair else { return Err(USAGE.to_owned()) };
        let slot = match name.as_str() {
            "--seeds" => &mut seeds,
            "--seed" => &mut first,
            _ => return Err(USAGE.to_owned()),
        };
        *slot = Some(number.parse::<u64>().map_err(|_| USAGE.to_owned())?);
    }
    build()?;
    match (seeds, first) {
        (Some(seeds), first) => many(first.unwrap_or(0), seeds),
        (None, Some(seed)) => one(seed),
        (None, None) => Err(USAGE.to_owned()),
    }
}

fn build() -> Outcome {
    let target = target();
    let target = target.to_string_lossy();
    let manifest = ["--manifest-path", MANIFEST, "--target-dir", &target];
    cargo(&[&["build", "--quiet", "--locked", "--workspace"], &manifest[..]].concat(), &[])
}

/// Runs threads that share memory in many orders, and the tests of the simulation itself.
pub(crate) fn threads() -> Outcome {
    let target = target();
    let target = target.to_string_lossy();
    let place = ["--manifest-path", MANIFEST, "--target-dir", &target];
    cargo(&[&["test", "--locked", "--workspace"], &place[..]].concat(), &[])
}

fn program() -> PathBuf {
    target().join("debug").join("zarr-simulate")
}

fn one(seed: u64) -> Outcome {
    let status = Command::new(program()).arg(seed.to_string()).status();
    match status.map_err(|error| error.to_string())?.success() {
        true => Ok(()),
        false => Err(format!("seed {seed} failed")),
    }
}

/// The first seed, and how many there are.
type Block = (u64, u64);

/// The blocks that passed, in a file that also says which program ran them.
struct Passed {
    file: PathBuf,
    program: String,
    /// What was counted.
    blocks: BTreeMap<Block, String>,
}

impl Passed {
    fn read() -> Result<Self, String> {
        let folder = target().join("simulate");
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let meta = fs::metadata(program()).map_err(|error| error.to_string())?;
        let program = format!("{:?} {}", meta.modified().ok(), meta.len());
        let file = folder.join("passed.json");
        let text = fs::read(&file).unwrap_or_default();
        let kept = serde_json::from_slice::<(String, Vec<(Block, String)>)>(&text).ok();
        let blocks = kept.filter(|(by, _)| *by == program).map(|(_, blocks)| blocks);
        Ok(Self { file, program, blocks: blocks.unwrap_or_default().into_iter().collect() })
    }

    fn add(&mut self, block: Block, counted: String) -> Outcome {
        self.blocks.insert(block, counted);
        let blocks: Vec<_> = self.blocks.iter().collect();
        let text = serde_json::to_string(&(&self.program, blocks));
        let text = text.map_err(|error| error.to_string())?;
        // A kill leaves the old file or the new one.
        let new = self.file.with_extension("new");
        fs::write(&new, text).map_err(|error| error.to_string())?;
        fs::rename(&new, &self.file).map_err(|error| error.to_string())
    }
}

/// Runs a block, and gives what the program counted, or says how a seed failed.
fn run_block((first, count): Block, core: usize) -> Result<String, String> {
    let arguments = [first, count, core as u64].map(|number| number.to_string());
    let ran = Command::new(program()).args(arguments).output();
    let ran = ran.map_err(|error| format!("{}: {error}", program().display()))?;
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    if ran.status.success() { Ok(said) } else { Err(said) }
}

fn many(first: u64, seeds: u64) -> Outcome {
    let blocks: Vec<Block> = (0..seeds.div_ceil(BLOCK))
        .map(|block| (first + block * BLOCK, BLOCK.min(seeds - block * BLOCK)))
        .collect();
    let passed = Mutex::new(Passed::read()?);
    let next = AtomicUsize::new(0);
    let work = |core: usize| -> Outcome {
        while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            if locked(&passed).blocks.contains_key(block) {
                continue;
            }
            let counted = run_block(*block, core).inspect_err(|_| {
                // No other core begins another block.
                next.store(blocks.len(), Ordering::Relaxed);
            })?;
            locked(&passed).add(*block, counted)?;
        }
        Ok(())
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = (0..cores).map(|core| scope.spawn(move || work(core))).collect();
        let mut ended = running.into_iter().map(|thread| thread.join());
        ended.try_for_each(|ended| ended.map_err(|_| "a thread panicked".to_owned())?)
    })?;
    let passed = locked(&passed);
    report(blocks.iter().filter_map(|block| passed.blocks.get(block)))
}

fn locked(passed: &Mutex<Passed>) -> MutexGuard<'_, Passed> {
    passed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints the sums of what was counted, and the marked places that no run reached.
fn report<'c>(counted: impl Iterator<Item = &'c String>) -> Outcome {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for line in counted.flat_map(|counted| counted.lines()) {
        if let Some((name, number)) = line.rsplit_once(' ') {
            *sums.entry(name).or_default() += number.parse::<u64>().unwrap_or(0);
        }
    }
    for (name, sum) in &sums {
        println!("{name:<40} {sum:>12}");
    }
    for point in points()? {
        if !sums.contains_key(format!("reached {point}").as_str()) {
            println!("not reached: {point}");
        }
    }
    Ok(())
}

/// The places that the sources mark.
fn points() -> Result<BTreeSet<String>, String> {
    let mut points = BTreeSet::new();
    for path in
        tracked()?.iter().filter(|path| path.starts_with("crates/") && path.ends_with(".rs"))
    {
        let text = fs::read_to_string(root().join(path)).unwrap_or_default();
        let marked = text.split("reached!(\"").skip(1);
        points.extend(marked.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
    }
    Ok(points)
}
