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

/// Unpacked bytes from which on it pays to start at a line of the cache: a vector store across
/// lines takes twice as long.
const ALIGN_FROM: usize = 1024;

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
    stream::fence();
}

/// Where vectors go.
enum Out<'a> {
    Bytes(&'a mut [u8]),
    Lines(&'a mut [stream::Line]),
    /// Past the caches.
    Stream(&'a mut [stream::Line]),
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

/// Vectors of one turn of a loop.
const TURN: usize = 4;

/// Fills vectors, each from the packed bytes `step` further on.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_vectors<V>(
    packed: &[u8],
    step: usize,
    vectors: &mut [V],
    run: impl Fn(__m512i) -> __m512i,
    put: impl Fn(&mut V, __m512i),
) {
    // Nearly all may read a whole vector, though it ends beyond their own fields.
    let whole = packed.len().checked_sub(VECTOR).map_or(0, |last| last / step + 1);
    let (whole, last) = vectors.split_at_mut(whole.min(vectors.len()) / TURN * TURN);
    let mut at = 0;
    for turn in whole.as_chunks_mut::<TURN>().0 {
        for vector in turn {
            put(vector, run(load(&packed[at..at + VECTOR].as_chunks().0[0])));
            at += step;
        }
    }
    for vector in last {
        put(vector, run(load_at(packed, at)));
        at += step;
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
        (1, 1) => pack_bytes::<1>(field, src, dst),
        (2 | 3 | 5, 1) => pack_loop::<true, false>(field, src, dst),
        (1 | 2 | 3 | 5, 2) => pack_bytes::<2>(field, src, dst),
        (1 | 2 | 3 | 5, 4) => pack_bytes::<4>(field, src, dst),
        (1 | 2 | 3 | 5, _) => pack_bytes::<8>(field, src, dst),
        (bits, size) if (8 / size * bits as usize).is_multiple_of(8) => {
            pack_loop::<false, false>(field, src, dst);
        }
        _ => pack_loop::<false, true>(field, src, dst),
    }
}

/// Bits, and the widths of which more than two fields share a byte in larger components.
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
        let lanes = Pack::<true, false>::new(&field);
        for (i, src) in src.chunks(VECTOR * SIZE).enumerate() {
            store_at(dst, i * step, lanes.run(bytes.load(src)));
        }
    }
}

/// Widths of which at most two fields, or pairs of fields, share a byte.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_loop<const PAIRS: bool, const APART: bool>(field: &Field, src: &[u8], dst: &mut [u8]) {
    let lanes = Pack::<PAIRS, APART>::new(field);
    let step = VECTOR / 8 / field.size * field.bits as usize;
    let (mut src, mut dst) = (src, dst);
    let head = src.as_ptr().align_offset(VECTOR);
    if src.len() >= ALIGN_FROM && head.is_multiple_of(8 * field.size) {
        let (first, aligned) = src.split_at(head);
        store_at(dst, 0, lanes.run(load_prefix(first)));
        (src, dst) = (aligned, &mut dst[head / 8 / field.size * field.bits as usize..]);
    }
    if 2 * step <= VECTOR {
        // Two vectors fit in one store.
        let both = lanes.compact_two(step);
        let (pairs, last) = src.as_chunks::<{ 2 * VECTOR }>();
        pack_vectors(dst, 2 * step, pairs, |pair| {
            let (a, b) = (pair.first_chunk(), pair.last_chunk());
            let bytes = |half: Option<_>| half.map_or(both, |half| lanes.bytes(load(half)));
            _mm512_permutex2var_epi8(bytes(a), both, bytes(b))
        });
        (src, dst) = (last, &mut dst[2 * step * pairs.len()..]);
    }
    let (vectors, last) = src.as_chunks::<VECTOR>();
    pack_vectors(dst, step, vectors, |vector| lanes.run(load(vector)));
    if !last.is_empty() {
        store_prefix(&mut dst[step * vectors.len()..], lanes.run(load_prefix(last)));
    }
}

/// Writes the bytes of each element of `src`, `step` of them further on than those of the last.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn pack_vectors<V>(dst: &mut [u8], step: usize, src: &[V], run: impl Fn(&V) -> __m512i) {
    // Nearly all may write a whole vector: bytes beyond their own are written again by the next.
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
///
/// `PAIRS`: components of one byte are joined to pairs first. `APART`: the two fields of a byte may
/// be in different 64-bit lanes, which is so unless a lane's fields are whole bytes.
struct Pack<const PAIRS: bool, const APART: bool> {
    /// Pairs: the field's bits, and the factors that join two neighbours.
    mask: __m512i,
    factors: __m512i,
    /// For every byte of the lanes, the position of its part of the first field.
    first: __m512i,
    /// For every byte of the lanes, the position of its part of the second field.
    second: __m512i,
    /// The bits to take from the first.
    select: __m512i,
    /// Apart: lanes that start one field further on, in which the second field is looked for.
    further: __m512i,
    /// The bytes of the lanes that are to be kept, in order.
    compact: __m512i,
}

/// `65536 / divisor`, rounded up: `x * inverse >> 16` is `x / divisor` for all `x` and divisors
/// here, as `x` times the divisor is below 65536.
fn inverse(divisor: u16) -> u16 {
    u16::MAX / divisor + 1
}

/// The upper half of a product.
fn mul_high(a: u16, b: u16) -> u16 {
    ((u32::from(a) * u32::from(b)) >> 16) as u16
}

impl<const PAIRS: bool, const APART: bool> Pack<PAIRS, APART> {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn new(field: &Field) -> Self {
        let msb = field.order == BitOrder::MsbFirst;
        // Pairs are of less than 8 bits; the factors are not used otherwise.
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
        // No branch and no division in here: this is vectors, too.
        for i in 0..VECTOR {
            // Byte `i % 8` of those that start in the fields of lane `i / 8`, and the position of
            // its first bit in the lane's fields.
            let start = (i / 8) as u16 * lane_bits;
            let position = 8 * (i % 8) as u16 + start.wrapping_neg() % 8;
            let nth = mul_high(position, bits_inverse);
            let within = position - nth * bits;
            // The bits of the first field that are left for this byte, from `low` on in memory.
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
            // Packed byte `i` is the byte of the lane in whose fields it starts.
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

    /// What takes the kept bytes of two vectors, `step` of each.
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
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn run(&self, components: __m512i) -> __m512i {
        _mm512_permutexvar_epi8(self.compact, self.bytes(components))
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
