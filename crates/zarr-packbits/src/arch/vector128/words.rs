//! Components to packed bytes, with products of 64 bits, for components that [`pack_small`] does
//! not pack.

use super::pack::{Fields, Join, each, pack_small, pack_units, unit_bits};
use super::{Gathered, NONE, VECTOR, Vectors, components};
use crate::{
    BitOrder,
    field::Field,
    used_bits::{UsedBits, Watch},
};

/// Vectors with products of 64 bits.
pub(super) trait Products: Vectors {
    /// The products of the lower halves of words of 64 bits.
    fn multiply_words(self, x: Self::Vector, factors: Self::Vector) -> Self::Vector;
}

/// Packs to the start of `dst`: as many fields as `src` has vectors of and `dst` has bytes for,
/// with a vector to spare. Returns their number, a multiple of eight.
#[inline(always)]
pub(super) fn pack<S: Products, const WATCH: Watch>(
    vectors: S,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    match (field.size, unit_bits(field) % 8) {
        (1, _) | (2, 0 | 4) => pack_small(vectors, field, src, dst, seen),
        (4, 0) => pack_units::<S, 4, false, WATCH>(vectors, field, src, dst, seen),
        (4, 4) => pack_units::<S, 4, true, WATCH>(vectors, field, src, dst, seen),
        (8, 0) => pack_units::<S, 8, false, WATCH>(vectors, field, src, dst, seen),
        (8, 4) => pack_units::<S, 8, true, WATCH>(vectors, field, src, dst, seen),
        // Packed bytes of three units.
        _ if unit_bits(field) < 7 => 0,
        (2, _) => pack_words::<S, 2, 1, false, WATCH>(vectors, field, src, dst, seen),
        // The fields of a vector may end within a byte, eight do not.
        (4, 2 | 6) => pack_words::<S, 4, 1, false, WATCH>(vectors, field, src, dst, seen),
        (4, _) => pack_words::<S, 4, 2, false, WATCH>(vectors, field, src, dst, seen),
        // Two fields of 63 bits may span 17 bytes.
        _ if field.order == BitOrder::LsbFirst && field.bits > 39 => {
            pack_words::<S, 8, 4, true, WATCH>(vectors, field, src, dst, seen)
        }
        _ if field.bits == 63 => 0,
        _ => pack_words::<S, 8, 4, false, WATCH>(vectors, field, src, dst, seen),
    }
}

#[inline(always)]
fn pack_words<
    S: Products,
    const SIZE: usize,
    const N: usize,
    const LONG: bool,
    const WATCH: Watch,
>(
    vectors: S,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let gathered = Gathered::<S::Vector, SIZE, WATCH>::new(vectors, field);
    each(vectors, &Words::<_, SIZE, N, LONG>::new(vectors, field), gathered, src, dst, seen)
}

/// Multiplies words of 32 bits, which hold units or the halves of components, to 64 bits, so that
/// their bits are at the place in a byte where they are packed.
///
/// If vectors are `LONG`, they may have bits of 17 packed bytes. The last ones are all in the last
/// word, from where they go to the vector after.
struct Words<V, const SIZE: usize, const N: usize, const LONG: bool> {
    fields: Fields<V, SIZE>,
    /// With 2 bytes: factors that move the first of a pair up to the second.
    pairs: V,
    /// Factors of the first and third word, and of the others.
    factors: [[V; 2]; N],
    /// For every packed byte, its place in the products of the first and third word, of the
    /// others, and, with 8 bytes, of the third word, which may have bits of the same byte as the
    /// first.
    compact: [[V; 3]; N],
    /// The byte that the vector before shares with the first one, in its packed bytes, or, if
    /// `LONG`, in the products of its last word.
    carry: [V; N],
    starts: [usize; N],
    step: usize,
}

