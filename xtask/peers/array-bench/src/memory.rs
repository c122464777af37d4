//! The peak of memory of a read or a write, beside what is promised: the result, plus requests in
//! flight times an encoded chunk, plus threads times two decoded chunks, plus 32 MiB.
//!
//! Each operation runs in a new process, which reports the peak of its resident memory less what
//! was resident when it began: the array open, the elements to be written made.

use std::fs;
use std::path::Path;
use std::process::Command;

use zarr_kit::{Array, Selection};

use crate::cases::{BYTES, CASES};
use crate::{Result, ours, regions};

const SLACK: usize = 32 << 20;

/// The limit for pieces of an array that is read in turn.
const PIECE: u64 = 16 << 20;

const OPERATIONS: [&str; 6] = ["write", "read", "read-into", "pieces", "read-part", "write-part"];

struct Target {
    name: String,
    document: String,
}

fn targets() -> Vec<Target> {
    let cases = CASES
        .iter()
        .map(|case| Target { name: case.name.to_owned(), document: case.layout().document });
    let shards = regions::KINDS.iter().map(|&(kind, name)| Target {
        name: name.to_owned(),
        document: regions::document_of(kind),
    });
    cases.chain(shards).collect()
}

pub fn run(folder: &Path, names: &[&str]) -> Result<()> {
    let program = std::env::current_exe()?;
    println!("MiB: peak less baseline, promised, and the part of the promise that was used");
    for target in targets() {
        if !names.is_empty() && !names.contains(&target.name.as_str()) {
            continue;
        }
        for threads in ["1", "2", "8"] {
            for operation in OPERATIONS {
                let output = Command::new(&program)
                    .args(["memory-of".as_ref(), folder.as_os_str()])
                    .args([&target.name, operation, threads])
                    .output()?;
                if !output.status.success() {
                    let said = String::from_utf8_lossy(&output.stderr).into_owned();
                    return Err(format!("{} {operation}: {said}", target.name).into());
                }
                let text = String::from_utf8(output.stdout)?;
                let numbers: Vec<f64> = text
                    .split_whitespace()
                    .map(str::parse)
                    .collect::<std::result::Result<_, _>>()?;
                let [peak, promised] = numbers[..] else { return Err("no figures".into()) };
                println!(
                    "  {:<28} {operation:<10} {threads} threads {:>8.1} {:>8.1} {:>5.2}{}",
                    target.name,
                    peak / f64::from(1 << 20),
                    promised / f64::from(1 << 20),
                    peak / promised,
                    if peak > promised { " BROKEN" } else { "" },
                );
            }
        }
    }
    Ok(())
}

/// One operation, as `memory-of FOLDER TARGET OPERATION THREADS`: prints the peak and the promise.
pub fn child(folder: &Path, arguments: &[&str]) -> Result<()> {
    let [name, operation, threads] = arguments else { return Err("not called by hand".into()) };
    let target = targets().into_iter().find(|one| one.name == *name).ok_or("no such array")?;
    let threads: usize = threads.parse()?;
    let path = folder.join(format!("memory-{name}"));
    ours::create(&path, &target.document)?;
    let array = ours::open(&path, threads)?;
    let whole = Selection::whole(array.shape());
    let part = inside(&array);
    let len =
        |region: &Selection| region.elements().unwrap_or(u64::MAX) as usize * array.element_size();
    let elements = match *operation {
        "write" => elements(BYTES, &array),
        "write-part" => elements(len(&part), &array),
        _ => Vec::new(),
    };
    let mut buffer = if *operation == "read-into" { vec![1; BYTES] } else { Vec::new() };

    // From here on the peak is counted anew.
    fs::write("/proc/self/clear_refs", "5")?;
    let baseline = peak()?;
    let mut result = 0;
    match *operation {
        "write" => array.write(&whole, &elements)?,
        "write-part" => array.write(&part, &elements)?,
        "read" => result = array.read(&whole)?.len(),
        "read-into" => array.read_into(&whole, &mut buffer)?,
        "read-part" => result = array.read(&part)?.len(),
        "pieces" => {
            for piece in array.batches(&whole, PIECE)? {
                result = result.max(array.read(&piece)?.len());
            }
        }
        _ => return Err("no such operation".into()),
    }
    let used = peak()? - baseline;
    let decoded = largest_chunk(&array)?;
    let encoded = largest_file(&path.join("c"))?;
    println!("{used} {}", result + threads * (encoded + 2 * decoded) + SLACK);
    Ok(())
}

/// Most of the array, with parts of the chunks at its edges.
fn inside(array: &Array) -> Selection {
    array.shape().iter().map(|&length| length / 16..length - length / 16).collect()
}

/// Elements that compress about 2 to 1, valid for every data type.
fn elements(bytes: usize, array: &Array) -> Vec<u8> {
    let is_bool = array.data_type().name() == "bool";
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut byte = |index: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let random = (state >> 60) as u8;
        match (is_bool, array.element_size()) {
            (true, _) => random & 1,
            (false, 1) => random & 7,
            _ => random * index.is_multiple_of(2) as u8,
        }
    };
    (0..bytes).map(&mut byte).collect()
}

fn largest_chunk(array: &Array) -> Result<usize> {
    let mut shape = vec![0; array.shape().len()];
    array.grid().chunk_shape(&vec![0; shape.len()], &mut shape)?;
    Ok(shape.iter().product::<u64>() as usize * array.element_size())
}

fn largest_file(folder: &Path) -> Result<usize> {
    let mut largest = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let size = match entry.file_type()?.is_dir() {
            true => largest_file(&entry.path())?,
            false => entry.metadata()?.len() as usize,
        };
        largest = largest.max(size);
    }
    Ok(largest)
}

/// The peak of resident memory in bytes.
fn peak() -> Result<usize> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<usize>()? << 10)
}
