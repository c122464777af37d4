//! The commands: each reads its arguments, calls the library and prints.

mod create;
mod explain;
mod info;
mod read;
mod write;

use std::process::ExitCode;

use crate::args::Command;
use crate::error::CliError;

/// Runs a command; the answer is the exit status.
pub(crate) fn run(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::Info(args) => info::run(&args)?,
        Command::Read(args) => read::run(&args)?,
        Command::Write(args) => write::run(&args)?,
        Command::Create(args) => create::run(&args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Elements of a region that are in memory at a time.
const PIECE: u64 = 64 << 20;
