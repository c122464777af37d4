//! The program that the public conformance tests of Zarr run.
//!
//! `zarr-kit-conformance --array_path PATH` prints the elements of an array in C order, one per
//! line, each as the JSON of a fill value. The exit status is 0, or 2 with one line on standard
//! error.
//!
//! # What it does not do
//! Anything else: `zarr-kit read --format lines` has regions and files.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;
use zarr_kit::array::store::{StoreOptions, open_url};
use zarr_kit::metadata::{Printable, format_element};
use zarr_kit::{Array, Prefix, Selection};

/// Bytes of elements that are in memory at a time.
const PIECE: u64 = 64 << 20;

/// Print the elements of a Zarr v3 array, one per line.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The array: a folder or a URL.
    #[arg(long = "array_path", value_name = "PATH")]
    array_path: String,
}

fn main() -> ExitCode {
    match run(&Args::parse().array_path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _closed = writeln!(io::stderr(), "error: {}", Printable(error));
            ExitCode::from(2)
        }
    }
}

fn run(path: &str) -> Result<(), Box<dyn Error>> {
    let array = Array::open(
        open_url(path, &StoreOptions::new().openers(zarr_kit::OPENERS))?,
        &Prefix::root(),
    )?;
    let size = array.element_size().max(1);
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut line = String::new();
    for piece in array.batches(Selection::whole(array.shape()), PIECE)? {
        for element in array.read(&piece)?.chunks_exact(size) {
            line.clear();
            format_element(array.data_type(), element, &mut line)?;
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(out.flush()?)
}
