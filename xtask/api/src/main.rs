//! Prints the public API that a rustdoc JSON file describes, an item a line.
//!
//! Called as `api FILE`. Implementations for every type and of `Send` and its like are left out:
//! they follow from the rest.

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
        .build();
    match built {
        Ok(api) => {
            print!("{api}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}
