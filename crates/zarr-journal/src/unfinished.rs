//! The marker of an unfinished copy at its target, which has no document yet. Everything that opens
//! nodes reports it.

use std::fmt;

use serde_json::Value;
use zarr_store::{Key, Prefix, Store, StoreError, StoreExt as _};

/// The object next to the place of a target's `zarr.json`, until a copy to it is finished.
pub const MARKER: &str = "zarr-kit-copy.json";

/// The object next to an array's or group's `zarr.json`, until `zarr-join` has finished moving its
/// chunks. Until then the array may have chunks with keys of another encoding.
pub const REARRANGE_MARKER: &str = "zarr-kit-rearrange.json";

/// The folder of a copy's intermediate, beside the chunks of the target.
pub const INTERMEDIATE: &str = "zarr-kit-intermediate";

/// The most parts of a copy.
pub const MOST_PARTS: u32 = 100_000;

/// The version of the markers that this library writes, and the only version that it reads.
pub const MARKER_VERSION: u64 = 1;

/// The text of a marker: an object of this name, whose members are JSON. It is identical in every
/// process, and in every release that puts this version.
#[must_use]
pub fn marker_text(name: &str, members: &[(&str, String)]) -> String {
    let mut text = format!("{{\"{name}\": {{\n  \"version\": {MARKER_VERSION}");
    for (name, json) in members {
        text.push_str(&format!(",\n  \"{name}\": {json}"));
    }
    text.push_str("\n}}\n");
    text
}

/// The version that a copy's marker names, unless it is [this one](MARKER_VERSION); `None` also for
/// JSON that names none.
#[must_use]
pub fn other_version(json: &[u8]) -> Option<u64> {
    let json: Value = serde_json::from_slice(json).ok()?;
    let marker = json.as_object()?.values().next()?;
    marker.get("version")?.as_u64().filter(|version| *version != MARKER_VERSION)
}

/// Whether this is the marker of a copy, of this version or another: an object of another program
/// may have its name.
#[must_use]
pub fn is_marker(json: &[u8]) -> bool {
    Unfinished::read(json).kind.is_some() || other_version(json).is_some()
}

/// The step of a marker that has ended.
pub(crate) const ENDED: &str = "ended";

/// Whether this marker, of whatever version, says that its work has ended. It stays where stores remove
/// nothing on a condition, refuses nothing, and the next marker takes its place.
///
/// ```
/// use zarr_journal::{CopyMarker, CopyStep, Kind, is_ended};
///
/// let marker = CopyMarker::new(Kind::Array, [1, 2, 3]);
/// assert!(is_ended(marker.text(CopyStep::Ended).as_bytes()));
/// assert!(!is_ended(marker.text(CopyStep::Copying).as_bytes()));
/// ```
#[must_use]
pub fn is_ended(json: &[u8]) -> bool {
    let json: Value = serde_json::from_slice(json).unwrap_or_default();
    let marker = json.as_object().and_then(|json| json.values().next());
    let has_version = marker.is_some_and(|marker| marker.get("version").is_some());
    has_version && marker.and_then(|marker| marker.get("step")?.as_str()) == Some(ENDED)
}

/// The kind of node that is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An array.
    Array,
    /// A group.
    Group,
}

/// The unfinished work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnfinishedWork {
    /// The copy of a node.
    #[default]
    Copy,
    /// A node made of several nodes.
    Join,
    /// A new array in place of an old one.
    Creation,
}

impl fmt::Display for UnfinishedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copy => "copy",
            Self::Join => "join",
            Self::Creation => "creation",
        })
    }
}

/// The contents of an unfinished copy's marker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The kind of node that the copy makes, if the marker is understood.
    pub kind: Option<Kind>,
    /// The source of the copy, if its store knows its location.
    pub from: Option<String>,
    /// The unfinished work.
    pub work: UnfinishedWork,
    /// The number of parts, if it is a copy in parts.
    pub parts: Option<u32>,
}

/// The most bytes of a marker that are read. A marker of this program has a few hundred bytes and
/// the location of the source.
const LONGEST: u64 = 64 << 10;

