//! Every chain of up to three array-to-array codecs over small shapes, with every array-to-bytes
//! codec, sharded and not: chunks and regions decode to the result of the naive decoder, and
//! encode to its bytes.

use serde_json::{Value, json};
use zarr_codec::{ChunkCodec, Encoded, Scratch, Slice};
use zarr_view::{Output, View};

use crate::naive::{self, Array, Type, indices, place};
use crate::support::{Random, codec, decode, encode, everything, list};

const UINT8: Type = Type { name: "uint8", bits: 8, components: 1, signed: false };
const INT16: Type = Type { name: "int16", bits: 16, components: 1, signed: true };
const UINT16: Type = Type { name: "uint16", bits: 16, components: 1, signed: false };
const COMPLEX64: Type = Type { name: "complex64", bits: 32, components: 2, signed: false };

/// Every permutation of a shape's dimensions, every shape of as many elements without sizes of 1,
/// and some shapes with them: everything that a chain can do to a shape.
fn moves(shape: &[usize]) -> Vec<Value> {
    let mut moves = Vec::new();
    for order in permutations(shape.len()) {
        moves.push(json!({"name": "transpose", "configuration": {"order": order}}));
    }
    let elements = shape.iter().product();
    for sizes in factorisations(elements) {
        moves.push(json!({"name": "reshape", "configuration": {"shape": sizes}}));
    }
    // The other spellings, and sizes of 1.
    moves.push(json!({"name": "reshape", "configuration": {"shape": [[], -1, 1]}}));
    if shape.len() == 2 {
        moves.push(json!({"name": "reshape", "configuration": {"shape": [[0], 1, [1]]}}));
        moves.push(json!({"name": "reshape", "configuration": {"shape": [[0, 1]]}}));
    }
    moves
}

fn permutations(rank: usize) -> Vec<Vec<usize>> {
    indices(&vec![rank; rank])
        .into_iter()
        .filter(|order| (0..rank).all(|axis| order.contains(&axis)))
        .collect()
}

fn factorisations(elements: usize) -> Vec<Vec<usize>> {
    if elements == 1 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in (2..=elements).filter(|first| elements.is_multiple_of(*first)) {
        for rest in factorisations(elements / first) {
            all.push([&[first], &rest[..]].concat());
        }
    }
    all
}

/// All chains of at most `depth` array-to-array codecs, with the shapes that reach their
/// array-to-bytes codecs.
fn chains(shape: &[usize], depth: usize) -> Vec<(Vec<Value>, Vec<usize>)> {
    let mut all = vec![(Vec::new(), shape.to_vec())];
    let mut last = all.clone();
    for _ in 0..depth {
        let mut longer = Vec::new();
        for (chain, shape) in &last {
            for step in moves(shape) {
                let next = naive::encoded_shape(&step, shape).expect("allowed");
                longer.push(([&chain[..], &[step]].concat(), next));
            }
        }
        all.extend(longer.iter().cloned());
        last = longer;
    }
    all
}

/// The array-to-bytes codec of chain `number`: all kinds in turn, for the shape that reaches it.
fn array_to_bytes(number: usize, shape: &[usize], random: &mut Random) -> (Type, Vec<Value>) {
    let bytes = |endian: &str| json!({"name": "bytes", "configuration": {"endian": endian}});
    let inner = match number % 4 {
        0 => (UINT8, vec![json!({"name": "bytes"})]),
        1 => (UINT16, vec![bytes("big"), json!({"name": "crc32c"})]),
        2 => {
            let padding = ["none", "first_byte", "last_byte"][random.below(3)];
            let configuration = json!({"padding_encoding": padding, "last_bit": 4});
            (INT16, vec![json!({"name": "packbits", "configuration": configuration})])
        }
        _ => (COMPLEX64, vec![bytes("big")]),
    };
    match number / 4 % 3 {
        0 => inner,
        1 => (inner.0, vec![shard(shape, inner.1, random)]),
        // A shard within a shard, with codecs in between.
        _ => {
            let middle: Vec<usize> = shape.iter().map(|size| divisor(*size, random)).collect();
            let steps = moves(&middle);
            let step = steps[random.below(steps.len())].clone();
            let reached = naive::encoded_shape(&step, &middle).expect("allowed");
            let codecs = vec![step, shard(&reached, inner.1, random)];
            (inner.0, vec![shard_of(&middle, codecs, random)])
        }
    }
}

fn divisor(size: usize, random: &mut Random) -> usize {
    let all: Vec<usize> = (1..=size).filter(|n| size.is_multiple_of(*n)).collect();
    all[random.below(all.len())]
}

