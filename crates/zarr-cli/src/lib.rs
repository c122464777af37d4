//! The `zarr-kit` command as a library: what the program `zarr-kit` and the Python package run.
//!
//! [`main_from`] parses arguments, runs a command and turns errors into one line and an exit status.
//! The work of a command is in the library `zarr_kit`; its module here reads the arguments and prints.
//! [`Description`] has what `info` and `draw` say of an array, for others to show.
//!
//! # Non-goals
//! No arithmetic on arrays, no plots of their values, no Zarr version 2. It is no stable interface:
//! programs use `zarr_kit`.

#![forbid(unsafe_code)]

mod args;
mod chunks;
mod commands;
mod describe;
mod error;
mod format;
mod interrupt;
mod nearest;
mod node_store;
mod print;
mod progress;
mod sizes;
mod system;
mod usage;
mod words;

use std::ffi::OsString;
use std::io::{self, Write as _};

use clap::Parser;

use crate::args::Args;
pub use crate::describe::Description;
use crate::error::CliError;

/// Exit status for any error: invalid arguments, no such array, a chunk that does not decode.
const ERROR: u8 = 2;

/// Runs the command with these arguments, of which the first is the program's name and does not
/// matter. Returns the exit status.
///
/// Writes to the standard output and standard error of the process. A copy that a signal interrupts
/// ends the process, as [`process::exit`](std::process::exit) does.
#[must_use]
pub fn main_from(args: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let status = match Args::try_parse_from(&args) {
        Ok(args) => run(args),
        Err(error) => usage(&error, &args),
    };
    // Where the program is not Rust's, nobody flushes at its end. Into a closed pipe is no error.
    let _closed = io::stdout().flush();
    status
}

fn run(args: Args) -> u8 {
    if let Some(seconds) = args.timeout {
        node_store::set_timeout(seconds);
    }
    match commands::run(args.command) {
        Ok(status) => status,
        // The reader of the output has closed it, and needs no more.
        Err(error) if error.is_broken_pipe() => 0,
        Err(error) => {
            print::error(&error.to_string());
            ERROR
        }
    }
}

/// Prints help and version as clap does, and a mistake in the arguments in one line.
fn usage(error: &clap::Error, args: &[OsString]) -> u8 {
    if !error.use_stderr() {
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
    print::error(&CliError::usage(error, &given).to_string());
    ERROR
}
