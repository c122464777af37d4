//! `cargo xtask check`: everything that must hold before a change lands.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use crate::conformance::{fixtures, requirements, suite};
use crate::release::{book, web};
use crate::rules::{api, dependencies, tidy};
use crate::run::{Outcome, cargo, crates, output, read, root, step as run, target, tracked};
use crate::testing::{earlier, optimised, python, s3, simulate};

/// A part of the checks, with the minutes it should take on two cores with nothing compiled yet.
struct Step {
    name: &'static str,
    budget: f64,
    /// Only with `--full`.
    full: bool,
    /// Runs while the steps after it do: it leaves a core idle.
    beside: bool,
    run: fn() -> Outcome,
}

const fn step(name: &'static str, budget: f64, run: fn() -> Outcome) -> Step {
    Step { name, budget, full: false, beside: false, run }
}

impl Step {
    const fn beside(self) -> Self {
        Self { beside: true, ..self }
    }

    const fn full(self) -> Self {
        Self { full: true, ..self }
    }

    /// Runs it, and gives the line of the report.
    fn timed(&self) -> Result<String, String> {
        let start = Instant::now();
        (self.run)()?;
        let minutes = start.elapsed().as_secs_f64() / 60.0;
        let Self { name, budget, .. } = self;
        let mark = if minutes > *budget { "  over its budget" } else { "" };
        Ok(format!("  {name:<36} {minutes:>5.1} of {budget:>3.1} minutes{mark}\n"))
    }
}

/// 20 minutes in total without those of `--full` and beside others.
///
/// Tests run twice, but for those of safe crates ([`optimised`]): without debug assertions and with
/// all features, and by the README's command with the default features and debug assertions.
const STEPS: &[Step] = &[
    step("format, tidy, fixtures, conformance", 0.5, rules),
    step("clippy", 1.8, clippy),
    step("the README's first command", 0.9, first_command),
    step("simulation", 1.2, || simulate::simulate(&["--seeds".to_owned(), "5000".to_owned()])),
    step("steps that are left out", 1.0, || {
        simulate::simulate(&["--faults".to_owned(), "--quick".to_owned()])
    }),
    step("orders of threads", 0.5, simulate::threads).full(),
    step("tests, all features, optimised", 4.0, optimised_tests),
    // Its tests in Python use one core. The builds take turns.
    step("Python package", 9.0, || python::python(&["--if-possible".to_owned()])).beside(),
    step("documentation", 0.3, documentation),
    step("public items", 0.4, || api::api(&["--check".to_owned()])),
    step("an earlier build in turn", 8.0, || earlier::earlier(&[])).full(),
    step("object storage", 1.5, || s3::s3_test(&["--quick".to_owned()])).full(),
    step("each crate and feature alone", 4.0, selective_dependencies).full(),
    step("zarrs with our crates", 8.0, suite::zarrs_kit).full(),
    step("npm package", 12.0, || web::web(&[])).full(),
    step("book", 0.6, || book::book(&[])),
    step("without std, without vectors", 0.2, no_std_no_vectors),
    step("the README's tests", 5.0, readme_tests),
];

/// Runs the checks that a change must pass, or with `--full` all of them, and reports how long each
/// took. Taking longer than planned is not a failure: machines differ.
pub(crate) fn check(arguments: &[String]) -> Outcome {
    let full = match arguments {
        [] => false,
        [flag] if flag == "--full" => true,
        _ => return Err("usage: cargo xtask check [--full]".to_owned()),
    };
    let mut report = String::new();
    let outcome = thread::scope(|scope| {
        let mut beside = Vec::new();
        for step in STEPS.iter().filter(|step| full || !step.full) {
            match step.beside {
                true => beside.push(scope.spawn(|| step.timed())),
                false => report += &step.timed()?,
            }
        }
        for step in beside {
            report += &step.join().map_err(|_| "a step panicked")??;
        }
        Ok(())
    });
    let verdict = if outcome.is_ok() { "all checks passed" } else { "these checks passed" };
    eprint!("── {verdict}; {:.1} minutes of processor time\n{report}", processor_minutes());
    outcome
}

/// What all ended children of this program took of all processors; 0 where the system does not tell.
fn processor_minutes() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, which may have spaces, is in parentheses; times are hundredths of a second.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let times = after_name.split_whitespace().skip(13).take(2);
    times.filter_map(|time| time.parse::<f64>().ok()).sum::<f64>() / 100.0 / 60.0
}

fn rules() -> Outcome {
    cargo(&["fmt", "--all", "--check"], &[])?;
    for manifest in [simulate::MANIFEST, web::MANIFEST] {
        cargo(&["fmt", "--all", "--check", "--manifest-path", manifest], &[])?;
    }
    tidy::tidy(&[])?;
    fixtures::fixtures(&["verify".to_owned()])?;
    requirements::conformance(&["--check".to_owned()])?;
    pure_rust()?;
    dependencies::dependencies(&[])?;
    lock_files()
}

/// The crate with all libraries as modules.
const FACADE: &str = "zarr-kit";

