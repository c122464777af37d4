//! AVX-512 with VBMI: any width in four or five instructions for 64 unpacked bytes.
//!
//! One vector is the unit: 64 bytes of unpacked components, `8 * b / size` bytes of packed ones,
//! which is whole for every width. What depends on the width is in tables in registers, so that one
//! loop serves all widths, first bits and bit orders. See `docs/packbits.md` for drawings.
//!
//! **Unpacking.** `vpermb` brings to every 64-bit lane the packed bytes in which the lane's fields
//! are; `vpmultishiftqb` takes for every byte of the lane eight bits from any position of those;
//! a mask drops the neighbours' bits. The start within a byte and the first bit only shift the
//! positions. Where a lane's fields span nine bytes (59 bits and more of 64, 31 of 32, some starts)
//! the *wide* loop combines two overlapping gathers by variable shifts instead.
//!
//! **Packing.** A packed byte has bits of at most two fields (for the widths 2, 3 and 5, a
//! multiply-add first joins pairs). `vpmultishiftqb` takes eight bits at the right position of the
//! first of the two fields, and once more of the second; a bitwise select keeps of each what
//! belongs in the byte; `vpermb` closes the gaps between lanes.
//!
//! Ends need no other code: masked loads and stores touch nothing outside the slices.

use core::arch::x86_64::*;

use super::stream;
use crate::{BitOrder, field::Field};

/// Bytes of a vector.
const VECTOR: usize = 64;

#[target_feature(enable = "avx512f,avx512bw")]
fn load(bytes: &[u8; VECTOR]) -> __m512i {
    // SAFETY: an array reference is valid for reads of its 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn store(bytes: &mut [u8; VECTOR], vector: __m512i) {
    // SAFETY: an exclusive array reference is valid for writes of its 64 bytes; the store needs no
    // alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
}

/// A mask of the lowest `len` of 64 bytes.
fn prefix(len: usize) -> u64 {
    if len >= VECTOR { u64::MAX } else { (1 << len) - 1 }
}

/// Loads the first bytes of a slice, at most a vector; zero where the slice has ended.
#[target_feature(enable = "avx512f,avx512bw")]
fn load_prefix(bytes: &[u8]) -> __m512i {
    // SAFETY: a masked load reads no byte whose mask bit is 0, and the mask has ones for the first
    // `bytes.len()` bytes at most, which the slice is valid for.
    unsafe { _mm512_maskz_loadu_epi8(prefix(bytes.len()), bytes.as_ptr().cast()) }
}

/// Stores the first bytes of a vector, as many as the slice has.
#[target_feature(enable = "avx512f,avx512bw")]
fn store_prefix(bytes: &mut [u8], vector: __m512i) {
    // SAFETY: a masked store writes no byte whose mask bit is 0, and the mask has ones for the
    // first `bytes.len()` bytes at most, which the slice is valid for.
    unsafe {
        _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), prefix(bytes.len()), vector);
    }
}

/// Loads a vector from byte `at` on, or what is left.
#[target_feature(enable = "avx512f,avx512bw")]
fn load_at(bytes: &[u8], at: usize) -> __m512i {
    let rest = &bytes[at..];
    match rest.first_chunk() {
        Some(chunk) => load(chunk),
        None => load_prefix(rest),
    }
}

/// Stores a vector from byte `at` on, or as much of it as there is room for.
#[target_feature(enable = "avx512f,avx512bw")]
fn store_at(bytes: &mut [u8], at: usize, vector: __m512i) {
    let rest = &mut bytes[at..];
    match rest.first_chunk_mut() {
        Some(chunk) => store(chunk, vector),
        None => store_prefix(rest, vector),
    }
}

