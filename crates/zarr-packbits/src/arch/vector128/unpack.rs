//! Packed bytes to components.

use super::{VECTOR, Vectors, components};
use crate::{BitOrder, field::Field};

/// Unpacks from the start of `packed`: as many fields as `dst` has vectors for and `packed` has
/// bytes for, with some to spare. Returns their number, a multiple of eight.
#[inline(always)]
pub(super) fn unpack<S: Vectors>(
    vectors: S,
    field: &Field,
    packed: &[u8],
    dst: &mut [u8],
) -> usize {
    let msb = field.order == BitOrder::MsbFirst;
    match (field.size, field.bits) {
        (1, 1) => each(vectors, &Bits::new(vectors, field), packed, dst),
        (1, 2) if msb => each(vectors, &Quarters::<_, true>::new(vectors, field), packed, dst),
        (1, 2) => each(vectors, &Quarters::<_, false>::new(vectors, field), packed, dst),
        (1, 4) if msb => each(vectors, &Halves::<_, true>::new(vectors, field), packed, dst),
        (1, 4) => each(vectors, &Halves::<_, false>::new(vectors, field), packed, dst),
        (1, _) => unpack_size::<S, 1, 1>(vectors, field, packed, dst),
        (2, _) if (0..8).all(|nth| nth * field.bits % 8 + field.bits <= 16) => {
            if field.signed {
                each(vectors, &Narrow::<_, true>::new(vectors, field), packed, dst)
            } else {
                each(vectors, &Narrow::<_, false>::new(vectors, field), packed, dst)
            }
        }
        (2, _) => unpack_size::<S, 2, 1>(vectors, field, packed, dst),
        // The fields of a vector may end within a byte, eight do not.
        (4, _) => unpack_size::<S, 4, 2>(vectors, field, packed, dst),
        _ => unpack_size::<S, 8, 4>(vectors, field, packed, dst),
    }
}

/// Fills `N` vectors at a time.
trait Fill<S: Vectors, const N: usize> {
    /// Bytes of a component.
    const SIZE: usize;

    /// The packed bytes for `N` vectors.
    fn step(&self) -> usize;

    /// The vectors, from the start of `bytes`, which are [`MORE`] than a step.
    fn fill(&self, vectors: S, bytes: &[u8]) -> [S::Vector; N];
}

/// Bytes past a step that may be read.
const MORE: usize = VECTOR + 1;

/// Fills as many vectors as there are bytes for. Returns the number of fields.
#[inline(always)]
fn each<S: Vectors, K: Fill<S, N>, const N: usize>(
    vectors: S,
    kernel: &K,
    packed: &[u8],
    dst: &mut [u8],
) -> usize {
    let step = kernel.step();
    let window = step + MORE;
    let turns = packed.len().checked_sub(window).map_or(0, |last| last / step + 1);
    let targets = dst.as_chunks_mut::<VECTOR>().0.as_chunks_mut::<N>().0;
    let turns = turns.min(targets.len());
    let mut packed = packed;
    let (pairs, last) = targets[..turns].as_chunks_mut::<2>();
    for [first, second] in pairs {
        packed = fill(vectors, kernel, packed, window, first);
        packed = fill(vectors, kernel, packed, window, second);
    }
    for target in last {
        packed = fill(vectors, kernel, packed, window, target);
    }
    turns * N * VECTOR / K::SIZE
}

/// Fills one target, and returns the bytes for the next one. Every call sees a slice of the same
/// length, so one check before the loop shows that all loads are within it.
#[inline(always)]
fn fill<'a, S: Vectors, K: Fill<S, N>, const N: usize>(
    vectors: S,
    kernel: &K,
    packed: &'a [u8],
    window: usize,
    target: &mut [[u8; VECTOR]; N],
) -> &'a [u8] {
    let filled = kernel.fill(vectors, &packed[..window]);
    for (target, x) in target.iter_mut().zip(filled) {
        vectors.store(target, x);
    }
    &packed[window - MORE..]
}

#[inline(always)]
fn load<S: Vectors>(vectors: S, bytes: &[u8], at: usize) -> S::Vector {
    vectors.load(&bytes[at..at + VECTOR].as_chunks().0[0])
}

/// Bits to bytes: every packed byte is repeated eight times, and a different bit of each is
/// tested.
struct Bits<V> {
    repeat: V,
    bits: V,
    one: V,
}

impl<V: Copy> Bits<V> {
    #[inline(always)]
    fn new<S: Vectors<Vector = V>>(vectors: S, field: &Field) -> Self {
        let msb = field.order == BitOrder::MsbFirst;
        let bit = |i: usize| if msb { 0x80 >> (i % 8) } else { 1 << (i % 8) };
        Self {
            repeat: components::<S, 1>(vectors, |i| i as u64 / 8),
            bits: components::<S, 1>(vectors, bit),
            one: components::<S, 1>(vectors, |_| field.component(1)),
        }
    }
}