impl<V: Copy, const SIZE: usize, const N: usize, const LONG: bool> Words<V, SIZE, N, LONG> {
    #[inline(always)]
    fn new<S: Vectors<Vector = V>>(vectors: S, field: &Field) -> Self {
        let bits = field.bits as usize;
        let fields = Fields::new(vectors, field);
        let msb = fields.msb;
        let vector_bits = VECTOR / SIZE * bits;
        let nothing = vectors.load(&[0; VECTOR]);
        let (mut factors, mut compact) = ([[nothing; 2]; N], [[nothing; 3]; N]);
        let (mut carry, mut starts) = ([nothing; N], [0; N]);
        let mut shared = 0;
        for n in 0..N {
            let start = n * vector_bits % 8;
            carry[n] = components::<S, 1>(vectors, |i| match i {
                0 if start > 0 => shared as u64,
                _ => NONE.into(),
            });
            let last = (start + vector_bits) / 8;
            shared = last;
            let len = (start + vector_bits).div_ceil(8);
            // The bit at which the first component starts in a little-endian number.
            let first = if msb { 8 * len - start - vector_bits } else { start };
            let (mut by, mut table) = ([0; 4], [[NONE; VECTOR]; 3]);
            for (word, by) in by.iter_mut().enumerate() {
                // The bits of the word, from where on, and where they go.
                let (count, from, to) = match SIZE {
                    2 => (2 * bits, 16 - bits, 2 * word * bits),
                    4 => (bits, 0, word * bits),
                    _ if word % 2 == 0 => (bits.min(32), 0, word / 2 * bits),
                    _ => (bits.saturating_sub(32), 0, word / 2 * bits + 32),
                };
                if count == 0 {
                    continue;
                }
                let to = first + to;
                *by = (to + 8 - from % 8) % 8;
                let product = 8 * (word / 2) + (from + *by) / 8;
                let which = if SIZE == 8 && word == 2 { 2 } else { word % 2 };
                for (part, byte) in (to / 8..(to + count).div_ceil(8)).enumerate() {
                    if LONG && word == 3 && byte == last {
                        shared = product + part;
                    }
                    let byte = if msb { len - 1 - byte } else { byte };
                    if byte < VECTOR {
                        table[which][byte] = (product + part) as u8;
                    }
                }
            }
            for odd in 0..2 {
                factors[n][odd] = components::<S, 8>(vectors, |i| 1 << by[2 * i + odd]);
            }
            compact[n] = table.map(|table| vectors.load(&table));
            starts[n] = n * vector_bits / 8;
        }
        Self {
            fields,
            pairs: components::<S, 4>(vectors, |_| {
                1 << 16 | 1_u64 << (16_usize.saturating_sub(bits))
            }),
            factors,
            compact,
            carry,
            starts,
            step: N * vector_bits / 8,
        }
    }
}

impl<S: Products, const SIZE: usize, const N: usize, const LONG: bool> Join<S, N>
    for Words<S::Vector, SIZE, N, LONG>
{
    #[inline(always)]
    fn starts(&self) -> [usize; N] {
        self.starts
    }

    #[inline(always)]
    fn step(&self) -> usize {
        self.step
    }

    #[inline(always)]
    fn join(&self, vectors: S, components: [S::Vector; N]) -> [S::Vector; N] {
        let (mut packed, mut last) = (components, components);
        for n in 0..N {
            let mut x = self.fields.of(vectors, components[n]);
            if SIZE == 2 {
                x = vectors.multiply(x, self.pairs);
            }
            let even = vectors.multiply_words(x, self.factors[n][0]);
            let odd = vectors.multiply_words(vectors.down::<8>(x, 32), self.factors[n][1]);
            packed[n] = vectors.or(
                vectors.shuffle(even, self.compact[n][0]),
                vectors.shuffle(odd, self.compact[n][1]),
            );
            if SIZE == 8 {
                let third = vectors.shuffle(even, self.compact[n][2]);
                packed[n] = vectors.or(packed[n], third);
            }
            last[n] = if LONG { odd } else { packed[n] };
        }
        for n in 1..N {
            let shared = vectors.shuffle(last[n - 1], self.carry[n]);
            packed[n] = vectors.or(packed[n], shared);
        }
        packed
    }
}
