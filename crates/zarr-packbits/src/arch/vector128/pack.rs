//! Components to packed bytes.

use super::{Gathered, NONE, VECTOR, Vectors, components};
use crate::{
    BitOrder,
    field::Field,
    used_bits::{UsedBits, Watch},
};

/// The bits of a unit: four bytes are joined to one, and two neighbours of two bytes, unless they
/// are whole bytes.
pub(super) fn unit_bits(field: &Field) -> u32 {
    match field.size {
        1 => 4 * field.bits,
        2 if !field.bits.is_multiple_of(8) => 2 * field.bits,
        _ => field.bits,
    }
}

/// Packs components of one byte, and of two bytes if units are a multiple of four bits, to the
/// start of `dst`: as many fields as `src` has vectors of and `dst` has bytes for, with a vector to
/// spare. Returns their number, a multiple of eight, or 0 for other components.
#[inline(always)]
pub(super) fn pack_small<S: Vectors, const WATCH: Watch>(
    vectors: S,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    match (field.size, unit_bits(field) % 8) {
        (1, _) if field.bits == 1 => pack_bits(vectors, field, src, dst, seen),
        (1, 0) => pack_units::<S, 1, false, WATCH>(vectors, field, src, dst, seen),
        (1, _) => pack_units::<S, 1, true, WATCH>(vectors, field, src, dst, seen),
        (2, 0) => pack_units::<S, 2, false, WATCH>(vectors, field, src, dst, seen),
        (2, 4) => pack_units::<S, 2, true, WATCH>(vectors, field, src, dst, seen),
        _ => 0,
    }
}

/// One bit of every byte: moved to the top of the byte, from where one instruction extracts it.
#[inline(always)]
fn pack_bits<S: Vectors, const WATCH: Watch>(
    vectors: S,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let mut gathered = Gathered::<S::Vector, 1, WATCH>::new(vectors, field);
    let msb = field.order == BitOrder::MsbFirst;
    let backwards = components::<S, 1>(vectors, |i| i as u64 ^ 7);
    let sources = src.as_chunks::<VECTOR>().0;
    for (source, out) in sources.iter().zip(dst.as_chunks_mut::<2>().0) {
        let x = gathered.vector(vectors, vectors.load(source));
        let x = if msb { vectors.shuffle(x, backwards) } else { x };
        let bits = vectors.top_bits(vectors.up::<2>(x, 7 - field.first_bit));
        *out = bits.to_le_bytes();
    }
    gathered.add_to(vectors, seen);
    sources.len() * VECTOR
}

/// Turns `N` vectors of components into packed bytes.
pub(super) trait Join<S: Vectors, const N: usize> {
    /// The number of whole bytes before the bytes of each vector, and of all.
    fn starts(&self) -> [usize; N];
    fn step(&self) -> usize;

    /// The packed bytes, each vector's at its start. The first of a vector includes the last bits
    /// of the one before, if they share a byte.
    fn join(&self, vectors: S, components: [S::Vector; N]) -> [S::Vector; N];
}

/// Packs as many vectors as there is room for. Returns the number of fields.
#[inline(always)]
pub(super) fn each<
    S: Vectors,
    K: Join<S, N>,
    const N: usize,
    const SIZE: usize,
    const WATCH: Watch,
>(
    vectors: S,
    kernel: &K,
    mut gathered: Gathered<S::Vector, SIZE, WATCH>,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let step = kernel.step();
    let window = step + VECTOR;
    let turns = dst.len().checked_sub(window).map_or(0, |last| last / step + 1);
    // Eight fields of larger components are several vectors.
    let per_group = const { if SIZE / 2 > N { SIZE / 2 / N } else { 1 } };
    let sources = src.as_chunks::<VECTOR>().0.as_chunks::<N>().0;
    let turns = turns.min(sources.len()) / per_group * per_group;
    let mut rest = dst;
    let (pairs, last) = sources[..turns].as_chunks::<2>();
    for [first, second] in pairs {
        rest = turn(vectors, kernel, &mut gathered, first, rest, window);
        rest = turn(vectors, kernel, &mut gathered, second, rest, window);
    }
    for source in last {
        rest = turn(vectors, kernel, &mut gathered, source, rest, window);
    }
    gathered.add_to(vectors, seen);
    turns * N * VECTOR / SIZE
}

/// Packs `N` vectors to the start of `dst`, and returns the rest of `dst`.
#[inline(always)]
fn turn<'a, S: Vectors, K: Join<S, N>, const N: usize, const SIZE: usize, const WATCH: Watch>(
    vectors: S,
    kernel: &K,
    gathered: &mut Gathered<S::Vector, SIZE, WATCH>,
    source: &[[u8; VECTOR]; N],
    dst: &'a mut [u8],
    window: usize,
) -> &'a mut [u8] {
    let mut components = [gathered.all; N];
    for (x, bytes) in components.iter_mut().zip(source) {
        *x = gathered.vector(vectors, vectors.load(bytes));
    }
    let packed = kernel.join(vectors, components);
    let out = &mut dst[..window];
    for (x, start) in packed.into_iter().zip(kernel.starts()) {
        // Bytes past the vector's own are overwritten by the next one.
        vectors.store(&mut out[start..start + VECTOR].as_chunks_mut().0[0], x);
    }
    &mut dst[window - VECTOR..]
}

