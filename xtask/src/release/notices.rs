//! `cargo xtask notices`: the licences of all that programs and wheels contain of others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{Outcome, make_folder, metadata, read, root, target, write};

/// What users get, with everything that is compiled into it.
const PROGRAMS: [&str; 2] = ["zarr-cli", "zarr-python"];

/// Texts that no crate contains: a file named after a crate belongs to it, and `rust.txt` to all
/// programs.
const FOLDER: &str = "xtask/notices";

/// How the names of files with licences begin.
const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// Writes `target/THIRD-PARTY.txt`, for the files of a release.
pub(crate) fn notices(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask notices".to_owned());
    }
    let path = target().join("THIRD-PARTY.txt");
    make_folder(target())?;
    write(&path, &text()?)?;
    println!("{}", path.display());
    Ok(())
}

/// The notices of all features, of which a program may have fewer.
pub(crate) fn text() -> Result<String, String> {
    let mut own = own_texts()?;
    let text = text_of_programs(&metadata()?, &PROGRAMS, &mut own)?;
    match own.keys().next() {
        Some(name) => Err(format!("{FOLDER}/{name}.txt: no program contains a crate of this name")),
        None => Ok(text),
    }
}

/// The notices of the modules of the npm package, by what `cargo metadata` says of its workspace.
pub(crate) fn web(json: &Value, modules: &[&str]) -> Result<String, String> {
    text_of_programs(json, modules, &mut own_texts()?)
}

fn text_of_programs(
    json: &Value,
    programs: &[&str],
    own: &mut BTreeMap<String, String>,
) -> Result<String, String> {
    let packages = packages(json, programs)?;
    let mut text = String::from(
        "Programs and Python packages of zarr-kit contain work of others, under the licences below.\n\
         Programs with fewer features contain less of it.\n",
    );
    section(&mut text, "Rust", &own.remove("rust").ok_or("xtask/notices/rust.txt: not found")?);
    // Many crates have the same text.
    let mut by_text: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in &packages {
        let title = format!("{} {} ({})", package.name, package.version, package.licence);
        let mut found = package.texts()?;
        match own.remove(&package.name) {
            Some(own) => section(&mut text, &title, &own),
            None if found.is_empty() => found.push(package.standard_text()?),
            None => {}
        }
        for text in found {
            by_text.entry(text).or_default().insert(title.clone());
        }
    }
    let mut texts: Vec<_> = by_text.into_iter().collect();
    texts.sort_by(|(_, a), (_, b)| a.cmp(b));
    for (licence, titles) in texts {
        section(&mut text, &titles.into_iter().collect::<Vec<_>>().join("\n"), &licence);
    }
    Ok(text)
}

fn section(text: &mut String, title: &str, body: &str) {
    let line = "=".repeat(80);
    text.push_str(&format!("\n{line}\n{title}\n{line}\n\n{}\n", body.trim_end()));
}

/// The texts of the folder, by their names.
fn own_texts() -> Result<BTreeMap<String, String>, String> {
    let entries =
        fs::read_dir(root().join(FOLDER)).map_err(|error| format!("{FOLDER}: {error}"))?;
    let mut found = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("{FOLDER}: {error}"))?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.insert(name, text_of(&path)?);
    }
    Ok(found)
}

/// A crate of others.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    /// As its manifest has it.
    licence: String,
    authors: Vec<String>,
    folder: PathBuf,
    /// Whether it compiles a library in another language.
    is_native: bool,
}

/// The crates of others that are compiled into the programs, with all features, on any platform.
fn packages(json: &Value, programs: &[&str]) -> Result<BTreeSet<Package>, String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let described: BTreeMap<String, Value> =
        list(&json["packages"]).into_iter().map(|found| (word(&found["id"]), found)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&json["resolve"]["nodes"]).into_iter().map(|node| (word(&node["id"]), node)).collect();
    let is_program = |package: &Value| programs.contains(&word(&package["name"]).as_str());
    let mut waiting: Vec<String> = described
        .iter()
        .filter(|(_, package)| is_program(package))
        .map(|(id, _)| id.clone())
        .collect();
    if waiting.len() != programs.len() {
        return Err(format!("the workspace does not have {}", programs.join(" and ")));
    }
    let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
    let mut found = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        let package = described.get(&id).ok_or_else(|| format!("{id}: not described"))?;
        // Those of this repository have no source.
        if !package["source"].is_null() {
            let manifest = PathBuf::from(word(&package["manifest_path"]));
            let licence = match package["license"].as_str() {
                Some(licence) => licence.to_owned(),
                None => format!("see {}", word(&package["license_file"])),
            };
            found.insert(Package {
                name: word(&package["name"]),
                version: word(&package["version"]),
                licence,
                authors: list(&package["authors"]).iter().map(word).collect(),
                folder: manifest.parent().unwrap_or(&manifest).to_owned(),
                is_native: !package["links"].is_null(),
            });
        }
        for dependency in nodes.get(&id).map(|node| list(&node["deps"])).unwrap_or_default() {
            // Others are for builds and tests.
            let is_compiled = list(&dependency["dep_kinds"]).iter().any(|it| it["kind"].is_null());
            let id = word(&dependency["pkg"]);
            if is_compiled && seen.insert(id.clone()) {
                waiting.push(id);
            }
        }
    }
    Ok(found)
}

impl Package {
    /// The texts of its licences.
    fn texts(&self) -> Result<Vec<String>, String> {
        let mut paths = Vec::new();
        // C libraries have their licences beside their sources.
        let depth = if self.is_native { 2 } else { 0 };
        licence_files(&self.folder, depth, &mut paths)?;
        paths.sort();
        let texts: Result<Vec<String>, String> = paths.iter().map(|path| text_of(path)).collect();
        // Of tools beside a library, or in place of a licence that we choose: `deny.toml` allows
        // none of them.
        let is_gnu = |text: &String| {
            text.lines().take(3).any(|line| line.contains("GNU") && line.contains("LICENSE"))
        };
        Ok(texts?.into_iter().filter(|text| !is_gnu(text)).collect())
    }

    /// The text of the licence that it names but does not contain.
    fn standard_text(&self) -> Result<String, String> {
        let authors = match self.authors.is_empty() {
            true => format!("the authors of {}", self.name),
            false => self.authors.join(", "),
        };
        let copyright = format!("Copyright (c) {authors}");
        let has = |name: &str| self.licence.split([' ', '/', '(', ')']).any(|word| word == name);
        if has("MIT") {
            let text = read("LICENSE-MIT")?;
            let (_, permission) = text
                .split_once("Permission is hereby")
                .ok_or("LICENSE-MIT: no line begins with the permission")?;
            return Ok(format!("{copyright}\n\nPermission is hereby{permission}"));
        }
        if has("Apache-2.0") {
            return Ok(format!("{copyright}\n\n{}", read("LICENSE-APACHE")?));
        }
        Err(format!(
            "{} {} has no file with its licence, {}: add its text to {FOLDER}",
            self.name, self.version, self.licence
        ))
    }
}

fn licence_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Outcome {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        let is_named = NAMES.iter().any(|start| name.starts_with(start));
        let is_source = [".rs", ".c", ".h", ".py", ".in"].iter().any(|end| name.ends_with(end));
        if is_folder && (is_named || depth > 0) {
            licence_files(&entry.path(), depth.saturating_sub(1), found)?;
        } else if !is_folder && is_named && !is_source {
            found.push(entry.path());
        }
    }
    Ok(())
}

fn text_of(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    // Names of authors may be in another encoding; everything else is ASCII.
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    Ok(text.trim_end().trim_start_matches('\u{feff}').to_owned())
}
