//! A store of what JavaScript has fetched.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wasm_bindgen::prelude::wasm_bindgen;
use zarr_array::store::{
    DirEntry, Key, Links, Listing, ObjectMeta, Operation, Prefix, ReadRange, Store, StoreError,
    failed_listing, sorted,
};

/// The bytes of an object that a step has missed.
#[wasm_bindgen]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Need {
    key: String,
    suffix: Option<u64>,
    /// Starts and ends.
    ranges: Vec<u64>,
}

#[wasm_bindgen]
impl Need {
    /// The key of the object.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn key(&self) -> String {
        self.key.clone()
    }

    /// The number of bytes at the end that are needed.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn suffix(&self) -> Option<u64> {
        self.suffix
    }

    /// Start and end of each range that is needed. Without ranges and suffix, the object is.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn ranges(&self) -> Vec<u64> {
        self.ranges.clone()
    }
}

impl Need {
    fn new(key: &Key, range: ReadRange<'_>) -> Self {
        let (suffix, ranges) = match range {
            ReadRange::All => (None, Vec::new()),
            ReadRange::Suffix(len) => (Some(len), Vec::new()),
            ReadRange::Ranges(ranges) => {
                (None, ranges.iter().flat_map(|range| [range.start, range.end]).collect())
            }
        };
        Self { key: key.to_string(), suffix, ranges }
    }

    fn is_whole(&self) -> bool {
        self.suffix.is_none() && self.ranges.is_empty()
    }

    /// The number of bytes needed, unless the object is.
    fn len(&self) -> Option<u64> {
        let lengths = self.ranges.chunks_exact(2).map(|pair| match *pair {
            [start, end] => end.saturating_sub(start),
            _ => 0,
        });
        if self.is_whole() { None } else { Some(self.suffix.unwrap_or_else(|| lengths.sum())) }
    }
}

/// What no answer can do.
const LACKS: &str = "way to do this in JavaScript";

/// The answers so far, and what was asked without an answer.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The bytes; `None` for an object that is not there.
    answers: HashMap<Need, Option<Vec<u8>>>,
    needs: Vec<Need>,
    /// The same needs, to find them.
    asked: HashSet<Need>,
    /// All keys of the store, if JavaScript has told them.
    keys: Option<BTreeMap<String, ()>>,
}

impl Answers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The needs since the last call.
    pub(crate) fn take_needs(&self) -> Vec<Need> {
        let mut state = self.state();
        state.asked.clear();
        std::mem::take(&mut state.needs)
    }

    /// The number of needs.
    pub(crate) fn count(&self) -> usize {
        self.state().needs.len()
    }

    /// Whether the last need is a whole object.
    pub(crate) fn last_is_whole(&self) -> bool {
        self.state().needs.last().is_some_and(Need::is_whole)
    }

    pub(crate) fn tell_keys(&self, keys: impl IntoIterator<Item = String>) {
        self.state().keys = Some(keys.into_iter().map(|key| (key, ())).collect());
    }

    /// What `list` finds in the keys of the store.
    fn listed<T: Send + 'static>(
        &self,
        prefix: &Prefix,
        list: impl FnOnce(&BTreeMap<String, ()>) -> Result<Vec<T>, StoreError>,
    ) -> Listing<'_, T> {
        let found = match &self.state().keys {
            Some(keys) => list(keys),
            None => Err(Self::unsupported(Operation::List, prefix)),
        };
        found.map_or_else(failed_listing, |found| Box::new(found.into_iter().map(Ok)))
    }

    pub(crate) fn supply(&self, need: &Need, bytes: Option<Vec<u8>>, whole: bool) {
        let need = match whole {
            true => Need { key: need.key.clone(), suffix: None, ranges: Vec::new() },
            false => need.clone(),
        };
        self.state().answers.insert(need, bytes);
    }

    fn unsupported(operation: Operation, key: impl std::fmt::Display) -> StoreError {
        StoreError::unsupported(operation, key, LACKS)
    }
}

impl Store for Answers {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        out.clear();
        let mut state = self.state();
        let found = |size| Ok(Some(ObjectMeta { size, version: None, modified: None }));
        match state.answers.get(&Need::new(key, ReadRange::All)) {
            Some(None) => return Ok(None),
            Some(Some(bytes)) => {
                range.copy(key, bytes, out)?;
                return found(bytes.len() as u64);
            }
            None if state.keys.as_ref().is_some_and(|keys| !keys.contains_key(key.as_str())) => {
                return Ok(None);
            }
            None => {}
        }
        // Size and version, which a store of JavaScript does not tell, come with the object.
        let need = match range {
            ReadRange::Ranges([]) => Need::new(key, ReadRange::All),
            range => Need::new(key, range),
        };
        let Some(bytes) = state.answers.get(&need) else {
            if state.asked.insert(need.clone()) {
                state.needs.push(need);
            }
            return Err(Self::unsupported(Operation::Get, key));
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let (size, wanted) = (bytes.len() as u64, need.len().unwrap_or_default());
        if size != wanted {
            return Err(match (need.suffix, range) {
                (None, ReadRange::Ranges([first, ..])) => StoreError::Range {
                    key: key.to_string(),
                    range: first.clone(),
                    size: first.start.saturating_add(size),
                },
                _ => StoreError::Suffix { key: key.to_string(), len: wanted, size },
            });
        }
        out.extend_from_slice(bytes);
        // Whoever reads past the end gets too few bytes, as above.
        found(u64::MAX)
    }

    fn lacks(&self) -> &'static str {
        LACKS
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        self.listed(prefix, |keys| {
            sorted::below(keys, prefix).map(|key| Ok(Key::new(key)?)).collect()
        })
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        self.listed(prefix, |keys| sorted::children(keys, prefix))
    }
}
