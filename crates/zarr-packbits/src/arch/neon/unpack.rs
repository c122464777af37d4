//! Packed bytes to components.

use core::arch::aarch64::*;

use super::{VECTOR, components, load, shift, shift_signed, store};
use crate::{BitOrder, field::Field};

/// Unpacks from the start of `packed`: as many fields as `dst` has vectors for and `packed` has
/// bytes for, with a vector to spare. Returns their number, a multiple of eight.
#[target_feature(enable = "neon")]
pub(in crate::arch) fn unpack(field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
    match (field.size, field.signed) {
        (1, false) => unpack_size::<1, 1, false>(field, packed, dst),
        (1, true) => unpack_size::<1, 1, true>(field, packed, dst),
        (2, false) => unpack_size::<2, 1, false>(field, packed, dst),
        (2, true) => unpack_size::<2, 1, true>(field, packed, dst),
        // The fields of a vector may end within a byte, eight do not.
        (4, false) => unpack_size::<4, 2, false>(field, packed, dst),
        (4, true) => unpack_size::<4, 2, true>(field, packed, dst),
        // Two fields of 63 bits may span 17 bytes, more than a vector has.
        _ if field.bits == 63 => 0,
        (_, false) => unpack_size::<8, 4, false>(field, packed, dst),
        (_, true) => unpack_size::<8, 4, true>(field, packed, dst),
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn unpack_size<const SIZE: usize, const N: usize, const SIGNED: bool>(
    field: &Field,
    packed: &[u8],
    dst: &mut [u8],
) -> usize {
    let bits = field.bits as usize;
    let fields = N * VECTOR / SIZE;
    if (0..fields).all(|nth| nth * bits % 8 + bits <= 8 * SIZE) {
        unpack_vectors::<SIZE, N, SIGNED, false>(field, packed, dst)
    } else {
        unpack_vectors::<SIZE, N, SIGNED, true>(field, packed, dst)
    }
}

/// Fills `N` vectors at a time.
#[inline]
#[target_feature(enable = "neon")]
fn unpack_vectors<const SIZE: usize, const N: usize, const SIGNED: bool, const WIDE: bool>(
    field: &Field,
    packed: &[u8],
    dst: &mut [u8],
) -> usize {
    let vector_bits = VECTOR / SIZE * field.bits as usize;
    let mut tables = [Tables::<SIZE, WIDE>::new(field, 0); N];
    let mut starts = [0; N];
    for n in 0..N {
        tables[n] = Tables::new(field, n * vector_bits % 8);
        starts[n] = n * vector_bits / 8;
    }
    let down = field.bits as i64 + field.first_bit as i64 - 8 * SIZE as i64;
    let down = components::<SIZE>(|_| down as u64);
    let keep = components::<SIZE>(|_| u64::MAX << field.first_bit);
    let step = N * vector_bits / 8;
    let window = step + VECTOR;
    let turns = packed.len().checked_sub(window).map_or(0, |last| last / step + 1);
    let vectors = dst.as_chunks_mut::<VECTOR>().0.as_chunks_mut::<N>().0;
    let turns = turns.min(vectors.len());
    // Each iteration sees a slice of the same length, so one check before the loop shows that all
    // loads are within it.
    let mut packed = packed;
    for out in &mut vectors[..turns] {
        let bytes = &packed[..window];
        packed = &packed[step..];
        for n in 0..N {
            let bytes = load(&bytes[starts[n]..starts[n] + VECTOR].as_chunks().0[0]);
            let top = tables[n].raise(bytes);
            let x = if SIGNED { shift_signed::<SIZE>(top, down) } else { shift::<SIZE>(top, down) };
            store(&mut out[n], vandq_u8(x, keep));
        }
    }
    turns * N * VECTOR / SIZE
}

/// Tables that bring the fields of a vector to the top of components of `SIZE` bytes.
#[derive(Clone, Copy)]
struct Tables<const SIZE: usize, const WIDE: bool> {
    /// For every byte, the index of its packed byte.
    gather: uint8x16_t,
    /// How far to shift every component up.
    up: uint8x16_t,
    /// Wide: the byte that does not fit, brought to the top of the component, and how far to
    /// shift it up, or down if negative.
    rest: uint8x16_t,
    rest_up: uint8x16_t,
}

impl<const SIZE: usize, const WIDE: bool> Tables<SIZE, WIDE> {
    /// For fields from bit `start` on.
    #[inline]
    #[target_feature(enable = "neon")]
    fn new(field: &Field, start: usize) -> Self {
        let bits = field.bits as usize;
        let msb = field.order == BitOrder::MsbFirst;
        // The byte in which a field starts, and the bits before it.
        let place = |i: usize| ((start + i * bits) / 8, (start + i * bits) % 8);
        // A shuffle gives zero for an index outside of the vector.
        let index = |byte: usize| byte as u64;
        let gather = components::<1>(|at| {
            let (byte, part) = (place(at / SIZE).0, at % SIZE);
            index(match (msb, WIDE) {
                (true, _) => byte + SIZE - 1 - part,
                (false, false) => byte + part,
                (false, true) => byte + 1 + part,
            })
        });
        let rest = components::<1>(|at| match place(at / SIZE).0 {
            _ if at % SIZE < SIZE - 1 => u64::MAX,
            byte if msb => index(byte + SIZE),
            byte => index(byte),
        });
        let (size_bits, bits) = (8 * SIZE as i64, bits as i64);
        let up = |i: usize| match (place(i).1 as i64, msb, WIDE) {
            (before, true, _) => before,
            (before, false, false) => size_bits - bits - before,
            (before, false, true) => size_bits + 8 - bits - before,
        };
        let rest_up = |i: usize| match (place(i).1 as i64, msb) {
            (before, true) => before - size_bits,
            (before, false) => 8 - bits - before,
        };
        Self {
            gather,
            up: components::<SIZE>(|i| up(i) as u64),
            rest,
            rest_up: components::<SIZE>(|i| rest_up(i) as u64),
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn raise(&self, bytes: uint8x16_t) -> uint8x16_t {
        let x = shift::<SIZE>(vqtbl1q_u8(bytes, self.gather), self.up);
        if !WIDE {
            return x;
        }
        vorrq_u8(x, shift::<SIZE>(vqtbl1q_u8(bytes, self.rest), self.rest_up))
    }
}
