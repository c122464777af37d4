//! The `zarr-kit` command: open, read, write and check Zarr v3 arrays from a terminal.
//!
//! # What it does not do
//! Anything of its own: it is [`zarr_cli::main_from`] as a program.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(zarr_cli::main_from(std::env::args_os()))
}
