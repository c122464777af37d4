//! Decoding a chunk for several targets.

use zarr_codec::{ChunkCodec, Scratch, Slice};
use zarr_view::{Output, View};

/// All elements of a chunk.
pub fn whole(codec: &ChunkCodec) -> Vec<Slice> {
    codec.shape().iter().map(|size| (0..*size).into()).collect()
}

/// The elements of a region; `None` if the chunk does not decode.
pub fn decode(
    codec: &ChunkCodec,
    size: usize,
    encoded: &[u8],
    region: &[Slice],
    scratch: &mut Scratch,
) -> Option<Vec<u8>> {
    let shape: Vec<usize> = region.iter().map(|slice| slice.count).collect();
    let view = View::contiguous(&shape).expect("small");
    let mut elements = vec![0xa5; view.len() * size];
    let mut out = Output::new(&mut elements, &view, size).expect("fits");
    codec.decode(encoded, region, &mut out, &vec![1; size], scratch).ok()?;
    Some(elements)
}
