//! Components to packed bytes.

use core::arch::x86_64::*;

use super::{
    ALIGN_FROM, Gathered, TURN, VECTOR, load, load_at, load_prefix, prefix, store, store_at,
    store_prefix,
};
use crate::{
    BitOrder,
    field::Field,
    used_bits::{UsedBits, Watch},
};

/// Packs all of `src`, a multiple of eight fields, into the whole of `dst`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(in crate::arch) fn pack<const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) {
    let lanes_are_bytes = (8 / field.size * field.bits as usize).is_multiple_of(8);
    match (field.bits, field.size) {
        (1, 1) => pack_bytes::<1, WATCH>(field, src, dst, seen),
        (2 | 3 | 5, 1) => pack_loop::<1, true, false, WATCH>(field, src, dst, seen),
        (1 | 2 | 3 | 5, 2) => pack_bytes::<2, WATCH>(field, src, dst, seen),
        (1 | 2 | 3 | 5, 4) => pack_bytes::<4, WATCH>(field, src, dst, seen),
        (1 | 2 | 3 | 5, _) => pack_bytes::<8, WATCH>(field, src, dst, seen),
        // For one bit, eight bytes of components give eight bits, the same number.
        (_, 1) => pack_loop::<1, false, false, WATCH>(field, src, dst, seen),
        (_, 2) if lanes_are_bytes => pack_loop::<2, false, false, WATCH>(field, src, dst, seen),
        (_, 2) => pack_loop::<2, false, true, WATCH>(field, src, dst, seen),
        (_, 4) if lanes_are_bytes => pack_loop::<4, false, false, WATCH>(field, src, dst, seen),
        (_, 4) => pack_loop::<4, false, true, WATCH>(field, src, dst, seen),
        _ if lanes_are_bytes => pack_loop::<8, false, false, WATCH>(field, src, dst, seen),
        _ => pack_loop::<8, false, true, WATCH>(field, src, dst, seen),
    }
}

/// Single bits, and the widths for which more than two fields share a byte in larger components.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_bytes<const SIZE: usize, const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) {
    let mut gathered = Gathered::<SIZE, WATCH>::new(field);
    let bytes = Bytes::<SIZE>::new(field);
    let first_bit = if SIZE == 1 { field.first_bit } else { 0 };
    let field = Field { first_bit, size: 1, ..*field };
    let step = 8 * field.bits as usize;
    if field.bits == 1 {
        let test = Test::new(&field);
        let src = src.chunks_exact(VECTOR * SIZE);
        let last = src.remainder();
        let (vectors, rest) = dst.as_chunks_mut();
        for (src, out) in src.zip(vectors) {
            *out = test.run(bytes.load(src, &mut gathered));
        }
        if !last.is_empty() {
            rest.copy_from_slice(&test.run(bytes.load(last, &mut gathered))[..rest.len()]);
        }
    } else {
        let lanes = Pack::<true, false>::new(&field);
        for (i, src) in src.chunks(VECTOR * SIZE).enumerate() {
            store_at(dst, i * step, lanes.run(bytes.load(src, &mut gathered)));
        }
    }
    gathered.add_to(seen);
}

/// Widths for which at most two fields, or pairs of fields, share a byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_loop<const SIZE: usize, const PAIRS: bool, const APART: bool, const WATCH: Watch>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) {
    let mut gathered = Gathered::<SIZE, WATCH>::new(field);
    let lanes = Pack::<PAIRS, APART>::new(field);
    let step = VECTOR / 8 / field.size * field.bits as usize;
    let (mut src, mut dst) = (src, dst);
    let head = src.as_ptr().align_offset(VECTOR);
    if src.len() >= ALIGN_FROM && head.is_multiple_of(8 * field.size) {
        let (first, aligned) = src.split_at(head);
        store_at(dst, 0, lanes.run(gathered.vector(load_prefix(first))));
        (src, dst) = (aligned, &mut dst[head / 8 / field.size * field.bits as usize..]);
    }
    if 2 * step <= VECTOR {
        // Two vectors fit in one store.
        let both = lanes.compact_two(step);
        let (pairs, last) = src.as_chunks::<{ 2 * VECTOR }>();
        pack_vectors(dst, 2 * step, pairs, |pair| {
            let (a, b) = (pair.first_chunk(), pair.last_chunk());
            let mut bytes = |half: Option<_>| {
                half.map_or(both, |half| lanes.bytes(gathered.vector(load(half))))
            };
            _mm512_permutex2var_epi8(bytes(a), both, bytes(b))
        });
        (src, dst) = (last, &mut dst[2 * step * pairs.len()..]);
    }
    let (vectors, last) = src.as_chunks::<VECTOR>();
    pack_vectors(dst, step, vectors, |vector| lanes.run(gathered.vector(load(vector))));
    if !last.is_empty() {
        store_prefix(
            &mut dst[step * vectors.len()..],
            lanes.run(gathered.vector(load_prefix(last))),
        );
    }
    gathered.add_to(seen);
}

