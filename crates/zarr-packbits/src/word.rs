//! The portable kernel: words of 64 bits, in safe code.
//!
//! Eight fields of `b` bits are `b` bytes, a *group*, whatever `b` is; in memory they are `size`
//! words of `8 / size` components. The fields of a word are contiguous bits. They are spread out to
//! components by doubling. First the upper half of the fields moves to the upper half of the word,
//! then the upper half of each half, until every field is in its component.
//!
//! ```text
//! 8 fields of 3 bits, a to h, to bytes; most significant bit on the left
//!                                                hhhgggfffeeedddcccbbbaaa
//! ....................hhhgggfffeee ....................dddcccbbbaaa   up by 32 - 12
//! ..........hhhggg ..........fffeee ..........dddccc ..........bbbaaa  up by 16 - 6
//! .....hhh .....ggg .....fff .....eee .....ddd .....ccc .....bbb .....aaa  up by 8 - 3
//! ```
//!
//! Packing does the same in reverse. Most significant bit first does the same on big-endian
//! numbers; their fields are in the opposite order.

use crate::{BitOrder, field::Field};

/// One doubling: the bits of a word that stay, the bits that move, and the distance.
#[derive(Clone, Copy, Default)]
struct Shift {
    stay: u64,
    go: u64,
    by: u32,
}

/// The constants that all words of a field's groups share.
struct Words {
    /// The doublings for unpacking, in order; packing applies them in reverse.
    shifts: [Shift; 3],
    /// Bits that one word's fields take when packed.
    packed_bits: u32,
    first_bit: u32,
    /// The field's bits in every component.
    mask: u64,
    /// The bit to extend in every component, and the highest bit; 0 if no bit is extended.
    sign: u64,
    highest: u64,
}

/// A bit pattern in every component of `size` bytes.
fn repeat(pattern: u64, size: u32) -> u64 {
    // One at the lowest bit of every component.
    pattern * (u64::MAX / (u64::MAX >> (64 - 8 * size)))
}

impl Words {
    #[inline(always)]
    fn new(field: &Field) -> Self {
        let size = field.size as u32;
        let mut shifts = [Shift::default(); 3];
        let mut fields = 8 / size;
        let mut bytes = 8;
        let mut count = 0;
        while fields > 1 {
            (fields, bytes) = (fields / 2, bytes / 2);
            let half = u64::MAX >> (64 - fields * field.bits);
            let stay = repeat(half, 2 * bytes);
            shifts[count] =
                Shift { stay, go: stay << (8 * bytes), by: 8 * bytes - fields * field.bits };
            count += 1;
        }
        let highest = 8 * size - 1;
        let extends = field.signed && field.last_bit() < highest;
        Self {
            shifts,
            packed_bits: 8 / size * field.bits,
            first_bit: field.first_bit,
            mask: repeat(field.mask(), size),
            sign: if extends { repeat(field.sign(), size) } else { 0 },
            highest: if extends { repeat(1 << highest, size) } else { 0 },
        }
    }

    /// Spreads the fields in the lowest bits of `x` out to components.
    #[inline(always)]
    fn unpack<const SIZE: usize, const SIGNED: bool>(&self, x: u64) -> u64 {
        let mut x = x;
        for Shift { stay, go, by } in &self.shifts[..doublings(SIZE)] {
            x = x & stay | x << by & go;
        }
        x <<= self.first_bit;
        if SIZE == 8 {
            // No move has dropped the bits of the next field.
            x &= self.mask;
        }
        if !SIGNED {
            return x;
        }
        // `(x ^ sign) - sign` extends one component. Its highest bit is set meanwhile, so that a
        // borrow takes this bit, not a bit of the next component. The final xor corrects it.
        (x ^ (self.sign | self.highest)).wrapping_sub(self.sign) ^ self.highest
    }

    /// Gathers the fields of components into the lowest bits.
    #[inline(always)]
    fn pack<const SIZE: usize>(&self, x: u64) -> u64 {
        // The shifts drop the bits outside the field; with one component per word there are no
        // shifts.
        let mut x = if SIZE == 8 { x & self.mask } else { x } >> self.first_bit;
        for Shift { stay, go, by } in self.shifts[..doublings(SIZE)].iter().rev() {
            x = x & stay | (x & go) >> by;
        }
        x
    }
}

/// Doublings from one field per word to one field per component.
const fn doublings(size: usize) -> usize {
    3 - size.ilog2() as usize
}