fn shard(shape: &[usize], codecs: Vec<Value>, random: &mut Random) -> Value {
    let inner: Vec<usize> = shape.iter().map(|size| divisor(*size, random)).collect();
    shard_of(&inner, codecs, random)
}

fn shard_of(inner: &[usize], codecs: Vec<Value>, random: &mut Random) -> Value {
    let location = ["start", "end"][random.below(2)];
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let big = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let index = match random.below(3) {
        0 => json!([bytes]),
        1 => json!([bytes, {"name": "crc32c"}]),
        _ => json!([{"name": "reshape", "configuration": {"shape": [-1]}}, big]),
    };
    json!({"name": "sharding_indexed", "configuration": {"chunk_shape": inner, "codecs": codecs,
        "index_codecs": index, "index_location": location}})
}

/// Elements that fit in five bits, a third of them the fill value, so that inner chunks are left
/// out.
fn elements(of: Type, shape: &[usize], fill: &[u8], random: &mut Random) -> Array {
    let count = shape.iter().product();
    let mut run = 0;
    let elements = (0..count).map(|_| {
        if run == 0 && random.below(6) == 0 {
            run = 4;
        }
        if run > 0 {
            run -= 1;
            return fill.to_vec();
        }
        match of.name {
            "int16" => {
                let value = i16::try_from(random.below(32)).expect("small") - 16;
                value.to_le_bytes().to_vec()
            }
            _ => (0..of.size()).map(|_| random.below(256) as u8).collect(),
        }
    });
    let elements = elements.collect();
    Array { shape: shape.to_vec(), elements }
}

/// Every slice of an axis, by start, count and step; steps past the end are equivalent.
fn slices(size: usize) -> Vec<Slice> {
    let mut all = Vec::new();
    for start in 0..size {
        for step in 1..=size.max(1) {
            for count in 0..=(size - start).div_ceil(step) {
                if step == 1 || count > 1 {
                    all.push(Slice { start, count, step });
                }
            }
        }
    }
    all
}

fn pick(array: &Array, region: &[Slice]) -> Vec<u8> {
    let counts: Vec<usize> = region.iter().map(|slice| slice.count).collect();
    let mut picked = Vec::new();
    for index in indices(&counts) {
        let at: Vec<usize> =
            index.iter().zip(region).map(|(n, slice)| slice.start + n * slice.step).collect();
        picked.extend_from_slice(&array.elements[place(&at, &array.shape)]);
    }
    picked
}

fn check(
    codec: &ChunkCodec,
    codecs: &[Value],
    of: Type,
    array: &Array,
    fill: &[u8],
    regions: impl Iterator<Item = Vec<Slice>>,
    scratch: &mut Scratch,
) {
    let what = || format!("{} on {:?} of {}", list(codecs), array.shape, of.name);
    let expected = naive::encode(codecs, of, array, fill);
    assert_eq!(&naive::decode(codecs, of, &array.shape, &expected, fill), array, "{}", what());

    let whole: Vec<u8> = array.elements.concat();
    let (content, encoded) = encode(codec, &whole, fill).expect("encodes");
    assert_eq!(encoded, expected, "encoded {}", what());
    let is_empty = array.elements.iter().all(|element| element == fill);
    assert_eq!(content, if is_empty { Encoded::Empty } else { Encoded::Chunk }, "{}", what());

    let found = decode(codec, &expected, &everything(codec), fill, scratch).expect("decodes");
    assert_eq!(found, whole, "decoded {}", what());
    check_strides(codec, &expected, array, fill, scratch, &what);
    check_margins(codec, codecs, of, array, fill, scratch, &what);
    for region in regions {
        let found = decode(codec, &expected, &region, fill, scratch).expect("decodes");
        assert_eq!(found, pick(array, &region), "{region:?} of {}", what());
    }
}

/// Into and from memory in Fortran order, with a gap after each element.
fn check_strides(
    codec: &ChunkCodec,
    expected: &[u8],
    array: &Array,
    fill: &[u8],
    scratch: &mut Scratch,
    what: &impl Fn() -> String,
) {
    let backwards: Vec<usize> = (0..array.shape.len()).rev().collect();
    let mut shape: Vec<usize> = array.shape.iter().rev().copied().collect();
    shape.push(2);
    let mut ranges: Vec<_> = array.shape.iter().map(|size| 0..*size).collect();
    ranges.push(0..1);
    let order = [&backwards[..], &[array.shape.len()]].concat();
    let view = View::contiguous(&shape).expect("small").permute(&order).expect("a permutation");
    let view = view.shrink(&ranges).expect("within").reshape(&array.shape).expect("as many");
    let view = view.expect("a size of 1 is gone");

    let mut strided = vec![0xcd; 2 * array.elements.len() * fill.len()];
    let mut out = Output::new(&mut strided, &view, fill.len()).expect("fits");
    codec.decode(expected, &everything(codec), &mut out, fill, scratch).expect("decodes");
    for index in indices(&array.shape) {
        let at = view.position(&index).expect("not masked") * fill.len();
        let element = &array.elements[place(&index, &array.shape)];
        assert_eq!(&strided[at..at + fill.len()], element, "{index:?} of {}", what());
        let gap = &strided[at + fill.len()..at + 2 * fill.len()];
        assert!(gap.iter().all(|byte| *byte == 0xcd), "beside {index:?} of {}", what());
    }
    let mut encoded = Vec::new();
    codec.encode(&strided, &view, fill, &mut encoded, scratch).expect("encodes");
    assert_eq!(encoded, expected, "encoded from Fortran order {}", what());
}

