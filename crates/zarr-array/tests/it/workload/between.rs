//! The states that an interrupted step may leave.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use zarr_array::store::{Prefix, Store};
use zarr_array::{Array, ArrayError, Selection};
use zarr_check::{CheckOptions, Finding, Severity, check};

use super::{Objects, holding, objects, prefix};

fn documents(objects: &Objects) -> BTreeMap<&str, &[u8]> {
    let all = objects.iter().map(|(key, bytes)| (key.as_str(), bytes.as_slice()));
    all.filter(|(key, _)| key.ends_with("zarr.json")).collect()
}

fn read(store: &Arc<dyn Store>, name: &str) -> Option<(Vec<u64>, Vec<u16>)> {
    match Array::open(store.clone(), &prefix(name)) {
        Ok(array) => {
            let elements =
                array.read_as::<u16>(Selection::whole(array.shape())).expect("every chunk reads");
            Some((array.shape().to_vec(), elements))
        }
        Err(ArrayError::NotFound { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Between two states: every object is old or new, every array can be read, and `check` names the
/// objects that belong to neither hierarchy.
pub(crate) fn assert_between(store: &Arc<dyn Store>, old: &Objects, new: &Objects, what: &str) {
    let found = objects(&**store);
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).chain(found.keys()).collect();
    for key in keys {
        let now = found.get(key);
        assert!(now == old.get(key) || now == new.get(key), "{what}: {key} is neither old nor new");
    }
    let is_new = documents(&found) == documents(new);
    assert!(is_new || documents(&found) == documents(old), "{what}: documents");
    let rewrites = documents(old) == documents(new);
    for name in ["a", "s"] {
        let now = read(store, name);
        let (old, new) = (read(&holding(old), name), read(&holding(new), name));
        if !rewrites {
            assert!(now == if is_new { new } else { old }, "{what}: {name} is of neither shape");
        } else if let (Some(now), Some(old), Some(new)) = (now, old, new) {
            let mut all = now.1.iter().zip(old.1.iter().zip(&new.1));
            assert!(all.all(|(now, (old, new))| now == old || now == new), "{what}: {name}");
        }
    }
    if found.is_empty() {
        return;
    }
    let mut findings: Vec<Finding> = Vec::new();
    let options = CheckOptions::new().data(true);
    check(store, &Prefix::root(), &options, &mut |finding| findings.push(finding))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    for finding in &findings {
        assert_ne!(finding.severity(), Severity::Error, "{what}: {finding}");
        // The last case is an update that cannot remove a chunk.
        let harmless = [
            "chunk-outside-grid",
            "chunk-past-end",
            "elements-past-end",
            "stray-object",
            "fill-only-chunk",
            "few-missing-chunks",
        ];
        assert!(harmless.contains(&finding.id()), "{what}: {finding}");
    }
    if rewrites {
        return;
    }
    let hierarchy = if is_new { new } else { old };
    for (key, bytes) in &found {
        let named =
            findings.iter().any(|finding| finding.key().is_some_and(|at| key.starts_with(at)));
        assert!(named || hierarchy.get(key) == Some(bytes), "{what}: {key} is not named");
    }
}
