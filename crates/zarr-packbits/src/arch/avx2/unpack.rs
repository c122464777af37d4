//! Packed bytes to components.

use core::arch::x86_64::*;

use super::{LANE, VECTOR, count, load, load_lane, load_lanes, splat, store, vector};
use crate::{BitOrder, field::Field};

/// Shifts all components right, with sign extension if `SIGNED`; for 2 and 4 bytes only.
#[inline]
#[target_feature(enable = "avx2")]
fn shift_down<const SIZE: usize, const SIGNED: bool>(x: __m256i, by: __m128i) -> __m256i {
    match (SIZE, SIGNED) {
        (2, false) => _mm256_srl_epi16(x, by),
        (2, true) => _mm256_sra_epi16(x, by),
        (_, false) => _mm256_srl_epi32(x, by),
        (_, true) => _mm256_sra_epi32(x, by),
    }
}

/// Whether two fields span at most the 16 bytes of a lane: fields of 63 bits may span 17.
pub(in crate::arch) fn can_unpack(field: &Field) -> bool {
    field.bits != 63
}

/// Unpacks from the start of `packed`: as many fields as `dst` has vectors for and `packed` has
/// bytes for, with a lane to spare. Returns their number, a multiple of eight. Only for the layouts
/// that [`can_unpack`] allows.
#[target_feature(enable = "avx2")]
pub(in crate::arch) fn unpack(field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
    match (field.size, field.bits, field.signed) {
        (1, 1, _) => unpack_bits(field, packed, dst),
        (1, 2, _) => unpack_quarters(field, packed, dst),
        (1, 4, _) => unpack_halves(field, packed, dst),
        (1, _, false) => unpack_bytes::<false>(field, packed, dst),
        (1, _, true) => unpack_bytes::<true>(field, packed, dst),
        (2, _, false) => unpack_size::<2, 1, false>(field, packed, dst),
        (2, _, true) => unpack_size::<2, 1, true>(field, packed, dst),
        (4, _, false) => unpack_size::<4, 1, false>(field, packed, dst),
        (4, _, true) => unpack_size::<4, 1, true>(field, packed, dst),
        // Four fields of 64-bit components may end within a byte, eight do not.
        (_, _, false) => unpack_size::<8, 2, false>(field, packed, dst),
        (_, _, true) => unpack_size::<8, 2, true>(field, packed, dst),
    }
}

/// Fills `N` vectors at a time from each `step` packed bytes. Returns the number of bytes filled.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack_vectors<const N: usize>(
    packed: &[u8],
    step: usize,
    dst: &mut [u8],
    run: impl Fn(&[u8]) -> [__m256i; N],
) -> usize {
    let window = step + LANE;
    let turns = packed.len().checked_sub(window).map_or(0, |last| last / step + 1);
    let turns = turns.min(dst.len() / VECTOR / N);
    let vectors = &mut dst.as_chunks_mut::<VECTOR>().0[..turns * N];
    // Each iteration sees a slice of the same length, so one check before the loop shows that all
    // loads are within it.
    let mut packed = packed;
    let mut turn = |out: &mut [[u8; VECTOR]; N]| {
        let filled = run(&packed[..window]);
        packed = &packed[step..];
        for (out, vector) in out.iter_mut().zip(filled) {
            store(out, vector);
        }
    };
    let (fours, last) = vectors.as_chunks_mut::<N>().0.as_chunks_mut::<4>();
    for four in fours {
        four.iter_mut().for_each(&mut turn);
    }
    last.iter_mut().for_each(turn);
    turns * N * VECTOR
}

/// Bits to bytes: every packed byte is repeated eight times, and a different bit of each is
/// tested.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack_bits(field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
    let bits = match field.order {
        BitOrder::LsbFirst => _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64),
        BitOrder::MsbFirst => _mm256_set1_epi64x(0x0102_0408_1020_4080),
    };
    let one = _mm256_set1_epi8(field.component(1) as i8);
    let repeat = vector(|i| i as u8 / 8);
    let test = |bytes: &[u8]| {
        let bytes = _mm256_set1_epi32(i32::from_le_bytes(bytes.as_chunks().0[0]));
        let each = _mm256_and_si256(_mm256_shuffle_epi8(bytes, repeat), bits);
        _mm256_and_si256(_mm256_cmpeq_epi8(each, bits), one)
    };
    let done = unpack_vectors(packed, 16, dst, |bytes| {
        [test(bytes), test(&bytes[4..]), test(&bytes[8..]), test(&bytes[12..])]
    });
    done + unpack_vectors(&packed[done / 8..], 4, &mut dst[done..], |bytes| [test(bytes)])
}

/// A table for a byte shuffle: the in-memory component for every field of four bits or less.
#[inline]
#[target_feature(enable = "avx2")]
fn table(component: impl Fn(u64) -> u64) -> __m256i {
    vector(|i| component(i as u64 % 16) as u8)
}

