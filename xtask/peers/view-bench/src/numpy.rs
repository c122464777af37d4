//! numpy in a process of its own, asked for one timed copy at a time.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Case;

const PROGRAM: &str = r#"
import sys, time, json
import numpy as np
key = None
for line in sys.stdin:
    shape, order, size, inner = request = json.loads(line)
    if key != request:
        key = request
        src = np.arange(int(np.prod(shape)), dtype=f"u{size}").reshape(shape)
        view = src.transpose(order)
        dst = np.ones(view.shape, dtype=src.dtype)
    np.copyto(dst, view)
    start = time.perf_counter()
    for _ in range(inner):
        np.copyto(dst, view)
    print((time.perf_counter() - start) / inner, flush=True)
"#;

pub struct Numpy {
    _child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Numpy {
    pub fn start() -> Option<Self> {
        let python = std::env::var("VIEW_BENCH_PYTHON").ok()?;
        let mut child = Command::new(python)
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (to, from) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        Some(Self { _child: child, to, from })
    }

    pub fn time(&mut self, case: &Case, inner: usize) -> f64 {
        writeln!(self.to, "[{:?}, {:?}, {}, {inner}]", case.shape, case.order, case.size).unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim().parse().expect("numpy answers with seconds")
    }
}
