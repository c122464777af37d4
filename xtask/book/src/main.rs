//! Builds `docs/` with mdBook, and fails on a dead link in the output.
//!
//! Files outside `docs` that pages link to become pages too. Links to other hosts are not followed.

#![forbid(unsafe_code)]

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use mdbook_driver::MDBook;

/// Pages that mdBook makes from others, with links that are relative to another place.
const REPEATED: [&str; 3] = ["print.html", "toc.html", "404.html"];

fn main() -> ExitCode {
    match run() {
        Ok(dead) if dead.is_empty() => ExitCode::SUCCESS,
        Ok(dead) => {
            for link in dead {
                eprintln!("dead link: {link}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("book: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<Vec<String>, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let book = MDBook::load(root.join("docs")).map_err(|error| format!("{error:#}"))?;
    book.build().map_err(|error| format!("{error:#}"))?;
    let folder = root.join("book");
    source::bring_in(&root, &folder)?;
    let pages = Page::all(&folder)?;
    let mut dead = Vec::new();
    for (path, page) in &pages {
        for link in &page.links {
            if !is_alive(path, link, &folder, &pages) {
                dead.push(format!("{}: {link}", path.strip_prefix(&root)?.display()));
            }
        }
    }
    Ok(dead)
}

/// A page's links, and its anchors.
struct Page {
    links: BTreeSet<String>,
    anchors: BTreeSet<String>,
}

impl Page {
    fn all(folder: &Path) -> Result<BTreeMap<PathBuf, Self>, Box<dyn Error>> {
        let mut pages = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if name.ends_with(".html") && !REPEATED.contains(&name.as_str()) {
                    let html = fs::read_to_string(&path)?;
                    let links = ["href", "src"].iter().flat_map(|name| values(&html, name));
                    let page =
                        Self { links: links.collect(), anchors: values(&html, "id").collect() };
                    pages.insert(path, page);
                }
            }
        }
        Ok(pages)
    }
}

/// All values of an attribute.
fn values<'h>(html: &'h str, name: &str) -> impl Iterator<Item = String> + use<'h> {
    let start = format!(" {name}=\"");
    let found: Vec<&str> = html.split(&start).skip(1).collect();
    found.into_iter().filter_map(|rest| Some(rest.split_once('"')?.0.replace("&amp;", "&")))
}

fn is_alive(page: &Path, link: &str, book: &Path, pages: &BTreeMap<PathBuf, Page>) -> bool {
    if link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:") {
        return true;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        file => normal(&page.parent().unwrap_or(page).join(file)),
    };
    match pages.get(&target) {
        Some(target) => anchor.is_empty() || target.anchors.contains(anchor),
        // Nothing outside the book is published with it.
        None => target.starts_with(book) && target.exists(),
    }
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
        path
    })
}