/// Two bits to bytes: the halves of packed bytes are put in order. For each half, two tables hold
/// the values of its lower and its upper field, and these are then put in order.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack_quarters(field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
    let msb = field.order == BitOrder::MsbFirst;
    let mut values =
        [table(|half| field.component(half % 4)), table(|half| field.component(half / 4))];
    if msb {
        values.reverse();
    }
    let low = _mm256_set1_epi8(0x0f);
    // This ordering stays within a lane, so each lane is loaded with the bytes that fill its part
    // of four vectors.
    let spread = |bytes: __m256i| {
        let (lower, upper) =
            (_mm256_and_si256(bytes, low), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low));
        let (first, second) = if msb { (upper, lower) } else { (lower, upper) };
        let fields = |halves| {
            let (first, second) =
                (_mm256_shuffle_epi8(values[0], halves), _mm256_shuffle_epi8(values[1], halves));
            (_mm256_unpacklo_epi8(first, second), _mm256_unpackhi_epi8(first, second))
        };
        let (a, b) = fields(_mm256_unpacklo_epi8(first, second));
        let (c, d) = fields(_mm256_unpackhi_epi8(first, second));
        [a, b, c, d]
    };
    let turns = _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0);
    let done = unpack_vectors(packed, VECTOR, dst, |bytes| {
        spread(_mm256_permutevar8x32_epi32(load(&bytes.as_chunks().0[0]), turns))
    });
    done + unpack_vectors(&packed[done / 4..], 8, &mut dst[done..], |bytes| {
        let eight = load_lane(&bytes.as_chunks().0[0]);
        [spread(_mm256_set_m128i(_mm_bsrli_si128::<4>(eight), eight))[0]]
    })
}

/// Four bits to bytes: every packed byte is widened to 16 bits, and the half that belongs there
/// is moved to the upper eight of them.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack_halves(field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
    let values = table(|field_bits| field.component(field_bits));
    let msb = field.order == BitOrder::MsbFirst;
    let low = _mm256_set1_epi8(0x0f);
    unpack_vectors(packed, LANE, dst, |bytes| {
        let bytes = _mm256_cvtepu8_epi16(load_lane(&bytes.as_chunks().0[0]));
        let halves = if msb {
            _mm256_or_si256(_mm256_srli_epi16::<4>(bytes), _mm256_slli_epi16::<8>(bytes))
        } else {
            _mm256_or_si256(bytes, _mm256_slli_epi16::<4>(bytes))
        };
        [_mm256_shuffle_epi8(values, _mm256_and_si256(halves, low))]
    })
}

/// Any other width to bytes, as the even and the odd ones of 16-bit components.
#[inline]
#[target_feature(enable = "avx2")]
fn unpack_bytes<const SIGNED: bool>(field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
    let even = Lanes::<2, false>::new(field, |i| 2 * i, 0);
    let odd = Lanes::<2, false>::new(field, |i| 2 * i + 1, 0);
    let down = field.bits + field.first_bit;
    let (even_down, odd_down) = (count(16 - down as usize), count(8 - down as usize));
    let keep = splat::<1>(u64::MAX << field.first_bit);
    let upper = _mm256_set1_epi16(0xff00_u16 as i16);
    let half = 2 * field.bits as usize;
    unpack_vectors(packed, 2 * half, dst, |bytes| {
        let bytes = load_lanes(bytes, 0, half);
        let even = shift_down::<2, SIGNED>(even.raise(bytes), even_down);
        let odd = shift_down::<2, SIGNED>(odd.raise(bytes), odd_down);
        [_mm256_and_si256(_mm256_blendv_epi8(even, odd, upper), keep)]
    })
}

