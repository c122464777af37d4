//! The marker that an unfinished copy leaves at its target. Code that opens nodes must report it.

use std::fmt::Write;

use crate::error::ArrayError;
use crate::store::{Key, Prefix, Store, StoreError, StoreExt as _};

/// The object next to the place of a target's `zarr.json`, as long as a copy to it is not
/// finished.
pub(crate) const MARKER: &str = "zarr-kit-copy.json";

/// The kind of node that is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Array,
    Group,
}

/// What is unfinished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Work {
    /// The copy of a node.
    #[default]
    Copy,
    /// A node made of several.
    Join,
}

/// The contents of an unfinished copy's marker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// The kind of node that the copy makes, if the marker is understood.
    pub(crate) kind: Option<Kind>,
    /// The source of the copy, if its store knows its location.
    pub(crate) from: Option<String>,
    pub(crate) work: Work,
}

/// The most bytes of a marker that are read. A marker of this program has a few hundred bytes and
/// the location of the source.
const LONGEST: u64 = 64 << 10;

/// The bytes of a marker, if there is one; empty if it is too long for a marker of this program.
pub(crate) fn read_marker(store: &dyn Store, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
    match store.size(key)? {
        None => Ok(None),
        Some(size) if size > LONGEST => Ok(Some(Vec::new())),
        Some(_) => store.read(key),
    }
}

impl Unfinished {
    /// The contents of the marker at `prefix`, if there is one.
    pub(crate) fn at(store: &dyn Store, prefix: &Prefix) -> Result<Option<Self>, ArrayError> {
        // If the key would be too long, there is no marker: none could have been put.
        let Ok(key) = prefix.key(MARKER) else { return Ok(None) };
        let marker = read_marker(store, &key)?;
        Ok(marker.map(|text| Self::read(&String::from_utf8_lossy(&text))))
    }

    /// Parses the text that a copy writes. Anybody may have put other text there.
    fn read(text: &str) -> Self {
        let member = |name: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(name))?;
            line.trim_end_matches(',').strip_prefix('"')?.strip_suffix('"')
        };
        let kind = match member("\"node\": ") {
            Some("array") => Some(Kind::Array),
            Some("group") => Some(Kind::Group),
            _ => None,
        };
        let from = member("\"from\": ").filter(|from| plain(from) == *from);
        let work = match member("\"work\": ") {
            Some("join") => Work::Join,
            _ => Work::Copy,
        };
        Self { kind, from: from.map(str::to_owned), work }
    }
}

/// The text with percent codes for characters that JSON escapes, so that it needs no escapes.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '"' || c == '\\' || c.is_control() {
            let _infallible = write!(plain, "%{:02X}", u32::from(c));
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

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
        for text in ["", "{}", "\"from\": ", "\"from\": \"", "\"node\": \"dragon\",", "\0\u{fffd}"]
        {
            assert_eq!(Unfinished::read(text), nothing, "{text:?}");
        }
        for from in ["\u{1b}[2J", "a\\nb", "a\"b"] {
            assert_eq!(Unfinished::read(&format!("  \"from\": \"{from}\",")), nothing, "{from:?}");
        }
    }
}
