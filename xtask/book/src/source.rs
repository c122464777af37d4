//! Adds files of the repository that pages link to as pages of the book, so that its links work
//! wherever it is published.
//!
//! A link whose text is the name of a function points to that function.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{Page, normal};

/// The folder of the book for these files.
const FOLDER: &str = "source";

/// Rewrites all links that leave the book, and makes the pages that they point to.
pub(crate) fn bring_in(root: &Path, book: &Path) -> Result<(), Box<dyn Error>> {
    let mut wanted: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for page in Page::all(book)?.keys() {
        let html = fs::read_to_string(page)?;
        let rewritten = rewrite(&html, page, root, book, &mut wanted);
        if rewritten != html {
            fs::write(page, rewritten)?;
        }
    }
    for (file, functions) in wanted {
        let text = fs::read_to_string(root.join(&file))?;
        let page = page_of(book, &file);
        fs::create_dir_all(page.parent().unwrap_or(book))?;
        fs::write(&page, render(&file, &text, &functions))?;
    }
    Ok(())
}

/// The path of a file's page.
fn page_of(book: &Path, file: &Path) -> PathBuf {
    let mut name = book.join(FOLDER).join(file).into_os_string();
    name.push(".html");
    PathBuf::from(name)
}

fn rewrite(
    html: &str,
    page: &Path,
    root: &Path,
    book: &Path,
    wanted: &mut BTreeMap<PathBuf, BTreeSet<String>>,
) -> String {
    const HREF: &str = " href=\"";
    let folder = page.parent().unwrap_or(book);
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once(HREF) {
        text.push_str(before);
        text.push_str(HREF);
        let Some((link, tail)) = after.split_once('"') else {
            rest = after;
            break;
        };
        let target = normal(&folder.join(link));
        let file = target.strip_prefix(root).ok().filter(|_| !link.contains("://"));
        match file {
            Some(file) if !target.starts_with(book) && target.is_file() => {
                let functions = wanted.entry(file.to_owned()).or_default();
                let source = fs::read_to_string(&target).unwrap_or_default();
                let function = function_named(tail).filter(|name| declares(&source, name));
                text.push_str(&relative(folder, &page_of(book, file)));
                if let Some(name) = function {
                    text.push('#');
                    text.push_str(name);
                    functions.insert(name.to_owned());
                }
            }
            _ => text.push_str(link),
        }
        text.push('"');
        rest = tail;
    }
    text.push_str(rest);
    text
}

/// `name` of `><code>name</code></a>`.
fn function_named(tail: &str) -> Option<&str> {
    let (name, _) = tail.strip_prefix("><code>")?.split_once("</code></a>")?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (plain && !name.is_empty()).then_some(name)
}

fn declares(source: &str, function: &str) -> bool {
    source.lines().any(|line| function_of(line) == Some(function))
}

/// The function that a line declares.
fn function_of(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_first = before.split_whitespace().all(|word| word.starts_with("pub") || word == "const");
    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    is_first.then(|| after.get(..end)).flatten()
}

/// The relative path from a folder to a file.
fn relative(folder: &Path, file: &Path) -> String {
    let common = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| "..".to_owned());
    let down = file.components().skip(common).filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    up.chain(down).collect::<Vec<_>>().join("/")
}

fn render(file: &Path, text: &str, functions: &BTreeSet<String>) -> String {
    let name = escaped(&file.display().to_string());
    let home = "../".repeat(file.components().count());
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{name}</title>\n<style>\n\
         body {{ font-family: sans-serif; margin: 2em auto; max-width: 64em; padding: 0 1em }}\n\
         pre {{ font-size: 0.9em; overflow-x: auto }}\n:target {{ background: #ffe9a8 }}\n\
         @media (prefers-color-scheme: dark) {{ body {{ background: #161923; color: #bcbdd0 }} \
         a {{ color: #8ab4f8 }} :target {{ background: #5a4a10 }} }}\n\
         </style>\n</head>\n<body>\n\
         <p><a href=\"{home}index.html\">zarr-kit</a>: <code>{name}</code></p>\n<pre>"
    );
    for line in text.lines() {
        match function_of(line).filter(|name| functions.contains(*name)) {
            Some(function) => {
                html.push_str(&format!("<span id=\"{function}\">{}</span>\n", escaped(line)));
            }
            None => {
                html.push_str(&escaped(line));
                html.push('\n');
            }
        }
    }
    html.push_str("</pre>\n</body>\n</html>\n");
    html
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_functions() {
        assert_eq!(function_named("><code>sd_13_x</code></a>, "), Some("sd_13_x"));
        assert_eq!(function_named(">words</a>"), None);
        assert_eq!(function_of("    pub(crate) const fn a_1<T>(x: T) {"), Some("a_1"));
        assert_eq!(function_of("// a fn b("), None);
    }

    #[test]
    fn ways() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/r/book", "/r/book/source/a.rs.html"), "source/a.rs.html");
        assert_eq!(way("/r/book/design", "/r/book/source/a.rs.html"), "../source/a.rs.html");
    }
}
