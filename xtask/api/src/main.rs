//! Prints the public API that a rustdoc JSON file describes, one item per line.
//!
//! Called as `api FILE`. It leaves out blanket implementations, those of auto traits such as `Send`,
//! derived ones, and the headers of inherent implementations. Handwritten trait implementations are
//! listed.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: api FILE");
        return ExitCode::FAILURE;
    };
    let built = public_api::Builder::from_rustdoc_json(&path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    match built {
        Ok(api) => {
            let lines = api.items().map(ToString::to_string);
            lines.filter(|line| !is_inherent_header(line)).for_each(|line| println!("{line}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether a line only opens `impl Type`, whose items have lines of their own.
fn is_inherent_header(line: &str) -> bool {
    (line.starts_with("impl ") || line.starts_with("impl<")) && !line.contains(" for ")
}