#[inline]
#[target_feature(enable = "avx2")]
fn unpack_size<const SIZE: usize, const N: usize, const SIGNED: bool>(
    field: &Field,
    packed: &[u8],
    dst: &mut [u8],
) -> usize {
    let bits = field.bits as usize;
    let fields = N * VECTOR / SIZE;
    if (0..fields).all(|nth| nth * bits % 8 + bits <= 8 * SIZE) {
        unpack_wide::<SIZE, N, SIGNED, false>(field, packed, dst)
    } else {
        unpack_wide::<SIZE, N, SIGNED, true>(field, packed, dst)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn unpack_wide<const SIZE: usize, const N: usize, const SIGNED: bool, const WIDE: bool>(
    field: &Field,
    packed: &[u8],
    dst: &mut [u8],
) -> usize {
    let bits = field.bits as usize;
    let lane = LANE / SIZE * bits;
    let mut lanes = [Lanes::<SIZE, WIDE>::new(field, |i| i, 0); N];
    let mut starts = [(0, 0); N];
    for n in 0..N {
        lanes[n] = Lanes::new(field, |i| i, 2 * n * lane);
        starts[n] = (2 * n * lane / 8, (2 * n + 1) * lane / 8);
    }
    let down = count(8 * SIZE - bits - field.first_bit as usize);
    let sign = splat::<SIZE>(field.sign());
    let keep = splat::<SIZE>(u64::MAX << field.first_bit);
    let done = unpack_vectors::<N>(packed, 2 * N * lane / 8, dst, |bytes| {
        let mut filled = [_mm256_setzero_si256(); N];
        for n in 0..N {
            let top = lanes[n].raise(load_lanes(bytes, starts[n].0, starts[n].1));
            let x = if SIZE == 8 {
                // There is no arithmetic shift of 64 bits.
                let x = _mm256_srl_epi64(top, down);
                if SIGNED { _mm256_sub_epi64(_mm256_xor_si256(x, sign), sign) } else { x }
            } else {
                shift_down::<SIZE, SIGNED>(top, down)
            };
            filled[n] = _mm256_and_si256(x, keep);
        }
        filled
    });
    done / SIZE
}

/// Tables that bring fields to the top of components of `SIZE` bytes.
#[derive(Clone, Copy)]
struct Lanes<const SIZE: usize, const WIDE: bool> {
    /// For every byte, the index of its packed byte in the lane.
    gather: __m256i,
    /// How far to shift every component up; for 16 bits, a factor.
    up: __m256i,
    /// Wide: the byte that does not fit, brought to the top of the component, and how far to
    /// shift it down. With 16 bits it is brought to the bottom, multiplied, and shifted down by a
    /// common count. (The upper half of a product with `up` would be one instruction, but the
    /// compiler turns it into eight, because it knows that the lower byte of one factor is zero.)
    rest: __m256i,
    down: __m256i,
    all_down: __m128i,
}

impl<const SIZE: usize, const WIDE: bool> Lanes<SIZE, WIDE> {
    /// For two lanes. The first starts at bit `start`, and component `i` gets field `nth(i)` of
    /// the lane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(field: &Field, nth: impl Fn(usize) -> usize, start: usize) -> Self {
        let bits = field.bits as usize;
        let msb = field.order == BitOrder::MsbFirst;
        let per_lane = LANE / SIZE;
        // The fields that the lane's bytes hold: twice the components for even and odd ones.
        let lane_bits = (nth(1) - nth(0)) * per_lane * bits;
        let (mut gather, mut rest) = ([0; VECTOR], [0; VECTOR]);
        let (mut up, mut down) = ([0; VECTOR], [0; VECTOR]);
        // A shuffle gives zero for an index with its top bit set.
        let index = |byte: usize| if byte < LANE { byte as u8 } else { 0x80 };
        for i in 0..VECTOR / SIZE {
            let position = (start + i / per_lane * lane_bits) % 8 + nth(i % per_lane) * bits;
            let (byte, before) = (position / 8, position % 8);
            let at = i * SIZE;
            for part in 0..SIZE {
                gather[at + part] = index(match (msb, WIDE) {
                    (true, _) => byte + SIZE - 1 - part,
                    (false, false) => byte + part,
                    (false, true) => byte + 1 + part,
                });
                rest[at + part] = 0x80;
            }
            let to = if SIZE == 2 { 0 } else { SIZE - 1 };
            rest[at + to] = index(if msb { byte + SIZE } else { byte });
            let (by, rest_by) = match (msb, WIDE) {
                (true, _) => (before, 8 * SIZE - before),
                (false, false) => (8 * SIZE - bits - before, 0),
                (false, true) => (8 * SIZE + 8 - bits - before, bits + before - 8),
            };
            let (by, rest_by) = match (SIZE, msb) {
                (2, true) => (1 << by, 1 << before),
                (2, false) => (1 << by, 1 << (7 - before)),
                _ => (by as u64, rest_by),
            };
            up[at..at + SIZE].copy_from_slice(&by.to_le_bytes()[..SIZE]);
            down[at..at + SIZE].copy_from_slice(&rest_by.to_le_bytes()[..SIZE]);
        }
        Self {
            gather: load(&gather),
            up: load(&up),
            rest: load(&rest),
            down: load(&down),
            all_down: count(if msb { 8 } else { bits.saturating_sub(9) }),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn raise(&self, bytes: __m256i) -> __m256i {
        let x = _mm256_shuffle_epi8(bytes, self.gather);
        let x = match SIZE {
            2 => _mm256_mullo_epi16(x, self.up),
            4 => _mm256_sllv_epi32(x, self.up),
            _ => _mm256_sllv_epi64(x, self.up),
        };
        if !WIDE {
            return x;
        }
        let rest = _mm256_shuffle_epi8(bytes, self.rest);
        let rest = match SIZE {
            2 => _mm256_srl_epi16(_mm256_mullo_epi16(rest, self.down), self.all_down),
            4 => _mm256_srlv_epi32(rest, self.down),
            _ => _mm256_srlv_epi64(rest, self.down),
        };
        _mm256_or_si256(x, rest)
    }
}
