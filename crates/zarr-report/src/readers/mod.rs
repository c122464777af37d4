//! Other programs that read an array unchanged.
//!
//! They come from one table of programs, versions and features, `programs.json`. The
//! interoperability tests read the same table, and the results of the conformance suite are
//! compared with it.

mod portable;

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Value, json};
use zarr_metadata::{ArrayMetadata, BloscCompressor, Codec};

pub use self::portable::portable;

/// The table.
const PROGRAMS: &str = include_str!("programs.json");

#[derive(Deserialize)]
struct Programs {
    programs: Vec<Program>,
}

/// A program, and the features that it reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    name: String,
    version: String,
    /// How that is known.
    known_by: String,
    /// The program by which it reads: it has that program's data types and codecs.
    #[serde(default, rename = "as")]
    reader: Option<String>,
    grids: Vec<String>,
    /// The setting that a feature needs.
    #[serde(default)]
    setting: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    data_types: Vec<String>,
    #[serde(default)]
    codecs: Vec<String>,
    /// Features that it lacks though it has the codecs, and types of those that `data_types` has.
    #[serde(default)]
    lacks: Vec<String>,
    /// Features that it reads, but not all arrays with them right.
    #[serde(default)]
    faulty: Vec<String>,
}

fn programs() -> &'static [Program] {
    static TABLE: OnceLock<Vec<Program>> = OnceLock::new();
    TABLE.get_or_init(|| {
        // The table is a part of the program: a test reads it.
        serde_json::from_str::<Programs>(PROGRAMS).map_or_else(|_| Vec::new(), |all| all.programs)
    })
}

const RECTILINEAR: &str = "rectilinear";
const AFTER_SHARDS: &str = "codecs after shards";
const SNAPPY: &str = "snappy";
/// The edges that zarr-python wrote on axes of length 0.
const CHUNKS_OF_0: &str = "chunks of length 0";
const TEMPLATE_KEYS: &str = "chunk keys by a template";
const SUFFIXED_KEYS: &str = "chunk keys with a suffix";

/// The features that an array needs of its readers.
struct Needs {
    grid: String,
    data_type: String,
    /// Whether this project does not know the type, and so knows no reader.
    is_unknown: bool,
    /// The chunk key encoding, if this project does not know it.
    unknown_keys: Option<String>,
    codecs: Vec<String>,
    /// Others, by the names of the table.
    others: Vec<&'static str>,
}

impl Needs {
    fn of(metadata: &ArrayMetadata) -> Self {
        let mut codecs = Vec::new();
        let mut others = Vec::new();
        walk(metadata.codecs(), &mut codecs, &mut others);
        if metadata.findings().iter().any(|finding| finding.id() == "zero-chunk-length") {
            others.push(CHUNKS_OF_0);
        }
        let mut unknown_keys = None;
        match metadata.chunk_key_encoding().name() {
            "default" | "v2" => {}
            "template" => others.push(TEMPLATE_KEYS),
            "zarrs.default_suffix" => others.push(SUFFIXED_KEYS),
            other => unknown_keys = Some(other.to_owned()),
        }
        let grid = metadata.chunk_grid().name().to_owned();
        let data_type = metadata.data_type();
        let is_unknown = data_type.is_unknown();
        let data_type = data_type.name().into_owned();
        Self { grid, data_type, is_unknown, unknown_keys, codecs, others }
    }

    /// The features that a program lacks.
    fn lacking(&self, program: &Program) -> Vec<String> {
        let of = programs().iter().find(|other| program.reader.as_ref() == Some(&other.name));
        let of = of.unwrap_or(program);
        let has = |list: &[String], name: &str| {
            list.iter().any(|known| match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => known == name,
            })
        };
        let mut lacking = Vec::new();
        let is_lacking = |name: &str| !has(&of.data_types, name) || has(&of.lacks, name);
        lacking.extend(self.unknown_keys.clone());
        if self.is_unknown || is_lacking(&self.data_type) {
            lacking.push(self.data_type.clone());
        }
        if !has(&program.grids, &self.grid) {
            lacking.push(self.grid.clone());
        }
        lacking.extend(self.codecs.iter().filter(|codec| !has(&of.codecs, codec)).cloned());
        let others = self.others.iter().filter(|other| has(&of.lacks, other));
        lacking.extend(others.map(|other| (*other).to_owned()));
        lacking
    }
}

