//! For the conformance suite, zarrs with the plug-ins:
//!
//! - `suite read ARRAY [START STOP]` prints all elements of an array, or of a region (`0,3` to `2,9`), as
//!   raw bytes;
//! - `suite write DOCUMENT RAW ARRAY` makes an array of a document and of the elements in `RAW`.

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use zarrs::array::{Array, ArrayBytes, ArraySubset};
use zarrs::filesystem::FilesystemStore;

fn main() -> ExitCode {
    zarrs_kit::register();
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        std::process::abort() // a panic is no refusal
    }));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["read", array] => print(array, None),
        ["read", array, start, stop] => print(array, Some((start, stop))),
        ["write", document, raw, array] => write(document, raw, array),
        _ => Err("usage: suite read ARRAY [START STOP] | write DOCUMENT RAW ARRAY".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("suite: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(array: &str, region: Option<(&str, &str)>) -> Result<(), Box<dyn Error>> {
    let elements = read(array, region)?;
    Ok(std::io::stdout().lock().write_all(&elements)?)
}

fn write(document: &str, raw: &str, folder: &str) -> Result<(), Box<dyn Error>> {
    let metadata = serde_json::from_slice(&fs::read(document)?)?;
    fs::create_dir_all(folder)?;
    let array = Array::new_with_metadata(Arc::new(FilesystemStore::new(folder)?), "/", metadata)?;
    array.store_metadata()?;
    let elements = ArrayBytes::new_flen(fs::read(raw)?);
    Ok(array.store_array_subset(&array.subset_all(), elements)?)
}

fn read(folder: &str, region: Option<(&str, &str)>) -> Result<Vec<u8>, Box<dyn Error>> {
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
