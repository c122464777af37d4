//! `zarrs-writer FOLDER`: for every `<name>.json` (an array document) with `<name>.raw` (all of its
//! elements, C order, little endian) in the folder, writes the array into `<name>/` with zarrs.
//!
//! What zarrs said goes to `<name>.status`: `written` and whether it then reads what
//! `<name>.expected` says, or the error, or that it panicked.
//!
//! `zarrs-writer --read FOLDER RESULTS`: reads every array `<name>/` of the folder with zarrs into
//! `RESULTS/<name>.raw`, and says how that went in `RESULTS/<name>.status`.
//!
//! `zarrs-writer --one ARRAY [START STOP]`: prints all elements of an array, or of a region (`0,3` to
//! `2,9`), as raw bytes.
//!
//! A status of `started` is left behind where zarrs aborted; what has a status is not tried again,
//! so that whoever called can call again for the rest.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use zarrs::array::{Array, ArrayBytes, ArrayMetadata, ArraySubset};
use zarrs::filesystem::FilesystemStore;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // In parallel, the inner chunks of a shard would stand in another order each time.
    zarrs::config::global_config_mut().set_codec_concurrent_target(1);
    std::panic::set_hook(Box::new(|_| ())); // a panic is a result here, not noise
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--read", folder, results] => read_all(Path::new(folder), Path::new(results)),
        ["--one", array] => print(Path::new(array), None),
        ["--one", array, start, stop] => print(Path::new(array), Some((start, stop))),
        [folder] => write_all(Path::new(folder)),
        _ => Err("usage: zarrs-writer FOLDER | --read FOLDER RESULTS | --one ARRAY".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("zarrs-writer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut documents = entries(folder)?;
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    for document in documents {
        attempt(&document.with_extension("status"), || {
            let same = write(&document)?;
            Ok(format!("written, {}", if same { "read the same" } else { "read otherwise" }))
        })?;
    }
    Ok(())
}

fn read_all(folder: &Path, results: &Path) -> Result<(), Box<dyn Error>> {
    let mut arrays = entries(folder)?;
    arrays.retain(|path| path.is_dir());
    for array in arrays {
        let name = array.file_name().unwrap_or_default().to_string_lossy().into_owned();
        attempt(&results.join(format!("{name}.status")), || {
            fs::write(results.join(format!("{name}.raw")), read(&array, None)?)?;
            Ok("read".to_owned())
        })?;
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// Does one thing and writes down how it went, unless that was done before.
fn attempt(
    status: &Path,
    run: impl FnOnce() -> Result<String, Box<dyn Error>>,
) -> Result<(), std::io::Error> {
    if status.is_file() {
        return Ok(());
    }
    fs::write(status, "started")?;
    let said = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(said)) => said,
        Ok(Err(error)) => format!("error: {error}"),
        Err(_) => "panic".to_owned(),
    };
    fs::write(status, said)
}

/// Writes one array and says whether zarrs reads from it what it holds.
fn write(document: &Path) -> Result<bool, Box<dyn Error>> {
    let metadata: ArrayMetadata = serde_json::from_slice(&fs::read(document)?)?;
    let raw = fs::read(document.with_extension("raw"))?;
    let folder = document.with_extension("");
    fs::create_dir_all(&folder)?;
    let array = Array::new_with_metadata(Arc::new(FilesystemStore::new(&folder)?), "/", metadata)?;
    array.store_metadata()?;
    let all = array.subset_all();
    array.store_array_subset(&all, ArrayBytes::new_flen(raw))?;
    let read: ArrayBytes = array.retrieve_array_subset(&all)?;
    Ok(read.into_fixed()?.into_owned() == fs::read(document.with_extension("expected"))?)
}

fn print(array: &Path, region: Option<(&str, &str)>) -> Result<(), Box<dyn Error>> {
    let elements = match catch_unwind(AssertUnwindSafe(|| read(array, region))) {
        Ok(elements) => elements?,
        Err(_) => std::process::abort(), // a panic is no refusal
    };
    Ok(std::io::stdout().lock().write_all(&elements)?)
}

/// All elements of one array, or those of a region.
fn read(folder: &Path, region: Option<(&str, &str)>) -> Result<Vec<u8>, Box<dyn Error>> {
    let array = Array::open(Arc::new(FilesystemStore::new(folder)?), "/")?;
    let mut subset = array.subset_all();
    if let Some((start, stop)) = region {
        let numbers = |text: &str| text.split(',').map(str::parse).collect::<Result<Vec<u64>, _>>();
        let axes = numbers(start)?.into_iter().zip(numbers(stop)?).map(|(a, b)| a..b);
        subset = ArraySubset::new_with_ranges(&axes.collect::<Vec<_>>());
    }
    let elements: ArrayBytes = array.retrieve_array_subset(&subset)?;
    let ArrayBytes::Variable(parts) = elements else {
        return Ok(elements.into_fixed()?.into_owned());
    };
    // Each is its length in four bytes, then its bytes.
    let (bytes, offsets) = parts.into_parts();
    let mut out = Vec::with_capacity(bytes.len());
    for pair in offsets.windows(2) {
        out.extend(u32::try_from(pair[1] - pair[0])?.to_le_bytes());
        out.extend(&bytes[pair[0]..pair[1]]);
    }
    Ok(out)
}
