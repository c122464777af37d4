//! Listings of keys that are in memory, sorted: for stores that know all their keys, such as archives
//! with a directory.
//!
//! # Examples
//! ```
//! use std::collections::BTreeMap;
//! use zarr_store::{DirEntry, Key, Prefix, sorted};
//!
//! let keys: BTreeMap<String, ()> =
//!     ["a/b/c", "a/d", "e"].map(|key| (key.to_owned(), ())).into_iter().collect();
//! let below: Vec<&str> = sorted::below(&keys, &Prefix::new("a")?).collect();
//! assert_eq!(below, ["a/b/c", "a/d"]);
//! let children = sorted::children(&keys, &Prefix::new("a")?)?;
//! let expected = [DirEntry::Prefix(Prefix::new("a/b")?), DirEntry::Object(Key::new("a/d")?)];
//! assert_eq!(children, expected);
//! # Ok::<(), zarr_store::StoreError>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::{DirEntry, Key, Prefix, StoreError};

/// The keys below a prefix, in order.
pub fn below<'m, V>(
    keys: &'m BTreeMap<String, V>,
    prefix: &Prefix,
) -> impl Iterator<Item = &'m str> + use<'m, V> {
    let start = start_of(prefix);
    keys.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded))
        .map(|(key, _)| key.as_str())
        .take_while(move |key| key.starts_with(&start))
}

/// The names below a prefix, in order: they need not be keys.
pub fn names_below<'m>(
    names: &'m BTreeSet<String>,
    prefix: &Prefix,
) -> impl Iterator<Item = &'m str> {
    let start = start_of(prefix);
    names.iter().map(String::as_str).filter(move |name| name.starts_with(&start))
}

/// The direct children of a prefix, in order. Takes time for each child, not for each key below it.
///
/// # Errors
/// [`StoreError::Key`] if a text in the map is not a key.
pub fn children<V>(
    keys: &BTreeMap<String, V>,
    prefix: &Prefix,
) -> Result<Vec<DirEntry>, StoreError> {
    let start = start_of(prefix);
    let mut children = Vec::new();
    let mut from = Bound::Included(start.clone());
    loop {
        let bound = from.as_ref().map(String::as_str);
        let next = keys.range::<str, _>((bound, Bound::Unbounded)).next();
        let Some((key, rest)) = next.and_then(|(key, _)| Some((key, key.strip_prefix(&start)?)))
        else {
            return Ok(children);
        };
        from = match rest.split_once('/') {
            Some((child, _)) => {
                children.push(DirEntry::Prefix(prefix.join(child)?));
                // The character after the slash.
                Bound::Included(format!("{start}{child}0"))
            }
            None => {
                children.push(DirEntry::Object(Key::new(key)?));
                Bound::Excluded(key.clone())
            }
        };
    }
}

/// The common beginning of every key below a prefix.
pub(crate) fn start_of(prefix: &Prefix) -> String {
    if prefix.is_root() { String::new() } else { format!("{prefix}/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_objects_and_prefixes_in_order() {
        let keys = ["a", "a/b/c", "a/b/d/e", "a.b", "a0", "ab/c", "b"];
        let keys: BTreeMap<String, ()> = keys.into_iter().map(|key| (key.to_owned(), ())).collect();
        let prefix = |text: &str| Prefix::new(text).expect("a prefix");
        let names = |at: &str| -> Vec<String> {
            let found = children(&keys, &prefix(at)).expect("lists");
            let name = |entry| match entry {
                DirEntry::Object(key) => key.to_string(),
                DirEntry::Prefix(prefix) => format!("{prefix}/"),
            };
            found.into_iter().map(name).collect()
        };
        assert_eq!(names(""), ["a", "a.b", "a/", "a0", "ab/", "b"]);
        assert_eq!(names("a"), ["a/b/"]);
        assert_eq!(names("a/b"), ["a/b/c", "a/b/d/"]);
        assert!(names("b").is_empty() && names("c").is_empty());
        assert_eq!(below(&keys, &prefix("a")).collect::<Vec<_>>(), ["a/b/c", "a/b/d/e"]);
        assert_eq!(below(&keys, &Prefix::root()).count(), keys.len());
    }
}
