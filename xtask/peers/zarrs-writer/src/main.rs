//! `zarrs-writer FOLDER`: for every `<name>.json` (an array document) with `<name>.raw` (all of its
//! elements, C order, little endian) in the folder, writes the array into `<name>/` with zarrs.
//!
//! What zarrs said goes to `<name>.status`: `written` and whether it then reads what
//! `<name>.expected` says, or the error, or that it panicked.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use zarrs::array::{Array, ArrayBytes, ArrayMetadata};
use zarrs::filesystem::FilesystemStore;

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: zarrs-writer FOLDER");
        return ExitCode::FAILURE;
    };
    // In parallel, the inner chunks of a shard would stand in another order each time.
    zarrs::config::global_config_mut().set_codec_concurrent_target(1);
    std::panic::set_hook(Box::new(|_| ())); // a panic is a result here, not noise
    match write_all(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("zarrs-writer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut documents: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    documents.sort();
    for document in documents {
        let status = match catch_unwind(AssertUnwindSafe(|| write(&document))) {
            Ok(Ok(same)) => {
                format!("written, {}", if same { "read the same" } else { "read otherwise" })
            }
            Ok(Err(error)) => format!("error: {error}"),
            Err(_) => "panic".to_owned(),
        };
        fs::write(document.with_extension("status"), status)?;
    }
    Ok(())
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