/// Reverses the order of the components in a word.
#[inline(always)]
fn reverse<const SIZE: usize>(x: u64) -> u64 {
    match SIZE {
        1 => x.swap_bytes(),
        2 => {
            x.rotate_left(32) << 16 & 0xffff_0000_ffff_0000
                | x.rotate_left(32) >> 16 & 0x0000_ffff_0000_ffff
        }
        4 => x.rotate_left(32),
        _ => x,
    }
}

/// Where the fields of each word start in a group.
struct Starts<const SIZE: usize> {
    starts: [usize; SIZE],
    /// Whether a word's fields may span nine bytes.
    ninth: bool,
}

impl<const SIZE: usize> Starts<SIZE> {
    #[inline(always)]
    fn new(packed_bits: u32) -> Self {
        let starts = core::array::from_fn(|word| word * packed_bits as usize);
        let ninth = starts.iter().any(|start| start % 8 + packed_bits as usize > 64);
        Self { starts, ninth }
    }
}

/// Bytes past a group that [`unpack`] may read, and that [`pack`] may write and later overwrite.
const OVERRUN: usize = 9;

/// Evaluates an expression in which the constants `SIZE`, `MSB` and `BITS` are a field's size,
/// bit order and width. `BITS` is the width if it is one of those listed and the order is the
/// codec's, otherwise 0.
///
/// Constant widths fold the tables of [`Words`] into the instructions, which makes the code up to
/// twice as fast. For components of eight bytes and the rarer order this is not worth the code
/// size. A width that fills the component is a copy, which `run` makes, unless it starts within a
/// byte.
macro_rules! with_constants {
    ($field:ident, $size:ident, $msb:ident, $bits:ident, $call:expr) => {
        match $field.size {
            1 => with_constants!(@width 1 [1 2 3 4 5 6 7], $field, $size, $msb, $bits, $call),
            2 => with_constants!(
                @width 2 [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15],
                $field, $size, $msb, $bits, $call
            ),
            4 => with_constants!(
                @width 4 [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
                    17 18 19 20 21 22 23 24 25 26 27 28 29 30 31],
                $field, $size, $msb, $bits, $call
            ),
            _ => with_constants!(@width 8 [], $field, $size, $msb, $bits, $call),
        }
    };
    (
        @width $bytes:literal [$($width:literal)*],
        $field:ident, $size:ident, $msb:ident, $bits:ident, $call:expr
    ) => {{
        const $size: usize = $bytes;
        match ($field.order, $field.bits) {
            $((BitOrder::LsbFirst, $width) => {
                const $msb: bool = false;
                const $bits: u32 = $width;
                $call
            })*
            (BitOrder::LsbFirst, _) => {
                const $msb: bool = false;
                const $bits: u32 = 0;
                $call
            }
            (BitOrder::MsbFirst, _) => {
                const $msb: bool = true;
                const $bits: u32 = 0;
                $call
            }
        }
    }};
}

/// Unpacks groups of eight fields from the start of `packed`: as many as `dst` has room for and
/// `packed` has bytes for, with some to spare. Returns the number of fields.
pub(crate) fn unpack(field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
    if field.signed {
        unpack_signed::<true>(field, packed, dst)
    } else {
        unpack_signed::<false>(field, packed, dst)
    }
}

fn unpack_signed<const SIGNED: bool>(field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
    with_constants!(
        field,
        SIZE,
        MSB,
        BITS,
        unpack_groups::<SIZE, MSB, BITS, SIGNED>(field, packed, dst)
    )
}

fn unpack_groups<const SIZE: usize, const MSB: bool, const BITS: u32, const SIGNED: bool>(
    field: &Field,
    packed: &[u8],
    dst: &mut [u8],
) -> usize {
    let bits = if BITS > 0 { BITS } else { field.bits };
    let words = Words::new(&Field { bits, size: SIZE, ..*field });
    let group = bits as usize;
    let Starts { starts, ninth } = Starts::<SIZE>::new(words.packed_bits);
    let window = group + OVERRUN;
    let groups = packed.len().checked_sub(window).map_or(0, |last| last / group + 1);
    let groups = groups.min(dst.len() / 8 / SIZE);
    let dst = dst.as_chunks_mut::<8>().0;
    let mut at = 0;
    for out in dst[..groups * SIZE].as_chunks_mut::<SIZE>().0 {
        let window = &packed[at..at + window];
        for (out, start) in out.iter_mut().zip(starts) {
            let (byte, bit) = (start / 8, start as u32 % 8);
            let [first @ .., last] = window[byte..byte + OVERRUN].as_chunks::<OVERRUN>().0[0];
            let last = if ninth { u64::from(last) } else { 0 };
            *out = if MSB {
                // The next byte fills the low bits that the shift has freed.
                let x = u64::from_be_bytes(first) << bit | last >> (8 - bit);
                reverse::<SIZE>(words.unpack::<SIZE, SIGNED>(x >> (64 - words.packed_bits)))
            } else {
                let x = u64::from_le_bytes(first) >> bit | last << 1 << (63 - bit);
                words.unpack::<SIZE, SIGNED>(x)
            }
            .to_le_bytes();
        }
        at += group;
    }
    8 * groups
}

