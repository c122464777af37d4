//! A test binary, run again as another process.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

const JOB: &str = "ZARR_KIT_TEST_JOB";

/// The job for which this process was started; `None` if no test started it.
#[must_use]
pub fn job() -> Option<String> {
    env::var(JOB).ok()
}

/// Runs the ignored test `test` of this binary as another process, to do `job`. Its standard
/// input and output are connected to the caller.
#[must_use]
pub fn start(test: &str, job: &str) -> (Child, BufReader<ChildStdout>) {
    start_as(&mut Command::new(env::current_exe().unwrap()), test, job)
}

/// As [`start`], with a command that runs a copy of this binary.
pub fn start_as(command: &mut Command, test: &str, job: &str) -> (Child, BufReader<ChildStdout>) {
    command
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(JOB, job)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    // A program that has just been copied is busy as long as a child of another test, between its
    // fork and its exec, still has it open for writing.
    let mut child = loop {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::yield_now();
            }
            started => break started.unwrap(),
        }
    };
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// Waits for a line that a job prints, skipping those of the test harness.
pub fn wait_for(output: &mut BufReader<ChildStdout>, marker: &str) {
    let mut line = String::new();
    while !line.contains(marker) {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the process ended before {marker:?}");
    }
}

/// Prints a line for [`wait_for`].
pub fn say(marker: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{marker}").unwrap();
    out.flush().unwrap();
}