/// Writes the bytes of each element of `src`, each `step` bytes after the one before.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_vectors<V>(dst: &mut [u8], step: usize, src: &[V], mut run: impl FnMut(&V) -> __m512i) {
    // Nearly all may write a whole vector: bytes beyond their own are overwritten by the next.
    let whole = dst.len().checked_sub(VECTOR).map_or(0, |last| last / step + 1);
    let (whole, last) = src.split_at(whole.min(src.len()) / TURN * TURN);
    let mut at = 0;
    for turn in whole.as_chunks::<TURN>().0 {
        for vector in turn {
            store(&mut dst[at..at + VECTOR].as_chunks_mut().0[0], run(vector));
            at += step;
        }
    }
    for vector in last {
        store_at(dst, at, run(vector));
        at += step;
    }
}

/// The registers that turn components of any size into bytes with the encoded bits at the bottom.
struct Bytes<const SIZE: usize> {
    shift: __m512i,
    gather: __m512i,
}

impl<const SIZE: usize> Bytes<SIZE> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(field: &Field) -> Self {
        let mut shift = [0; VECTOR];
        let mut gather = [0; VECTOR];
        for i in 0..VECTOR {
            shift[i] = (i % 8 / SIZE * SIZE * 8) as u8 + field.first_bit as u8;
            gather[i] = (i * SIZE % VECTOR) as u8;
        }
        Self { shift: load(&shift), gather: load(&gather) }
    }

    /// Loads the first 64 components, or all there are.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn load<const WATCH: Watch>(
        &self,
        src: &[u8],
        gathered: &mut Gathered<SIZE, WATCH>,
    ) -> __m512i {
        if SIZE == 1 {
            return gathered.vector(load_at(src, 0));
        }
        let mut bytes = _mm512_setzero_si512();
        for (i, src) in src.chunks(VECTOR).enumerate() {
            let vector = _mm512_multishift_epi64_epi8(self.shift, gathered.vector(load_at(src, 0)));
            let here = prefix(VECTOR / SIZE) << (i * VECTOR / SIZE);
            bytes = _mm512_mask_permutexvar_epi8(bytes, here, self.gather, vector);
        }
        bytes
    }
}

/// The registers that turn one vector of components into packed bytes.
///
/// `PAIRS`: components of one byte are joined to pairs first. `APART`: the two fields of a byte
/// may be in different 64-bit lanes, unless a lane's fields are whole bytes.
struct Pack<const PAIRS: bool, const APART: bool> {
    /// Pairs: the field's bits, and the factors that join two neighbours.
    mask: __m512i,
    factors: __m512i,
    /// For every byte of the lanes, the position of its part of the first field.
    first: __m512i,
    /// For every byte of the lanes, the position of its part of the second field.
    second: __m512i,
    /// The bits to take from the first field.
    select: __m512i,
    /// Apart: lanes that start one field later, from which the second field is taken.
    further: __m512i,
    /// The bytes of the lanes to keep, in order.
    compact: __m512i,
}

/// `65536 / divisor`, rounded up: `x * inverse >> 16` is `x / divisor` for all `x` and divisors
/// here, as `x` times the divisor is below 65536.
#[inline]
fn inverse(divisor: u16) -> u16 {
    u16::MAX / divisor + 1
}

/// The upper half of a product.
#[inline]
fn mul_high(a: u16, b: u16) -> u16 {
    ((u32::from(a) * u32::from(b)) >> 16) as u16
}

