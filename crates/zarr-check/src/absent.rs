//! Chunks that are not stored, and chunks whose size alone shows damage.

use std::collections::HashMap;

use zarr_array::{Array, ArrayError, ChunkLayout, node};
use zarr_store::{Key, Store, StoreError};

use crate::finding::{Finding, LENGTH, MEMBER, MISSING, MISSING_FEW};

/// The most missing chunks that are separate findings, and that a note names.
pub(crate) const NAMED: usize = 20;
const NAMED_IN_NOTE: usize = 5;

/// The numbers of the stored chunks of an array, in C order.
pub(crate) struct Stored<'a> {
    layout: &'a ChunkLayout,
    occupied: Vec<u64>,
    /// The number of chunks; `None` if a `u64` cannot hold it.
    total: Option<u64>,
    numbers: Vec<u64>,
}

impl<'a> Stored<'a> {
    pub(crate) fn new(layout: &'a ChunkLayout) -> Self {
        let (occupied, total) =
            (layout.grid().occupied().to_vec(), layout.grid().occupied_chunks());
        Self { layout, occupied, total, numbers: Vec::new() }
    }

    /// Adds a chunk that holds elements.
    pub(crate) fn add(&mut self, index: &[u64]) {
        let places = self.occupied.iter().zip(index);
        let number = places.fold(0_u64, |n, (count, at)| n.wrapping_mul(*count).wrapping_add(*at));
        self.numbers.push(number);
    }

    /// The findings for missing chunks: each, or one note if they are few.
    pub(crate) fn findings(mut self, complete: bool) -> Vec<Finding> {
        let Some(total) = self.total else { return Vec::new() };
        self.numbers.sort_unstable();
        self.numbers.dedup();
        let stored = u64::try_from(self.numbers.len()).unwrap_or(u64::MAX);
        let missing = total.saturating_sub(stored);
        let is_note = stored > 0 && missing.saturating_mul(4) <= total;
        if missing == 0 || !complete && !is_note {
            return Vec::new();
        }
        let shown = if complete { NAMED } else { NAMED_IN_NOTE };
        let keys: Vec<(Vec<u64>, String)> = self
            .gaps()
            .take(shown)
            .filter_map(|number| {
                let index = zarr_grid::unravel(number, &self.occupied)?;
                let key = self
                    .layout
                    .key(&index)
                    .map_or_else(|_| format!("{index:?}"), |key| key.to_string());
                Some((index, key))
            })
            .collect();
        let more = missing.saturating_sub(u64::try_from(keys.len()).unwrap_or(u64::MAX));
        let document = node::metadata_key(self.layout.prefix());
        if !complete {
            let names: Vec<&str> = keys.iter().map(|(_, key)| key.as_str()).collect();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let message = format!(
                "{stored} of {total} chunks are stored, missing: {}{more}; they read as the fill value",
                names.join(", ")
            );
            return vec![Finding::new(MISSING_FEW, message).with_key(document)];
        }
        let mut findings: Vec<Finding> = keys
            .into_iter()
            .map(|(index, key)| {
                let message = format!("chunk {index:?} is not stored; it reads as the fill value");
                Finding::new(MISSING, message).with_key(key)
            })
            .collect();
        if more > 0 {
            let message =
                format!("{missing} of {total} chunks are not stored: {more} more than named");
            findings.push(Finding::new(MISSING, message).with_key(document));
        }
        findings
    }

    /// The numbers that are not stored, ascending.
    fn gaps(&self) -> impl Iterator<Item = u64> {
        let next = |number: &u64| number.saturating_add(1);
        let starts = std::iter::once(0).chain(self.numbers.iter().map(next));
        let ends = self.numbers.iter().copied().chain(self.total);
        starts.zip(ends).flat_map(|(start, end)| start..end)
    }
}

/// Compares the sizes of chunks with the encoded length that the codecs give, if this is the same
/// for all chunks of a shape. Does not read them.
pub(crate) struct Sizes<'a> {
    array: &'a Array,
    /// By the shape of the chunk.
    known: HashMap<Vec<u64>, Option<u64>>,
}

impl<'a> Sizes<'a> {
    pub(crate) fn new(array: &'a Array) -> Self {
        Self { array, known: HashMap::new() }
    }

    /// The finding about the size of a chunk. If the listing has no size, the store is asked.
    pub(crate) fn check(
        &mut self,
        store: &dyn Store,
        key: &Key,
        index: &[u64],
        size: Option<u64>,
    ) -> Result<Option<Finding>, ArrayError> {
        let mut shape = vec![0; index.len()];
        let grid = |cause| ArrayError::Grid { key: key.to_string(), cause };
        self.array.grid().chunk_shape(index, &mut shape).map_err(grid)?;
        let expected = match self.known.get(&shape) {
            Some(expected) => *expected,
            None => {
                // Of elements of variable length, and of chains that do not fit, nothing is known.
                let codec = self.array.chunk_codec(&shape).ok();
                let expected = codec.and_then(|codec| codec.encoded_len());
                self.known.insert(shape.clone(), expected);
                expected
            }
        };
        let asked = || match store.head(key) {
            Ok(found) => Ok(found.map(|found| found.size)),
            Err(error @ StoreError::Modified(_)) => Err(error),
            // If the store cannot tell, the fault is found when the chunk is read.
            Err(_) => Ok(None),
        };
        let size = match size.map_or_else(asked, |size| Ok(Some(size))) {
            Ok(size) => size,
            Err(error) => {
                let finding = Finding::new(MEMBER, error.to_string());
                return Ok(Some(finding.with_key(key.as_str())));
            }
        };
        let holds = !shape.contains(&0);
        let message = match (size, expected) {
            (Some(size), Some(expected)) if size != expected => {
                format!("{size} bytes are stored, expected {expected}")
            }
            (Some(0), None) if holds => {
                "0 bytes are stored; every encoded chunk has some".to_owned()
            }
            _ => return Ok(None),
        };
        Ok(Some(Finding::new(LENGTH, message).with_key(key.as_str())))
    }
}
