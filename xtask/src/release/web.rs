//! `cargo xtask web`: the npm package and the page that shows stores, built for WebAssembly and tested
//! under node and in Chromium.
//!
//! The toolchain has no standard library for WebAssembly; [Debian's compiler](crate::debian) has one.

use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

use crate::debian;
use crate::release::{notices, page};
use crate::run::{Outcome, make_folder, output, remove_folder, root, step, write};

/// As the crate in `web/Cargo.toml`: the two must be the same.
const BINDGEN: &str = "0.2.130";

pub(crate) const MANIFEST: &str = "web/Cargo.toml";

/// The packages of the modules, with the compressed bytes that are too many.
const MODULES: &[(&str, u64)] =
    &[("zarr-wasm", 850 << 10), ("zarr-wasm-codecs", 120 << 10), ("zarr-wasm-report", 1000 << 10)];

/// Builds the package in `target/web/zarr-kit` and the page in `target/web/page`, and runs their tests.
pub(crate) fn web(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask web".to_owned());
    }
    let folder = root().join("target/web");
    let bin = debian::toolchain()?;
    let tools = folder.join("tools");
    if !tools.join("bin/wasm-bindgen").exists() {
        // Not `--locked`: its lock file names a crate that was withdrawn.
        let what = ["install", "wasm-bindgen-cli", "--version"];
        step(
            Command::new("cargo").args(what).arg(format!("={BINDGEN}")).arg("--root").arg(&tools),
        )?;
    }
    let build = folder.join("build");
    // Places in messages of panics would have the folders of this machine.
    let home = env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|home| home + "/.cargo"));
    let home = home.map_err(|_| "neither CARGO_HOME nor HOME is set")?;
    let flags = format!(
        "--remap-path-prefix={}/=\u{1f}--remap-path-prefix={home}/registry/src/=",
        root().display()
    );
    for (package, _) in MODULES {
        // Each alone: together they would have the features of all.
        let what = ["rustc", "--release", "--locked", "--target", "wasm32-unknown-unknown"];
        step(
            Command::new("cargo")
                .args(what)
                .args([
                    "--lib",
                    "--crate-type",
                    "cdylib",
                    "--package",
                    package,
                    "--manifest-path",
                    MANIFEST,
                    "--target-dir",
                ])
                .arg(&build)
                .env("RUSTC", bin.join("rustc"))
                .env("RUSTC_WRAPPER", "")
                .env("CARGO_ENCODED_RUSTFLAGS", &flags)
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", bin.join("rust-lld")),
        )?;
    }
    let package = folder.join("zarr-kit");
    remove_folder(&package)?;
    for (name, largest) in MODULES {
        let name = name.replace('-', "_");
        let bind = ["--target", "web", "--no-typescript", "--remove-producers-section"];
        step(
            Command::new(tools.join("bin/wasm-bindgen"))
                .args(bind)
                .args(["--remove-name-section", "--out-dir"])
                .arg(&package)
                .arg(build.join(format!("wasm32-unknown-unknown/release/{name}.wasm"))),
        )?;
        let module = package.join(format!("{name}_bg.wasm"));
        step(Command::new(bin.join("wasm-opt")).arg("-Oz").arg("-o").arg(&module).arg(&module))?;
        size(&module, *largest)?;
    }
    copy_all(&root().join("web/package"), &package)?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root().join(name), &package.join(name))?;
    }
    let what = ["metadata", "--format-version", "1", "--locked", "--manifest-path", MANIFEST];
    let json = output(Command::new("cargo").args(what))?;
    let json = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    write(
        package.join("THIRD-PARTY.txt"),
        &notices::web(&json, &MODULES.iter().map(|(name, _)| *name).collect::<Vec<_>>())?,
    )?;
    test(&folder, &package)?;
    page::page(&folder, &package)
}

/// Reports the compressed size, and refuses one that is too large.
fn size(module: &Path, largest: u64) -> Outcome {
    let shell = "gzip -9c \"$0\" | wc -c";
    let bytes = output(Command::new("sh").args(["-c", shell]).arg(module))?;
    let bytes: u64 = bytes.trim().parse().map_err(|_| "gzip gave no size".to_owned())?;
    println!("{} has {bytes} bytes, compressed", module.display());
    if bytes > largest { Err(format!("the module has more than {largest} bytes")) } else { Ok(()) }
}

/// Reads the conformance suite under node, with and without zarrita.js.
fn test(folder: &Path, package: &Path) -> Outcome {
    let tests = folder.join("tests");
    make_folder(&tests)?;
    copy_all(&root().join("web/tests"), &tests)?;
    for name in ["package.json", "package-lock.json"] {
        copy(&tests.join(name), &folder.join(name))?;
    }
    let what = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"];
    step(Command::new("npm").args(what).arg(folder))?;
    step(
        Command::new("ln").args(["-sfn", "../zarr-kit"]).arg(folder.join("node_modules/zarr-kit")),
    )?;
    let archives = folder.join("suite");
    for name in ["invalid", "reference", "tensorstore", "variable", "zarr-python"] {
        let target = archives.join(name);
        make_folder(&target)?;
        let archive = format!("fixtures/conformance/stores/{name}.tar.gz");
        step(Command::new("tar").args(["xzf", &archive, "-C"]).arg(&target))?;
    }
    step(Command::new("node").arg("web/tests/driver.mjs").arg(package))?;
    let suite = ["web/tests/suite.mjs"];
    step(Command::new("node").args(suite).arg(package).arg("fixtures/conformance").arg(&archives))?;
    // These resolve the packages by their names, as programs do.
    let types = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"];
    let compiler = folder.join("node_modules/typescript/bin/tsc");
    step(Command::new("node").arg(compiler).args(types).arg(tests.join("types.mts")))?;
    step(Command::new("node").arg(tests.join("example.mjs")).arg("docs/javascript.md"))?;
    let report = tests.join("report.mjs");
    let stores = ["fixtures/seattle-weather.zarr", "fixtures/conformance"];
    step(Command::new("node").arg(report).args(stores).arg(&archives))?;
    let codecs = tests.join("codecs.mjs");
    step(Command::new("node").arg(codecs).arg("fixtures/conformance").arg(&archives))
}

/// Copies the files of a folder.
pub(super) fn copy_all(from: &Path, to: &Path) -> Outcome {
    let failed = |error: io::Error| format!("{}: {error}", from.display());
    for file in fs::read_dir(from).map_err(failed)? {
        let file = file.map_err(failed)?;
        copy(&file.path(), &to.join(file.file_name()))?;
    }
    Ok(())
}

pub(super) fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", from.display()))
}
