//! Prints the public API that a rustdoc JSON file describes, one item per line.
//!
//! Called as `api FILE`. It leaves out blanket implementations, those of auto traits such as `Send`,
//! derived ones, and the headers of inherent implementations. Handwritten trait implementations are
//! listed once, by their header and their types: the trait has the rest.

#![forbid(unsafe_code)]

use std::collections::HashSet;
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
            let (mut lines, mut of_traits) = (HashSet::new(), HashSet::new());
            for item in api.items() {
                let line = item.to_string();
                if line.starts_with("impl ") || line.starts_with("impl<") {
                    if !line.contains(" for ") {
                        continue;
                    }
                    of_traits.insert(item.id());
                }
                let is_of_trait = item.parent_id().is_some_and(|id| of_traits.contains(&id));
                let is_said = is_of_trait && !line.starts_with("pub type");
                // A trait of the crate lists its implementations a second time.
                if !is_said && lines.insert(line.clone()) {
                    println!("{line}");
                }
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}
