//! Debian's newer compiler, with libraries for targets that the toolchain's compiler lacks.
//!
//! Its packages are unpacked below the target folder, without touching the system, and run there by their
//! own loader.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Outcome, make_folder, output, root, step, write};

/// What the toolchain is: the compiler, its standard library's source, the library for WebAssembly and the
/// optimiser. The linker is the one of the compiler's LLVM.
const PROGRAMS: [&str; 4] = ["rustc", "rust-src", "libstd-rust-dev-wasm32", "binaryen"];

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

/// Compiles the standard library of the target from its source, as [`compile_with`] allows.
pub(crate) const BUILD_STD: &str = "-Zbuild-std=std,panic_unwind,test";

/// Lets a command that runs cargo compile with this toolchain.
pub(crate) fn compile_with(command: &mut Command) -> Outcome {
    let compiler = toolchain()?.join("rustc");
    command.env("RUSTC", compiler).env("RUSTC_BOOTSTRAP", "1").env("RUSTC_WRAPPER", "");
    Ok(())
}

/// The folder with the programs of the toolchain.
pub(crate) fn toolchain() -> Result<PathBuf, String> {
    let folder = root().join("target/debian");
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
    let mirror =
        mirror.ok_or("the newer compiler comes from Debian's packages: apt knows no mirror")?;
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
    let missing = "the newer compiler is Debian's, which apt does not find";
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
    // From where the script is, so that the whole folder may be moved.
    let usr = "$here/toolchain/usr";
    let libraries = format!("{usr}/lib/x86_64-linux-gnu");
    for (name, program, more) in [
        ("rustc", "bin/rustc", format!("--sysroot \"{usr}\"")),
        ("rust-lld", &format!("bin/wasm-ld-{llvm}"), String::new()),
        ("wasm-opt", "bin/wasm-opt", String::new()),
    ] {
        // Not `sh`, which passes no variable on whose name has a hyphen, as those of programs have for tests.
        let script = format!(
            "#!/bin/bash\nhere=\"$(cd \"${{0%/*}}/..\" && pwd)\"\n\
             exec \"{libraries}/ld-linux-x86-64.so.2\" --library-path \"{libraries}:{usr}/lib\" \
             --argv0 {name} \"{usr}/{program}\" {more} \"$@\"\n"
        );
        write(bin.join(name), &script)?;
        step(Command::new("chmod").arg("+x").arg(bin.join(name)))?;
    }
    write(bin.join("ready"), "")?;
    Ok(bin)
}

/// Downloads packages and unpacks them in a folder, without installing them.
pub(crate) fn unpack(settings: &Path, archives: &Path, packages: &[String], to: &Path) -> Outcome {
    let shell = "cd \"$0\" && apt-get download \"$@\" && for one in *.deb; do dpkg-deb -x \"$one\" \"$TO\" || exit 1; done";
    let mut command = Command::new("sh");
    command.args(["-c", shell]).arg(archives).args(packages);
    step(command.env("APT_CONFIG", settings).env("TO", to))
}
