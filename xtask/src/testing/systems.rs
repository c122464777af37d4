//! `cargo xtask targets windows` and `macos`: other operating systems.
//!
//! For Windows the tests are linked by mingw and run by Wine. For macOS, which nothing here can link or
//! run, the types are checked. Their standard libraries are compiled from the source that comes with
//! [Debian's compiler](crate::debian).

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::debian;
use crate::run::{LIBRARIES, Outcome, make_folder, root, step, write};

/// Where Debian has Wine; a program of this name may be on the path.
const WINE: [&str; 3] = ["wine64", "wine", "/usr/lib/wine/wine64"];
const GCC: &str = "x86_64-w64-mingw32-gcc-win32";
const DEBIAN: &str = "gcc-mingw-w64-x86-64-win32 wine64";

/// Crates that touch the system.
const PACKAGES: [&str; 6] =
    ["zarr-store", "zarr-references", "zarr-zip", "zarr-journal", "zarr-array", "zarr-copy"];

const OPEN: &str = "Wine replaces no file that others have open; Windows 10 does";

/// Tests that fail, with the reason.
const FAILS: &[(&str, &str)] = &[
    ("sessions::threads_take_turns", OPEN),
    ("cache::others::reads_see_one_version_and_none_that_was_replaced_before", OPEN),
    (
        "local::write::tests::pieces_whose_file_was_removed_are_an_error",
        "Wine removes no folder with a file that is open; Windows 10 does",
    ),
    (
        "copy::changing::a_file_that_was_replaced_for_a_while_is_told",
        "a version is a size and a time, without the number of the file",
    ),
];

/// A library that the standard library loads, which Wine before 9 lacks.
const RANDOM: &str = "\
__declspec(dllimport) unsigned char SystemFunction036(void *to, unsigned long length);
__declspec(dllexport) int ProcessPrng(unsigned char *to, unsigned long long length) {
  while (length) {
    unsigned long part = length > 65536 ? 65536 : (unsigned long)length;
    if (!SystemFunction036(to, part)) return 0;
    to += part;
    length -= part;
  }
  return 1;
}
";

/// Runs the tests under Wine. `Ok(Some(..))` says what is missing.
pub(super) fn windows() -> Result<Option<String>, String> {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let Some(wine) = WINE.into_iter().find(|name| runs(name)).filter(|_| runs(GCC)) else {
        return Ok(Some(format!("Wine and mingw. On Debian: {DEBIAN}")));
    };
    let folder = root().join("target/windows");
    let prefix = folder.join("wine");
    prepare(wine, &folder, &prefix)?;
    let mut command = cargo("test", "x86_64-pc-windows-gnu")?;
    for package in PACKAGES {
        command.args(["--package", package]);
    }
    command.args(["--lib", "--test", "it", "--no-fail-fast"]);
    command
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", GCC)
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", wine)
        .env("WINEPREFIX", &prefix)
        .env("WINEDEBUG", "-all")
        // Snapshots are looked for below it, and not by asking cargo, which cannot be started there.
        .env("INSTA_WORKSPACE_ROOT", root())
        .env("INSTA_UPDATE", "no");
    command.arg("--");
    for (name, reason) in FAILS {
        println!("left out: {name}: {reason}");
        command.args(["--skip", name]);
    }
    step(&mut command).map(|()| None)
}

/// Checks the types of all libraries, and of the command, for macOS.
pub(super) fn macos() -> Outcome {
    let mut command = cargo("check", "aarch64-apple-darwin")?;
    for package in LIBRARIES.iter().chain(["zarr-cli"].iter()) {
        command.args(["--package", package]);
    }
    // Libraries in C are not compiled: nothing is linked with them.
    for program in ["CC", "CXX", "AR"] {
        command.env(format!("{program}_aarch64_apple_darwin"), "true");
    }
    step(&mut command)
}

/// `cargo`, with a standard library that it compiles for the target.
fn cargo(what: &str, target: &str) -> Result<Command, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args([what, "--locked", debian::BUILD_STD, "--target", target]);
    command.arg("--target-dir").arg(root().join("target/systems")).env("CARGO_INCREMENTAL", "0");
    debian::compile_with(&mut command)?;
    Ok(command)
}

/// Makes the folder in which Wine has its drive, once.
fn prepare(wine: &str, folder: &Path, prefix: &PathBuf) -> Outcome {
    let ready = folder.join("ready");
    if ready.exists() {
        return Ok(());
    }
    make_folder(folder)?;
    let run = |arguments: &[&str]| {
        let mut command = Command::new(wine);
        step(command.args(arguments).env("WINEPREFIX", prefix).env("WINEDEBUG", "-all"))
    };
    run(&["wineboot", "--init"])?;
    run(&["winecfg", "-v", "win10"])?;
    let library = prefix.join("drive_c/windows/system32/bcryptprimitives.dll");
    if !library.exists() {
        let source = folder.join("bcryptprimitives.c");
        write(&source, RANDOM)?;
        let mut command = Command::new(GCC);
        command.arg("-shared").arg("-o").arg(&library).arg(&source).arg("-ladvapi32");
        step(&mut command)?;
    }
    write(&ready, "")
}
