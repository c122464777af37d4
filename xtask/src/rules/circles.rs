//! Circles between the files of a crate; see `docs/design/113-crates.md`.
//!
//! A file needs another one if it names an item that is defined there, by `use` or by a path in its
//! code. What is read is text, without a compiler: a re-export leads to the file that defines the
//! item, methods and macros lead nowhere, and inline modules (tests, mostly) are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::rules::rust_source::{Source, Use};
use crate::run::{crates, root};

/// What is recursion in the data: each edge from the files that begin with the first to those that
/// begin with the second would close a circle.
const RECURSION: &[(&str, &str, &str)] = &[
    ("zarr-codec", "array_to_bytes/mod", "chain"),
    ("zarr-codec", "array_to_bytes/shard/", "chain"),
    ("zarr-codec", "array_to_bytes/shard/", "chunk/"),
    ("zarr-codec", "transform/source", "array_to_bytes/shard/"),
    ("zarr-codec", "variable/optional", "any"),
    ("zarr-codec", "variable/shard", "variable/ch"),
    ("zarr-metadata", "codec/array_to_bytes/optional", "codec/"),
    ("zarr-metadata", "codec/array_to_bytes/sharding", "codec/"),
    ("zarr-metadata", "data_type/optional", "data_type"),
    ("zarr-metadata", "data_type/record", "data_type"),
    ("zarr-metadata", "element/optional", "element"),
    ("zarr-metadata", "element/record", "element"),
    // An array has members, which are arrays.
    ("zarr-array", "hierarchy/members", "array/"),
    // A session has a store, and a store begins sessions; an object is linked from another store.
    ("zarr-store", "store/linking", "store/api"),
    ("zarr-store", "store/session", "store/api"),
    // Options name the kinds of stores, which are opened with options.
    ("zarr-store", "addresses/opener", "addresses/options"),
];

/// The path of a module from the root of its crate.
type Module = Vec<String>;

/// Reports the circles of each crate that are not recursion, and recursion that is listed and not
/// there.
pub(crate) fn circles(files: &[String], faults: &mut Vec<String>) {
    for name in crates() {
        let folder = format!("crates/{name}/src/");
        let modules = files.iter().filter_map(|path| {
            let file = path.strip_prefix(&folder)?;
            let text = fs::read_to_string(root().join(path)).ok()?;
            Some((module(file)?, (file.to_owned(), Source::new(&text))))
        });
        let tree = Tree(modules.collect());
        let mut edges = tree.edges();
        for (_, from, to) in RECURSION.iter().filter(|(of, ..)| *of == name) {
            let before = edges.len();
            edges.retain(|(one, other)| !(one.starts_with(from) && other.starts_with(to)));
            if edges.len() == before {
                faults.push(format!("{folder}{from}: needs nothing of {to}, and is listed so"));
            }
        }
        faults.extend(in_circles(&edges).into_iter().map(|circle| {
            format!(
                "{folder}: a circle of {}; docs/design/113 says how to break it",
                circle.join(", ")
            )
        }));
    }
}

/// The module of a file; `None` for programs and files of tests.
fn module(file: &str) -> Option<Module> {
    let path = file.strip_suffix(".rs")?;
    if path == "main" || path.ends_with("tests") {
        return None;
    }
    let mut parts: Module = path.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("lib" | "mod")) {
        parts.pop();
    }
    Some(parts)
}

/// The files of a crate.
struct Tree(BTreeMap<Module, (String, Source)>);

impl Tree {
    /// The pairs of files of which the first needs the second.
    fn edges(&self) -> BTreeSet<(String, String)> {
        let mut edges = BTreeSet::new();
        for (module, (file, source)) in &self.0 {
            let imported =
                source.uses.iter().filter(|one| !one.is_public || source.names(&one.name));
            let imported = imported.map(|one| one.path.clone());
            for path in imported.chain(source.paths(|name| self.alias(module, source, name))) {
                let found = self.start(module, &path);
                let found = found.and_then(|(at, rest)| self.definition(at, rest, 0));
                if let Some((other, _)) = found.and_then(|at| self.0.get(&at))
                    && other != file
                {
                    edges.insert((file.clone(), other.clone()));
                }
            }
        }
        edges
    }

    /// The path for which a name stands at the beginning of another: a module that is imported.
    fn alias(&self, module: &Module, source: &Source, name: &str) -> Option<Module> {
        let one = source.uses.iter().find(|one| one.name == name)?;
        let (mut at, rest) = self.start(module, &one.path)?;
        at.extend(rest.iter().cloned());
        self.0.contains_key(&at).then(|| one.path.clone())
    }

