//! Packed bytes to components.

use core::arch::x86_64::*;

use super::{
    ALIGN_FROM, TURN, VECTOR, load, load_at, near_page_end, padded, shift_left, shift_right, splat,
    store, store_prefix, sub,
};
use crate::arch::stream;
use crate::{BitOrder, field::Field};

/// Whether a vector of fields from bit `bit` of a byte on lies in 64 packed bytes. That is so for
/// all except fields of full width that do not start at a byte.
pub(in crate::arch) fn can_unpack(field: &Field, bit: usize) -> bool {
    bit + VECTOR / field.size * field.bits as usize <= 8 * VECTOR
}

/// Whether the fields of every 64-bit lane of a vector lie in eight packed bytes.
fn is_narrow(field: &Field, bit: usize) -> bool {
    let lane_bits = 8 / field.size * field.bits as usize;
    (0..8).all(|lane| (bit + lane * lane_bits) % 8 + lane_bits <= 64)
}

/// Unpacks all of `dst`, starting at bit `bit` of `packed`. Requires [`can_unpack`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(in crate::arch) fn unpack(
    field: &Field,
    packed: &[u8],
    bit: usize,
    dst: &mut [u8],
    streaming: bool,
) {
    match field.size {
        1 => unpack_size::<1>(field, packed, bit, dst, streaming),
        2 => unpack_size::<2>(field, packed, bit, dst, streaming),
        4 => unpack_size::<4>(field, packed, bit, dst, streaming),
        _ => unpack_size::<8>(field, packed, bit, dst, streaming),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_size<const SIZE: usize>(
    field: &Field,
    packed: &[u8],
    bit: usize,
    dst: &mut [u8],
    streaming: bool,
) {
    let head = dst.as_ptr().align_offset(VECTOR);
    if dst.len() < ALIGN_FROM || !head.is_multiple_of(SIZE) {
        return unpack_part::<SIZE>(field, packed, bit, Out::Bytes(dst));
    }
    let (head, lines, tail) = stream::lines(dst);
    let mut position = bit;
    for (len, out) in [
        (head.len(), Out::Bytes(head)),
        (VECTOR * lines.len(), if streaming { Out::Stream(lines) } else { Out::Lines(lines) }),
        (tail.len(), Out::Bytes(tail)),
    ] {
        unpack_part::<SIZE>(field, &packed[position / 8..], position % 8, out);
        position += len / SIZE * field.bits as usize;
    }
    if streaming {
        stream::fence();
    }
}

/// The destination of vectors.
enum Out<'a> {
    Bytes(&'a mut [u8]),
    Lines(&'a mut [stream::Line]),
    /// Past the caches, with streaming stores.
    Stream(&'a mut [stream::Line]),
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_part<const SIZE: usize>(field: &Field, packed: &[u8], bit: usize, out: Out<'_>) {
    // Components of one byte are always narrow.
    match (SIZE == 1 || is_narrow(field, bit), field.signed) {
        (true, false) => unpack_loop::<SIZE, false, false>(field, packed, bit, out),
        (true, true) => unpack_loop::<SIZE, false, true>(field, packed, bit, out),
        (false, false) => unpack_loop::<SIZE, true, false>(field, packed, bit, out),
        (false, true) => unpack_loop::<SIZE, true, true>(field, packed, bit, out),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_loop<const SIZE: usize, const WIDE: bool, const SIGNED: bool>(
    field: &Field,
    packed: &[u8],
    bit: usize,
    out: Out<'_>,
) {
    let lanes = Unpack::<SIZE, WIDE>::new(field, bit);
    let step = VECTOR / 8 / SIZE * field.bits as usize;
    let run = |packed| lanes.run::<SIGNED>(packed);
    match out {
        Out::Bytes(bytes) => {
            let (vectors, rest) = bytes.as_chunks_mut::<VECTOR>();
            let at = step * vectors.len();
            unpack_vectors(packed, step, vectors, run, |out, vector| store(out, vector));
            if !rest.is_empty() {
                store_prefix(rest, run(load_at(packed, at)));
            }
        }
        Out::Lines(lines) => {
            unpack_vectors(packed, step, lines, run, |out, vector| store(out.bytes(), vector));
        }
        Out::Stream(lines) => {
            unpack_vectors(packed, step, lines, run, |out, vector| stream::store(out, vector));
        }
    }
}

/// Fills vectors, each from packed bytes `step` after the previous vector's.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_vectors<V>(
    packed: &[u8],
    step: usize,
    vectors: &mut [V],
    run: impl Fn(__m512i) -> __m512i,
    put: impl Fn(&mut V, __m512i),
) {
    // Nearly all may read a whole vector, even though it ends beyond their own fields.
    let whole = packed.len().checked_sub(VECTOR).map_or(0, |last| last / step + 1);
    let (whole, last) = vectors.split_at_mut(whole.min(vectors.len()) / TURN * TURN);
    let mut at = 0;
    for turn in whole.as_chunks_mut::<TURN>().0 {
        for vector in turn {
            put(vector, run(load(&packed[at..at + VECTOR].as_chunks().0[0])));
            at += step;
        }
    }
    // Before a page that may be absent, the rest is copied at once. It is less than two vectors,
    // because otherwise one more iteration of whole loads would have been possible.
    let copy;
    let mut rest = &packed[at..];
    if near_page_end(rest) {
        copy = padded::<{ 3 * VECTOR }>(rest);
        rest = &copy;
    }
    let mut at = 0;
    for vector in last {
        put(vector, run(load_at(rest, at)));
        at += step;
    }
}

/// The registers that turn packed bytes into one vector of components.
struct Unpack<const SIZE: usize, const WIDE: bool> {
    /// For every byte, the index of its packed byte.
    gather: __m512i,
    /// Narrow: for every byte, the position in its 64-bit lane of the eight bits to take.
    /// Wide: for every component, the number of bits before its field in its first packed byte.
    shift: __m512i,
    /// Wide: the packed bytes, one byte later.
    next: __m512i,
    /// Wide: 8 - `shift`.
    next_shift: __m512i,
    /// Wide: how far to shift the field down, then up.
    down: __m512i,
    up: __m512i,
    mask: __m512i,
    sign: __m512i,
    msb: bool,
}

impl<const SIZE: usize, const WIDE: bool> Unpack<SIZE, WIDE> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(field: &Field, bit: usize) -> Self {
        let (bits, first_bit) = (field.bits as u16, field.first_bit as u16);
        let msb = field.order == BitOrder::MsbFirst;
        // Bytes of the unit that a gather fills: a 64-bit lane, or in the wide loop a component.
        let unit = if WIDE { SIZE } else { 8 };
        let unit_bits = (unit / SIZE) as u16 * bits;
        let mut gather = [0; VECTOR];
        let mut shift = [0; VECTOR];
        for i in 0..VECTOR {
            let start = bit as u16 + (i / unit) as u16 * unit_bits;
            // A lane is a number made of the packed bytes: little-endian, or big-endian if the
            // most significant bit comes first. Bit `t` from the lane's first byte on is bit `t`
            // of the number, or bit `63 - t`.
            let byte = (i % unit) as u16;
            gather[i] = (start / 8 + if msb { unit as u16 - 1 - byte } else { byte }) as u8;
            shift[i] = if WIDE {
                // The count of a component is read from its lowest byte.
                if byte == 0 { (start % 8) as u8 } else { 0 }
            } else {
                let nth = (i % 8 / SIZE) as u16;
                let low = if msb {
                    64_u16.wrapping_sub(start % 8 + (nth + 1) * bits)
                } else {
                    start % 8 + nth * bits
                };
                let part = 8 * (i % SIZE) as u16;
                (low.wrapping_add(part).wrapping_sub(first_bit) % 64) as u8
            };
        }
        let (gather, shift) = (load(&gather), load(&shift));
        let size_bits = 8 * SIZE as u64;
        Self {
            gather,
            shift,
            next: _mm512_add_epi8(gather, _mm512_set1_epi8(1)),
            next_shift: sub::<SIZE>(splat::<SIZE>(8), shift),
            down: splat::<SIZE>(if msb { size_bits - u64::from(field.bits) } else { 0 }),
            up: splat::<SIZE>(u64::from(field.first_bit)),
            mask: splat::<SIZE>(field.mask()),
            sign: splat::<SIZE>(field.sign()),
            msb,
        }
    }

    /// Turns 64 packed bytes into 64 bytes of components.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn run<const SIGNED: bool>(&self, packed: __m512i) -> __m512i {
        let this = _mm512_permutexvar_epi8(self.gather, packed);
        let x = if WIDE {
            // Where both hold bits of the field, they hold the same bits.
            let next = _mm512_permutexvar_epi8(self.next, packed);
            let x = if self.msb {
                let this = shift_left::<SIZE>(this, self.shift);
                _mm512_or_si512(this, shift_right::<SIZE>(next, self.next_shift))
            } else {
                let this = shift_right::<SIZE>(this, self.shift);
                _mm512_or_si512(this, shift_left::<SIZE>(next, self.next_shift))
            };
            shift_left::<SIZE>(shift_right::<SIZE>(x, self.down), self.up)
        } else {
            _mm512_multishift_epi64_epi8(self.shift, this)
        };
        // `(x & mask) ^ sign` has the sign bit set if it was clear. Subtracting the sign bit then
        // borrows through all bits above it exactly if it was set.
        if SIGNED {
            sub::<SIZE>(_mm512_ternarylogic_epi64::<0x6a>(x, self.mask, self.sign), self.sign)
        } else {
            _mm512_and_si512(x, self.mask)
        }
    }
}
