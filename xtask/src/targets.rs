//! `cargo xtask targets`: the tests of the crates with kernels on other processors, by emulation.
//!
//! It does what can be done on this machine, and says what it could not do and what is missing. A
//! standard library comes from the toolchain, or from Debian's own compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, output, step, target};

/// A processor, and what its tests need.
struct Target {
    triple: &'static str,
    /// The program that links, or none for the one of this machine.
    linker: Option<&'static str>,
    /// The program that runs tests, and its arguments, or none if this processor does.
    runner: Option<(&'static str, &'static str)>,
    /// A file without which nothing can be linked, or none if the crates are only compiled: for
    /// want of a system, no test can run.
    library: Option<&'static str>,
    packages: &'static [&'static str],
    /// Where all of it comes from on Debian. Releases whose `rustc` is too old may have a
    /// `rustc-web` with `libstd-rust-web-dev`.
    debian: &'static str,
}

/// Under qemu 7.2 tests did not end; under 11.1 they do.
const OLD_QEMU: u32 = 7;

const TARGETS: &[Target] = &[
    Target {
        triple: "aarch64-unknown-linux-gnu",
        linker: Some("aarch64-linux-gnu-gcc"),
        runner: Some(("qemu-aarch64", "-L /usr/aarch64-linux-gnu")),
        library: Some("/usr/aarch64-linux-gnu/lib/crt1.o"),
        packages: &["zarr-view", "zarr-packbits"],
        debian: "dpkg --add-architecture arm64; rustc libstd-rust-dev:arm64 \
                 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
    },
    Target {
        triple: "i686-unknown-linux-gnu",
        linker: Some("i686-linux-gnu-gcc"),
        runner: None,
        library: Some("/usr/i686-linux-gnu/lib/crt1.o"),
        packages: &["zarr-view", "zarr-packbits"],
        debian: "dpkg --add-architecture i386; rustc libstd-rust-dev:i386 \
                 gcc-i686-linux-gnu libc6-dev-i386-cross",
    },
    // Big-endian.
    Target {
        triple: "s390x-unknown-linux-gnu",
        linker: Some("s390x-linux-gnu-gcc"),
        runner: Some(("qemu-s390x", "-L /usr/s390x-linux-gnu")),
        library: Some("/usr/s390x-linux-gnu/lib/crt1.o"),
        packages: &["zarr-view", "zarr-packbits"],
        debian: "dpkg --add-architecture s390x; rustc libstd-rust-dev:s390x \
                 gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user",
    },
    Target {
        triple: "wasm32-unknown-unknown",
        linker: None,
        runner: None,
        library: None,
        packages: &["zarr-view", "zarr-packbits"],
        debian: "rustc libstd-rust-dev-wasm32",
    },
];

/// Runs the tests of each target that this machine can run; an argument names the only one.
pub(crate) fn targets(arguments: &[String]) -> Outcome {
    let only = match arguments {
        [] => None,
        [name] if TARGETS.iter().any(|each| each.triple.starts_with(name)) => Some(name),
        _ => return Err("usage: cargo xtask targets [aarch64 | i686 | s390x | wasm32]".to_owned()),
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
    if let Some(library) = target.library.filter(|library| !Path::new(library).exists()) {
        return Err(format!("the C library ({library})"));
    }
    if let Some((program, _)) = target.runner {
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

/// Runs the tests, optimised, since emulation is slow; or only compiles the crates.
fn test(each: &Target, compiler: &Path) -> Outcome {
    let variable = |name: &str| {
        let triple = each.triple.to_uppercase().replace('-', "_");
        format!("CARGO_TARGET_{triple}_{name}")
    };
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if each.library.is_some() {
        command.args(["test", "--locked", "--profile", "test-release", "--lib", "--test", "it"]);
    } else {
        command.args(["build", "--locked", "--lib"]);
    }
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
        command.env(variable("RUNNER"), format!("{program} {arguments}"));
    }
    step(&mut command)
}
