//! Components to packed bytes.

use core::arch::x86_64::*;

use super::{Gathered, LANE, VECTOR, count, load, splat, store, store_lane, vector};
use crate::{
    BitOrder,
    field::Field,
    used_bits::{UsedBits, Watch},
};

/// Whether two words of a lane are whole bytes.
pub(in crate::arch) fn can_pack(field: &Field) -> bool {
    (2 * 8 / field.size * field.bits as usize).is_multiple_of(8)
}

/// Packs to the start of `dst`: as many fields as `src` has vectors of and `dst` has bytes for,
/// with a lane to spare. Returns their number, a multiple of eight. Only for the layouts that
/// [`can_pack`] allows.
#[target_feature(enable = "avx2")]
pub(in crate::arch) fn pack<const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let word_bits = 8 / field.size * field.bits as usize;
    let merge = !word_bits.is_multiple_of(8);
    match (field.size, merge) {
        (1, _) if field.bits == 1 => pack_bits(field, src, dst, seen),
        (1, _) if field.bits == 2 => pack_quarters(field, src, dst, seen),
        (1, _) if field.bits == 4 => pack_halves(field, src, dst, seen),
        (1, _) => pack_size::<1, false, WATCH>(field, src, dst, seen),
        (2, false) => pack_size::<2, false, WATCH>(field, src, dst, seen),
        (2, true) => pack_size::<2, true, WATCH>(field, src, dst, seen),
        (4, false) => pack_size::<4, false, WATCH>(field, src, dst, seen),
        (4, true) => pack_size::<4, true, WATCH>(field, src, dst, seen),
        (_, false) => pack_size::<8, false, WATCH>(field, src, dst, seen),
        (_, true) => pack_size::<8, true, WATCH>(field, src, dst, seen),
    }
}

/// One bit of every byte: moved to the top of the byte, from where one instruction extracts it.
#[inline]
#[target_feature(enable = "avx2")]
fn pack_bits<const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let mut gathered = Gathered::<1, WATCH>::new(field);
    let up = count(7 - field.first_bit as usize);
    let msb = field.order == BitOrder::MsbFirst;
    let backwards = vector(|i| (i % LANE) as u8 ^ 7);
    let vectors = src.as_chunks::<VECTOR>().0;
    for (vector, out) in vectors.iter().zip(dst.as_chunks_mut::<4>().0) {
        let bytes = gathered.vector(load(vector));
        let bytes = if msb { _mm256_shuffle_epi8(bytes, backwards) } else { bytes };
        *out = _mm256_movemask_epi8(_mm256_sll_epi16(bytes, up)).to_le_bytes();
    }
    gathered.add_to(seen);
    vectors.len() * VECTOR
}

/// Packs `N` vectors into one, as often as there is room. Returns the number of bytes packed.
#[inline]
#[target_feature(enable = "avx2")]
fn pack_vectors<const N: usize, const WATCH: Watch>(
    src: &[u8],
    dst: &mut [u8],
    gathered: &mut Gathered<1, WATCH>,
    run: impl Fn([__m256i; N]) -> __m256i,
) -> usize {
    let groups = src.as_chunks::<VECTOR>().0.as_chunks::<N>().0;
    let out = dst.as_chunks_mut::<VECTOR>().0;
    let turns = groups.len().min(out.len());
    let mut turn = |(group, out): (&[[u8; VECTOR]; N], &mut [u8; VECTOR])| {
        let mut vectors = [_mm256_setzero_si256(); N];
        for (vector, bytes) in vectors.iter_mut().zip(group) {
            *vector = gathered.vector(load(bytes));
        }
        store(out, run(vectors));
    };
    let (groups, out) = (groups[..turns].as_chunks::<2>(), out[..turns].as_chunks_mut::<2>());
    for (groups, out) in groups.0.iter().zip(out.0) {
        groups.iter().zip(out).for_each(&mut turn);
    }
    groups.1.iter().zip(out.1).for_each(turn);
    turns * N * VECTOR
}

/// Factors that join two neighbours of `bits` bits.
#[inline]
#[target_feature(enable = "avx2")]
fn join(order: BitOrder, bits: u32) -> __m256i {
    splat::<2>(match order {
        BitOrder::LsbFirst => 1 << bits << 8 | 1,
        BitOrder::MsbFirst => 1 << 8 | 1 << bits,
    })
}