/// The names of all codecs, also of those in shards, each once.
fn walk(chain: &[Codec], names: &mut Vec<String>, others: &mut Vec<&'static str>) {
    for (at, codec) in chain.iter().enumerate() {
        if !names.iter().any(|name| name == codec.name()) {
            names.push(codec.name().to_owned());
        }
        match codec {
            Codec::ShardingIndexed(sharding) => {
                if at + 1 < chain.len() && !others.contains(&AFTER_SHARDS) {
                    others.push(AFTER_SHARDS);
                }
                walk(&sharding.codecs, names, others);
            }
            Codec::Blosc(blosc)
                if blosc.cname == BloscCompressor::Snappy && !others.contains(&SNAPPY) =>
            {
                others.push(SNAPPY);
            }
            _ => {}
        }
    }
}

/// The programs that read one or several arrays unchanged.
///
/// # Examples
/// ```
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// # use zarr_report::readers::Readers;
/// let months = ArrayBuilder::new([90], DataType::Int16).chunks([[31, 28, 31].into()]).build()?;
/// let readers = Readers::of(&months);
/// assert!(readers.line().starts_with("zarr-python with array.rectilinear_chunks, Xarray with "));
/// assert!(!readers.are_all());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Readers {
    verdicts: Vec<Verdict>,
}

/// The outcome of a program's reads.
#[derive(Debug, Clone)]
struct Verdict {
    program: &'static Program,
    setting: Option<&'static str>,
    /// A feature with arrays that it does not read right.
    faulty: Option<String>,
    lacking: Vec<String>,
}

impl Default for Readers {
    fn default() -> Self {
        Self::new()
    }
}

impl Readers {
    /// Of no array yet.
    #[must_use]
    pub fn new() -> Self {
        let verdicts = programs().iter().map(|program| Verdict {
            program,
            setting: None,
            faulty: None,
            lacking: Vec::new(),
        });
        Self { verdicts: verdicts.collect() }
    }

    /// Of one array.
    #[must_use]
    pub fn of(metadata: &ArrayMetadata) -> Self {
        let mut readers = Self::new();
        readers.add(metadata);
        readers
    }

    /// Adds an array to the group's. The table says nothing of Zarr version 2.
    pub fn add_to(readers: &mut Option<Self>, metadata: &ArrayMetadata) {
        if !metadata.is_version_2() {
            readers.get_or_insert_default().add(metadata);
        }
    }

    /// Adds an array that is to be read as well.
    pub fn add(&mut self, metadata: &ArrayMetadata) {
        let needs = Needs::of(metadata);
        for verdict in &mut self.verdicts {
            let program = verdict.program;
            for lacking in needs.lacking(program) {
                if !verdict.lacking.contains(&lacking) {
                    verdict.lacking.push(lacking);
                }
            }
            let setting = program.setting.get(&needs.grid).map(String::as_str);
            verdict.setting = verdict.setting.or(setting);
            let mut faulty = program.faulty.iter().filter(|name| needs.codecs.contains(name));
            if verdict.faulty.is_none() {
                verdict.faulty = faulty.next().cloned();
            }
        }
    }

    /// Whether all programs read all arrays without a setting.
    #[must_use]
    pub fn are_all(&self) -> bool {
        self.verdicts.iter().all(Verdict::is_plain)
    }

