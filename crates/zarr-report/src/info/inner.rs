//! The inner chunks of stored shards, counted by the indices of the shards alone.

use zarr_array::{Array, parallel};

use super::stored::Stored;
use crate::words;

/// Shards whose indices are read: where each takes a request, and where none does.
pub(super) const SHARDS: [usize; 2] = [100, 10_000];

/// Bytes of all indices that are read.
const BYTES: u64 = 64 << 20;

/// The inner chunks of an array.
#[derive(Debug)]
pub(super) struct Inner {
    /// The length of an inner chunk on each axis of the array.
    pub(super) shape: Vec<u64>,
    /// All that have elements of the array.
    pub(super) all: u64,
    /// Those of them that are stored, or why they were not counted.
    pub(super) stored: Result<u64, String>,
}

/// `None` if the chunks are no shards, or if other codecs hide their indices.
pub(super) fn inner(array: &Array, stored: &Stored) -> Option<Inner> {
    if array.members().is_some() {
        return None;
    }
    let codec = array.chunk_codec(&words::first_chunk(array)?).ok()?;
    let (shard, order) = codec.plain_shard()?;
    let mut shape = vec![1; order.len()];
    for (axis, edge) in order.iter().zip(shard.inner().shape()) {
        *shape.get_mut(*axis)? = u64::try_from(*edge).ok()?.max(1);
    }
    let counts = array.shape().iter().zip(&shape).map(|(length, edge)| length.div_ceil(*edge));
    let all = counts.fold(1, u64::saturating_mul);
    let count = || {
        let too_many = || format!("there are more than {} shards", words::count(stored.most));
        let shards = stored.shards.as_ref().ok_or_else(too_many)?;
        let number = u64::try_from(shards.len()).unwrap_or(u64::MAX);
        if shard.index_len().saturating_mul(number) > BYTES {
            return Err(format!(
                "the indices of the shards have more than {}",
                words::bytes(BYTES.into())
            ));
        }
        let read = parallel::map(shards, parallel::requests(&**array.store()), |chunk| {
            let content = array.shard_content(chunk, None)?;
            let content = content.iter().flat_map(|content| content.inner_chunks());
            Ok::<_, zarr_array::ArrayError>(content.filter(|inner| inner.bytes.is_some()).count())
        });
        let counts = read.map_err(|error| error.to_string())?;
        Ok(counts.iter().map(|count| u64::try_from(*count).unwrap_or(u64::MAX)).sum())
    };
    Some(Inner { all, stored: count(), shape })
}
