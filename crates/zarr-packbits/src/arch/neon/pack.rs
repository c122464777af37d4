//! Components to packed bytes.

use core::arch::aarch64::*;

use super::{Gathered, VECTOR, components, load, shift, store};
use crate::{
    BitOrder,
    field::Field,
    used_bits::{UsedBits, Watch},
};

/// Packs to the start of `dst`: as many fields as `src` has vectors of and `dst` has bytes for,
/// with a vector to spare. Returns their number, a multiple of eight.
#[target_feature(enable = "neon")]
pub(in crate::arch) fn pack<const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let word_bits = 8 / field.size * field.bits as usize;
    if !(2 * word_bits).is_multiple_of(8) {
        return 0;
    }
    match (field.size, !word_bits.is_multiple_of(8)) {
        (1, _) => pack_size::<1, false, WATCH>(field, src, dst, seen),
        (2, false) => pack_size::<2, false, WATCH>(field, src, dst, seen),
        (2, true) => pack_size::<2, true, WATCH>(field, src, dst, seen),
        (4, false) => pack_size::<4, false, WATCH>(field, src, dst, seen),
        (4, true) => pack_size::<4, true, WATCH>(field, src, dst, seen),
        (_, false) => pack_size::<8, false, WATCH>(field, src, dst, seen),
        (_, true) => pack_size::<8, true, WATCH>(field, src, dst, seen),
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn pack_size<const SIZE: usize, const MERGE: bool, const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let mut gathered = Gathered::<SIZE, WATCH>::new(field);
    let words = Words::<SIZE, MERGE>::new(field);
    // The number of bytes that a vector packs to.
    let packed_len = VECTOR / SIZE * field.bits as usize / 8;
    let turns = dst.len().checked_sub(VECTOR).map_or(0, |last| last / packed_len + 1);
    let vectors = src.as_chunks::<VECTOR>().0;
    let turns = turns.min(vectors.len());
    // Vectors of larger components are less than a group.
    let per_group = (SIZE / 2).max(1);
    let vectors = &vectors[..turns / per_group * per_group];
    let mut rest = dst;
    for vector in vectors {
        let packed = words.run(gathered.vector(load(vector)));
        // Bytes past the vector's own are overwritten by the next one.
        store(&mut rest[..VECTOR].as_chunks_mut().0[0], packed);
        rest = core::mem::take(&mut rest).split_at_mut(packed_len).1;
    }
    gathered.add_to(seen);
    vectors.len() * VECTOR / SIZE
}

/// Tables that turn a vector of components into packed bytes, at the start of the vector.
struct Words<const SIZE: usize, const MERGE: bool> {
    msb: bool,
    /// Most significant bit first: reverses the components, so that the packed bits are one
    /// big-endian number.
    backwards: uint8x16_t,
    mask: uint8x16_t,
    /// The counts that join two neighbours of 1, 2 and 4 bytes.
    join: [uint8x16_t; 3],
    /// The counts that bring words down to their first bit. If words are merged, the upper one
    /// moves down to the bits that do not fit the lower one.
    down: uint8x16_t,
    /// Merge: the counts to bring the upper word to the end of the lower one.
    merge: uint8x16_t,
    compact: uint8x16_t,
}

impl<const SIZE: usize, const MERGE: bool> Words<SIZE, MERGE> {
    #[inline]
    #[target_feature(enable = "neon")]
    fn new(field: &Field) -> Self {
        let bits = field.bits as i64;
        let first_bit = i64::from(field.first_bit);
        let msb = field.order == BitOrder::MsbFirst;
        let (size_bits, word_bits) = (8 * SIZE as i64, 8 / SIZE as i64 * bits);
        // Joined pairs lie around the middle. At `level` 0 the components are joined, at 1 the
        // pairs, at 2 the pairs of pairs.
        let count = |level: u32, i: usize| {
            let apart = (size_bits - bits) << level.saturating_sub(1);
            match (level, i % 2) {
                (0, 0) => apart - first_bit,
                (0, _) => -first_bit,
                (_, 0) => apart,
                _ => -apart,
            }
        };
        let level = |size: u32| size.ilog2().saturating_sub(SIZE.ilog2());
        let join = [
            components::<1>(|i| count(level(1), i) as u64),
            components::<2>(|i| count(level(2), i) as u64),
            components::<4>(|i| count(level(4), i) as u64),
        ];
        // The bits below a word: half of the bits that remain. With 8 bytes nothing was joined.
        let below = if SIZE == 8 { first_bit } else { 32 - word_bits / 2 };
        let down = components::<8>(|i| {
            let over = if MERGE && i == 1 { 64 - word_bits } else { 0 };
            (-below - over) as u64
        });
        let merge = components::<8>(|i| if i == 0 { (word_bits - below) as u64 } else { 0 });
        let bytes = if MERGE { 2 * word_bits / 8 } else { word_bits / 8 } as usize;
        let compact = components::<1>(|i| {
            // Packed byte `i` is byte `part` of word `word`; merged words are one word.
            let (word, part) = if MERGE { (0, i) } else { (i / bytes, i % bytes) };
            if part >= bytes || word > 1 {
                return u64::MAX;
            }
            let (word, part) = match (msb, MERGE) {
                (false, _) => (word, part),
                (true, false) => (1 - word, bytes - 1 - part),
                (true, true) => (0, bytes - 1 - part),
            };
            (8 * word + part) as u64
        });
        Self {
            msb,
            backwards: components::<1>(|i| (i ^ (VECTOR - SIZE)) as u64),
            mask: components::<SIZE>(|_| field.mask()),
            join,
            down,
            merge,
            compact,
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn run(&self, components: uint8x16_t) -> uint8x16_t {
        let mut x = vandq_u8(components, self.mask);
        if self.msb {
            x = vqtbl1q_u8(x, self.backwards);
        }
        if SIZE == 1 {
            x = shift::<1>(x, self.join[0]);
        }
        if SIZE <= 2 {
            x = shift::<2>(x, self.join[1]);
        }
        if SIZE <= 4 {
            x = shift::<4>(x, self.join[2]);
        }
        let mut words = shift::<8>(x, self.down);
        if MERGE {
            let upper = vextq_u8::<8>(x, vdupq_n_u8(0));
            words = vorrq_u8(words, shift::<8>(upper, self.merge));
        }
        vqtbl1q_u8(words, self.compact)
    }
}
