//! A whole store: a metadata document and its chunks. Opening and reading fail or succeed;
//! nothing panics, and memory stays within the limit of the process.
//! The input is the document, a zero byte, and chunks, each after its length in two bytes, for
//! the first occupied chunks of the grid in C order.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use zarr_array::store::{MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Selection};
use zarr_codec::Options;
use zarr_metadata::ArrayMetadata;

/// The longest region to read, in bytes.
const LONGEST: u64 = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let end = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (document, rest) = input.split_at(end);
    let mut rest = rest.get(1..).unwrap_or_default();
    let Ok(metadata) = ArrayMetadata::from_json(document) else { return };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let options = Options::new().unknown_decoded_len(LONGEST);
    let opened = Array::with_metadata(Arc::clone(&store), &Prefix::root(), metadata, options);
    let Ok(array) = opened else { return };

    let counts: Vec<u64> = array.grid().axes().iter().map(|axis| axis.occupied()).collect();
    let mut number = 0_u64;
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes(*length)).min(after.len());
        let (chunk, after) = after.split_at(length);
        rest = after;
        let mut left = number;
        let mut index = vec![0; counts.len()];
        for (slot, count) in index.iter_mut().zip(&counts).rev() {
            *slot = left % (*count).max(1);
            left /= (*count).max(1);
        }
        if let Ok(key) = array.layout().key(&index) {
            store.put(&key, chunk).expect("memory");
        }
        number += 1;
    }

    // The whole array if it is small, else its first corner.
    let size = array.element_size() as u64;
    let elements = array.shape().iter().try_fold(size, |n, length| n.checked_mul(*length));
    let region: Selection = match elements {
        Some(bytes) if bytes <= LONGEST => Selection::whole(array.shape()),
        _ if array.shape().len() > 8 => return,
        _ => array.shape().iter().map(|length| 0..(*length).min(3)).collect(),
    };
    if let Ok(read) = array.read(&region) {
        // Read again by halves of the first axis, it is the same.
        let Some(first) = region.axes().first() else { return };
        let middle = first.len() / 2;
        let mut halves = Vec::new();
        for part in [0..middle, middle..first.len()] {
            let mut axes = region.axes().to_vec();
            axes[0] = part.into();
            match array.read(axes) {
                Ok(half) => halves.extend(half),
                Err(error) => panic!("half of a region that reads: {error}"),
            }
        }
        assert_eq!(halves, read);
        // And by a list of its indices in reverse: the rows in reverse.
        let mut axes = region.axes().to_vec();
        axes[0] = (0..first.len()).rev().collect::<Vec<u64>>().into();
        let row = read.len().checked_div(first.len() as usize).unwrap_or(0).max(1);
        let reversed: Vec<u8> = read.chunks(row).rev().flatten().copied().collect();
        match array.read(axes) {
            Ok(listed) => assert_eq!(listed, reversed),
            Err(error) => panic!("a list of a region that reads: {error}"),
        }
    }
});