impl<S: Vectors> Fill<S, 4> for Bits<S::Vector> {
    const SIZE: usize = 1;

    #[inline(always)]
    fn step(&self) -> usize {
        8
    }

    #[inline(always)]
    fn fill(&self, vectors: S, bytes: &[u8]) -> [S::Vector; 4] {
        let mut filled = [self.one; 4];
        for (n, x) in filled.iter_mut().enumerate() {
            let repeated = vectors.shuffle(load(vectors, bytes, 2 * n), self.repeat);
            let set = vectors.equal(vectors.and(repeated, self.bits), self.bits);
            *x = vectors.and(set, self.one);
        }
        filled
    }
}

/// The halves of 16 packed bytes, in order.
#[inline(always)]
fn halves<S: Vectors, const MSB: bool>(vectors: S, bytes: &[u8]) -> [S::Vector; 2] {
    let low = components::<S, 1>(vectors, |_| 0x0f);
    let bytes = load(vectors, bytes, 0);
    let lower = vectors.and(bytes, low);
    let upper = vectors.and(vectors.down::<2>(bytes, 4), low);
    if MSB { vectors.interleave(upper, lower) } else { vectors.interleave(lower, upper) }
}

/// Four bits to bytes: a table has the component for every half of a byte.
struct Halves<V, const MSB: bool>(V);

impl<V: Copy, const MSB: bool> Halves<V, MSB> {
    #[inline(always)]
    fn new<S: Vectors<Vector = V>>(vectors: S, field: &Field) -> Self {
        Self(components::<S, 1>(vectors, |half| field.component(half as u64)))
    }
}

impl<S: Vectors, const MSB: bool> Fill<S, 2> for Halves<S::Vector, MSB> {
    const SIZE: usize = 1;

    #[inline(always)]
    fn step(&self) -> usize {
        VECTOR
    }

    #[inline(always)]
    fn fill(&self, vectors: S, bytes: &[u8]) -> [S::Vector; 2] {
        let [first, second] = halves::<S, MSB>(vectors, bytes);
        [vectors.shuffle(self.0, first), vectors.shuffle(self.0, second)]
    }
}

/// Two bits to bytes: for every half of a byte, two tables have the components of its first and
/// of its second field.
struct Quarters<V, const MSB: bool>([V; 2]);

impl<V: Copy, const MSB: bool> Quarters<V, MSB> {
    #[inline(always)]
    fn new<S: Vectors<Vector = V>>(vectors: S, field: &Field) -> Self {
        let lower = components::<S, 1>(vectors, |half| field.component(half as u64 % 4));
        let upper = components::<S, 1>(vectors, |half| field.component(half as u64 / 4));
        Self(if MSB { [upper, lower] } else { [lower, upper] })
    }

    #[inline(always)]
    fn fields<S: Vectors<Vector = V>>(&self, vectors: S, halves: V) -> [V; 2] {
        let [first, second] = self.0;
        vectors.interleave(vectors.shuffle(first, halves), vectors.shuffle(second, halves))
    }
}

impl<S: Vectors, const MSB: bool> Fill<S, 4> for Quarters<S::Vector, MSB> {
    const SIZE: usize = 1;

    #[inline(always)]
    fn step(&self) -> usize {
        VECTOR
    }

    #[inline(always)]
    fn fill(&self, vectors: S, bytes: &[u8]) -> [S::Vector; 4] {
        let [first, second] = halves::<S, MSB>(vectors, bytes);
        let [a, b] = self.fields(vectors, first);
        let [c, d] = self.fields(vectors, second);
        [a, b, c, d]
    }
}

/// The byte that has bit `bit` of field `nth`, and which of its bits that is; both may be before
/// the field. The first field starts at bit `start`. The bits that follow are in the next byte,
/// or, most significant bit first, in the one before.
#[inline(always)]
fn place(field: &Field, start: usize, nth: usize, bit: isize) -> (isize, u32) {
    let (bits, start, nth) = (field.bits as isize, start as isize, nth as isize);
    match field.order {
        BitOrder::LsbFirst => {
            let at = start + nth * bits + bit;
            (at.div_euclid(8), at.rem_euclid(8) as u32)
        }
        BitOrder::MsbFirst => {
            let at = start + (nth + 1) * bits - 1 - bit;
            (at.div_euclid(8), 7 - at.rem_euclid(8) as u32)
        }
    }
}

