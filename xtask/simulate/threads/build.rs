//! Copies the files of the library that threads share memory through, for the tests: there the
//! primitives of the standard library are shuttle's, which tries orders of threads.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

/// The files, below `crates`.
const FILES: [&str; 13] = [
    "zarr-store/src/locks/lock_table.rs",
    "zarr-store/src/locks/process_locks.rs",
    "zarr-store/src/processes/per_process.rs",
    "zarr-array/src/array/shard_indices.rs",
    "zarr-array/src/parallel.rs",
    "zarr-zip/src/archive.rs",
    "zarr-zip/src/handle.rs",
    "zarr-zip/src/read.rs",
    "zarr-zip/src/session.rs",
    "zarr-zip/src/source.rs",
    "zarr-zip/src/store.rs",
    "zarr-zip/src/turn.rs",
    "zarr-zip/src/write.rs",
];

fn main() -> Result<(), Box<dyn Error>> {
    let (here, out) = (env::var("CARGO_MANIFEST_DIR")?, env::var("OUT_DIR")?);
    for file in FILES {
        let from = Path::new(&here).join("../../../crates").join(file);
        println!("cargo::rerun-if-changed={}", from.display());
        let text = fs::read_to_string(&from)?;
        let library = text.split("\n#[cfg(test)]\n").next().unwrap_or_default();
        // Docs of a file are no docs where it is included.
        let lines = library.lines().filter(|line| !line.starts_with("//!"));
        let library = lines.collect::<Vec<_>>().join("\n");
        let replaced = library
            .replace("std::", "crate::shuttled::")
            .replace("zarr_store::", "crate::stores::");
        let (folder, name) = (file.split('/').next().unwrap_or_default(), from.file_name());
        let name = name.unwrap_or_default().to_string_lossy();
        fs::write(Path::new(&out).join(format!("{folder}-{name}")), replaced)?;
    }
    Ok(())
}
