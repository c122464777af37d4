//! `cargo xtask sizes`: the cost of each crate for its users.
//!
//! Makes a clean debug build of each crate with its default features, as a user would. The reported
//! processor time hardly depends on what else the machine does; divided by the number of cores, it
//! is about the time the build takes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::{Outcome, crates, output, processor, read, root, write};

const PAGE: &str = "docs/sizes.md";
const README: &str = "README.md";
const BEGIN: &str = "<!-- made by `cargo xtask sizes` -->\n";
const END: &str = "<!-- until here -->";

/// Measures, and writes the page and the README's table.
pub(crate) fn sizes(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask sizes".to_owned());
    }
    let sizes: Vec<Size> = crates().map(Size::measure).collect::<Result<_, _>>()?;
    let mut page = String::from(
        "# Sizes\n\n\
         What each crate costs its users, with default features. *Ours* counts the crates of this \
         workspace below it; *others* counts all crates of other authors that are built with it, \
         including those that run at build time. *Build* is the processor time of a clean debug \
         build, dependencies included",
    );
    let (cores, name) = processor();
    let _ = writeln!(
        page,
        "; divided by the number of cores, it is about the time the build takes. *Lines* counts \
         `src`, comments and inline tests included.\n\n\
         Made by `cargo xtask sizes` with {} on {cores} cores of {name}.\n\n\
         | crate | ours | others | build, s | lines |\n| --- | --: | --: | --: | --: |",
        version()?
    );
    for size in &sizes {
        let Size { name, ours, others, seconds, lines, .. } = size;
        let _ = writeln!(page, "| `{name}` | {ours} | {others} | {seconds:.0} | {lines} |");
    }
    write(PAGE, &page)?;
    let mut table = String::from(
        "| crate | what it is for | dependencies | build, s |\n| --- | --- | --: | --: |\n",
    );
    for size in sizes.iter().rev() {
        let Size { name, about, ours, others, seconds, .. } = size;
        let _ = writeln!(table, "| `{name}` | {about} | {others} + {ours} | {seconds:.0} |");
    }
    let readme = read(README)?;
    let (before, rest) =
        readme.split_once(BEGIN).ok_or_else(|| format!("{README} has no line {BEGIN}"))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| format!("{README} has no line {END}"))?;
    write(README, &format!("{before}{BEGIN}{table}{END}{after}"))
}

struct Size {
    name: &'static str,
    /// Its description in its manifest.
    about: String,
    /// Crates of this workspace below it.
    ours: usize,
    others: usize,
    seconds: f64,
    lines: usize,
}

impl Size {
    fn measure(name: &'static str) -> Result<Self, String> {
        let tree = output(Command::new("cargo").args([
            "tree",
            "--locked",
            "-p",
            name,
            "-e",
            "normal,build",
            "--prefix",
            "none",
            "--no-dedupe",
        ]))?;
        let built: BTreeSet<&str> = tree
            .lines()
            .filter_map(|line| line.split(" v").next())
            .filter(|found| *found != name)
            .collect();
        let ours = built.iter().filter(|found| crates().any(|one| one == **found)).count();
        let manifest = read(&format!("crates/{name}/Cargo.toml"))?;
        let about = manifest
            .lines()
            .find_map(|line| line.strip_prefix("description = "))
            .ok_or_else(|| format!("{name} has no description"))?;
        Ok(Self {
            name,
            about: about.trim_matches('"').to_owned(),
            ours,
            others: built.len() - ours,
            seconds: build(name)?,
            lines: lines(&root().join("crates").join(name).join("src"))?,
        })
    }
}

/// Processor seconds of a clean build, as for a user: without our own profile.
fn build(name: &str) -> Result<f64, String> {
    let folder = root().join("target/sizes");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    eprintln!("── cargo build -p {name}");
    let script = format!(
        "TIMEFORMAT='%U %S'; time cargo build --quiet --locked -p {name} --target-dir target/sizes"
    );
    let found = Command::new("bash")
        .args(["-c", &script])
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "2")
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(root())
        .output()
        .map_err(|error| format!("could not start bash: {error}"))?;
    let text = String::from_utf8_lossy(&found.stderr);
    if !found.status.success() {
        return Err(format!("cargo build -p {name}: {text}"));
    }
    let last = text.lines().last().unwrap_or_default();
    let times: Vec<f64> = last.split(' ').filter_map(|time| time.parse().ok()).collect();
    match times[..] {
        [user, system] => Ok(user + system),
        _ => Err(format!("cargo build -p {name}: no times in {last:?}")),
    }
}

fn lines(folder: &Path) -> Result<usize, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut sum = 0;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            sum += lines(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sum += fs::read_to_string(&path).map_err(failed)?.lines().count();
        }
    }
    Ok(sum)
}

fn version() -> Result<String, String> {
    let version = output(Command::new("rustc").arg("--version"))?;
    Ok(version.split(' ').take(2).collect::<Vec<_>>().join(" "))
}