/// Names of crates that compile or link code of other languages when they are built.
const NATIVE: [&str; 6] = ["autotools", "bindgen", "cc", "cmake", "pkg-config", "vcpkg"];

/// Crates called `-sys` that only declare what the operating system has, and one that is C's
/// interface written in Rust.
const OF_SYSTEM: [&str; 4] = ["js-sys", "libbz2-rs-sys", "linux-raw-sys", "windows-sys"];

/// The feature `pure-rust` needs no C compiler: none of the crates in such a build compiles C.
fn pure_rust() -> Outcome {
    for package in [FACADE, "zarr-cli"] {
        let features = match package {
            FACADE => {
                "pure-rust,check,copy,virtual-join,ndarray,half,num-complex,jiff,serde,async,\
                references,zip"
            }
            _ => "pure-rust",
        };
        let tree = output(Command::new("cargo").args([
            "tree",
            "--locked",
            "--package",
            package,
            "--no-default-features",
            "--features",
            features,
            "--edges",
            "normal,build",
            "--target",
            "all",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ]))?;
        let names = tree.lines().filter_map(|line| line.split(' ').next());
        for name in names {
            let is_native = NATIVE.contains(&name) || name.ends_with("-src");
            let is_sys = name.ends_with("-sys") && !OF_SYSTEM.contains(&name);
            if is_native || is_sys {
                return Err(format!("{package} with {features} depends on {name}"));
            }
        }
        if !tree.contains("ruzstd ") {
            return Err(format!("{package} with {features} does not decode zstd"));
        }
    }
    Ok(())
}

/// Separate workspaces have separate lock files, which our dependencies may outdate.
fn lock_files() -> Outcome {
    let files = tracked()?;
    for lock in files.iter().filter(|path| path.ends_with("/Cargo.lock")) {
        let manifest = lock.replace("Cargo.lock", "Cargo.toml");
        let what = ["update", "--workspace", "--locked", "--quiet", "--manifest-path", &manifest];
        cargo(&what, &[])?;
    }
    Ok(())
}

/// The line of the README that begins with this.
fn readme_line(start: &str) -> Result<String, String> {
    let readme = read("README.md")?;
    let line = readme.lines().find(|line| line.starts_with(start));
    Ok(line.ok_or_else(|| format!("README.md has no line that begins with {start}"))?.to_owned())
}

/// The first command of the README, which builds what a new user has. Whoever needs what this build
/// lacks is told how to install it.
fn first_command() -> Outcome {
    const CODECS: &str = r#"[{"name": "bytes"}, {"name": "numcodecs.adler32"}]"#;
    const ADVICE: &str = "this build is without";
    const INSTALL: &str = "`cargo install --path crates/zarr-cli --features all-codecs` adds it";
    let line = readme_line("cargo run ")?;
    run(Command::new("bash").args(["-c", &line]))?;
    let (program, _) = line.split_once(" -- ").ok_or("the first command has no ` -- `")?;
    let script = format!("{program} -- \"$@\"");
    let place = target().join("lacking").display().to_string();
    let create = ["create", &place, "--shape", "4", "--dtype", "int8", "--codecs", CODECS];
    let tables = ["info", "fixtures/references/fastparquet.parq/rain"];
    for lacking in [&create[..], &tables] {
        match output(Command::new("bash").args(["-c", &script, "bash"]).args(lacking)) {
            Err(message) if message.contains(ADVICE) && message.contains(INSTALL) => {}
            other => return Err(format!("{lacking:?} gave {other:?}, and not: {INSTALL}")),
        }
    }
    Ok(())
}

fn clippy() -> Outcome {
    let what = ["clippy", "--workspace", "--all-targets", "--all-features", "--locked"];
    cargo(&[&what[..], &["--", "-D", "warnings"]].concat(), &[])?;
    let target = target();
    let target = target.to_string_lossy();
    let what = ["clippy", "--locked", "--manifest-path", simulate::MANIFEST];
    cargo(&[&what[..], &["--target-dir", &target, "--", "-D", "warnings"]].concat(), &[])
}

/// The test command of the README, word for word.
fn readme_tests() -> Outcome {
    run(Command::new("bash").args(["-c", &readme_line("cargo test ")?]))
}

fn documentation() -> Outcome {
    cargo(
        &["doc", "--workspace", "--all-features", "--no-deps", "--locked", "--quiet"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )
}

/// Overflow that debug assertions catch must not give wrong answers without them. Files of these tests
/// are in memory, where making and deleting them is quicker; those of the README's tests are on disk.
fn optimised_tests() -> Outcome {
    let folder: &[_] = if memory_has_room() { &[("TMPDIR", MEMORY)] } else { &[] };
    cargo(&[&["test"], &optimised::crates()[..]].concat(), folder)
}

const MEMORY: &str = "/dev/shm";

/// Whether the folder in memory exists, has a gigabyte, and runs programs: those of examples in the
/// documentation are there too.
fn memory_has_room() -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mount = mounts
        .lines()
        .map(|line| line.split(' '))
        .find_map(|mut words| (words.nth(1) == Some(MEMORY)).then(|| words.nth(1)).flatten());
    let Some(options) = mount.filter(|options| !options.contains("noexec")) else { return false };
    let free = output(Command::new("df").args(["--output=avail", "-k", MEMORY]));
    let free = free.ok().and_then(|text| text.lines().nth(1)?.trim().parse::<u64>().ok());
    options.starts_with("rw") && free.is_some_and(|kibibytes| kibibytes >= 1 << 20)
}