/// Packs groups of eight fields to the start of `dst`: as many as `src` has and `dst` has bytes
/// for, with some to spare. Returns the number of fields.
pub(crate) fn pack(field: &Field, src: &[u8], dst: &mut [u8]) -> usize {
    with_constants!(field, SIZE, MSB, BITS, pack_groups::<SIZE, MSB, BITS>(field, src, dst))
}

fn pack_groups<const SIZE: usize, const MSB: bool, const BITS: u32>(
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
) -> usize {
    let bits = if BITS > 0 { BITS } else { field.bits };
    let words = Words::new(&Field { bits, size: SIZE, ..*field });
    let group = bits as usize;
    let Starts { starts, ninth } = Starts::<SIZE>::new(words.packed_bits);
    let window = group + OVERRUN;
    let groups = dst.len().checked_sub(window).map_or(0, |last| last / group + 1);
    let groups = groups.min(src.len() / 8 / SIZE);
    let src = src.as_chunks::<8>().0;
    let mut at = 0;
    for components in src[..groups * SIZE].as_chunks::<SIZE>().0 {
        let window = &mut dst[at..at + window];
        // The bits of the last word that share a byte with this one, at their place in that byte.
        let mut begun = 0;
        for (x, start) in components.iter().zip(starts) {
            let (byte, bit) = (start / 8, start as u32 % 8);
            // The whole bytes before the one in which the next word starts.
            let filled = (bit + words.packed_bits) / 8;
            let x = u64::from_le_bytes(*x);
            let [first @ .., last] =
                &mut window[byte..byte + OVERRUN].as_chunks_mut::<OVERRUN>().0[0];
            let x = words.pack::<SIZE>(if MSB { reverse::<SIZE>(x) } else { x });
            let (y, ninth_byte);
            if MSB {
                let x = x << (64 - words.packed_bits);
                y = x >> bit | begun;
                ninth_byte = (x << (8 - bit)) as u8;
                *first = y.to_be_bytes();
            } else {
                y = x << bit | begun;
                ninth_byte = (x >> 1 >> (63 - bit)) as u8;
                *first = y.to_le_bytes();
            }
            if ninth {
                *last = ninth_byte;
            }
            begun = match (filled, MSB) {
                (8, false) => u64::from(ninth_byte),
                (8, true) => u64::from(ninth_byte) << 56,
                (_, false) => y >> (8 * filled),
                (_, true) => y << (8 * filled),
            };
        }
        at += group;
    }
    8 * groups
}

/// The value of the field at bit `bit` of `packed`, at its place in a component and extended.
pub(crate) fn get(field: &Field, packed: &[u8], bit: usize) -> u64 {
    let rest = &packed[bit / 8..];
    let mut bytes = [0; 16];
    match rest.first_chunk() {
        Some(chunk) => bytes = *chunk,
        None => bytes[..rest.len()].copy_from_slice(rest),
    }
    let x = match field.order {
        BitOrder::LsbFirst => (u128::from_le_bytes(bytes) >> (bit % 8)) as u64,
        BitOrder::MsbFirst => {
            let x = u128::from_be_bytes(bytes) << (bit % 8);
            (x >> (128 - field.bits)) as u64
        }
    };
    field.component(x)
}

/// Writes the field of `component` at bit `bit` of `packed`, and changes no other bit.
pub(crate) fn put(field: &Field, component: u64, packed: &mut [u8], bit: usize) {
    let x = u128::from((component & field.mask()) >> field.first_bit);
    let mask = u128::from(field.mask() >> field.first_bit);
    let end = (bit % 8 + field.bits as usize).div_ceil(8);
    let (x, mask) = match field.order {
        BitOrder::LsbFirst => ((x << (bit % 8)).to_le_bytes(), (mask << (bit % 8)).to_le_bytes()),
        BitOrder::MsbFirst => {
            let up = 128 - field.bits as usize - bit % 8;
            ((x << up).to_be_bytes(), (mask << up).to_be_bytes())
        }
    };
    for (byte, (x, mask)) in packed[bit / 8..][..end].iter_mut().zip(x.into_iter().zip(mask)) {
        *byte = *byte & !mask | x;
    }
}