    /// Where a path begins, and what is left of it; `None` if it leads out of the crate.
    fn start<'p>(&self, module: &Module, path: &'p [String]) -> Option<(Module, &'p [String])> {
        let (first, mut rest) = path.split_first()?;
        let mut at = module.clone();
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
                while let Some(("super", after)) = rest.split_first().map(|(a, b)| (a.as_str(), b))
                {
                    at.pop();
                    rest = after;
                }
            }
            child => {
                let mut below = at.clone();
                below.push(child.to_owned());
                return self.0.contains_key(&below).then_some((at, path));
            }
        }
        Some((at, rest))
    }

    /// The module that defines what a path names; `None` for modules themselves, for what comes from
    /// other crates, and for what is re-exported too often.
    fn definition(&self, mut at: Module, path: &[String], depth: usize) -> Option<Module> {
        for (number, name) in path.iter().enumerate() {
            at.push(name.clone());
            if self.0.contains_key(&at) {
                continue;
            }
            at.pop();
            let (_, source) = self.0.get(&at)?;
            if depth > 8 || source.definitions.contains(name) {
                return Some(at);
            }
            let rest = path.get(number + 1..).unwrap_or_default();
            let again = |one: &Use| {
                let (start, mut way) = self.start(&at, &one.path).map(|(a, b)| (a, b.to_vec()))?;
                if one.name == "*" {
                    way.pop();
                    way.push(name.clone());
                }
                way.extend(rest.iter().cloned());
                self.definition(start, &way, depth + 1)
            };
            if let Some(one) = source.uses.iter().find(|one| one.name == *name) {
                return again(one);
            }
            return source.uses.iter().filter(|one| one.name == "*").find_map(again).or(Some(at));
        }
        None
    }
}

/// The files that need each other, in groups.
fn in_circles(edges: &BTreeSet<(String, String)>) -> Vec<Vec<String>> {
    let reached = |from: &str| {
        let (mut seen, mut ahead) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(next) = ahead.pop() {
            let from_next = edges.iter().filter(|(one, _)| *one == next);
            ahead.extend(
                from_next.filter(|(_, to)| seen.insert(to.clone())).map(|(_, to)| to.clone()),
            );
        }
        seen
    };
    let files: BTreeSet<&String> = edges.iter().map(|(from, _)| from).collect();
    let all: BTreeMap<&String, BTreeSet<String>> =
        files.into_iter().map(|file| (file, reached(file))).collect();
    let mut circles: Vec<Vec<String>> = Vec::new();
    for (file, reached) in &all {
        let is_back = |other: &&String| all.get(other).is_some_and(|back| back.contains(*file));
        let circle: Vec<String> = reached.iter().filter(is_back).cloned().collect();
        if !circle.is_empty() && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let modules = files.iter().filter_map(|(file, text)| {
            Some((module(file)?, ((*file).to_owned(), Source::new(text))))
        });
        in_circles(&Tree(modules.collect()).edges())
    }

    #[test]
    fn a_re_export_leads_to_the_file_that_defines_the_item() {
        let root = ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\n");
        let a = ("a.rs", "use crate::b::B;\npub struct A(B);\n");
        let b = ("b.rs", "pub struct B;\n");
        let c = ("c.rs", "use crate::A;\npub struct C(A);\n");
        assert!(circles_of(&[root, a, b, c]).is_empty());
        // Now the file that is needed needs the one that is re-exported.
        let b = ("b.rs", "pub struct B(Option<Box<crate::A>>);\n");
        assert_eq!(circles_of(&[root, a, b, c]), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn a_module_and_its_parts_are_files_like_any_others() {
        let root = ("lib.rs", "mod shop;\n");
        let shop = ("shop/mod.rs", "mod till;\npub(crate) struct Shop;\nfn f() { till::open() }\n");
        let till =
            ("shop/till.rs", "use super::{Shop as S};\npub(crate) fn open() { let _ = S; }\n");
        assert_eq!(circles_of(&[root, shop, till]), [["shop/mod.rs", "shop/till.rs"]]);
        let text = "/* till::open() */ mod till;\nstruct Shop;\nconst A: &str = \"till::open()\"; // till::open()\n";
        assert!(circles_of(&[root, ("shop/mod.rs", text), till]).is_empty());
    }

    #[test]
    fn modules_of_tests_do_not_count() {
        let a = ("a.rs", "pub fn a() {}\n#[cfg(test)]\nmod tests {\n    use crate::b::b;\n}\n");
        let b = ("b.rs", "use crate::a;\npub fn b() { a::a() }\n");
        assert!(circles_of(&[("lib.rs", "mod a;\nmod b;\n"), a, b]).is_empty());
        let a = ("a.rs", "pub fn a() { crate::b::b() }\n");
        assert_eq!(circles_of(&[("lib.rs", "mod a;\nmod b;\n"), a, b]), [["a.rs", "b.rs"]]);
    }
}
