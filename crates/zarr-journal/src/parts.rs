//! The records of the parts of a copy.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use serde_json::Value;
use zarr_store::{DirEntry, Prefix, Store, StoreError};

use crate::unfinished::MARKER;

/// The records of one part of a copy, each in an object beside the marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// It has begun.
    Begun,
    /// It is done.
    Done,
}

impl Record {
    /// The name of the object.
    #[must_use]
    pub fn name(self, part: u32) -> String {
        match self {
            Self::Begun => format!("zarr-kit-copy.{part}.begun.json"),
            Self::Done => format!("zarr-kit-copy.{part}.done.json"),
        }
    }

    /// The record and part that the name of an object denotes, if it does.
    #[must_use]
    pub(crate) fn of_name(name: &str) -> Option<(Self, u32)> {
        let rest = name.strip_prefix("zarr-kit-copy.")?.strip_suffix(".json")?;
        let (part, record) = rest.split_once('.')?;
        let record = match record {
            "begun" => Self::Begun,
            "done" => Self::Done,
            _ => return None,
        };
        let number: u32 = part.parse().ok()?;
        (number.to_string() == part).then_some((record, number))
    }
}

/// The text of a record of a part, `"3/8"`, of the copy whose marker has this number of the run.
#[must_use]
pub fn record_text(part: impl fmt::Display, run: Option<&str>) -> String {
    let run = run.map_or_else(String::new, |run| format!(", \"run\": {}", Value::from(run)));
    format!("{{\"part\": {}{run}}}\n", Value::from(part.to_string()))
}

/// The number of the run in the text of a record; none in records of older builds.
#[must_use]
pub fn record_run(text: &[u8]) -> Option<String> {
    let json: Value = serde_json::from_slice(text).unwrap_or_default();
    Some(json.get("run")?.as_str()?.to_owned())
}

/// Whether an object of this name is the marker or a record of a copy.
#[must_use]
pub fn is_of_copy(name: &str) -> bool {
    name == MARKER || Record::of_name(name).is_some()
}

/// The state of the parts of an unfinished copy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfinishedParts {
    /// The number of parts.
    pub of: u32,
    /// The parts that are not done, in ascending order.
    pub missing: Vec<RangeInclusive<u32>>,
    /// The parts among them that have begun: they run, or were interrupted.
    pub begun: Vec<RangeInclusive<u32>>,
}

impl UnfinishedParts {
    /// The state of the copy to `prefix`, divided into this many parts, as the names of its records
    /// tell.
    ///
    /// # Errors
    /// Errors of listing.
    pub fn at(store: &dyn Store, prefix: &Prefix, of: u32) -> Result<Self, StoreError> {
        let (mut begun, mut done) = (BTreeSet::new(), BTreeSet::new());
        for entry in store.list_dir(prefix) {
            let DirEntry::Object(key) = entry? else { continue };
            match Record::of_name(prefix.strip(&key).unwrap_or_default()) {
                Some((Record::Begun, part)) => begun.insert(part),
                Some((Record::Done, part)) => done.insert(part),
                None => continue,
            };
        }
        let missing = |part: &u32| !done.contains(part);
        begun.retain(|part| missing(part) && *part <= of);
        Ok(Self { of, missing: ranges((1..=of).filter(missing)), begun: ranges(begun.into_iter()) })
    }
}

/// Ascending numbers as ranges.
fn ranges(numbers: impl Iterator<Item = u32>) -> Vec<RangeInclusive<u32>> {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if last.end().checked_add(1) == Some(number) => {
                *last = *last.start()..=number;
            }
            _ => ranges.push(number..=number),
        }
    }
    ranges
}

/// The most ranges that are listed.
const LISTED: usize = 100;

/// Ranges of parts as the schedulers of clusters take them: `3,7-9`.
fn listed(ranges: &[RangeInclusive<u32>]) -> String {
    let shown = ranges.iter().take(LISTED).map(|range| match range.start() == range.end() {
        true => range.start().to_string(),
        false => format!("{}-{}", range.start(), range.end()),
    });
    let mut text = shown.collect::<Vec<_>>().join(",");
    if ranges.len() > LISTED {
        text.push_str(",...");
    }
    text
}

impl fmt::Display for UnfinishedParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.of;
        if self.missing.is_empty() {
            return write!(f, "all {of} parts are done: run any of them again to complete it");
        }
        write!(f, "of {of} parts, these are not done: {}", listed(&self.missing))?;
        match self.begun.is_empty() {
            true => Ok(()),
            false => write!(f, " (begun: {})", listed(&self.begun)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_store::{MemoryStore, StoreExt as _};

    #[test]
    fn a_record_tells_its_run() {
        assert_eq!(record_text("3/8", None), "{\"part\": \"3/8\"}\n");
        assert_eq!(record_run(record_text("3/8", None).as_bytes()), None);
        let text = record_text("3/8", Some("ab"));
        assert_eq!(record_run(text.as_bytes()).as_deref(), Some("ab"), "{text}");
    }

    #[test]
    fn what_is_missing_is_listed_in_ranges() {
        let store = MemoryStore::new();
        let prefix = Prefix::new("a").expect("a prefix");
        let put = |name: &str| store.put(&prefix.key(name).expect("a key"), b"").expect("memory");
        let text = || UnfinishedParts::at(&store, &prefix, 9).expect("reads").to_string();
        assert_eq!(text(), "of 9 parts, these are not done: 1-9");
        put("zarr-kit-copy.3.begun.json");
        put("zarr-kit-copy.3.done.json");
        put("zarr-kit-copy.7.done.json");
        put("zarr-kit-copy.9.begun.json");
        // Not the records of a part.
        for name in ["03.done", "+4.done", "4.dome", "done", "4", "99999999999.done", "12.begun"] {
            put(&format!("zarr-kit-copy.{name}.json"));
        }
        assert_eq!(text(), "of 9 parts, these are not done: 1-2,4-6,8-9 (begun: 9)");
        for part in 1..=9 {
            put(&format!("zarr-kit-copy.{part}.done.json"));
        }
        assert_eq!(text(), "all 9 parts are done: run any of them again to complete it");
        let every_second = ranges((1..=1000).step_by(2));
        assert!(listed(&every_second).ends_with(",197,199,..."));
    }
}