/// Each crate alone, with its default features, none, and each single one: users depend on one crate,
/// which must build without the workspace's unified features. Features that a crate only passes on are
/// checked in the crate below; all features together in the facade, which has those of all libraries.
fn selective_dependencies() -> Outcome {
    for name in crates() {
        let text = read(format!("crates/{name}/Cargo.toml"))?;
        let clippy = |features: &[&str]| {
            let head = ["clippy", "--quiet", "--locked", "-p", name];
            // The crates below have had the lints: they come first.
            let tail = ["--", "--no-deps", "-D", "warnings"];
            cargo(&[&head, features, &tail].concat(), &[])
        };
        clippy(&[])?;
        let features = feature_names(&text);
        if features.is_empty() {
            continue;
        }
        if name == FACADE {
            clippy(&["--all-features"])?;
        }
        clippy(&["--no-default-features"])?;
        let source = source(&root().join("crates").join(name).join("src"))?;
        for feature in &features {
            if !is_passed_on(&text, feature, &features)
                || source.contains(&format!("feature = {feature:?}"))
            {
                clippy(&["--no-default-features", "--features", feature])?;
            }
        }
    }
    Ok(())
}

/// The names in a manifest's `[features]` table, except `default`.
fn feature_names(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with([' ', '#', ']']))
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim().to_owned())
        .filter(|name| name != "default")
        .collect()
}

/// Whether a feature of a manifest is only the feature of the same name of one crate below, with others
/// of the manifest or without.
fn is_passed_on(manifest: &str, feature: &str, others: &[String]) -> bool {
    let list = manifest.lines().find_map(|line| {
        let list = line.strip_prefix(feature)?.trim_start().strip_prefix('=')?;
        list.trim().strip_prefix('[')?.strip_suffix(']')
    });
    let entries = list.unwrap_or_default().split(", ").map(|entry| entry.trim_matches('"'));
    let mut below = entries.filter(|entry| !others.iter().any(|other| other == entry));
    let is_same = |below: &str| {
        below.starts_with("zarr-") && below.split_once('/').is_some_and(|(_, name)| name == feature)
    };
    below.next().is_some_and(is_same) && below.next().is_none()
}

/// The text of all source files in a folder.
fn source(folder: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut text = String::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        text += &match path.is_dir() {
            true => source(&path)?,
            false => fs::read_to_string(&path).map_err(failed)?,
        };
    }
    Ok(text)
}

fn no_std_no_vectors() -> Outcome {
    no_std()?;
    no_vectors()
}

/// A static library without `std` links the three bottom crates: if one of them used `std`, its
/// panic handler would clash with the program's own.
fn no_std() -> Outcome {
    cargo(&["build", "--quiet", "--locked", "--manifest-path", "xtask/no-std/Cargo.toml"], &[])
}

/// Compiles what other processors run: code that names a module of this one's vectors does not
/// compile there. `cargo xtask targets` runs it, where the machine can.
fn no_vectors() -> Outcome {
    if cfg!(not(target_arch = "x86_64")) {
        return Ok(());
    }
    for package in ["zarr-packbits", "zarr-view"] {
        // Only for this crate, and only checked: the compiler makes no programs without SSE2.
        let words = ["rustc", "--quiet", "--locked", "--lib", "--profile", "check", "-p", package];
        cargo(&[&words[..], &["--", "-Ctarget-feature=-sse2", "-Dwarnings"]].concat(), &[])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{feature_names, is_passed_on};

    #[test]
    fn features_that_are_passed_on_are_told_from_others() {
        let manifest = concat!(
            "a = [\"zarr-b/a\"]\nc = [\"zarr-b/a\"]\nd = [\"zarr-b/d\", \"dep:e\"]\nf = []\n",
            "g = [\"h/g\"]\ni = [\"a\", \"zarr-b/i\"]\nj = [\"a\", \"c\"]\n",
            "k = [\"zarr-b/k\", \"zarr-l/k\"]\n"
        );
        let others = ["a", "c", "d", "f", "g", "i", "j", "k"].map(str::to_owned);
        let passed_on = others.each_ref().map(|name| is_passed_on(manifest, name, &others));
        assert_eq!(passed_on, [true, false, false, false, false, true, false, false]);
    }

    #[test]
    fn features_are_read_from_a_manifest() {
        let manifest = "[package]\nname = \"x\"\n\n[features]\ndefault = [\"a\"]\n# why\na = []\nb-c = [\n  \"a\",\n]\n\n[lints]\nworkspace = true\n";
        assert_eq!(feature_names(manifest), ["a", "b-c"]);
    }
}