impl<const PAIRS: bool, const APART: bool> Pack<PAIRS, APART> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(field: &Field) -> Self {
        let msb = field.order == BitOrder::MsbFirst;
        // Pairs have less than 8 bits; otherwise the factors are not used.
        let factor = 1_i16 << (field.bits % 8);
        let factors = if msb { 0x0100 | factor } else { factor << 8 | 1 };
        let (bits, size) = if PAIRS { (2 * field.bits, 2) } else { (field.bits, field.size) };
        let (bits, size, first_bit) = (bits as u16, size as u16, field.first_bit as u16);
        let lane_bits = 8 / size * bits;
        let (bits_inverse, lane_inverse) = (inverse(bits), inverse(lane_bits));
        let mut first = [0; VECTOR];
        let mut second = [0; VECTOR];
        let mut select = [0; VECTOR];
        let mut compact = [0; VECTOR];
        // Without branches and divisions, so that this is vectorised, too.
        for i in 0..VECTOR {
            // Byte `i % 8` of the bytes that start in the fields of lane `i / 8`, and the position
            // of its first bit in the lane's fields.
            let start = (i / 8) as u16 * lane_bits;
            let position = 8 * (i % 8) as u16 + start.wrapping_neg() % 8;
            let nth = mul_high(position, bits_inverse);
            let within = position - nth * bits;
            // The number of bits of the first field for this byte, from `low` on in memory.
            let left = bits - within;
            let low = 8 * size * nth + first_bit;
            let second_low = if APART { low } else { low + 8 * size };
            let (a, b, selected) = if msb {
                let down = left.wrapping_sub(8);
                (
                    low.wrapping_add(down),
                    (second_low + bits).wrapping_add(down),
                    0xff00 >> left.min(8),
                )
            } else {
                (low + within, second_low.wrapping_sub(left), (1 << left.min(8)) - 1)
            };
            first[i] = a as u8;
            second[i] = b as u8;
            select[i] = selected as u8;
            // Packed byte `i` comes from the lane whose fields contain its first bit.
            let lane = mul_high(8 * i as u16, lane_inverse);
            compact[i] = (8 * lane + i as u16 - (lane * lane_bits).div_ceil(8)) as u8;
        }
        let mut further = [0; VECTOR];
        for (i, byte) in further.iter_mut().enumerate() {
            *byte = (i + size as usize) as u8;
        }
        Self {
            mask: _mm512_set1_epi8(field.mask() as i8),
            factors: _mm512_set1_epi16(factors),
            first: load(&first),
            second: load(&second),
            select: load(&select),
            further: load(&further),
            compact: load(&compact),
        }
    }

    /// The indices that take the kept bytes of two vectors, `step` of each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn compact_two(&self, step: usize) -> __m512i {
        let mut indices = [0; VECTOR];
        for (i, index) in indices.iter_mut().enumerate() {
            *index = i.wrapping_sub(step) as u8 % 64;
        }
        // Bit 6 of an index chooses the second vector.
        let second = _mm512_or_si512(
            _mm512_permutexvar_epi8(load(&indices), self.compact),
            _mm512_set1_epi8(64),
        );
        _mm512_mask_blend_epi8(prefix(step), second, self.compact)
    }

    /// Turns 64 bytes of components into their packed bytes, with gaps between lanes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn bytes(&self, components: __m512i) -> __m512i {
        let fields = if PAIRS {
            // The factors are below 128 and the sums below 2^15: nothing saturates.
            _mm512_maddubs_epi16(_mm512_and_si512(components, self.mask), self.factors)
        } else {
            components
        };
        let first = _mm512_multishift_epi64_epi8(self.first, fields);
        let further = if APART { _mm512_permutexvar_epi8(self.further, fields) } else { fields };
        let second = _mm512_multishift_epi64_epi8(self.second, further);
        _mm512_ternarylogic_epi64::<0xca>(self.select, first, second)
    }

    /// Turns 64 bytes of components into their packed bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn run(&self, components: __m512i) -> __m512i {
        _mm512_permutexvar_epi8(self.compact, self.bytes(components))
    }
}

/// The registers that pack one bit of each of 64 bytes: a test gives the bits as a mask.
struct Test {
    bit: __m512i,
    backwards: __m512i,
    msb: bool,
}

impl Test {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(field: &Field) -> Self {
        // Eight bytes in reverse give a byte with the first bit as its most significant.
        let backwards = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
        Self {
            bit: _mm512_set1_epi8(field.mask() as i8),
            backwards: _mm512_broadcast_i32x4(backwards),
            msb: field.order == BitOrder::MsbFirst,
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn run(&self, bytes: __m512i) -> [u8; 8] {
        let bytes = if self.msb { _mm512_shuffle_epi8(bytes, self.backwards) } else { bytes };
        _mm512_test_epi8_mask(bytes, self.bit).to_le_bytes()
    }
}
