//! What zarrs does with these plug-ins: the readings of the specifications (`docs/decisions.md`), whole
//! and in part, and what zarrs' own tests of these codecs and of this grid show.

mod codecs;
mod fixtures;
mod grid;

use std::sync::Arc;

use serde_json::{Value, json};
use zarrs::array::{Array, ArrayBytes, ArrayMetadata, ArraySubset};
use zarrs::storage::ReadableStorageTraits;
use zarrs::storage::store::MemoryStore;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The document of an array.
fn document(
    data_type: &str,
    shape: &[u64],
    grid: Value,
    codecs: Value,
    fill_value: Value,
) -> Value {
    json!({"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
        "chunk_grid": grid, "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value,
        "codecs": codecs})
}

fn regular(chunk_shape: &[u64]) -> Value {
    json!({"name": "regular", "configuration": {"chunk_shape": chunk_shape}})
}

fn rectilinear(chunk_shapes: Value) -> Value {
    json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": chunk_shapes}})
}

fn packbits(configuration: Value) -> Value {
    json!({"name": "packbits", "configuration": configuration})
}

fn reshape(shape: Value) -> Value {
    json!({"name": "reshape", "configuration": {"shape": shape}})
}

/// A new array, and the store that it is in.
fn create(document: &Value) -> Result<(Array<MemoryStore>, Arc<MemoryStore>)> {
    zarrs_kit::register();
    let store = Arc::new(MemoryStore::new());
    let metadata: ArrayMetadata = serde_json::from_value(document.clone())?;
    let array = Array::new_with_metadata(store.clone(), "/", metadata)?;
    array.store_metadata()?;
    Ok((array, store))
}

/// The error of making an array, or of reading all of it.
fn refusal(document: &Value, chunk: &[u8]) -> String {
    let read = || {
        let (array, store) = create(document)?;
        let key = ["c"].into_iter().chain(array.shape().iter().map(|_| "0")).collect::<Vec<_>>();
        zarrs::storage::WritableStorageTraits::set(
            &*store,
            &key.join("/").as_str().try_into()?,
            chunk.to_vec().into(),
        )?;
        read(&array, &array.subset_all())
    };
    match read() {
        Ok(elements) => panic!("{document} is read as {elements:?}"),
        Err(error) => error.to_string(),
    }
}

fn write(array: &Array<MemoryStore>, elements: &[u8]) -> Result<()> {
    Ok(array.store_array_subset(&array.subset_all(), ArrayBytes::new_flen(elements.to_vec()))?)
}

fn read<S>(array: &Array<S>, region: &ArraySubset) -> Result<Vec<u8>>
where
    S: ReadableStorageTraits + ?Sized + 'static,
{
    let elements: ArrayBytes = array.retrieve_array_subset(region)?;
    Ok(elements.into_fixed()?.into_owned())
}

/// The bytes of a stored chunk.
fn stored(store: &MemoryStore, key: &str) -> Result<Vec<u8>> {
    Ok(store.get(&key.try_into()?)?.ok_or("no such chunk")?.to_vec())
}

/// A generator of numbers, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// A region of an array of this shape, at times an empty one.
    fn region(&mut self, shape: &[u64]) -> ArraySubset {
        let ranges = shape.iter().map(|length| {
            let (a, b) = (self.below(length + 1), self.below(length + 1));
            a.min(b)..a.max(b)
        });
        ArraySubset::new_with_ranges(&ranges.collect::<Vec<_>>())
    }
}

/// The elements of a region out of all elements of an array.
fn part(elements: &[u8], shape: &[u64], region: &ArraySubset, size: usize) -> Vec<u8> {
    let indices = region.linearised_indices(shape).expect("within the shape");
    let bytes = indices.into_iter().flat_map(|index| {
        let start = index as usize * size;
        elements[start..start + size].to_vec()
    });
    bytes.collect()
}
