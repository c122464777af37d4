//! The number of stored chunks of an array, and their bytes.

use std::sync::Arc;

use zarr_array::ArrayError;
use zarr_array::ChunkLayout;
use zarr_array::store::{Store, StoreExt as _};

use super::inner::SHARDS;

/// If more chunks than this are stored, their sizes are not added up: each takes a request.
const SIZED: u64 = 100_000;

/// The stored chunks of an array.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Chunks with elements of the array.
    pub(super) occupied: u64,
    /// Chunks entirely past its end.
    pub(super) beyond: u64,
    /// Bytes of both kinds of chunks, if that is cheap to find out.
    pub(super) bytes: Option<[u64; 2]>,
    /// Elements of the array in the stored chunks.
    pub(super) elements: u128,
    /// The chunks with elements, if they are at most `most`.
    pub(super) shards: Option<Vec<Vec<u64>>>,
    pub(super) most: usize,
}

/// The sizes are added up if asking the store for them is `quick`.
pub(super) fn stored(
    store: &Arc<dyn Store>,
    layout: &ChunkLayout,
    quick: bool,
) -> Result<Stored, ArrayError> {
    let most = SHARDS[usize::from(quick)];
    let (bytes, shards) = (quick.then_some([0; 2]), Some(Vec::new()));
    let mut stored = Stored { bytes, shards, most, ..Stored::default() };
    let mut seen = 0_u64;
    for chunk in layout.stored_chunks(store) {
        let chunk = chunk?;
        if chunk.occupied {
            stored.occupied += 1;
            stored.elements = stored.elements.saturating_add(elements(layout, &chunk.index));
            stored.shards = stored.shards.filter(|shards| shards.len() < most);
            if let Some(shards) = &mut stored.shards {
                shards.push(chunk.index.clone());
            }
        } else {
            stored.beyond += 1;
        }
        seen += 1;
        if seen > SIZED {
            stored.bytes = None;
        }
        if let Some([inside, beyond]) = &mut stored.bytes {
            let bytes = if chunk.occupied { inside } else { beyond };
            let size = store.size(&chunk.key)?;
            *bytes = bytes.saturating_add(size.unwrap_or(0));
        }
    }
    Ok(stored)
}

/// The elements of the array in a chunk.
fn elements(layout: &ChunkLayout, chunk: &[u64]) -> u128 {
    let lengths = layout.grid().axes().iter().zip(chunk).map(|(axis, chunk)| {
        let range = axis.clipped(*chunk).unwrap_or_default();
        u128::from(range.end.saturating_sub(range.start))
    });
    lengths.fold(1, u128::saturating_mul)
}