/// A table for a shuffle: consecutive bytes, in the direction of the bits, for every component of
/// `SIZE` bytes. Bytes that are outside the vector have no bits of a field; any may take their
/// place.
#[inline(always)]
fn gather<S: Vectors, const SIZE: usize>(
    vectors: S,
    order: BitOrder,
    first: impl Fn(usize) -> isize,
) -> S::Vector {
    let first = |i| u64::from(first(i) as u8) * 0x0101_0101_0101_0101;
    let first = components::<S, SIZE>(vectors, first);
    let parts = components::<S, SIZE>(vectors, |_| 0x0706_0504_0302_0100);
    match order {
        BitOrder::LsbFirst => vectors.add::<1>(first, parts),
        BitOrder::MsbFirst => vectors.sub::<1>(first, parts),
    }
}

/// Fields of 16-bit components that span no third byte: brought to the top, then shifted down to
/// their place.
struct Narrow<V, const SIGNED: bool> {
    gather: V,
    up: V,
    down: u32,
    keep: V,
    step: usize,
}

impl<V: Copy, const SIGNED: bool> Narrow<V, SIGNED> {
    #[inline(always)]
    fn new<S: Vectors<Vector = V>>(vectors: S, field: &Field) -> Self {
        let gather = gather::<S, 2>(vectors, field.order, |nth| place(field, 0, nth, 0).0);
        let up = |nth| 1 << (16 - field.bits - place(field, 0, nth, 0).1);
        Self {
            gather,
            up: components::<S, 2>(vectors, up),
            down: 16 - field.bits - field.first_bit,
            keep: components::<S, 2>(vectors, |_| u64::MAX << field.first_bit),
            step: field.bits as usize,
        }
    }
}

impl<S: Vectors, const SIGNED: bool> Fill<S, 1> for Narrow<S::Vector, SIGNED> {
    const SIZE: usize = 2;

    #[inline(always)]
    fn step(&self) -> usize {
        self.step
    }

    #[inline(always)]
    fn fill(&self, vectors: S, bytes: &[u8]) -> [S::Vector; 1] {
        let x = vectors.shuffle(load(vectors, bytes, 0), self.gather);
        let x = vectors.multiply(x, self.up);
        let x = if SIGNED {
            vectors.down_signed::<2>(x, self.down)
        } else {
            vectors.down::<2>(x, self.down)
        };
        [vectors.and(x, self.keep)]
    }
}

#[inline(always)]
fn unpack_size<S: Vectors, const SIZE: usize, const N: usize>(
    vectors: S,
    field: &Field,
    packed: &[u8],
    dst: &mut [u8],
) -> usize {
    if field.signed {
        each(vectors, &Fields::<_, SIZE, N, true>::new(vectors, field), packed, dst)
    } else {
        each(vectors, &Fields::<_, SIZE, N, false>::new(vectors, field), packed, dst)
    }
}

/// Tables that bring any eight bits to every even or to every odd byte: for a shuffle, and factors.
#[derive(Clone, Copy)]
struct Lanes<V> {
    bytes: V,
    factors: V,
}

impl<V: Copy> Lanes<V> {
    /// For the bytes of each lane that are `ODD`, of components of `SIZE` bytes. Their fields start
    /// at bit `start`, and go to bit `to` of the component. Bytes are counted from `late` on.
    #[inline(always)]
    fn new<S: Vectors<Vector = V>, const SIZE: usize, const ODD: usize>(
        vectors: S,
        field: &Field,
        start: usize,
        to: usize,
        late: usize,
    ) -> Self {
        if SIZE == 1 {
            // The two bytes of a lane are different fields.
            let place = |lane| place(field, start, 2 * lane + ODD, -(to as isize));
            Self::at::<S, 2, ODD>(vectors, field, late, place)
        } else {
            let place = |nth| place(field, start, nth, 8 * ODD as isize - to as isize);
            Self::at::<S, SIZE, ODD>(vectors, field, late, place)
        }
    }

    #[inline(always)]
    fn at<S: Vectors<Vector = V>, const SIZE: usize, const ODD: usize>(
        vectors: S,
        field: &Field,
        late: usize,
        place: impl Fn(usize) -> (isize, u32),
    ) -> Self {
        let first = |i| match (place(i), field.order) {
            // Bits cannot be shifted down by nothing: they are in the upper byte, by eight.
            ((byte, 0), BitOrder::LsbFirst) if ODD == 0 => byte - 1 - late as isize,
            ((byte, 0), BitOrder::MsbFirst) if ODD == 0 => byte + 1 - late as isize,
            ((byte, _), _) => byte - late as isize,
        };
        let factor = |i| {
            let factor = match place(i).1 {
                0 if ODD == 0 => S::factor(8),
                bit if ODD == 0 => S::factor(bit),
                bit => 1 << (8 - bit),
            };
            u64::from(factor) * 0x0001_0001_0001_0001
        };
        Self {
            bytes: gather::<S, SIZE>(vectors, field.order, first),
            factors: components::<S, SIZE>(vectors, factor),
        }
    }