#[inline(always)]
pub(super) fn pack_units<S: Vectors, const SIZE: usize, const HALVES: bool, const WATCH: Watch>(
    vectors: S,
    field: &Field,
    src: &[u8],
    dst: &mut [u8],
    seen: &mut UsedBits<WATCH>,
) -> usize {
    let gathered = Gathered::<S::Vector, SIZE, WATCH>::new(vectors, field);
    each(vectors, &Units::<_, SIZE, HALVES>::new(vectors, field), gathered, src, dst, seen)
}

/// Joins components to units of a multiple of eight bits, or of four if `HALVES`, and closes the
/// gaps between units.
struct Units<V, const SIZE: usize, const HALVES: bool> {
    fields: Fields<V, SIZE>,
    /// Factors that join two bytes, and two numbers of 16 bits.
    bytes: V,
    pairs: V,
    /// Whether numbers of 16 bits are joined.
    joins: bool,
    /// For every packed byte, its place in units that start at a byte, and in units that are
    /// shifted up by four bits to start at one.
    compact: [V; 2],
    packed_len: usize,
}

impl<V: Copy, const SIZE: usize, const HALVES: bool> Units<V, SIZE, HALVES> {
    #[inline(always)]
    fn new<S: Vectors<Vector = V>>(vectors: S, field: &Field) -> Self {
        let bits = field.bits as usize;
        let joins = SIZE == 1 || SIZE == 2 && !bits.is_multiple_of(8);
        // A unit has as many bytes before the gaps are closed.
        let unit_len = if joins { 4 } else { SIZE };
        let unit_bits = unit_len / SIZE * bits;
        let packed_len = VECTOR / SIZE * bits / 8;
        let fields = Fields::new(vectors, field);
        let mut compact = [[NONE; VECTOR]; 2];
        for unit in 0..VECTOR / unit_len {
            let (byte, bit) = (unit * unit_bits / 8, unit * unit_bits % 8);
            for part in 0..(bit + unit_bits).div_ceil(8) {
                let to = byte + part;
                let to = if fields.msb { packed_len - 1 - to } else { to };
                compact[usize::from(bit > 0)][to] = (unit_len * unit + part) as u8;
            }
        }
        let (bytes, pairs) = match SIZE {
            1 => (1 << bits << 8 | 1, 1 << (2 * bits) << 16 | 1),
            _ => (0, if joins { 1 << bits << 16 | 1 } else { 0 }),
        };
        Self {
            fields,
            bytes: components::<S, 2>(vectors, |_| bytes),
            pairs: components::<S, 4>(vectors, |_| pairs),
            joins,
            compact: compact.map(|table| vectors.load(&table)),
            packed_len,
        }
    }
}

impl<S: Vectors, const SIZE: usize, const HALVES: bool> Join<S, 1>
    for Units<S::Vector, SIZE, HALVES>
{
    #[inline(always)]
    fn starts(&self) -> [usize; 1] {
        [0]
    }

    #[inline(always)]
    fn step(&self) -> usize {
        self.packed_len
    }

    #[inline(always)]
    fn join(&self, vectors: S, [x]: [S::Vector; 1]) -> [S::Vector; 1] {
        let mut x = self.fields.of(vectors, x);
        if SIZE == 1 {
            x = vectors.join_bytes(x, self.bytes);
        }
        if SIZE == 1 || SIZE == 2 && self.joins {
            x = vectors.join_pairs(x, self.pairs);
        }
        let packed = vectors.shuffle(x, self.compact[0]);
        if !HALVES {
            return [packed];
        }
        [vectors.or(packed, vectors.shuffle(vectors.up::<8>(x, 4), self.compact[1]))]
    }
}

/// The fields of components, which are to be joined.
pub(super) struct Fields<V, const SIZE: usize> {
    pub(super) msb: bool,
    /// Most significant bit first: reverses the components, so that the packed bits are one
    /// big-endian number.
    backwards: V,
    first_bit: u32,
    mask: V,
}

impl<V: Copy, const SIZE: usize> Fields<V, SIZE> {
    #[inline(always)]
    pub(super) fn new<S: Vectors<Vector = V>>(vectors: S, field: &Field) -> Self {
        Self {
            msb: field.order == BitOrder::MsbFirst,
            backwards: components::<S, 1>(vectors, |i| (i ^ (VECTOR - SIZE)) as u64),
            first_bit: field.first_bit,
            mask: components::<S, SIZE>(vectors, |_| field.mask() >> field.first_bit),
        }
    }

    /// The fields of the components in `x`, each at the lowest bit. The first bit is rarely not the
    /// lowest.
    #[inline(always)]
    pub(super) fn of<S: Vectors<Vector = V>>(&self, vectors: S, x: V) -> V {
        let x = if self.msb { vectors.shuffle(x, self.backwards) } else { x };
        // The bits that bytes get from others are masked.
        let x = match SIZE {
            _ if self.first_bit == 0 => x,
            1 | 2 => vectors.down::<2>(x, self.first_bit),
            4 => vectors.down::<4>(x, self.first_bit),
            _ => vectors.down::<8>(x, self.first_bit),
        };
        vectors.and(x, self.mask)
    }
}