/// The same value in every component of a vector.
#[target_feature(enable = "avx512f,avx512bw")]
fn splat<const SIZE: usize>(value: u64) -> __m512i {
    match SIZE {
        1 => _mm512_set1_epi8(value as i8),
        2 => _mm512_set1_epi16(value as i16),
        4 => _mm512_set1_epi32(value as i32),
        _ => _mm512_set1_epi64(value as i64),
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn sub<const SIZE: usize>(a: __m512i, b: __m512i) -> __m512i {
    match SIZE {
        1 => _mm512_sub_epi8(a, b),
        2 => _mm512_sub_epi16(a, b),
        4 => _mm512_sub_epi32(a, b),
        _ => _mm512_sub_epi64(a, b),
    }
}

/// Shifts every component left by its own count; for components of 2, 4 and 8 bytes.
#[target_feature(enable = "avx512f,avx512bw")]
fn shift_left<const SIZE: usize>(a: __m512i, count: __m512i) -> __m512i {
    match SIZE {
        2 => _mm512_sllv_epi16(a, count),
        4 => _mm512_sllv_epi32(a, count),
        _ => _mm512_sllv_epi64(a, count),
    }
}

/// Shifts every component right by its own count; for components of 2, 4 and 8 bytes.
#[target_feature(enable = "avx512f,avx512bw")]
fn shift_right<const SIZE: usize>(a: __m512i, count: __m512i) -> __m512i {
    match SIZE {
        2 => _mm512_srlv_epi16(a, count),
        4 => _mm512_srlv_epi32(a, count),
        _ => _mm512_srlv_epi64(a, count),
    }
}

/// Whether a vector of fields from bit `bit` of a byte on lies in 64 packed bytes: all do but those
/// of full width that do not start with the byte.
pub(super) fn can_unpack(field: &Field, bit: usize) -> bool {
    bit + VECTOR / field.size * field.bits as usize <= 8 * VECTOR
}

/// Whether every 64-bit lane of a vector has its fields in eight packed bytes.
fn is_narrow(field: &Field, bit: usize) -> bool {
    let lane_bits = 8 / field.size * field.bits as usize;
    (0..8).all(|lane| (bit + lane * lane_bits) % 8 + lane_bits <= 64)
}

/// Unpacks all of `dst` from bit `bit` of `packed` on, where [`can_unpack`] says so.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn unpack(field: &Field, packed: &[u8], bit: usize, dst: &mut [u8], streaming: bool) {
    match field.size {
        1 => unpack_size::<1>(field, packed, bit, dst, streaming),
        2 => unpack_size::<2>(field, packed, bit, dst, streaming),
        4 => unpack_size::<4>(field, packed, bit, dst, streaming),
        _ => unpack_size::<8>(field, packed, bit, dst, streaming),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_size<const SIZE: usize>(
    field: &Field,
    packed: &[u8],
    bit: usize,
    dst: &mut [u8],
    streaming: bool,
) {
    if !streaming {
        return unpack_part::<SIZE>(field, packed, bit, Out::Bytes(dst));
    }
    let (head, lines, tail) = stream::lines(dst);
    let mut position = bit;
    for (len, out) in [
        (head.len(), Out::Bytes(head)),
        (VECTOR * lines.len(), Out::Lines(lines)),
        (tail.len(), Out::Bytes(tail)),
    ] {
        unpack_part::<SIZE>(field, &packed[position / 8..], position % 8, out);
        position += len / SIZE * field.bits as usize;
    }
    stream::fence();
}

/// Where vectors go.
enum Out<'a> {
    Bytes(&'a mut [u8]),
    /// Past the caches.
    Lines(&'a mut [stream::Line]),
}

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

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_loop<const SIZE: usize, const WIDE: bool, const SIGNED: bool>(
    field: &Field,
    packed: &[u8],
    bit: usize,
    out: Out<'_>,
) {
    let lanes = Unpack::<SIZE, WIDE>::new(field, bit);
    let step = VECTOR / 8 / SIZE * field.bits as usize;
    let mut at = 0;
    match out {
        Out::Bytes(bytes) => {
            let (vectors, rest) = bytes.as_chunks_mut::<VECTOR>();
            for out in vectors {
                store(out, lanes.run::<SIGNED>(load_at(packed, at)));
                at += step;
            }
            if !rest.is_empty() {
                store_prefix(rest, lanes.run::<SIGNED>(load_at(packed, at)));
            }
        }
        Out::Lines(lines) => {
            for out in lines {
                stream::store(out, lanes.run::<SIGNED>(load_at(packed, at)));
                at += step;
            }
        }
    }
}

/// The registers that turn packed bytes into one vector of components.
struct Unpack<const SIZE: usize, const WIDE: bool> {
    /// For every byte, the packed byte to bring there.
    gather: __m512i,
    /// Narrow: for every byte, the position in its 64-bit lane of the eight bits to take.
    /// Wide: for every component, the bits before its field in its first packed byte.
    shift: __m512i,
    /// Wide: the packed bytes one further on.
    next: __m512i,
    /// Wide: 8 - `shift`.
    next_shift: __m512i,
    /// Wide: how far down the field is to be shifted, then how far up.
    down: __m512i,
    up: __m512i,
    mask: __m512i,
    sign: __m512i,
    msb: bool,
}

impl<const SIZE: usize, const WIDE: bool> Unpack<SIZE, WIDE> {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(field: &Field, bit: usize) -> Self {
        let (bits, first_bit) = (field.bits as u16, field.first_bit as u16);
        let msb = field.order == BitOrder::MsbFirst;
        // Bytes of the unit that a gather fills: a 64-bit lane, or a component if wide.
        let unit = if WIDE { SIZE } else { 8 };
        let unit_bits = (unit / SIZE) as u16 * bits;
        let mut gather = [0; VECTOR];
        let mut shift = [0; VECTOR];
        for i in 0..VECTOR {
            let start = bit as u16 + (i / unit) as u16 * unit_bits;
            // A lane is a little-endian number of the packed bytes, a big-endian one if the most
            // significant bit comes first: bit `t` from the lane's first byte on is bit `t` of the
            // number, or bit `63 - t`.
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
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn run<const SIGNED: bool>(&self, packed: __m512i) -> __m512i {
        let this = _mm512_permutexvar_epi8(self.gather, packed);
        let x = if WIDE {
            // Both hold the same bits wherever both hold bits of the field.
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
        // `(x & mask) ^ sign` has the sign bit where it was not set, so that subtracting the sign
        // bit borrows through all bits above it exactly where it was.
        if SIGNED {
            sub::<SIZE>(_mm512_ternarylogic_epi64::<0x6a>(x, self.mask, self.sign), self.sign)
        } else {
            _mm512_and_si512(x, self.mask)
        }
    }
}

/// Packs all of `src`, a multiple of eight fields, to the whole of `dst`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn pack(field: &Field, src: &[u8], dst: &mut [u8]) {
    match (field.bits, field.size) {
        (1 | 2 | 3 | 5, 1) => pack_bytes::<1>(field, src, dst),
        (1 | 2 | 3 | 5, 2) => pack_bytes::<2>(field, src, dst),
        (1 | 2 | 3 | 5, 4) => pack_bytes::<4>(field, src, dst),
        (1 | 2 | 3 | 5, _) => pack_bytes::<8>(field, src, dst),
        _ => pack_loop(field, src, dst),
    }
}

/// Widths of which more than two fields share a byte, in components of any size.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_bytes<const SIZE: usize>(field: &Field, src: &[u8], dst: &mut [u8]) {
    let bytes = Bytes::<SIZE>::new(field);
    let first_bit = if SIZE == 1 { field.first_bit } else { 0 };
    let field = Field { first_bit, size: 1, ..*field };
    let step = 8 * field.bits as usize;
    if field.bits == 1 {
        let test = Test::new(&field);
        for (src, dst) in src.chunks(VECTOR * SIZE).zip(dst.chunks_mut(step)) {
            let packed = test.run(bytes.load(src));
            match dst.first_chunk_mut() {
                Some(out) => *out = packed,
                None => dst.copy_from_slice(&packed[..dst.len()]),
            }
        }
    } else {
        let lanes = Pack::<true>::new(&field);
        for (i, src) in src.chunks(VECTOR * SIZE).enumerate() {
            store_at(dst, i * step, lanes.run(bytes.load(src)));
        }
    }
}

/// Widths of which at most two fields share a byte.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_loop(field: &Field, src: &[u8], dst: &mut [u8]) {
    let lanes = Pack::<false>::new(field);
    let step = VECTOR / 8 / field.size * field.bits as usize;
    let (vectors, rest) = src.as_chunks::<VECTOR>();
    let mut at = 0;
    for vector in vectors {
        // Bytes past the vector's own are written again by the next one.
        store_at(dst, at, lanes.run(load(vector)));
        at += step;
    }
    if !rest.is_empty() {
        store_prefix(&mut dst[at..], lanes.run(load_prefix(rest)));
    }
}

/// The registers that turn components of any size into bytes with the encoded bits lowest.
struct Bytes<const SIZE: usize> {
    shift: __m512i,
    gather: __m512i,
}

impl<const SIZE: usize> Bytes<SIZE> {
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
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn load(&self, src: &[u8]) -> __m512i {
        if SIZE == 1 {
            return load_at(src, 0);
        }
        let mut bytes = _mm512_setzero_si512();
        for (i, src) in src.chunks(VECTOR).enumerate() {
            let vector = _mm512_multishift_epi64_epi8(self.shift, load_at(src, 0));
            let here = prefix(VECTOR / SIZE) << (i * VECTOR / SIZE);
            bytes = _mm512_mask_permutexvar_epi8(bytes, here, self.gather, vector);
        }
        bytes
    }
}

/// The registers that turn one vector of components into packed bytes.
struct Pack<const PAIRS: bool> {
    /// Pairs: the field's bits, and the factors that join two neighbours.
    mask: __m512i,
    factors: __m512i,
    /// For every byte of the lanes, the position of its part of the first field.
    first: __m512i,
    /// For every byte of the lanes, the position of its part of the second field, in lanes that
    /// start one field further on.
    second: __m512i,
    /// The bits to take from the first.
    select: __m512i,
    /// The lanes that start one field further on.
    further: __m512i,
    /// The bytes of the lanes that are to be kept, in order.
    compact: __m512i,
}

impl<const PAIRS: bool> Pack<PAIRS> {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(field: &Field) -> Self {
        let msb = field.order == BitOrder::MsbFirst;
        // Pairs are of less than 8 bits; the factors are not used otherwise.
        let factor = 1_i16 << (field.bits % 8);
        let factors = if msb { 0x0100 | factor } else { factor << 8 | 1 };
        let (bits, size) =
            if PAIRS { (2 * field.bits, 2) } else { (field.bits, field.size as u32) };
        let first_bit = field.first_bit;
        let lane_bits = 8 / size * bits;
        let mut first = [0; VECTOR];
        let mut second = [0; VECTOR];
        let mut select = [0; VECTOR];
        let mut compact = [0; VECTOR];
        for lane in 0..8 {
            // The packed bytes that start within this lane's fields.
            let start = lane * lane_bits;
            let (from, to) = (start.div_ceil(8), (start + lane_bits).div_ceil(8));
            for byte in from..to {
                let i = 8 * lane + byte - from;
                let position = 8 * byte - start;
                let (nth, within) = (position / bits, position % bits);
                // Bits of the field that are left for this byte, and the lowest bit of the field.
                let left = bits - within;
                let low = 8 * size * nth + first_bit;
                let i = i as usize;
                if msb {
                    first[i] = (low + left).wrapping_sub(8) as u8 % 64;
                    second[i] = (low + bits + left).wrapping_sub(8) as u8 % 64;
                    select[i] = !(0xff_u32 >> left.min(8)) as u8;
                } else {
                    first[i] = (low + within) as u8 % 64;
                    second[i] = low.wrapping_sub(left) as u8 % 64;
                    select[i] = !(0xff_u32 << left.min(8)) as u8;
                }
                compact[byte as usize] = i as u8;
            }
        }
        let mut further = [0; VECTOR];
        for (i, byte) in further.iter_mut().enumerate() {
            *byte = (i + size as usize) as u8 % 64;
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

    /// Turns 64 bytes of components into their packed bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn run(&self, components: __m512i) -> __m512i {
        let fields = if PAIRS {
            // The factors are below 128 and the sums below 2^15: nothing saturates.
            _mm512_maddubs_epi16(_mm512_and_si512(components, self.mask), self.factors)
        } else {
            components
        };
        let first = _mm512_multishift_epi64_epi8(self.first, fields);
        let further = _mm512_permutexvar_epi8(self.further, fields);
        let second = _mm512_multishift_epi64_epi8(self.second, further);
        let bytes = _mm512_ternarylogic_epi64::<0xca>(self.select, first, second);
        _mm512_permutexvar_epi8(self.compact, bytes)
    }
}

/// The registers that turn one bit of 64 bytes into packed bytes: a test gives them as a mask.
struct Test {
    bit: __m512i,
    backwards: __m512i,
    msb: bool,
}

impl Test {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(field: &Field) -> Self {
        // Eight bytes backwards give a byte whose most significant bit is the first.
        let backwards = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
        Self {
            bit: _mm512_set1_epi8(field.mask() as i8),
            backwards: _mm512_broadcast_i32x4(backwards),
            msb: field.order == BitOrder::MsbFirst,
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn run(&self, bytes: __m512i) -> [u8; 8] {
        let bytes = if self.msb { _mm512_shuffle_epi8(bytes, self.backwards) } else { bytes };
        _mm512_test_epi8_mask(bytes, self.bit).to_le_bytes()
    }
}
