//! Packed bits made of the caller's elements, while those are in the cache.

use super::{ChunkCodec, Empty, Encoded, Input, chunk_error, holds_only};
use crate::chain::Bound;
use crate::error::ChunkError;
use crate::leaf::ElementLeaf;
use crate::leaf::packbits::Packer;
use crate::scratch::Pool;

/// Bytes of elements that are looked at and packed at a time, so that a slab that went past the
/// caches is fetched once.
const PIECE: usize = 64 << 10;

/// So many elements of any width begin and end at bytes, and kernels run at full speed.
const WHOLE_BYTES: usize = 64;

impl ChunkCodec {
    /// Packs the elements slab by slab, if they are to be packed and meet the leaf as one view.
    pub(super) fn pack(
        &self,
        leaf: &ElementLeaf,
        input: Input<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        pool: &mut Pool,
    ) -> Option<Result<Encoded, ChunkError>> {
        let ElementLeaf::Packbits { packing, padding } = leaf else { return None };
        let Bound { element, leaf_place: place, options, .. } = &*self.bound;
        let failed = |kind| chunk_error(place, kind);
        let Input { data, view, fill } = input;
        let mut canonical = fill.to_vec();
        element.canonicalise(&mut canonical);
        let mut is_empty = fill.len() == element.size();
        let mut packer = match Packer::new(packing, *padding, self.elements, pool) {
            Ok(packer) => packer,
            Err(kind) => return Some(Err(failed(kind))),
        };
        let plain = element.moved(false);
        let packed = self.route.encode_slabs(data, view, plain, fill, pool, |first, slab| {
            let size = element.size();
            let count = PIECE.checked_div(size).unwrap_or(1).next_multiple_of(WHOLE_BYTES);
            for (number, elements) in slab.chunks_mut(count.saturating_mul(size)).enumerate() {
                let first = first.saturating_add(number.saturating_mul(count));
                let check = || {
                    if options.strict {
                        leaf.check_survival(elements, element)?;
                    }
                    element.check(elements)
                };
                check().map_err(|kind| kind.further(first))?;
                // Packing leaves out the bits that carry no value; only a comparison sees them.
                if is_empty {
                    element.canonicalise(elements);
                    is_empty = holds_only(elements, &canonical);
                }
                packer.pack(first, elements)?;
            }
            Ok(())
        });
        let bytes = packer.finish();
        let Some(packed) = packed else {
            pool.give(bytes);
            return None;
        };
        Some(packed.map_err(failed).and_then(|()| {
            if is_empty && empty == Empty::Leave {
                pool.give(bytes);
                return Ok(Encoded::Empty);
            }
            self.encode_bytes(bytes, out, pool)?;
            Ok(if is_empty { Encoded::Empty } else { Encoded::Chunk })
        }))
    }
}
