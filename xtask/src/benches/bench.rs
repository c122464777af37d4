//! `cargo xtask bench [SUITE...]`: every benchmark and its peers, in one run.
//!
//! A benchmark called with `BENCH_RECORDS` set prints, beside its tables, lines of
//! `record<TAB>table<TAB>row<TAB>role<TAB>who<TAB>nanoseconds`, where the role is `ours`, `peer`,
//! `floor` (the same work by hand) or `other` (ours in another form). They are kept in
//! `target/bench/all.tsv`, from which the page `all.md` beside it is made. Releases have that folder as
//! files. What needs no other program is measured by `cargo bench`.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::benches::records::{Role, Table, folder, parse, records, split};
use crate::conformance::fixtures::environment;
use crate::run::{Outcome, cargo, commit, make_folder, output, processor, read, root};

/// The suites: programs that alternate with their rivals in one process.
const SUITES: &[Suite] =
    &[("grid", grid), ("packbits", packbits), ("view", view), ("arrays", arrays)];

/// A suite's name, and the function that runs it.
type Suite = (&'static str, fn(&mut Run) -> Outcome);

/// Rivals in Rust: the lock file that pins them, and their names.
const PEERS: &[(&str, &[&str])] = &[
    ("xtask/peers/array-bench/Cargo.lock", &["zarrs"]),
    ("xtask/peers/view-bench/Cargo.lock", &["ndarray", "transpose", "strided-perm", "hptt"]),
];

/// Builds everything, then runs the suites one after the other.
pub(crate) fn bench(arguments: &[String]) -> Outcome {
    if let Some(unknown) =
        arguments.iter().find(|name| SUITES.iter().all(|suite| suite.0 != **name))
    {
        let names: Vec<&str> = SUITES.iter().map(|(name, _)| *name).collect();
        return Err(format!("no suite {unknown}; there are {}", names.join(", ")));
    }
    let mut run =
        Run { python: environment()?.to_string_lossy().into_owned(), records: Vec::new() };
    build()?;
    let failed = |error: std::io::Error| format!("{}: {error}", folder().display());
    make_folder(folder())?;
    let head = machine(&run.python)?;
    for (name, suite) in SUITES {
        if arguments.is_empty() || arguments.iter().any(|chosen| chosen == name) {
            suite(&mut run)?;
            // After each suite, because a later one may fail.
            let text = run.records.join("\n") + "\n";
            fs::write(folder().join("all.md"), page(&head, &parse(&text)?)).map_err(failed)?;
            fs::write(records(), text).map_err(failed)?;
        }
    }
    Ok(())
}

/// Builds all programs before anything is measured.
fn build() -> Outcome {
    for peer in ["grid-bench", "view-bench", "array-bench", "packbits"] {
        let manifest = format!("xtask/peers/{peer}/Cargo.toml");
        let mut arguments = vec!["build", "--release", "--locked", "--manifest-path", &manifest];
        if peer == "view-bench" && Command::new("cmake").arg("--version").output().is_err() {
            eprintln!("no CMake: without hptt");
            arguments.push("--no-default-features");
        }
        cargo(&arguments, &[])?;
    }
    Ok(())
}

struct Run {
    /// The interpreter that has numpy, zarr-python and TensorStore.
    python: String,
    records: Vec<String>,
}

impl Run {
    /// Runs one program: its tables go to the terminal, its records to the list.
    fn program(&mut self, command: &mut Command) -> Outcome {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |error: &dyn std::fmt::Display| format!("{program}: {error}");
        eprintln!("── {command:?}");
        let mut child = command
            .current_dir(root())
            .env("BENCH_RECORDS", "1")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&error))?;
        let stdout = child.stdout.take().ok_or_else(|| failed(&"has no output"))?;
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|error| failed(&error))?;
            match split(&line) {
                Some((row, record)) => {
                    print!("{row}");
                    self.records.push(record.to_owned());
                }
                None => println!("{line}"),
            }
        }
        let status = child.wait().map_err(|error| failed(&error))?;
        if status.success() { Ok(()) } else { Err(failed(&status)) }
    }

    fn peer(&mut self, folder: &str, program: &str, arguments: &[&str]) -> Outcome {
        let path = root().join(format!("xtask/peers/{folder}/target/release/{program}"));
        let mut command = Command::new(path);
        self.program(command.args(arguments).env("VIEW_BENCH_PYTHON", self.python.clone()))
    }

    fn python(&mut self, script: &str, arguments: &[&str]) -> Outcome {
        let script = root().join("xtask/peers").join(script);
        self.program(Command::new(self.python.clone()).arg(script).args(arguments))
    }
}

fn grid(run: &mut Run) -> Outcome {
    run.peer("grid-bench", "grid-bench", &[])
}

fn packbits(run: &mut Run) -> Outcome {
    run.peer("packbits", "zarrs", &[])?;
    run.python("packbits/numpy_bool.py", &[])
}

fn view(run: &mut Run) -> Outcome {
    run.peer("view-bench", "view-bench", &[])
}

/// In memory if possible, so that nothing waits for a disk.
fn arrays(run: &mut Run) -> Outcome {
    let shared = Path::new("/dev/shm");
    let parent = if shared.is_dir() { shared.to_owned() } else { root().join("target") };
    let folder = parent.join(format!("zarr-kit-bench-{}", std::process::id()));
    make_folder(&folder)?;
    let done = arrays_in(run, &folder.to_string_lossy());
    let removed = fs::remove_dir_all(&folder);
    done?;
    removed.map_err(|error| format!("{}: {error}", folder.display()))
}

