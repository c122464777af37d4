//! The `zarr-kit` command: open, read, write and check Zarr v3 arrays from a terminal.
//!
//! # What it does not do
//! Everything else: the program calls [`zarr_cli::main_from`].

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(zarr_cli::main_from(std::env::args_os()))
}