/// A chunk that the array's end cuts: elements past it are the fill value.
fn check_margins(
    codec: &ChunkCodec,
    codecs: &[Value],
    of: Type,
    array: &Array,
    fill: &[u8],
    scratch: &mut Scratch,
    what: &impl Fn() -> String,
) {
    let inside: Vec<usize> = array.shape.iter().map(|size| size.div_ceil(2)).collect();
    let margins: Vec<(usize, usize)> =
        array.shape.iter().zip(&inside).map(|(size, inside)| (0, size - inside)).collect();
    let mut cut = array.clone();
    let mut elements = Vec::new();
    for index in indices(&array.shape) {
        let at = place(&index, &array.shape);
        if index.iter().zip(&inside).all(|(n, inside)| n < inside) {
            elements.extend_from_slice(&array.elements[at]);
        } else {
            cut.elements[at] = fill.to_vec();
        }
    }
    let view = View::contiguous(&inside).expect("small").pad(&margins).expect("small");
    let mut encoded = Vec::new();
    codec.encode(&elements, &view, fill, &mut encoded, scratch).expect("encodes");
    assert_eq!(encoded, naive::encode(codecs, of, &cut, fill), "cut {}", what());
}

fn check_shape(shape: &[usize], depth: usize, regions_each: Option<usize>) -> usize {
    let mut random = Random(shape.iter().fold(1, |n, size| n * 31 + *size as u64));
    let mut scratch = Scratch::new();
    let axes: Vec<Vec<Slice>> = shape.iter().map(|size| slices(*size)).collect();
    let counts: Vec<usize> = axes.iter().map(Vec::len).collect();
    let all_regions = indices(&counts);
    let region =
        |at: &[usize]| -> Vec<Slice> { at.iter().zip(&axes).map(|(n, axis)| axis[*n]).collect() };
    let wide: Vec<u64> = shape.iter().map(|size| *size as u64).collect();
    let chains = chains(shape, depth);
    for (number, (chain, reached)) in chains.iter().enumerate() {
        let leaves = if chain.len() < depth { 0..12 } else { number % 12..number % 12 + 1 };
        for stored_number in leaves {
            let (of, array_to_bytes) = array_to_bytes(stored_number, reached, &mut random);
            let codecs = [&chain[..], &array_to_bytes].concat();
            let mut fill = vec![0; of.size()];
            fill[0] = 3;
            let array = elements(of, shape, &fill, &mut random);
            let codec = codec(&list(&codecs), of.name, &wide);
            let chosen: Vec<Vec<Slice>> = match regions_each {
                None => all_regions.iter().map(|at| region(at)).collect(),
                Some(count) => (0..count)
                    .map(|_| region(&all_regions[random.below(all_regions.len())]))
                    .collect(),
            };
            check(&codec, &codecs, of, &array, &fill, chosen.into_iter(), &mut scratch);
        }
    }
    chains.len()
}

#[test]
fn no_dimensions() {
    assert!(check_shape(&[], 3, None) > 50);
}

#[test]
fn one_dimension() {
    check_shape(&[1], 2, None);
    check_shape(&[5], 3, None);
    check_shape(&[4], 3, None);
    check_shape(&[12], 2, Some(40));
}

#[test]
fn two_dimensions() {
    assert!(check_shape(&[2, 3], 3, Some(30)) > 400);
    check_shape(&[2, 3], 2, None);
    check_shape(&[4, 2], 3, Some(10));
    check_shape(&[3, 1], 2, None);
    check_shape(&[4, 6], 2, Some(30));
}

#[test]
fn three_dimensions() {
    check_shape(&[2, 1, 2], 2, None);
    check_shape(&[2, 3, 2], 2, Some(30));
    assert!(check_shape(&[2, 2, 2], 3, Some(4)) > 500);
    check_shape(&[4, 3, 6], 1, Some(200));
}