    /// The programs that do not read all of them.
    #[must_use]
    pub fn lacking(&self) -> Vec<&'static str> {
        let lacking = self.verdicts.iter().filter(|verdict| !verdict.lacking.is_empty());
        lacking.map(|verdict| verdict.program.name.as_str()).collect()
    }

    /// One line: the programs that read them, with the setting, and the programs that do not, with
    /// the reason.
    #[must_use]
    pub fn line(&self) -> String {
        let reading: Vec<String> = self
            .verdicts
            .iter()
            .filter(|verdict| verdict.lacking.is_empty())
            .map(|verdict| match (&verdict.setting, &verdict.faulty) {
                (Some(setting), _) => format!("{} with {setting}", verdict.program.name),
                (None, Some(faulty)) => format!("{} (not all of {faulty})", verdict.program.name),
                (None, None) => verdict.program.name.clone(),
            })
            .collect();
        let mut line = match reading.is_empty() {
            true => "no other program that is known here".to_owned(),
            false => reading.join(", "),
        };
        let mut separator = "; not";
        let mut rest: Vec<&Verdict> =
            self.verdicts.iter().filter(|verdict| !verdict.lacking.is_empty()).collect();
        while let Some(first) = rest.first().copied() {
            let alike = |verdict: &Verdict| verdict.lacking == first.lacking;
            let names: Vec<&str> = rest
                .iter()
                .copied()
                .filter(|verdict| alike(verdict))
                .map(|verdict| verdict.program.name.as_str())
                .collect();
            rest.retain(|verdict| !alike(verdict));
            line.push_str(&format!(
                "{separator} {} ({})",
                names.join(", "),
                first.lacking.join(", ")
            ));
            separator = ",";
        }
        line
    }

    /// As a list of documents.
    #[must_use]
    pub fn json(&self) -> Value {
        let each = self.verdicts.iter().map(|verdict| {
            json!({
                "program": verdict.program.name.as_str(), "version": verdict.program.version,
                "reads": verdict.lacking.is_empty(), "lacks": verdict.lacking,
                "setting": verdict.setting, "faulty": verdict.faulty,
            })
        });
        each.collect()
    }
}

impl Verdict {
    fn is_plain(&self) -> bool {
        self.lacking.is_empty() && self.setting.is_none() && self.faulty.is_none()
    }
}

/// The table as Markdown: programs, versions, features, and how that is known.
#[must_use]
pub fn table() -> String {
    let mut text =
        "| program | grids | types | codecs | known by |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    for program in programs() {
        let grids = program.grids.iter().map(|grid| match program.setting.get(grid) {
            Some(setting) => format!("{grid} with its setting `{setting}`"),
            None => grid.clone(),
        });
        let listed = |list: &[String]| match list {
            [] => format!("as {}", program.reader.as_deref().unwrap_or("none")),
            [all] if all == "*" => "all".to_owned(),
            list => list.join(", "),
        };
        let mut codecs = listed(&program.codecs);
        if !program.lacks.is_empty() {
            codecs.push_str(&format!("; not {}", program.lacks.join(", ")));
        }
        if !program.faulty.is_empty() {
            codecs.push_str(&format!("; not all arrays right of {}", program.faulty.join(", ")));
        }
        text.push_str(&format!(
            "| {} {} | {} | {} | {codecs} | {} |\n",
            program.name,
            program.version,
            grids.collect::<Vec<_>>().join(", "),
            listed(&program.data_types),
            program.known_by
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    mod evidence;

    use zarr_metadata::{ArrayBuilder, DataType, Packbits};

    use super::*;

    fn line(data_type: DataType, codecs: Vec<Codec>) -> String {
        let array = ArrayBuilder::new([4], data_type).chunk_shape([4]).codecs(codecs);
        Readers::of(&array.build().expect("a document")).line()
    }

    #[test]
    fn lines_name_the_programs_that_lack_something() {
        assert_eq!(
            line(DataType::Int16, vec![Codec::bytes(), Codec::zstd(3)]),
            "zarr-python, Xarray, zarrs, TensorStore, GDAL"
        );
        assert_eq!(
            line(DataType::Bool, vec![Codec::Packbits(Packbits::default())]),
            "zarrs (not all of packbits); not zarr-python, Xarray, TensorStore, GDAL (packbits)"
        );
        assert_eq!(
            line(DataType::Int4, vec![Codec::bytes()]),
            "zarrs, TensorStore; not zarr-python, Xarray, GDAL (int4)"
        );
        let shard = Codec::sharding([2], [Codec::bytes()]);
        assert_eq!(
            line(DataType::Int8, vec![shard, Codec::zstd(1)]),
            "zarr-python, Xarray, zarrs; not TensorStore, GDAL (codecs after shards)"
        );
    }
}
