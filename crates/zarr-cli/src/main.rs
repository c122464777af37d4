//! The `zarr-kit` command: open, read, write and check Zarr v3 arrays from a terminal.
//!
//! This file parses arguments, runs a command and turns errors into one line and an exit status.
//! The work of a command is in the library; its module here reads the arguments and prints.
//!
//! # What it does not do
//! No arithmetic on arrays, no plots of their values, no Zarr version 2.

#![forbid(unsafe_code)]

mod args;
mod chunks;
mod commands;
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

use std::process::ExitCode;

use clap::Parser;

use crate::args::Args;
use crate::error::CliError;

/// Exit status for any error: invalid arguments, no such array, a chunk that does not decode.
const ERROR: u8 = 2;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    if let Some(seconds) = args.timeout {
        node_store::set_timeout(seconds);
    }
    match commands::run(args.command) {
        Ok(code) => code,
        // The reader of the output has closed it, and needs no more.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            print::error(&error.to_string());
            ExitCode::from(ERROR)
        }
    }
}

/// Prints help and version as clap does, and a mistake in the arguments in one line.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Help into a closed pipe is not an error.
        let _closed = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _closed = error.print();
        return ExitCode::from(ERROR);
    }
    print::error(&CliError::usage(error).to_string());
    ExitCode::from(ERROR)
}
