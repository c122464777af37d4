//! `cargo xtask book`: the pages of `docs/` as a book, in `book/`.

use std::collections::BTreeSet;

use crate::run::{Outcome, cargo, read, root, tracked};

const SUMMARY: &str = "docs/SUMMARY.md";

/// Builds the book; dead links and pages missing from the summary are errors.
pub(crate) fn book(_: &[String]) -> Outcome {
    let missing = missing_pages()?;
    if !missing.is_empty() {
        return Err(format!("{SUMMARY} leaves out {}", missing.join(", ")));
    }
    cargo(&["run", "--quiet", "--locked", "--manifest-path", "xtask/book/Cargo.toml"], &[])?;
    println!("the book is in {}", root().join("book/index.html").display());
    Ok(())
}

/// Finds pages that the summary does not list.
pub(crate) fn missing_pages() -> Result<Vec<String>, String> {
    let summary = read(SUMMARY)?;
    let listed: BTreeSet<String> = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(page, _)| format!("docs/{}", page.trim_start_matches("./")))
        .collect();
    let is_page = |path: &String| path.starts_with("docs/") && path.ends_with(".md");
    let pages = tracked()?.into_iter().filter(is_page).filter(|path| path != SUMMARY);
    Ok(pages.filter(|page| !listed.contains(page)).collect())
}