/// Four bits of every byte: two bytes are joined to 16 bits, and the lower eight are packed.
#[inline]
#[target_feature(enable = "avx2")]
fn pack_halves<const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let mut gathered = Gathered::<1, WATCH>::new(field);
    let (first_bit, mask) = (count(field.first_bit as usize), _mm256_set1_epi8(0x0f));
    let pair = join(field.order, 4);
    let bytes = |x| {
        let fields = _mm256_and_si256(_mm256_srl_epi16(x, first_bit), mask);
        _mm256_maddubs_epi16(pair, fields)
    };
    let done = pack_vectors(src, dst, &mut gathered, |[first, second]| {
        // Each half of the result has a quarter of each source.
        let packed = _mm256_packus_epi16(bytes(first), bytes(second));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(packed)
    });
    gathered.add_to(seen);
    done + pack_size::<1, false, WATCH>(field, &src[done..], &mut dst[done / 2..], seen)
}

/// Two bits of every byte: joined to four bits as in [`pack_halves`], and then to eight.
#[inline]
#[target_feature(enable = "avx2")]
fn pack_quarters<const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let mut gathered = Gathered::<1, WATCH>::new(field);
    let (first_bit, mask) = (count(field.first_bit as usize), _mm256_set1_epi8(0x03));
    let (pair, pairs) = (join(field.order, 2), join(field.order, 4));
    let halves = |x| {
        let fields = _mm256_and_si256(_mm256_srl_epi16(x, first_bit), mask);
        _mm256_maddubs_epi16(pair, fields)
    };
    let bytes = |first, second| {
        _mm256_maddubs_epi16(pairs, _mm256_packus_epi16(halves(first), halves(second)))
    };
    let order = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
    let done = pack_vectors(src, dst, &mut gathered, |[first, second, third, fourth]| {
        // Each half of the result has an eighth of each source.
        let packed = _mm256_packus_epi16(bytes(first, second), bytes(third, fourth));
        _mm256_permutevar8x32_epi32(packed, order)
    });
    gathered.add_to(seen);
    done + pack_size::<1, false, WATCH>(field, &src[done..], &mut dst[done / 4..], seen)
}

#[inline]
#[target_feature(enable = "avx2")]
fn pack_size<const SIZE: usize, const MERGE: bool, const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let mut gathered = Gathered::<SIZE, WATCH>::new(field);
    let words = Words::<SIZE, MERGE>::new(field);
    // The number of bytes that a lane packs to.
    let lane = LANE / SIZE * field.bits as usize / 8;
    let turns = dst.len().checked_sub(lane + LANE).map_or(0, |last| last / (2 * lane) + 1);
    let vectors = src.as_chunks::<VECTOR>().0;
    let vectors = &vectors[..turns.min(vectors.len())];
    // In 64 bits, a vector may end with a whole byte, but only every second one ends with a whole
    // group.
    let vectors = if SIZE == 8 { &vectors[..vectors.len() / 2 * 2] } else { vectors };
    // As in unpacking, each iteration sees a slice of the same length.
    let window = lane + LANE;
    let mut rest = dst;
    let mut turn = |vector| {
        let packed = words.run(gathered.vector(load(vector)));
        let out = &mut rest[..window];
        // Bytes past the lane's own are overwritten by the next lane.
        store_lane(&mut out.as_chunks_mut().0[0], _mm256_castsi256_si128(packed));
        let out = &mut out[lane..];
        store_lane(&mut out.as_chunks_mut().0[0], _mm256_extracti128_si256::<1>(packed));
        rest = core::mem::take(&mut rest).split_at_mut(2 * lane).1;
    };
    let (fours, last) = vectors.as_chunks::<4>();
    for four in fours {
        four.iter().for_each(&mut turn);
    }
    last.iter().for_each(turn);
    gathered.add_to(seen);
    vectors.len() * VECTOR / SIZE
}

