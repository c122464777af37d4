//! Vectors of 16 bytes without shifts by separate counts: SSSE3, and `simd128` of WebAssembly.
//!
//! Both can move any byte of a vector to any place, and shift all components by a common count. To
//! shift them by separate counts, 16-bit lanes are multiplied by powers of two: the lower half of
//! a product is the lane shifted up, the upper half is the lane shifted down. As with AVX2, the
//! width is in tables in registers.
//!
//! **Any bits to any byte.** A shuffle brings the two bytes that contain the eight bits to a lane,
//! a multiplication moves the bits to the byte. Even bytes are shifted down, odd ones up:
//!
//! ```text
//! bits 5 to 12 to the even byte of a lane (e), 13 to 20 to the odd one (o)
//! shuffle     byte 1    byte 0          byte 2    byte 1
//!             ...eeeee  eee.....        ...ooooo  ooo.....
//! multiply    by 2^11, upper half       by 2^3, lower half
//!             ........  eeeeeeee        oooooooo  ........
//! ```
//!
//! **Unpacking** does that for every byte of the components. Bytes are masked separately, because
//! the two bytes of a lane are different fields. Larger components are masked as a whole, because a
//! lane continues with the bits that belong there. If fields of 16-bit components span no third
//! byte, one shuffle and one multiplication bring them to the top, and a shift by a common count to
//! their place. Components of 1, 2 and 4 bits are read from tables.
//!
//! **Packing.** Neighbours are joined to *units* of 32 bits by multiply-adds. If units are a
//! multiple of four bits, every second one is shifted by four if necessary, and a shuffle closes
//! the gaps. Otherwise words of 32 bits (units or halves of components) are multiplied to 64 bits
//! by powers of two. This moves their bits to their packed place in a byte; shuffles bring the
//! products together. The portable kernel does the rest: 1 and 3 bits of 16, 1 to 3, 5 and 6 of 32
//! and 64, and 63 with the most significant bit first. It is also faster than `simd128` for
//! components of 4 and 8 bytes and for units that are no multiple of four bits.

mod pack;
#[cfg(target_arch = "wasm32")]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod ssse3;
mod unpack;
#[cfg(target_arch = "x86_64")]
mod words;

#[cfg(target_arch = "wasm32")]
pub(crate) use simd128::Simd128;
#[cfg(target_arch = "x86_64")]
pub(crate) use ssse3::Ssse3;

use crate::{
    field::Field,
    used_bits::{NOTHING, PLAIN, UsedBits, Watch},
};

/// Bytes of a vector.
const VECTOR: usize = 16;

/// The index for which a shuffle gives zero.
const NONE: u8 = 0x80;

/// The instructions. A value proves that the processor has them, so all methods are safe.
///
/// All methods, and the functions that call them, are inlined: only in a function that is compiled
/// for these instructions they are single instructions.
trait Vectors: Copy {
    type Vector: Copy;

    fn load(self, bytes: &[u8; VECTOR]) -> Self::Vector;
    fn store(self, bytes: &mut [u8; VECTOR], x: Self::Vector);

    /// The bytes of `x` that `table` names; zero for [`NONE`].
    fn shuffle(self, x: Self::Vector, table: Self::Vector) -> Self::Vector;
    /// Interleaves bytes: first of the lower halves, then of the upper halves.
    fn interleave(self, x: Self::Vector, y: Self::Vector) -> [Self::Vector; 2];

    fn and(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    fn or(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    fn xor(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    /// Sums and differences of components of `SIZE` bytes, without carry.
    fn add<const SIZE: usize>(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    fn sub<const SIZE: usize>(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    /// All bits of every byte in which the two are equal.
    fn equal(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    /// Shifts components of `SIZE` bytes (2, 4 or 8) by less than their bits.
    fn up<const SIZE: usize>(self, x: Self::Vector, by: u32) -> Self::Vector;
    fn down<const SIZE: usize>(self, x: Self::Vector, by: u32) -> Self::Vector;
    /// As [`down`](Self::down), with sign extension; for 2 and 4 bytes.
    fn down_signed<const SIZE: usize>(self, x: Self::Vector, by: u32) -> Self::Vector;

    /// The factor by which [`down_each`](Self::down_each) shifts down by 1 to 8.
    fn factor(by: u32) -> u16;
    /// Shifts 16-bit lanes down by separate counts. Only the lower byte is complete: the upper one
    /// has some of its bits, or none.
    fn down_each(self, x: Self::Vector, factors: Self::Vector) -> Self::Vector;
    /// The lower halves of products of 16-bit lanes.
    fn multiply(self, x: Self::Vector, factors: Self::Vector) -> Self::Vector;
    /// Multiplies the bytes of `x`, below 128, and adds each two products. The first factor of two
    /// is one, the second at most 128.
    fn join_bytes(self, x: Self::Vector, factors: Self::Vector) -> Self::Vector;
    /// Multiplies 16-bit numbers below 2^15, and adds each two products.
    fn join_pairs(self, x: Self::Vector, factors: Self::Vector) -> Self::Vector;

    /// The highest bit of every byte.
    fn top_bits(self, x: Self::Vector) -> u16;
}

/// A vector of components of `SIZE` bytes, computed from their index.
#[inline(always)]
fn components<S: Vectors, const SIZE: usize>(
    vectors: S,
    component: impl Fn(usize) -> u64,
) -> S::Vector {
    let mut bytes = [0; VECTOR];
    for (i, out) in bytes.chunks_exact_mut(SIZE).enumerate() {
        out.copy_from_slice(&component(i).to_le_bytes()[..SIZE]);
    }
    vectors.load(&bytes)
}

/// [`UsedBits`] of components of `SIZE` bytes.
struct Gathered<V, const SIZE: usize, const WATCH: Watch> {
    sign: V,
    all: V,
}

impl<V: Copy, const SIZE: usize, const WATCH: Watch> Gathered<V, SIZE, WATCH> {
    #[inline(always)]
    fn new<S: Vectors<Vector = V>>(vectors: S, field: &Field) -> Self {
        Self {
            sign: components::<S, SIZE>(vectors, |_| field.sign()),
            all: vectors.load(&[0; VECTOR]),
        }
    }

    /// Looks at the components in a vector, and returns it.
    #[inline(always)]
    fn vector<S: Vectors<Vector = V>>(&mut self, vectors: S, x: V) -> V {
        let seen = match WATCH {
            NOTHING => return x,
            PLAIN => x,
            _ => vectors.add::<SIZE>(x, self.sign),
        };
        self.all = vectors.or(self.all, seen);
        x
    }

    #[inline(always)]
    fn add_to<S: Vectors<Vector = V>>(&self, vectors: S, seen: &mut UsedBits<WATCH>) {
        if WATCH > NOTHING {
            let mut bytes = [0; VECTOR];
            vectors.store(&mut bytes, self.all);
            for word in bytes.as_chunks().0 {
                seen.0 |= u64::from_le_bytes(*word);
            }
        }
    }
}
