//! Repository tasks, called as `cargo xtask COMMAND`.

#![forbid(unsafe_code)]

fn main() {}