/// Tables that turn a vector of components into packed bytes, at the start of each lane.
struct Words<const SIZE: usize, const MERGE: bool> {
    msb: bool,
    /// Most significant bit first: reverses the components of a lane, so that the packed bits are
    /// one big-endian number.
    backwards: __m256i,
    first_bit: __m128i,
    mask: __m256i,
    /// For 1 and 2 bytes: factors that join two components, then two pairs.
    pair: __m256i,
    pairs: __m256i,
    /// For 2 bytes: whether values and factors are below 2^15. If not, the factor moves the first
    /// of a pair up, and both are shifted down together.
    narrow: bool,
    pair_down: __m128i,
    /// The counts to shift the lower 32 bits up, and then the 64 bits down.
    up: __m256i,
    down: __m128i,
    /// Merge: the counts to shift the upper 64 bits up to the lower ones, and their remainder
    /// down.
    merge_up: __m256i,
    merge_down: __m256i,
    compact: __m256i,
}

impl<const SIZE: usize, const MERGE: bool> Words<SIZE, MERGE> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(field: &Field) -> Self {
        let bits = field.bits as usize;
        let msb = field.order == BitOrder::MsbFirst;
        let word_bits = 8 / SIZE * bits;
        // Components of 8 bytes are not joined.
        let half = if SIZE == 8 { 32 } else { word_bits / 2 };
        let (pair, pairs) = match SIZE {
            1 => (1 << bits << 8 | 1, 1 << (2 * bits) << 16 | 1),
            2 if bits < 15 => (0, 1 << bits << 16 | 1),
            2 => (0, 1 << 16 | 1_u64 << (16 - bits)),
            _ => (0, 0),
        };
        let bytes = if MERGE { 2 * word_bits / 8 } else { word_bits / 8 };
        let compact = vector(|i| {
            let i = i % LANE;
            // Packed byte `i` is byte `part` of word `word`; merged words are one word.
            let (word, part) = if MERGE { (0, i) } else { (i / bytes, i % bytes) };
            if part >= bytes || word > 1 {
                return 0x80;
            }
            let (word, part) = match (msb, MERGE) {
                (false, _) => (word, part),
                (true, false) => (1 - word, bytes - 1 - part),
                (true, true) => (0, bytes - 1 - part),
            };
            (8 * word + part) as u8
        });
        let each = |low: usize, high: usize| {
            _mm256_set_epi64x(high as i64, low as i64, high as i64, low as i64)
        };
        Self {
            msb,
            backwards: vector(|i| ((i % LANE) ^ (LANE - SIZE)) as u8),
            first_bit: count(field.first_bit as usize),
            mask: splat::<SIZE>(field.mask() >> field.first_bit),
            pair: splat::<2>(pair),
            pairs: splat::<4>(pairs),
            narrow: bits < 15,
            pair_down: count(16_usize.saturating_sub(bits)),
            up: splat::<8>(32 - half as u64),
            down: count(32 - half),
            merge_up: each(word_bits, 0),
            merge_down: each(0, 64 - word_bits),
            compact,
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn run(&self, components: __m256i) -> __m256i {
        let mut x = components;
        if self.msb {
            x = _mm256_shuffle_epi8(x, self.backwards);
        }
        x = match SIZE {
            1 | 2 => _mm256_srl_epi16(x, self.first_bit),
            4 => _mm256_srl_epi32(x, self.first_bit),
            _ => _mm256_srl_epi64(x, self.first_bit),
        };
        x = _mm256_and_si256(x, self.mask);
        if SIZE == 1 {
            // First, factors up to 128 are the unsigned operand and values up to 127 the signed
            // one; then factors up to 2^14 and values below that.
            x = _mm256_madd_epi16(_mm256_maddubs_epi16(self.pair, x), self.pairs);
        }
        if SIZE == 2 && self.narrow {
            x = _mm256_madd_epi16(x, self.pairs);
        } else if SIZE == 2 {
            x = _mm256_srl_epi32(_mm256_mullo_epi16(x, self.pairs), self.pair_down);
        }
        if SIZE < 8 {
            x = _mm256_srl_epi64(_mm256_sllv_epi32(x, self.up), self.down);
        }
        if MERGE {
            let upper = _mm256_sllv_epi64(_mm256_bsrli_epi128::<8>(x), self.merge_up);
            x = _mm256_or_si256(_mm256_srlv_epi64(x, self.merge_down), upper);
        }
        _mm256_shuffle_epi8(x, self.compact)
    }
}
