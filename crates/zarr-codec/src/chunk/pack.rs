//! Packs elements while they are in the cache.

use zarr_packbits::{Packing, PaddingEncoding};

use super::encode::holds_only;
use super::{ChunkCodec, Empty, Encoded, Input, chunk_error};
use crate::array_to_bytes::ElementCodec;
use crate::array_to_bytes::packbits::{self, Packer};
use crate::bound::Bound;
use crate::element::ElementType;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::{Bytes, Pool};
use crate::transform::Slab;

/// Bytes of elements that are compared and packed at a time, so that a slab that bypassed the
/// caches is fetched once. Smaller pieces lose more to the setup of kernels than they gain.
const PIECE: usize = 64 << 10;

/// This many elements of any width start and end at byte boundaries, and kernels run at full
/// speed.
const WHOLE_BYTES: usize = 64;

/// A chunk that is packed piece by piece.
pub(super) struct PackedSlabs<'c> {
    element: &'c ElementType,
    packing: &'c Packing,
    packer: Packer<'c>,
    /// The fill value in canonical form.
    fill: Vec<u8>,
    /// Whether all elements so far equal the fill value.
    is_empty: bool,
    /// Whether some elements equal the fill value; they have not been checked for loss.
    skipped: bool,
    /// Whether values that packing cuts are possible and refused (SD-49). For sub-byte types,
    /// bytes that are not in canonical form are cut.
    refuses: bool,
}

impl PackedSlabs<'_> {
    /// Packs the elements from number `first` on. May bring copied elements to canonical form.
    pub(super) fn pack(&mut self, first: usize, elements: Slab<'_>) -> Result<(), ChunkErrorKind> {
        let size = self.element.size();
        let count = PIECE.checked_div(size).unwrap_or(1).next_multiple_of(WHOLE_BYTES);
        let len = (count * size).max(1);
        let first_of = |piece: usize| first + piece * count;
        match elements {
            Slab::Lent(elements) => {
                let mut copy = Vec::new();
                for (number, piece) in elements.chunks(len).enumerate() {
                    match self.element.is_sub_byte() && !self.refuses {
                        false => self.pack_piece(first_of(number), piece)?,
                        true => {
                            copy.clear();
                            copy.extend_from_slice(piece);
                            self.pack_piece(first_of(number), self.canonical(&mut copy))?;
                        }
                    }
                }
            }
            Slab::Copied(elements) => {
                for (number, piece) in elements.chunks_mut(len).enumerate() {
                    self.pack_piece(first_of(number), self.canonical(piece))?;
                }
            }
        }
        Ok(())
    }

    /// Converts elements to canonical form where that matters: packing drops the bits that carry
    /// no value, so only comparisons see them.
    fn canonical<'p>(&self, piece: &'p mut [u8]) -> &'p [u8] {
        if self.is_empty && !self.refuses {
            self.element.canonicalise(piece);
        }
        piece
    }

    fn pack_piece(&mut self, first: usize, piece: &[u8]) -> Result<(), ChunkErrorKind> {
        let packed = self.element.check(piece).and_then(|()| {
            self.is_empty = self.is_empty && holds_only(piece, &self.fill);
            self.skipped |= self.is_empty;
            self.packer.pack(first, piece, self.refuses && !self.is_empty)
        });
        packed.map_err(|kind| kind.further(first))
    }

    /// Refuses fill values among the elements if they are to be stored and would be cut.
    fn check_skipped(&self) -> Result<(), ChunkErrorKind> {
        match self.refuses && self.skipped {
            true => packbits::check_survival(self.packing, &self.fill),
            false => Ok(()),
        }
    }
}

impl ChunkCodec {
    /// Packs the elements slab by slab, if they are to be packed and correspond to the stored
    /// array as a single view.
    pub(super) fn pack(
        &self,
        codec: &ElementCodec,
        input: Input<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        pool: &mut Pool,
    ) -> Option<Result<Encoded, ChunkError>> {
        let ElementCodec::Packbits { packing, padding } = codec else { return None };
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let Input { data, view, fill } = input;
        let mut pieces = match self.pieces(codec, packing, *padding, self.stored_fill(fill), pool) {
            Ok(pieces) => pieces,
            Err(error) => return Some(Err(error)),
        };
        let plain = element.moved(false);
        let packed = self
            .transform
            .encode_slabs(data, view, plain, fill, pool, |first, slab| pieces.pack(first, slab));
        Some(match packed {
            None => {
                pool.give(pieces.packer.finish());
                return None;
            }
            Some(Err(kind)) => Err(chunk_error(place, kind)),
            Some(Ok(())) => self.finish(pieces, empty, out, pool),
        })
    }

    /// Begins a chunk. `fill` has the form of [`stored_fill`](ChunkCodec::stored_fill).
    pub(super) fn pieces<'c>(
        &'c self,
        codec: &'c ElementCodec,
        packing: &'c Packing,
        padding: PaddingEncoding,
        fill: Vec<u8>,
        pool: &mut Pool,
    ) -> Result<PackedSlabs<'c>, ChunkError> {
        let Bound { element, array_to_bytes_path: place, options, .. } = &*self.bound;
        let packer = Packer::new(packing, padding, self.elements, pool);
        Ok(PackedSlabs {
            element,
            packing,
            packer: packer.map_err(|kind| chunk_error(place, kind))?,
            is_empty: fill.len() == element.size(),
            fill,
            skipped: false,
            refuses: !options.allow_loss && codec.losing(element).is_some(),
        })
    }

    /// The chunk, once all elements are packed, encoded by the bytes-to-bytes codecs.
    pub(super) fn finish(
        &self,
        pieces: PackedSlabs<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        pool: &mut Pool,
    ) -> Result<Encoded, ChunkError> {
        let checked = pieces.check_skipped();
        let PackedSlabs { packer, is_empty, .. } = pieces;
        let bytes = packer.finish();
        if is_empty && empty == Empty::Leave {
            pool.give(bytes);
            return Ok(Encoded::Empty);
        }
        checked.map_err(|kind| chunk_error(&self.bound.array_to_bytes_path, kind))?;
        self.encode_bytes(Bytes::Taken(bytes), out, pool)?;
        Ok(if is_empty { Encoded::Empty } else { Encoded::Chunk })
    }
}
