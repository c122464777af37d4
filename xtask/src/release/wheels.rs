//! `cargo xtask wheels`: what a release of the Python package uploads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::debian;
use crate::release::notices;
use crate::run::{Outcome, remove_folder, step, target};
use crate::testing::python;
use crate::venv;

const REQUIREMENTS: &str = "xtask/wheels/requirements.txt";
const MANIFEST: &str = "crates/zarr-python/Cargo.toml";
const NOTICES: &str = "THIRD-PARTY.txt";
/// The line of `pyproject.toml` that names the files with licences.
const LICENCES: &str = "license-files = [\"LICENSE-*\"]";

/// The wheels that Linux builds for others, and a part of their names: CPython without a global lock, which
/// does not load the stable ABI and which maturin knows without having it, and both on AArch64.
const OTHERS: [(&[&str], &str); 3] = [
    (&["--interpreter", "python3.14t"], "cp314t-manylinux_2_28_x86_64"),
    (&["--target", AARCH64], "abi3-manylinux_2_28_aarch64"),
    (&["--interpreter", "python3.14t", "--target", AARCH64], "cp314t-manylinux_2_28_aarch64"),
];
const AARCH64: &str = "aarch64-unknown-linux-gnu";

/// The system whose wheels load on all later ones. maturin refuses modules that need a newer one.
const OLDEST_LINUX: &str = "manylinux_2_28";

/// Makes the source distribution, builds the wheel of this machine from it, and runs the package's tests
/// with it. On Linux the wheels for others are built too. With `--local`, the one wheel has local stores
/// only, to compare.
pub(crate) fn wheels(arguments: &[String]) -> Outcome {
    let local = match arguments {
        [] => false,
        [flag] if flag == "--local" => true,
        _ => return Err("usage: cargo xtask wheels [--local]".to_owned()),
    };
    let python = builder()?;
    let folder = target().join(if local { "wheels-local" } else { "wheels" });
    remove_folder(&folder)?;
    let maturin = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-m", "maturin"]).args(arguments);
        command
    };
    step(maturin(&["sdist", "--manifest-path", MANIFEST, "--out"]).arg(&folder))?;
    let sdist = the_file(&folder, ".tar.gz")?;
    let unpacked = folder.join("unpacked");
    step(Command::new(&python).arg("xtask/wheels/lock.py").arg(&sdist).arg(&unpacked))?;

    let source = the_file(&unpacked, "")?;
    let settings = source.join("pyproject.toml");
    if local {
        edit(&settings, "\"all-codecs\", \"remote\"", "\"all-codecs\"")?;
    }
    // The source distribution has none of the crates that the wheel contains.
    fs::write(source.join(NOTICES), notices::text()?).map_err(|error| error.to_string())?;
    edit(&settings, LICENCES, &LICENCES.replace(']', &format!(", {NOTICES:?}]")))?;
    let manifest = source.join(MANIFEST);
    let build = |arguments: &[&str]| {
        let mut build = maturin(&["build", "--release", "--locked", "--manifest-path"]);
        build.arg(&manifest).arg("--out").arg(&folder).args(arguments);
        // A folder of its own, so that the time is that of a user who has compiled nothing.
        build.env("CARGO_TARGET_DIR", unpacked.join("target"));
        build.env("CARGO_ZIGBUILD_PYTHON_PATH", &python);
        if cfg!(target_os = "linux") {
            build.args(["--zig", "--compatibility", OLDEST_LINUX]);
        }
        if arguments.contains(&AARCH64) {
            build.arg(debian::BUILD_STD);
            debian::compile_with(&mut build)?;
        }
        step(&mut build)
    };
    let start = Instant::now();
    build(&[])?;
    let seconds = start.elapsed().as_secs_f64();
    let wheel = the_file(&folder, ".whl")?;
    if !local {
        python::test_wheel(&wheel)?;
    }
    let mut files = vec![sdist, wheel];
    if cfg!(target_os = "linux") && !local {
        for (arguments, name) in OTHERS {
            build(arguments)?;
            files.push(the_file(&folder, name)?);
        }
    }
    remove_folder(&unpacked)?;
    for file in files {
        let bytes = fs::metadata(&file).map_err(|error| error.to_string())?.len();
        println!("{}  {bytes} bytes", file.display());
    }
    println!("the first wheel was built in {seconds:.0} s");
    Ok(())
}

/// The Python of the environment that builds: it has zig, which links for other and older systems.
pub(crate) fn builder() -> Result<PathBuf, String> {
    venv::environment("wheels", REQUIREMENTS)
}

/// The only entry of a folder whose name has this part.
fn the_file(folder: &Path, part: &str) -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_name().to_string_lossy().contains(part) {
            found.push(entry.path());
        }
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(format!("{}: {} entries *{part}*, not one", folder.display(), found.len())),
    }
}

/// Changes a line of `pyproject.toml`.
fn edit(settings: &Path, line: &str, new: &str) -> Outcome {
    let failed = |error: std::io::Error| format!("{}: {error}", settings.display());
    let text = fs::read_to_string(settings).map_err(failed)?;
    if !text.contains(line) {
        return Err(format!("{}: no line {line:?}", settings.display()));
    }
    fs::write(settings, text.replace(line, new)).map_err(failed)
}
