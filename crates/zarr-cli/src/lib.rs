//! The `zarr-kit` command as a library, for the program `zarr-kit` and the Python package.
//!
//! [`main_from`] parses arguments, runs a command and turns errors into one line and an exit status.
//! The library `zarr_kit` does the work of each command; the command's module here reads the
//! arguments and prints.
//!
//! # Non-goals
//! No arithmetic on arrays, no plots but pictures of a plane, nothing written in Zarr version 2. This
//! interface is not stable: programs should use `zarr_kit`.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod error;
mod interrupt;
mod notation;
mod output;
mod stores;

use std::ffi::OsString;
use std::io::{self, Write as _};

use clap::Parser;

pub use crate::commands::inspect::next_step::{CheckedPlace, next_step};

use crate::args::Args;
use crate::error::usage;
use crate::output::{help, print};
use crate::stores::access::Access;

/// Exit status for any error: invalid arguments, no such array, a chunk that does not decode.
const ERROR: u8 = 2;

/// Runs the command with these arguments and returns the exit status. The first argument is the
/// program's name, which is ignored.
///
/// Writes to the standard output and standard error of the process. If a signal interrupts a copy,
/// the process ends, as with [`process::exit`](std::process::exit).
#[must_use]
pub fn main_from(args: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let status = match Args::try_parse_from(&args) {
        Ok(args) => run(args),
        Err(error) => usage(&error, &args),
    };
    // A program in another language does not flush Rust's output at its end. A closed pipe is not
    // an error.
    let _closed = io::stdout().flush();
    status
}

fn run(args: Args) -> u8 {
    match Access::of(&args).during(|| commands::run(args.command)) {
        Ok(status) => status,
        // The reader has closed the pipe, because it needs no more output.
        Err(error) if error.is_broken_pipe() => 0,
        Err(error) => {
            print::error(&error.to_string());
            ERROR
        }
    }
}

/// Prints help and version as clap does, and wrong arguments as one line.
fn usage(error: &clap::Error, args: &[OsString]) -> u8 {
    if !error.use_stderr() {
        let shown = help::program().try_get_matches_from(args).err();
        let error = shown.as_ref().unwrap_or(error);
        // Help into a closed pipe is not an error.
        let _closed = error.print();
        return 0;
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _closed = error.print();
        return ERROR;
    }
    let given: Vec<String> =
        args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    print::error(&usage::wrong(error, &given).to_string());
    ERROR
}