/// The arrays with speed limits, which are also measured on one thread.
const BOUNDED: &[&str] = &[
    "bool-packbits",
    "uint16-bytes",
    "uint16-zstd",
    "uint16-transpose-zstd",
    "uint16-transpose-zstd-noisy",
];

fn arrays_in(run: &mut Run, folder: &str) -> Outcome {
    let few = ["--threads", "2", "--repetitions", "3"];
    let alone = [&["--threads", "1", "--repetitions", "3"][..], BOUNDED].concat();
    run.peer("array-bench", "array-bench", &[&["whole", folder][..], &alone].concat())?;
    run.peer("array-bench", "array-bench", &[&["whole", folder][..], &few].concat())?;
    run.peer("array-bench", "array-bench", &["regions", folder])?;
    run.peer("array-bench", "array-bench", &["shards", folder])?;
    run.peer("array-bench", "array-bench", &["chunks"])?;
    run.peer("array-bench", "array-bench", &["tiny", folder])?;
    run.peer("array-bench", "array-bench", &["zarr-benchmarks", folder])?;
    run.python("array_bench.py", &[&["whole", folder][..], &alone].concat())?;
    run.python("array_bench.py", &[&["whole", folder][..], &few].concat())?;
    run.python("array_bench.py", &["regions", folder])
}

/// The machine, and the versions of all programs.
fn machine(python: &str) -> Result<String, String> {
    let (cores, name) = processor();
    let mut versions = vec![output(Command::new("rustc").arg("--version"))?.trim().to_owned()];
    for (lock, names) in PEERS {
        let text = read(lock)?;
        for name in *names {
            let head = format!("name = \"{name}\"\nversion = \"");
            let version = text.split_once(&head).and_then(|(_, rest)| rest.split_once('"'));
            versions.extend(version.map(|(version, _)| format!("{name} {version}")));
        }
    }
    let installed = output(Command::new(python).args(["-m", "pip", "freeze"]))?;
    for line in installed.lines() {
        if let Some((name, version)) = line.split_once("==")
            && ["zarr", "tensorstore", "numpy", "numcodecs"].contains(&name)
        {
            let name = if name == "zarr" { "zarr-python" } else { name };
            versions.push(format!("{name} {version}"));
        }
    }
    let date = output(Command::new("date").args(["-u", "+%F"]))?;
    Ok(format!(
        "**Date**: {}. **Machine**: {cores} cores of {name}. **Versions**: zarr-kit at commit `{}`, {}.",
        date.trim(),
        commit()?,
        versions.join(", ")
    ))
}

fn page(head: &str, tables: &[Table]) -> String {
    let mut page = format!(
        "# Every benchmark, in one run\n\n{head}\n\n\
         Made by `cargo xtask bench`; the times are in the file of the same name that ends in `.tsv`. \
         Figures are times as multiples of ours: 2 took twice as long, less than 1 was faster than \
         we are. Only figures of one row compare. The pages in `docs/bench` \
         say what is measured.\n\n\
         ## Where we lose\n\n"
    );
    let mut losses: Vec<(f64, String)> = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)))
        .flat_map(|(table, row)| {
            row.relative().filter(|(time, ratio)| time.role == Role::Peer && *ratio < 1.0).map(
                move |(time, ratio)| {
                    (
                        ratio,
                        format!("| {} | {} | {} | {ratio:.2} |", table.name, row.name, time.who),
                    )
                },
            )
        })
        .collect();
    losses.sort_by(|one, other| one.0.total_cmp(&other.0));
    page.push_str("| table | row | peer | its time to ours |\n| --- | --- | --- | --: |\n");
    for (_, line) in &losses {
        let _ = writeln!(page, "{line}");
    }
    if losses.is_empty() {
        page.push_str("| none | | | |\n");
    }
    for table in tables {
        let _ = writeln!(page, "\n## {}\n", table.name);
        table_of(&mut page, table);
    }
    page
}

/// A table with a column per program that occurs in any row.
fn table_of(page: &mut String, table: &Table) {
    let others = table.peers();
    let _ = writeln!(page, "| | ours | {} |", others.join(" | "));
    let _ = writeln!(page, "| --- | --: |{}", " --: |".repeat(others.len()));
    for row in &table.rows {
        let ours = row.ours().map_or_else(String::new, |time| human(time.nanoseconds));
        let _ = write!(page, "| {} | {ours} |", row.name);
        for who in &others {
            let found = row.relative().find(|(time, _)| time.who == *who);
            let cell = found.map_or_else(String::new, |(_, ratio)| format!("{ratio:.2}"));
            let _ = write!(page, " {cell} |");
        }
        page.push('\n');
    }
}

/// A time in the unit that gives it one to three digits before the point.
fn human(nanoseconds: f64) -> String {
    match nanoseconds {
        n if n < 1e3 => format!("{n:.1} ns"),
        n if n < 1e6 => format!("{:.1} us", n / 1e3),
        n if n < 1e9 => format!("{:.1} ms", n / 1e6),
        n => format!("{:.1} s", n / 1e9),
    }
}
