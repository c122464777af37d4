//! The `zarr-kit` command: open, read, write and check Zarr v3 arrays from a terminal.
//!
//! # What it does not do
//! Everything else: the program raises a limit of its process, and calls [`zarr_cli::main_from`].

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    allow_open_files();
    ExitCode::from(zarr_cli::main_from(std::env::args_os()))
}

/// Raises the soft limit of open files to the hard one: a change of a group holds the lock file of
/// each of its arrays. Only a program may change it, since other code of a process may rely on it.
#[cfg(target_os = "linux")]
fn allow_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without it, a change of a large group fails with the number of files that it needs.
    let _stays = setrlimit(Resource::Nofile, limit);
}

#[cfg(not(target_os = "linux"))]
fn allow_open_files() {}