    /// Fills even bytes; odd ones get bits that follow in the same number, or none.
    #[inline(always)]
    fn even<S: Vectors<Vector = V>>(&self, vectors: S, x: V) -> V {
        vectors.down_each(vectors.shuffle(x, self.bytes), self.factors)
    }

    /// Fills odd bytes; even ones get bits that precede in the same number, or none.
    #[inline(always)]
    fn odd<S: Vectors<Vector = V>>(&self, vectors: S, x: V) -> V {
        vectors.multiply(vectors.shuffle(x, self.bytes), self.factors)
    }
}

/// Any eight bits to every byte of the components.
struct Fields<V, const SIZE: usize, const N: usize, const SIGNED: bool> {
    even: [Lanes<V>; N],
    odd: [Lanes<V>; N],
    /// Where to load the bytes for even and for odd bytes.
    starts: [[usize; 2]; N],
    /// The field; with 1 byte, in even and in odd ones.
    mask: [V; 2],
    /// Signed fields of 2 and 4 bytes are at the top, and are shifted down. Others lack an
    /// arithmetic shift: `(x ^ sign) - sign` extends them.
    down: u32,
    sign: V,
    step: usize,
}

impl<V: Copy, const SIZE: usize, const N: usize, const SIGNED: bool> Fields<V, SIZE, N, SIGNED> {
    const AT_TOP: bool = SIGNED && (SIZE == 2 || SIZE == 4);

    #[inline(always)]
    fn new<S: Vectors<Vector = V>>(vectors: S, field: &Field) -> Self {
        let bits = field.bits as usize;
        let first_bit = field.first_bit as usize;
        let at = if Self::AT_TOP { 8 * SIZE - bits } else { first_bit };
        let vector_bits = VECTOR / SIZE * bits;
        let nothing = vectors.load(&[0; VECTOR]);
        let lanes = [Lanes { bytes: nothing, factors: nothing }; N];
        let (mut even, mut odd) = (lanes, lanes);
        let mut starts = [[0; 2]; N];
        for n in 0..N {
            let start = n * vector_bits % 8;
            // Two fields of 63 bits may span 17 bytes. The last of these is for an odd byte or,
            // most significant bit first, an even byte. Such bytes do not need the first byte then.
            let late = usize::from(start + vector_bits > 8 * VECTOR);
            let late = if field.order == BitOrder::LsbFirst { [0, late] } else { [late, 0] };
            even[n] = Lanes::new::<S, SIZE, 0>(vectors, field, start, at, late[0]);
            odd[n] = Lanes::new::<S, SIZE, 1>(vectors, field, start, at, late[1]);
            starts[n] = late.map(|late| n * vector_bits / 8 + late);
        }
        let mask = field.mask() >> first_bit << at;
        let mask = match SIZE {
            1 => [mask, mask << 8].map(|mask| components::<S, 2>(vectors, |_| mask)),
            _ => [components::<S, SIZE>(vectors, |_| mask); 2],
        };
        Self {
            even,
            odd,
            starts,
            mask,
            down: (at - first_bit) as u32,
            sign: components::<S, SIZE>(vectors, |_| field.sign()),
            step: N * vector_bits / 8,
        }
    }
}

impl<S: Vectors, const SIZE: usize, const N: usize, const SIGNED: bool> Fill<S, N>
    for Fields<S::Vector, SIZE, N, SIGNED>
{
    const SIZE: usize = SIZE;

    #[inline(always)]
    fn step(&self) -> usize {
        self.step
    }

    #[inline(always)]
    fn fill(&self, vectors: S, bytes: &[u8]) -> [S::Vector; N] {
        let mut filled = [self.sign; N];
        for (n, filled) in filled.iter_mut().enumerate() {
            let even = self.even[n].even(vectors, load(vectors, bytes, self.starts[n][0]));
            let odd = self.odd[n].odd(vectors, load(vectors, bytes, self.starts[n][1]));
            let mut x = if SIZE == 1 {
                vectors.or(vectors.and(even, self.mask[0]), vectors.and(odd, self.mask[1]))
            } else {
                vectors.and(vectors.or(even, odd), self.mask[0])
            };
            if Self::AT_TOP {
                x = vectors.down_signed::<SIZE>(x, self.down);
            } else if SIGNED {
                x = vectors.sub::<SIZE>(vectors.xor(x, self.sign), self.sign);
            }
            *filled = x;
        }
        filled
    }
}
