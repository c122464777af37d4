//! `cargo xtask web`: the npm package and the page that shows stores, built for WebAssembly and tested
//! under node and in Chromium.
//!
//! The toolchain has no standard library for WebAssembly. Debian's newer compiler has one; its packages
//! are unpacked below the target folder, and run there by their own loader.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::release::{notices, page};
use crate::run::{Outcome, make_folder, output, remove_folder, root, step, write};

/// What the toolchain is: the compiler, its library for WebAssembly and the optimiser. The linker is the
/// one of the compiler's LLVM.
const PROGRAMS: [&str; 3] = ["rustc", "libstd-rust-dev-wasm32", "binaryen"];

/// How the names of packages begin that these load. They depend on more, such as a C compiler. Versions
/// are in the names, and change.
const LOADED: &[&str] = &[
    "libbsd",
    "libc6",
    "libedit",
    "libffi",
    "libgcc-s",
    "liblld",
    "libllvm",
    "libmd",
    "libstd-rust",
    "libstdc++",
    "libtinfo",
    "libxml2",
    "libz3",
    "libzstd",
    "zlib1g",
];

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
    let bin = toolchain(&folder)?;
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

/// The folder with the programs of the toolchain.
fn toolchain(folder: &Path) -> Result<PathBuf, String> {
    let (bin, apt) = (folder.join("bin"), folder.join("apt"));
    let unpacked = folder.join("toolchain");
    if bin.join("ready").exists() {
        return Ok(bin);
    }
    for made in [&apt.join("lists/partial"), &apt.join("archives/partial"), &bin, &unpacked] {
        make_folder(made)?;
    }
    // The mirror of this machine, with the release that has these packages.
    let uris = output(Command::new("apt-get").args(["indextargets", "--format", "$(REPO_URI)"]))?;
    let mirror = uris.lines().find(|uri| uri.trim_end_matches('/').ends_with("/debian"));
    let mirror = mirror.ok_or("the npm package needs Debian's packages: apt knows no mirror")?;
    let key = "/usr/share/keyrings/debian-archive-keyring.gpg";
    write(apt.join("sources.list"), &format!("deb [signed-by={key}] {mirror} sid main\n"))?;
    let at = apt.display();
    let settings = format!(
        "Dir::State \"{at}\"; Dir::State::lists \"{at}/lists\"; Dir::State::status \"/dev/null\";\n\
         Dir::Cache \"{at}\"; Dir::Etc::sourcelist \"{at}/sources.list\"; Dir::Etc::sourceparts \"-\";\n\
         Dir::Etc::preferencesparts \"-\"; APT::Sandbox::User \"root\";\n\
         Acquire::Languages \"none\";\n"
    );
    let settings_file = apt.join("apt.conf");
    write(&settings_file, &settings)?;
    let get = || {
        let mut command = Command::new("apt-get");
        command.env("APT_CONFIG", &settings_file);
        command
    };
    step(get().arg("update"))?;
    let apt_cache = |names: &[&str]| -> Result<Vec<String>, String> {
        let what = ["depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts"];
        let mut command = Command::new("apt-cache");
        command.env("APT_CONFIG", &settings_file).args(what).args(names);
        let text = output(command.args(["--no-breaks", "--no-replaces", "--no-enhances"]))?;
        Ok(text.lines().filter(|line| !line.starts_with([' ', '<'])).map(str::to_owned).collect())
    };
    let missing = "the npm package needs Debian's rustc for WebAssembly, which apt does not find";
    let below = apt_cache(&PROGRAMS).map_err(|error| format!("{missing}: {error}"))?;
    let llvm = below.iter().find_map(|name| name.strip_prefix("libllvm")).ok_or(missing)?;
    let linker = format!("lld-{llvm}");
    let mut packages = apt_cache(&[PROGRAMS.as_slice(), &[&linker]].concat())?;
    packages.retain(|name| {
        let is_loaded = LOADED.iter().any(|start| name.starts_with(start));
        let is_library = name.starts_with("libstd-rust") || !name.contains("-dev");
        PROGRAMS.contains(&name.as_str()) || *name == linker || is_loaded && is_library
    });
    unpack(&settings_file, &apt.join("archives"), &packages, &unpacked)?;
    let usr = unpacked.join("usr").display().to_string();
    let libraries = format!("{usr}/lib/x86_64-linux-gnu");
    for (name, program, more) in [
        ("rustc", "bin/rustc", format!("--sysroot '{usr}'")),
        ("rust-lld", &format!("bin/wasm-ld-{llvm}"), String::new()),
        ("wasm-opt", "bin/wasm-opt", String::new()),
    ] {
        let script = format!(
            "#!/bin/sh\nexec '{libraries}/ld-linux-x86-64.so.2' --library-path '{libraries}:{usr}/lib' \
             --argv0 {name} '{usr}/{program}' {more} \"$@\"\n"
        );
        write(bin.join(name), &script)?;
        step(Command::new("chmod").arg("+x").arg(bin.join(name)))?;
    }
    write(bin.join("ready"), "")?;
    Ok(bin)
}

/// Downloads packages and unpacks them in a folder, without installing them.
pub(super) fn unpack(settings: &Path, archives: &Path, packages: &[String], to: &Path) -> Outcome {
    let shell = "cd \"$0\" && apt-get download \"$@\" && for one in *.deb; do dpkg-deb -x \"$one\" \"$TO\" || exit 1; done";
    let mut command = Command::new("sh");
    command.args(["-c", shell]).arg(archives).args(packages);
    step(command.env("APT_CONFIG", settings).env("TO", to))
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
