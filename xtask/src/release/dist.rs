//! `cargo xtask release [--trial]`: every file of a release in `target/dist`, tried as a newcomer would.
//! `--trial` allows the placeholders of `Cargo.toml`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::debian;
use crate::release::web::copy;
use crate::release::{notices, packages, web, wheels};
use crate::run::{
    Outcome, cargo, make_folder, metadata, read, remove_folder, root, step, target, write,
};

/// What the command is built for: each runs where the GNU C library is at least as new. The compiler of
/// this toolchain has the standard library of the first alone.
const SYSTEMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];
const OLDEST_LIBRARY: &str = "2.28";

pub(crate) fn release(arguments: &[String]) -> Outcome {
    let packages: &[String] = match arguments {
        [] => &["--release".to_owned()],
        [flag] if flag == "--trial" => &[],
        _ => return Err("usage: cargo xtask release [--trial]".to_owned()),
    };
    let (dist, version) = (target().join("dist"), version()?);
    let npm = read("web/package/package.json")?;
    let npm: Value = serde_json::from_str(&npm).map_err(|error| error.to_string())?;
    if npm["version"] != *version {
        return Err(format!(
            "web/package/package.json has the version {}, not {version}",
            npm["version"]
        ));
    }
    remove_folder(&dist)?;
    packages::packages(packages)?;
    // In their order, in a registry that cargo makes for it. They were compiled above.
    cargo(&["publish", "--workspace", "--dry-run", "--no-verify", "--locked"], &[])?;
    copy_files(&target().join("package"), "crate", &dist.join("crates"))?;
    // Its package is the wheel.
    let native = dist.join(format!("crates/zarr-python-{version}.crate"));
    fs::remove_file(&native).map_err(|error| format!("{}: {error}", native.display()))?;
    wheels::wheels(&[])?;
    copy_files(&target().join("wheels"), "whl", &dist)?;
    copy_files(&target().join("wheels"), "gz", &dist)?;
    web::web(&[])?;
    let pack = ["pack", "--pack-destination"];
    step(Command::new("npm").args(pack).arg(&dist).arg(root().join("target/web/zarr-kit")))?;
    let name = format!("zarr-kit-{version}-source");
    let archive = dist.join(format!("{name}.tar.gz"));
    let archived = ["archive", "--format=tar.gz", "HEAD", "--prefix"];
    step(Command::new("git").args(archived).arg(format!("{name}/")).arg("-o").arg(archive))?;
    commands(&dist, &version)?;
    try_all(&dist, &version)?;
    let sums =
        "cd \"$0\" && find . -type f ! -name SHA256SUMS | sort | xargs sha256sum > SHA256SUMS";
    step(Command::new("sh").args(["-c", sums]).arg(&dist))?;
    println!("{}", read(dist.join("SHA256SUMS"))?.trim_end());
    Ok(())
}

/// The version that all crates share.
fn version() -> Result<String, String> {
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let version =
        packages.filter(|one| one["name"] == "zarr-cli").find_map(|one| one["version"].as_str());
    Ok(version.ok_or("cargo metadata has no zarr-cli")?.to_owned())
}

/// Builds the command for each system, and packs it with its man pages, completions and licences.
fn commands(dist: &Path, version: &str) -> Outcome {
    let python = wheels::builder()?;
    let licences = notices::text()?;
    // The first system is this machine's: its program writes what is the same for all.
    let runs = target().join(SYSTEMS[0]).join("release/zarr-kit");
    for system in SYSTEMS {
        let mut build = Command::new(python.with_file_name("cargo-zigbuild"));
        build.args([
            "zigbuild",
            "--release",
            "--locked",
            "--package",
            "zarr-cli",
            "--bin",
            "zarr-kit",
        ]);
        build.args(["--features", "all-codecs,remote", "--target"]);
        build.arg(format!("{system}.{OLDEST_LIBRARY}")).env("CARGO_ZIGBUILD_PYTHON_PATH", &python);
        if system != SYSTEMS[0] {
            build.arg(debian::BUILD_STD);
            debian::compile_with(&mut build)?;
        }
        step(&mut build)?;
        let name = format!("zarr-kit-{version}-{system}");
        let folder = target().join("release-command").join(&name);
        remove_folder(&folder)?;
        make_folder(folder.join("bin"))?;
        copy(&target().join(system).join("release/zarr-kit"), &folder.join("bin/zarr-kit"))?;
        step(Command::new(&runs).args(["completions", "--into"]).arg(folder.join("share")))?;
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            copy(&root().join(file), &folder.join(file))?;
        }
        write(folder.join("THIRD-PARTY.txt"), &licences)?;
        let archive = dist.join(format!("{name}.tar.gz"));
        let above = target().join("release-command");
        step(Command::new("tar").arg("-C").arg(above).arg("-czf").arg(archive).arg(&name))?;
    }
    Ok(())
}

/// Installs each from `dist` alone, in the line that a newcomer would type, and reads an array with it.
fn try_all(dist: &Path, version: &str) -> Outcome {
    let tried = target().join("release-tried");
    remove_folder(&tried)?;
    make_folder(&tried)?;
    let array = root().join("fixtures/seattle-weather.zarr");
    let archive = dist.join(format!("zarr-kit-{version}-{}.tar.gz", SYSTEMS[0]));
    step(
        Command::new("tar")
            .arg("-xzf")
            .arg(archive)
            .arg("--strip-components=1")
            .arg("-C")
            .arg(&tried),
    )?;
    step(Command::new(tried.join("bin/zarr-kit")).arg("info").arg(&array))?;

    let python = tried.join("python/bin/python");
    let new = ["-m", "venv"];
    step(Command::new(wheels::builder()?).args(new).arg(tried.join("python")))?;
    let pip = ["-m", "pip", "install", "--quiet", "--only-binary=:all:"];
    // One by one: the index may have another package of the same name.
    step(Command::new(&python).args(pip).arg("numpy"))?;
    let ours = ["--no-index", "--no-deps", "zarr-kit", "--find-links"];
    step(Command::new(&python).args(pip).args(ours).arg(dist))?;
    step(Command::new(python.with_file_name("zarr-kit")).arg("info").arg(&array))?;

    let package = dist.join(format!("zarr-kit-{version}.tgz"));
    let npm = ["install", "--no-audit", "--no-fund", "--prefix"];
    step(Command::new("npm").args(npm).arg(&tried).arg(package))?;
    let reads = "const { open } = await import(process.argv[1]); if (!open) process.exit(1)";
    let module = tried.join("node_modules/zarr-kit/index.js");
    step(Command::new("node").args(["--input-type=module", "-e", reads]).arg(module))
}

/// Copies the files of a folder whose names end in this way.
fn copy_files(from: &Path, extension: &str, to: &Path) -> Outcome {
    make_folder(to)?;
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    for entry in fs::read_dir(from).map_err(failed)? {
        let path: PathBuf = entry.map_err(failed)?.path();
        if let Some(name) =
            path.file_name().filter(|_| path.extension().is_some_and(|one| one == extension))
        {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}
