//! `cargo xtask targets`: the tests of the crates with kernels on other processors, by emulation.
//!
//! It does what can be done on this machine, and says what it could not do and what is missing. A
//! standard library comes from the toolchain, or from Debian's own compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, output, root, step, target};
use crate::testing::optimised::CONFIG;
use crate::testing::systems;

/// A processor, and what its tests need.
struct Target {
    triple: &'static str,
    /// The program that links, or none for the one of this machine.
    linker: Option<&'static str>,
    /// The program that runs tests, and its arguments, or none if this processor does. A script
    /// among them is one of this repository.
    runner: Option<(&'static str, &'static [&'static str])>,
    /// A file without which nothing can be linked.
    library: &'static str,
    /// What the compiler enables beyond what every processor of the target has.
    features: &'static str,
    packages: &'static [&'static str],
    /// Where all of it comes from on Debian. Releases whose `rustc` is too old may have a
    /// `rustc-web` with `libstd-rust-web-dev`.
    debian: &'static str,
}

/// Under qemu 7.2 tests did not end; under 11.1 they do.
const OLD_QEMU: u32 = 7;

/// Runs a program for WASI.
const WASI: &str = "xtask/wasi.mjs";

const TARGETS: &[Target] = &[
    Target {
        triple: "aarch64-unknown-linux-gnu",
        linker: Some("aarch64-linux-gnu-gcc"),
        runner: Some(("qemu-aarch64", &["-L", "/usr/aarch64-linux-gnu"])),
        library: "/usr/aarch64-linux-gnu/lib/crt1.o",
        features: "",
        packages: &["zarr-view", "zarr-packbits"],
        debian: "dpkg --add-architecture arm64; rustc libstd-rust-dev:arm64 \
                 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
    },
    Target {
        triple: "i686-unknown-linux-gnu",
        linker: Some("i686-linux-gnu-gcc"),
        runner: None,
        library: "/usr/i686-linux-gnu/lib/crt1.o",
        features: "",
        packages: &["zarr-view", "zarr-packbits"],
        debian: "dpkg --add-architecture i386; rustc libstd-rust-dev:i386 \
                 gcc-i686-linux-gnu libc6-dev-i386-cross",
    },
    // Big-endian.
    Target {
        triple: "s390x-unknown-linux-gnu",
        linker: Some("s390x-linux-gnu-gcc"),
        runner: Some(("qemu-s390x", &["-L", "/usr/s390x-linux-gnu"])),
        library: "/usr/s390x-linux-gnu/lib/crt1.o",
        features: "",
        packages: &["zarr-view", "zarr-packbits"],
        debian: "dpkg --add-architecture s390x; rustc libstd-rust-dev:s390x \
                 gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user",
    },
    // Without threads and unwinding, so that a few tests are ignored.
    Target {
        triple: "wasm32-wasip1",
        linker: Some("wasm-ld"),
        runner: Some(("node", &["--no-warnings", WASI])),
        library: "/usr/lib/wasm32-wasi/libc.a",
        features: "+simd128",
        packages: &["zarr-view", "zarr-packbits"],
        debian: "rustc libstd-rust-dev-wasm32 wasi-libc lld nodejs",
    },
];

/// Runs the tests of each target that this machine can run; an argument names the only one.
pub(crate) fn targets(arguments: &[String]) -> Outcome {
    let only =
        match arguments {
            [] => None,
            [name] if name == "macos" => return systems::macos(),
            [name] if name == "windows" => {
                return systems::windows()?
                    .map_or(Ok(()), |missing| Err(format!("for want of {missing}")));
            }
            [name] if TARGETS.iter().any(|each| each.triple.starts_with(name)) => Some(name),
            _ => return Err(
                "usage: cargo xtask targets [aarch64 | i686 | s390x | wasm32 | windows | macos]"
                    .to_owned(),
            ),
        };
    let (mut left_out, mut failed) = (Vec::new(), Vec::new());
    for each in TARGETS.iter().filter(|each| only.is_none_or(|name| each.triple.starts_with(name)))
    {
        match compiler(each) {
            Ok(compiler) => failed.extend(test(each, &compiler).err()),
            Err(missing) => left_out.push((each, missing)),
        }
    }
    for (each, missing) in left_out {
        println!("not done: {}, for want of {missing}. On Debian: {}", each.triple, each.debian);
    }
    if only.is_none() {
        failed.extend(systems::macos().err());
        match systems::windows() {
            Ok(None) => {}
            Ok(Some(missing)) => println!("not done: Windows, for want of {missing}"),
            Err(error) => failed.push(error),
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n  ")) }
}

/// A compiler that has the target's standard library, if all the rest is there, too; else what is
/// missing.
fn compiler(target: &Target) -> Result<PathBuf, String> {
    let programs = target.linker.into_iter().chain(target.runner.map(|(program, _)| program));
    for program in programs {
        let found = Command::new(program).arg("--version").output();
        found.map_err(|_| format!("the program {program}"))?;
    }
    if !Path::new(target.library).exists() {
        return Err(format!("the C library ({})", target.library));
    }
    if let Some((program, _)) = target.runner.filter(|(program, _)| program.starts_with("qemu")) {
        let version = output(Command::new(program).arg("--version"))?;
        let major =
            version.split_whitespace().find_map(|word| word.split('.').next()?.parse().ok());
        if major.is_none_or(|major: u32| major <= OLD_QEMU) {
            return Err(format!("a newer {program} than {OLD_QEMU}"));
        }
    }
    let compilers = ["rustc", "/usr/bin/rustc"].map(PathBuf::from);
    let has = |compiler: &&PathBuf| {
        let root = output(Command::new(compiler).args(["--print", "sysroot"])).unwrap_or_default();
        let library = Path::new(root.trim()).join("lib/rustlib").join(target.triple).join("lib");
        library.read_dir().is_ok_and(|mut files| files.next().is_some())
    };
    let found = compilers.iter().find(has).cloned();
    found.ok_or_else(|| "a compiler with its standard library".to_owned())
}

/// Runs the tests, optimised, since emulation is slow.
fn test(each: &Target, compiler: &Path) -> Outcome {
    let variable = |name: &str| {
        let triple = each.triple.to_uppercase().replace('-', "_");
        format!("CARGO_TARGET_{triple}_{name}")
    };
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--locked", "--lib", "--test", "it"]).args(CONFIG);
    command.args(["--target", each.triple]).env("RUSTC", compiler);
    // Another compiler would recompile everything in the common folder, back and forth.
    command.arg("--target-dir").arg(target().join("targets"));
    for package in each.packages {
        command.args(["--package", package]);
    }
    if let Some(linker) = each.linker {
        command.env(variable("LINKER"), linker);
    }
    if let Some((program, arguments)) = each.runner {
        // Tests run in the folder of their crate.
        let place = |argument: &&str| match *argument {
            WASI => root().join(WASI).display().to_string(),
            argument => argument.to_owned(),
        };
        let arguments: Vec<String> = arguments.iter().map(place).collect();
        command.env(variable("RUNNER"), format!("{program} {}", arguments.join(" ")));
    }
    if !each.features.is_empty() {
        command.env(variable("RUSTFLAGS"), format!("-C target-feature={}", each.features));
    }
    // Snapshots are looked for below it, and not by asking cargo, which cannot be started there.
    command.env("INSTA_WORKSPACE_ROOT", root()).env("INSTA_UPDATE", "no");
    step(&mut command)
}
