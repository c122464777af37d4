//! `cargo xtask packages [--release]`: each crate is built with its tests from the package that would be
//! uploaded. `--release` refuses the placeholders of `Cargo.toml`.
//!
//! The packages are unpacked into a workspace of their own, where they depend on each other and on no
//! other file of the repository.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::run::{Outcome, cargo, make_folder, read, remove_folder, root, step, target};

pub(crate) fn packages(arguments: &[String]) -> Outcome {
    match arguments {
        [] => {}
        [flag] if flag == "--release" => no_placeholders(&read("Cargo.toml")?)?,
        _ => return Err("usage: cargo xtask packages [--release]".to_owned()),
    }
    let failed = |error: std::io::Error| format!("target/packages: {error}");
    let (made, unpacked) = (target().join("package"), target().join("packages"));
    // Packages of older versions would be unpacked beside these.
    for old in [&made, &unpacked] {
        remove_folder(old)?;
    }
    let excluded = ["--exclude", "xtask", "--exclude", "zarr-store-tests"];
    cargo(&[&["package", "--workspace", "--no-verify"][..], &excluded].concat(), &[])?;
    make_folder(&unpacked)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&made).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "crate") {
            step(Command::new("tar").arg("xzf").arg(&path).arg("-C").arg(&unpacked))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            names.push(name);
        }
    }
    let mut manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"zarr-*\"]\n".to_owned();
    manifest.push_str("\n[patch.crates-io]\n");
    for name in &names {
        let (package, _) = name.rsplit_once('-').ok_or_else(|| format!("{name}: no version"))?;
        let _ = writeln!(manifest, "{package} = {{ path = \"{name}\" }}");
    }
    fs::write(unpacked.join("Cargo.toml"), manifest).map_err(failed)?;
    fs::copy(root().join("Cargo.lock"), unpacked.join("Cargo.lock")).map_err(failed)?;
    let manifest = unpacked.join("Cargo.toml").display().to_string();
    let folder = target().display().to_string();
    for name in &names {
        let package = name.rsplit_once('-').map_or(name.as_str(), |(package, _)| package);
        let build = ["test", "--no-run", "--all-features", "--manifest-path", &manifest];
        cargo(&[&build[..], &["-p", package]].concat(), &[("CARGO_TARGET_DIR", &folder)])?;
    }
    Ok(())
}

/// Refuses to release crates whose pages would lead nowhere.
fn no_placeholders(manifest: &str) -> Outcome {
    match manifest.lines().enumerate().find(|(_, line)| line.contains("://repository.invalid/")) {
        Some((number, line)) => {
            Err(format!("Cargo.toml:{}: {line}: set the real address to release", number + 1))
        }
        None => Ok(()),
    }
}
