//! Repository tasks, called as `cargo xtask COMMAND`.
//!
//! Continuous integration calls only these, so each of its checks can be run by hand.

#![forbid(unsafe_code)]

mod benches;
mod check;
mod conformance;
mod debian;
mod release;
mod rules;
mod run;
mod testing;
mod venv;

use std::process::ExitCode;

use self::benches::bench;
use self::conformance::{fixtures, interop, requirements, suite};
use self::release::{book, dist, notices, packages, web, wheels};
use self::rules::{api, dependencies, tidy};
use self::run::Outcome;
use self::testing::{earlier, fuzz, mutants, python, s3, simulate, targets, thorough};

/// A command: its name, its description, and the function that runs it.
struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "check",
        about: "format, lints, tests, docs, tidy; --full: also each crate and feature alone, servers, benches",
        run: check::check,
    },
    Command {
        name: "tidy",
        about: "the repository's own rules: lengths, unsafe places, headers, paths",
        run: tidy::tidy,
    },
    Command {
        name: "dependencies",
        about: "the crates of others: licences, sources, several versions of one, the oldest Rust",
        run: dependencies::dependencies,
    },
    Command {
        name: "conformance",
        about: "docs/conformance.md: the tests of each sentence; --check compares",
        run: requirements::conformance,
    },
    Command {
        name: "book",
        about: "book/: the pages of docs/ as a book; fails on a dead link",
        run: book::book,
    },
    Command {
        name: "api",
        about: "xtask/api/lists: the public items of each library crate; --check compares",
        run: api::api,
    },
    Command {
        name: "fixtures",
        about: "verify: compare the test data with its manifest; regen: generate it again",
        run: fixtures::fixtures,
    },
    Command {
        name: "interop",
        about: "docs/interop.md: arrays exchanged between the command line and other programs",
        run: interop::interop,
    },
    Command {
        name: "suite",
        about: "docs/matrix.md: the conformance suite, run with today's implementations",
        run: suite::suite,
    },
    Command {
        name: "python",
        about: "the Python package: build, types, tests, examples, in an environment of its own",
        run: python::python,
    },
    Command {
        name: "wheels",
        about: "the Python package's source distribution and wheels, tested",
        run: wheels::wheels,
    },
    Command {
        name: "web",
        about: "target/web/zarr-kit: the npm package, built, measured, tested under node",
        run: web::web,
    },
    Command {
        name: "packages",
        about: "each crate and its tests, built from the package that would be uploaded",
        run: packages::packages,
    },
    Command {
        name: "release",
        about: "target/dist: every file of a release, with checksums, installed and tried; --trial: as it stands",
        run: dist::release,
    },
    Command {
        name: "bench",
        about: "target/bench: every benchmark, with other programs in the same run",
        run: bench::bench,
    },
    Command {
        name: "notices",
        about: "target/THIRD-PARTY.txt: the licences of all that programs and wheels contain",
        run: notices::notices,
    },
    Command {
        name: "exhaustive",
        about: "all cases of bit kernels, grids and views, of which `check` runs a sample",
        run: thorough::exhaustive,
    },
    Command {
        name: "asan",
        about: "the tests of unsafe code under AddressSanitizer, with a nightly compiler",
        run: thorough::asan,
    },
    Command {
        name: "targets",
        about: "tests of the kernels on other processors, of stores, arrays and copies on Windows; types on macOS",
        run: targets::targets,
    },
    Command {
        name: "fuzz",
        about: "every fuzz target for some minutes, with a nightly compiler",
        run: fuzz::fuzz,
    },
    Command {
        name: "mutants",
        about: "docs/mutants.md: whether tests notice a sample of small changes of the code",
        run: mutants::mutants,
    },
    Command {
        name: "simulate",
        about: "runs of clients in a store that fails, each decided by a seed: --seeds N [--seed FIRST]; \
                --seed SEED shows one",
        run: simulate::simulate,
    },
    Command {
        name: "earlier",
        about: "random histories by a build of an earlier revision and this one, in turn on one store",
        run: earlier::earlier,
    },
    Command {
        name: "s3-test",
        about: "zarr-array's tests against an S3-compatible server that it builds and starts",
        run: s3::s3_test,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        return usage();
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return usage();
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {name}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: cargo xtask COMMAND");
    for command in COMMANDS {
        eprintln!("  {:<12} {}", command.name, command.about);
    }
    ExitCode::FAILURE
}
