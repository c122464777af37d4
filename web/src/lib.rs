//! Reads of Zarr arrays whose bytes JavaScript fetches.
//!
//! The library of this project reads from a store of [answers]. What is not answered yet is a need:
//! JavaScript fetches all needs at once, and the step is repeated.
//!
//! # Non-goals
//! - Input and output, threads, writing.

#![forbid(unsafe_code)]

mod answers;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use wasm_bindgen::prelude::{JsError, wasm_bindgen};
use zarr_array::store::{Key, Prefix, Store};
use zarr_array::{Array, PlannedChunk, Selection};
use zarr_grid::AxisSelection;
use zarr_metadata::DataType;

use self::answers::Answers;
pub use self::answers::Need;

/// The answers of a store to the needs of one operation.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Fetched(Arc<Answers>);

#[wasm_bindgen]
impl Fetched {
    /// No answers.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the steps since the last call have missed.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        self.0.take_needs()
    }

    /// Answers a need: the bytes, or `undefined` for a missing object.
    ///
    /// `whole`: they are all bytes of the object, whatever the need was.
    pub fn supply(&self, need: &Need, bytes: Option<Vec<u8>>, whole: bool) {
        self.0.supply(need, bytes, whole);
    }

    /// Tells all keys of the store, which cannot be listed.
    ///
    /// # Errors
    /// If one is not a key.
    pub fn tell_keys(&self, keys: Vec<String>) -> Result<(), JsError> {
        if let Some(error) = keys.iter().find_map(|key| Key::new(key.as_str()).err()) {
            return Err(shown(error));
        }
        self.0.tell_keys(keys);
        Ok(())
    }

    /// Opens an array; an error counts only if there are no new needs.
    ///
    /// # Errors
    /// If the array cannot be opened.
    pub fn open(&self, path: &str) -> Result<OpenArray, JsError> {
        let array = Array::open(self.store(), &Prefix::new(path).map_err(shown)?).map_err(shown)?;
        Ok(OpenArray(array.with_threads(NonZeroUsize::MIN)))
    }
}

impl Fetched {
    /// The answers as a store.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        self.0.clone()
    }
}

/// The most bytes of one read. The memory of a module is 4 GiB, and a read has the elements twice.
const MOST_BYTES: u64 = 1 << 30;

/// The memory of a short string: in a column of strings, alone and for JavaScript.
const STRING_BYTES: usize = 256;

/// The most chunks of one read, each of which takes memory while it is planned.
const MOST_CHUNKS: u64 = 1 << 20;

/// The message of an error, which names the place.
#[must_use]
pub fn shown(error: impl std::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}

/// An open array.
#[wasm_bindgen]
#[derive(Debug)]
pub struct OpenArray(Array);

#[wasm_bindgen]
impl OpenArray {
    /// The length of each axis.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.0.shape().to_vec()
    }

    /// The data type, as the document has it.
    #[must_use]
    pub fn data_type(&self) -> String {
        self.0.data_type().to_json()
    }

    /// The document, as version 3.
    #[must_use]
    pub fn metadata(&self) -> String {
        self.0.metadata().json().to_owned()
    }

    /// The bytes of an element in memory.
    #[must_use]
    pub fn element_size(&self) -> usize {
        self.0.element_size()
    }

    /// Begins to read a selection in numpy's notation.
    ///
    /// # Errors
    /// If it is no selection of the array.
    pub fn select(&self, fetched: &Fetched, selection: &str) -> Result<Reading, JsError> {
        let array = self.0.clone().with_store(fetched.store());
        let is_text = *array.data_type() == DataType::String;
        let selection = Selection::parse(selection, self.0.shape()).map_err(shown)?;
        let plan = array.layout().plan(&selection).map_err(shown)?;
        let size = if is_text { STRING_BYTES } else { self.0.element_size() };
        let bytes = selection
            .elements()
            .and_then(|count| count.checked_mul(u64::try_from(size).unwrap_or(u64::MAX)));
        if plan.len() > MOST_CHUNKS || bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
            return Err(JsError::new(&format!(
                "the selection has shape {:?} and lies in {} chunks, and may have {MOST_BYTES} bytes \
                 in {MOST_CHUNKS} chunks: read it in parts",
                selection.shape(),
                plan.len(),
            )));
        }
        let pending = plan.chunks(0..plan.len()).map_err(shown)?;
        Ok(Reading { array, answers: Arc::clone(&fetched.0), selection, pending, is_text })
    }
}

/// A read of a selection.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Reading {
    array: Array,
    answers: Arc<Answers>,
    selection: Selection,
    /// Chunks that may need more.
    pending: Vec<PlannedChunk>,
    is_text: bool,
}

#[wasm_bindgen]
impl Reading {
    /// The length of each axis of the elements.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.selection.shape()
    }

    /// Notes what all chunks need next; then there is nothing to do but [`read`](Self::read) if there
    /// are no needs.
    ///
    /// # Errors
    /// If a chunk cannot be read although it needs nothing more.
    pub fn plan(&mut self) -> Result<(), JsError> {
        let Self { array, answers, selection, pending, .. } = self;
        let mut more = Vec::new();
        for chunk in std::mem::take(pending) {
            let before = answers.count();
            let part = in_array(&chunk, selection);
            let read = match self.is_text {
                true => array.read_as::<String>(&part).map(drop),
                false => array.read(&part).map(drop),
            };
            match (answers.count() > before, read) {
                // The answer to a whole object leaves nothing to ask.
                (true, _) if answers.last_is_whole() => {}
                (true, _) => more.push(chunk),
                (false, read) => read.map_err(shown)?,
            }
        }
        *pending = more;
        Ok(())
    }

    /// The elements in C order, each little-endian; an error counts only if there are no new needs.
    ///
    /// # Errors
    /// If a chunk cannot be read.
    pub fn read(&self) -> Result<Vec<u8>, JsError> {
        self.array.read(&self.selection).map_err(shown)
    }

    /// As [`read`](Self::read), for strings.
    ///
    /// # Errors
    /// If a chunk cannot be read, or the elements are no strings.
    pub fn read_strings(&self) -> Result<Vec<String>, JsError> {
        let strings = self.array.read_as::<String>(&self.selection).map_err(shown)?;
        Ok(strings.iter().map(str::to_owned).collect())
    }
}

/// The part of a selection that lies in a chunk, in ascending order.
fn in_array(chunk: &PlannedChunk, selection: &Selection) -> Selection {
    let axes = chunk.in_chunk.iter().zip(&chunk.in_selection).zip(selection.axes());
    let moved = axes.map(|((inside, positions), axis)| {
        let first = positions.get(0).and_then(|position| axis.get(position)).unwrap_or(0);
        let origin = first.saturating_sub(inside.get(0).unwrap_or(0));
        let at = |index: u64| index.saturating_add(origin);
        let span = |range: &Range<u64>| at(range.start)..at(range.end);
        match inside {
            AxisSelection::Range(range) => AxisSelection::Range(span(range)),
            AxisSelection::Step { range, step } => {
                AxisSelection::Step { range: span(range), step: *step }
            }
            other => AxisSelection::Indices(other.indices().map(at).collect()),
        }
    });
    Selection::new(moved.collect())
}