/// The bytes of a marker, if there is one; empty if it is too long for a marker of this program.
///
/// # Errors
/// Errors of the store.
pub fn read_marker(store: &dyn Store, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
    match store.size(key)? {
        None => Ok(None),
        Some(size) if size > LONGEST => Ok(Some(Vec::new())),
        Some(_) => store.read(key),
    }
}

impl Unfinished {
    /// The contents of the marker at `prefix`, if there is one that has not [ended](is_ended).
    ///
    /// # Errors
    /// Errors of the store.
    pub fn at(store: &dyn Store, prefix: &Prefix) -> Result<Option<Self>, StoreError> {
        // If the key would be too long, there is no marker: none could have been put.
        let Ok(key) = prefix.key(MARKER) else { return Ok(None) };
        let marker = read_marker(store, &key)?;
        Ok(marker.filter(|json| !is_ended(json)).map(|json| Self::read(&json)))
    }

    /// Reads the JSON that a copy writes; the object may hold anything else.
    #[must_use]
    pub fn read(json: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(json).unwrap_or_default();
        let marker = json.get("unfinished_copy");
        if marker.and_then(|marker| marker.get("version")?.as_u64()) != Some(MARKER_VERSION) {
            return Self::default();
        }
        let member = |name: &str| marker?.get(name)?.as_str();
        let kind = match member("node") {
            Some("array") => Some(Kind::Array),
            Some("group") => Some(Kind::Group),
            _ => None,
        };
        let work = match member("work") {
            Some("join") => UnfinishedWork::Join,
            Some("creation") => UnfinishedWork::Creation,
            _ => UnfinishedWork::Copy,
        };
        let parts = member("parts").and_then(|parts| parts.parse().ok());
        let parts = parts.filter(|parts| (1..=MOST_PARTS).contains(parts));
        Self { kind, from: member("from").map(str::to_owned), work, parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_store::MemoryStore;

    #[test]
    fn a_marker_too_long_to_be_ours_is_not_read() {
        let store = MemoryStore::new();
        let key = Key::new(MARKER).expect("a key");
        assert_eq!(read_marker(&store, &key).expect("memory"), None);
        for (extra, read) in [(0, LONGEST), (1, 0)] {
            let length = usize::try_from(LONGEST).expect("small") + extra;
            store.put(&key, &vec![b' '; length]).expect("memory");
            let found = read_marker(&store, &key).expect("memory").expect("is there");
            assert_eq!(u64::try_from(found.len()), Ok(read));
        }
    }

    #[test]
    fn what_others_put_in_its_place_says_no_more_than_that_it_is_there() {
        let nothing = Unfinished::default();
        for text in [
            "",
            "{}",
            "[1",
            "\0\u{fffd}",
            r#""unfinished_copy""#,
            r#"{"node": "array"}"#,
            r#"{"unfinished_copy": "array"}"#,
            r#"{"unfinished_copy": {"node": "array"}}"#,
            r#"{"unfinished_copy": {"version": 2, "node": "array"}}"#,
            r#"{"unfinished_copy": {"version": "1", "node": "array"}}"#,
            r#"{"unfinished_copy": {"version": 1, "node": "dragon"}}"#,
            r#"{"unfinished_copy": {"version": 1, "node": 1, "from": null}}"#,
            r#"{"unfinished_copy": {"version": 1, "parts": "0"}}"#,
            r#"{"unfinished_copy": {"version": 1, "parts": "4000000000"}}"#,
            &format!("{{\"unfinished_copy\": {}", "[".repeat(60_000)),
        ] {
            assert_eq!(Unfinished::read(text.as_bytes()), nothing, "{text:?}");
        }
        let kept = Unfinished::read(
            br#"{"unfinished_copy":{"version":1,"from":"a\"\\\n","node":"group"}}"#,
        );
        assert_eq!((kept.from.as_deref(), kept.kind), (Some("a\"\\\n"), Some(Kind::Group)));
    }
}
