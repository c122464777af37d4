//! `cargo xtask sizes`: the cost of each crate for its users.
//!
//! Makes a clean debug build of each crate with its default features, as a user would, and of zarrs,
//! and runs what a person runs first. The reported processor time hardly depends on what else the
//! machine does; divided by the number of cores, it is about the time the build takes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::release::minute;
use crate::run::{Outcome, commit, crates, output, processor, read, root, write};

const PAGE: &str = "docs/sizes.md";
const README: &str = "README.md";
const BEGIN: &str = "<!-- made by `cargo xtask sizes` -->\n";
const END: &str = "<!-- until here -->";

/// Measures, and writes the page and the README's table; with `--row NAME` prints one row of the
/// second table, or the one of a crate or of zarrs in the first, and writes nothing.
pub(crate) fn sizes(arguments: &[String]) -> Outcome {
    match arguments {
        [] => all(),
        [flag, name] if flag == "--row" => {
            print!("{}", row(name)?);
            Ok(())
        }
        _ => Err("usage: cargo xtask sizes [--row NAME]".to_owned()),
    }
}

fn row(name: &str) -> Result<String, String> {
    if let Some(row) = minute::ROWS.iter().find(|row| row.name == name) {
        return row.measure();
    }
    if let Some(name) = crates().find(|one| *one == name) {
        return Ok(Size::measure(name)?.row());
    }
    if name == "zarrs" {
        return zarrs();
    }
    let commands = minute::ROWS.iter().map(|row| row.name);
    let names: Vec<&str> = commands.chain(crates()).chain(["zarrs"]).collect();
    Err(format!("there is no row {name:?}; there are {}", names.join(", ")))
}

fn all() -> Outcome {
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
         Made by `cargo xtask sizes` at commit `{}` with {} on {cores} cores of {name}.\n\n\
         | crate | ours | others | build, s | lines |\n| --- | --: | --: | --: | --: |",
        commit()?,
        version()?
    );
    sizes.iter().for_each(|size| page += &size.row());
    page += &zarrs()?;
    let _ = write!(
        page,
        "\nzarrs has the codecs, and the store, that the default features here have.\n\n\
         ## The first minute\n\n\
         What a person waits for who has cloned the repository and downloaded the crates, in the \
         repository's own profile. On a busy machine the clock tells less than the processor.\n\n{}",
        minute::table()?
    );
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
        let in_tree = ["tree", "--locked", "-p", name];
        let tree = output(Command::new("cargo").args(in_tree).args(TREE))?;
        let built = built(&tree, name);
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

    /// Its line of the page's table.
    fn row(&self) -> String {
        let Self { name, ours, others, seconds, lines, .. } = self;
        format!("| `{name}` | {ours} | {others} | {seconds:.0} | {lines} |\n")
    }
}

/// Processor seconds of a clean build, as for a user: without our own profile.
fn build(name: &str) -> Result<f64, String> {
    let manifest = read("Cargo.toml")?;
    let theirs = settings_of_users(&manifest)?;
    let script = format!(
        "CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=2 CARGO_PROFILE_DEV_CODEGEN_UNITS=256 \
         cargo build --quiet --locked -p {name}{theirs}"
    );
    minute::clean()?;
    let [_, processor] = minute::timed(&script)?;
    Ok(processor)
}

/// The options that take back what the workspace's manifest sets for packages of its debug builds.
fn settings_of_users(manifest: &str) -> Result<String, String> {
    let (_, table) = manifest
        .split_once("[profile.dev.package]\n")
        .ok_or("Cargo.toml has no table [profile.dev.package]")?;
    let ours = table.lines().map_while(|line| line.split_once(".opt-level = "));
    let levels = ours.map(|(name, _)| format!("{name}.opt-level=0"));
    let checks = ["debug-assertions", "overflow-checks"].map(|check| format!("\"*\".{check}=true"));
    let settings = levels.chain(checks);
    Ok(settings.map(|setting| format!(" --config 'profile.dev.package.{setting}'")).collect())
}

/// The line of zarrs with the codecs and stores of zarr-kit's defaults.
fn zarrs() -> Result<String, String> {
    const MANIFEST: &str = "xtask/peers/zarrs-writer/Cargo.toml";
    let in_tree = ["tree", "--locked", "--manifest-path", MANIFEST, "-p", "zarrs"];
    let tree = output(Command::new("cargo").args(in_tree).args(TREE))?;
    minute::clean()?;
    let script = format!(
        "CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=2 \
         cargo build --quiet --locked --manifest-path {MANIFEST} -p zarrs"
    );
    let [_, processor] = minute::timed(&script)?;
    let others = built(&tree, "zarrs").len();
    Ok(format!("| zarrs 0.23.14 | | {others} | {processor:.0} | |\n"))
}

/// What lists everything that is compiled for a crate, a line each.
const TREE: [&str; 5] = ["-e", "normal,build", "--prefix", "none", "--no-dedupe"];

/// The names of what is compiled besides a crate.
fn built<'a>(tree: &'a str, name: &str) -> BTreeSet<&'a str> {
    let names = tree.lines().filter_map(|line| line.split(" v").next());
    names.filter(|found| *found != name).collect()
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

#[cfg(test)]
mod tests {
    use super::settings_of_users;

    #[test]
    fn settings_of_debug_builds_are_taken_back_and_no_others() {
        let manifest = "[profile.dev.package]\na.opt-level = 1\nb-c.opt-level = 2\n\n\
                        [profile.bench.package]\nd.opt-level = 1\n";
        let settings = " --config 'profile.dev.package.a.opt-level=0' \
                        --config 'profile.dev.package.b-c.opt-level=0' \
                        --config 'profile.dev.package.\"*\".debug-assertions=true' \
                        --config 'profile.dev.package.\"*\".overflow-checks=true'";
        assert_eq!(settings_of_users(manifest).as_deref(), Ok(settings));
        assert!(settings_of_users("[profile.dev]\n").is_err());
    }
}
