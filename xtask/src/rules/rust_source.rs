//! What a Rust file imports, defines and names, as far as its text tells.

use std::collections::BTreeSet;

/// A file.
pub(crate) struct Source {
    pub(crate) uses: Vec<Use>,
    /// The items at its top level.
    pub(crate) definitions: BTreeSet<String>,
    /// The code without comments, texts, inline modules, `mod` and `use`.
    code: String,
}

/// One name that is imported.
pub(crate) struct Use {
    pub(crate) path: Vec<String>,
    /// The name here; `*` for all names.
    pub(crate) name: String,
    pub(crate) is_public: bool,
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        let (mut code, mut uses, mut definitions) = (String::new(), Vec::new(), BTreeSet::new());
        let plain = without_inline_modules(&plain(text));
        let mut lines = plain.lines();
        while let Some(line) = lines.next() {
            let (is_public, item) = without_visibility(line.trim_start());
            if let Some(tree) = item.strip_prefix("use ") {
                let mut tree = tree.to_owned();
                while !tree.contains(';') {
                    let Some(more) = lines.next() else { break };
                    tree.push_str(more);
                }
                let tree = tree.split(';').next().unwrap_or_default();
                add_uses(&[], tree, is_public, &mut uses);
                continue;
            }
            if item.starts_with("mod ") && item.ends_with(';') {
                continue;
            }
            if !line.starts_with(' ') {
                definitions.extend(defined(item));
            }
            code.push_str(line);
            code.push('\n');
        }
        Self { uses, definitions, code }
    }

    /// Whether the code has this name; that of a function only where it is called or given on with
    /// its types, because variables have such names too.
    pub(crate) fn names(&self, name: &str) -> bool {
        let is_function = name.starts_with(char::is_lowercase);
        self.code.match_indices(name).any(|(at, _)| {
            let before = self.code.get(..at).unwrap_or_default();
            let after = self.code.get(at + name.len()..).unwrap_or_default();
            let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
            is_whole && (!is_function || after.starts_with(['(', ':', '!']))
        })
    }

    /// The paths in the code. For the first name of one, `alias` may know a path that it stands for.
    pub(crate) fn paths(&self, alias: impl Fn(&str) -> Option<Vec<String>>) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        for words in self.code.split(|c| !is_word(c) && c != ':') {
            let mut names: Vec<String> =
                words.split("::").map(|name| name.trim_matches(':').to_owned()).collect();
            names.retain(|name| !name.is_empty());
            if words.starts_with("::") || !words.contains("::") || names.len() < 2 {
                continue;
            }
            if let Some(long) = alias(&names[0]) {
                names.splice(..1, long);
            }
            paths.push(names);
        }
        paths
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text without comments, and with empty texts and characters.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(raw) = raw_text(rest).filter(|_| !out.ends_with(is_word)) {
            raw
        } else if c == '"' {
            quoted(rest, '"')
        } else if c == '\'' {
            character(rest)
        } else {
            0
        };
        if skipped == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            rest = &rest[skipped..];
        }
    }
    out
}

/// The length of a raw text, if it begins here.
fn raw_text(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let marks = body.len() - body.trim_start_matches('#').len();
    body[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    let start = rest.len() - body.len() + marks + 1;
    Some(rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len()))
}

/// The length of a text in quotes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character; 0 for the name of a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted(rest, '\''),
        _ => 0,
    }
}

/// The text without `mod name { ... }`.
fn without_inline_modules(text: &str) -> String {
    let mut out = String::new();
    let mut end: Option<String> = None;
    for line in text.lines() {
        let code = line.trim_start();
        let margin = &line[..line.len() - code.len()];
        match &end {
            Some(last) if line == last => end = None,
            Some(_) => {}
            None if without_visibility(code).1.starts_with("mod ") && line.ends_with('{') => {
                end = Some(format!("{margin}}}"));
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// Whether an item has a visibility, and the item without it.
fn without_visibility(item: &str) -> (bool, &str) {
    match item.strip_prefix("pub") {
        Some(rest) if rest.starts_with(' ') => (true, rest.trim_start()),
        Some(rest) if rest.starts_with('(') => {
            (true, rest.split_once(')').map_or("", |(_, item)| item.trim_start()))
        }
        _ => (false, item),
    }
}

/// The name of the item that a line begins.
fn defined(item: &str) -> Option<String> {
    let mut words = item.split(|c: char| !is_word(c) && c != '!').filter(|word| !word.is_empty());
    loop {
        match words.next()? {
            "const" | "static" => {
                let name = words.next()?;
                match name {
                    "fn" | "unsafe" | "extern" | "mut" => {
                        return words.find(|w| *w != "fn").map(str::to_owned);
                    }
                    name => return Some(name.to_owned()),
                }
            }
            "struct" | "enum" | "trait" | "fn" | "type" | "union" | "macro_rules!" => {
                return words.next().map(str::to_owned);
            }
            "unsafe" | "async" | "extern" => {}
            _ => return None,
        }
    }
}

/// Adds the names of `a::{b, c as d}`.
fn add_uses(before: &[String], tree: &str, is_public: bool, uses: &mut Vec<Use>) {
    let tree = tree.trim();
    if let Some((start, inner)) = tree.split_once('{').filter(|_| tree.ends_with('}')) {
        let mut path = before.to_vec();
        path.extend(
            start.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned),
        );
        let inner = &inner[..inner.len() - 1];
        let (mut depth, mut begin) = (0_usize, 0);
        for (at, c) in inner.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    add_uses(&path, &inner[begin..at], is_public, uses);
                    begin = at + 1;
                }
                _ => {}
            }
        }
        add_uses(&path, &inner[begin..], is_public, uses);
        return;
    }
    if tree.is_empty() {
        return;
    }
    let (tree, renamed) =
        tree.split_once(" as ").map_or((tree, None), |(a, b)| (a, Some(b.trim())));
    let mut path = before.to_vec();
    path.extend(tree.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned));
    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
        path.pop();
    }
    let Some(name) = renamed.map(str::to_owned).or_else(|| path.last().cloned()) else { return };
    uses.push(Use { path, name, is_public });
}
