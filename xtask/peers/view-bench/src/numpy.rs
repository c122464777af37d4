//! numpy in a process of its own, asked for one timed copy at a time.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::cases::Case;

const PROGRAM: &str = r#"
import sys, time, json
import numpy as np
key = None
for line in sys.stdin:
    shape, order, parts, size, inner = request = json.loads(line)
    if key != request:
        key = request
        dtype = "c16" if size == 16 else f"u{size}"
        src = np.ones(shape, dtype=dtype)
        view = src.transpose(order)
        view = view[tuple(slice(None, None, step or 1) for step, _ in parts)]
        view = np.broadcast_to(view, [count for _, count in parts])
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
        let parts: Vec<_> =
            case.parts.iter().map(|part| [part.step, part.count as isize]).collect();
        let Case { shape, order, size, .. } = case;
        writeln!(self.to, "[{shape:?}, {order:?}, {parts:?}, {size}, {inner}]").unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim().parse().expect("numpy answers with seconds")
    }
}
