//! Any chain on any bytes: decoding fails or returns elements, the same as a whole and by
//! regions, and the same again after they are encoded.
//!
//! The first bytes of the input choose the chain; the rest is the chunk, or its elements.

#![no_main]

mod decode;

use libfuzzer_sys::fuzz_target;
use zarr_codec::{AxisEdges, Chain, Options, Scratch, Slice};
use zarr_metadata::{ArrayMetadata, Codec, DataType};
use zarr_view::View;

use decode::{decode, whole};

/// Bytes that make choices; zeros when they are used up.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % limit.max(1)
    }
}

impl Choices<'_> {
    /// Below `few`, or sometimes up to a thousand: chains and ranks as large as documents may
    /// have.
    fn few_or_many(&mut self, few: usize) -> usize {
        match self.below(256) {
            chosen @ 252.. => 1 << (4 + 2 * (chosen - 252)),
            chosen => chosen % few,
        }
    }
}

const TYPES: [&str; 14] = [
    "bool",
    "uint8",
    "int8",
    "int4",
    "uint2",
    "int16",
    "uint16",
    "float16",
    "int32",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "r24",
];

const COMPRESSORS: [&str; 8] = [
    r#"{"name":"crc32c"}"#,
    r#"{"name":"gzip","configuration":{"level":1}}"#,
    r#"{"name":"zstd","configuration":{"level":1,"checksum":true}}"#,
    r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"shuffle","typesize":4,"blocksize":0}}"#,
    r#"{"name":"blosc","configuration":{"cname":"blosclz","clevel":5,"shuffle":"bitshuffle","typesize":2,"blocksize":16}}"#,
    r#"{"name":"blosc","configuration":{"cname":"zstd","clevel":1,"shuffle":"noshuffle","blocksize":0}}"#,
    r#"{"name":"blosc","configuration":{"cname":"snappy","clevel":1,"shuffle":"shuffle","typesize":8,"blocksize":0}}"#,
    r#"{"name":"blosc","configuration":{"cname":"zlib","clevel":1,"shuffle":"shuffle","typesize":3,"blocksize":0}}"#,
];

fn transpose(choices: &mut Choices<'_>, shape: &mut Vec<usize>) -> String {
    let mut rest: Vec<usize> = (0..shape.len()).collect();
    let mut order = Vec::new();
    while !rest.is_empty() {
        order.push(rest.remove(choices.below(rest.len())));
    }
    *shape = order.iter().map(|axis| shape[*axis]).collect();
    format!(r#"{{"name":"transpose","configuration":{{"order":{order:?}}}}}"#)
}

/// The same elements in a shape of factors of their number.
fn reshape(choices: &mut Choices<'_>, shape: &mut Vec<usize>) -> String {
    let mut rest: usize = shape.iter().product();
    shape.clear();
    while rest > 1 && shape.len() < 4 {
        let factors: Vec<usize> = (2..=rest).filter(|n| rest % n == 0).collect();
        let factor = factors[choices.below(factors.len())];
        shape.push(factor);
        rest /= factor;
    }
    if rest > 1 || shape.is_empty() {
        shape.push(rest);
    }
    format!(r#"{{"name":"reshape","configuration":{{"shape":{shape:?}}}}}"#)
}

fn chain(
    choices: &mut Choices<'_>,
    data_type: &str,
    mut shape: Vec<usize>,
    depth: usize,
) -> String {
    let mut codecs = Vec::new();
    // Each choice takes one byte, and a transpose takes one per dimension.
    let moves = choices.few_or_many(4).min(1000);
    for _ in 0..moves {
        codecs.push(match choices.below(2) {
            0 => transpose(choices, &mut shape),
            _ => reshape(choices, &mut shape),
        });
    }
    codecs.push(match choices.below(if depth > 0 { 4 } else { 3 }) {
        0 => String::from(r#"{"name":"bytes","configuration":{"endian":"little"}}"#),
        1 => String::from(r#"{"name":"bytes","configuration":{"endian":"big"}}"#),
        2 => {
            let padding = ["none", "first_byte", "last_byte"][choices.below(3)];
            let first = choices.below(3);
            let last = first + choices.below(12);
            format!(
                r#"{{"name":"packbits","configuration":{{"padding_encoding":"{padding}","first_bit":{first},"last_bit":{last}}}}}"#
            )
        }
        _ => {
            let inner: Vec<usize> = shape
                .iter()
                .map(|size| {
                    let divisors: Vec<usize> = (1..=*size).filter(|n| size % n == 0).collect();
                    divisors[choices.below(divisors.len())]
                })
                .collect();
            let location = ["start", "end"][choices.below(2)];
            let index = [
                r#"{"name":"bytes","configuration":{"endian":"little"}}"#,
                r#"{"name":"bytes","configuration":{"endian":"big"}},{"name":"crc32c"}"#,
                r#"{"name":"reshape","configuration":{"shape":[-1]}},{"name":"packbits","configuration":{"padding_encoding":"last_byte"}}"#,
            ][choices.below(3)];
            let codecs = chain(choices, data_type, inner.clone(), depth - 1);
            format!(
                r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{inner:?},"codecs":{codecs},"index_codecs":[{index}],"index_location":"{location}"}}}}"#
            )
        }
    });
    for _ in 0..choices.few_or_many(3).min(1000 - moves) {
        codecs.push(COMPRESSORS[choices.below(COMPRESSORS.len())].to_owned());
    }
    format!("[{}]", codecs.join(","))
}

fn data_type(name: &str) -> DataType {
    let fill = match name {
        "bool" => "false",
        "complex64" | "complex128" => "[0,0]",
        "r24" => "[0,0,0]",
        _ => "0",
    };
    let document = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[],"data_type":"{name}","fill_value":{fill},
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[]}}}},
        "chunk_key_encoding":{{"name":"default"}},
        "codecs":[{{"name":"bytes","configuration":{{"endian":"little"}}}}]}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).expect("valid").data_type().clone()
}

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices(input);
    let name = TYPES[choices.below(TYPES.len())];
    let rank = choices.few_or_many(4);
    // With many dimensions, all but a few have one index.
    let shape: Vec<usize> =
        (0..rank).map(|axis| if axis < 4 { 1 + choices.below(6) } else { 1 }).collect();
    let codecs = chain(&mut choices, name, shape.clone(), 2);
    let region: Vec<Slice> = shape
        .iter()
        .map(|size| {
            let start = choices.below(*size);
            let step = 1 + choices.below(3);
            let count = choices.below((size - start).div_ceil(step) + 1);
            Slice { start, count, step }
        })
        .collect();
    let encode_first = choices.below(2) == 1;
    let rest = choices.0;

    let data_type = data_type(name);
    let Ok(codecs) = Codec::list_from_json(codecs.as_bytes()) else { return };
    let edges: Vec<AxisEdges> = shape.iter().map(|size| AxisEdges::one(*size as u64)).collect();
    // Any bytes are elements, whatever `packbits` cuts off.
    let options = Options::new().unknown_decoded_len(1 << 20).allow_loss(true);
    let Ok(bound) = Chain::bind_with(&codecs, &data_type, &edges, options) else { return };
    let shape: Vec<u64> = shape.iter().map(|size| *size as u64).collect();
    let codec = bound.for_shape(&shape).expect("the shape it was bound to");
    let (size, mut scratch) = (bound.element_size(), Scratch::new());

    let mut encoded = rest.to_vec();
    let view = View::contiguous(codec.shape()).expect("small");
    if encode_first {
        let mut elements = rest.to_vec();
        elements.resize(view.len() * size, 1);
        let fill = vec![1; size];
        if codec.encode(&elements, &view, &fill, &mut encoded, &mut scratch).is_err() {
            return; // a boolean of neither 0 nor 1
        }
        assert!(decode(&codec, size, &encoded, &whole(&codec), &mut scratch).is_some());
    }
    let Some(all) = decode(&codec, size, &encoded, &whole(&codec), &mut scratch) else { return };
    if let Some(length) = codec.encoded_len() {
        assert_eq!(length, encoded.len() as u64);
    }
    // Decode by regions.
    if let Some(part) = decode(&codec, size, &encoded, &region, &mut scratch) {
        let mut sliced = view.clone();
        for (axis, slice) in region.iter().enumerate() {
            let step = slice.step as isize;
            sliced = sliced.slice(axis, slice.start, step, slice.count).expect("within");
        }
        let target = View::contiguous(sliced.shape()).expect("small");
        let mut expected = vec![0xa5; part.len()];
        let element = zarr_view::CopyElement::try_from(size).expect("above 0");
        zarr_view::copy(&sliced, &all, &target, &mut expected, element, &[]).expect("fits");
        assert_eq!(part, expected, "{region:?} of {codec:?}");
    } else {
        panic!("{region:?} of a chunk that decodes whole: {codec:?}");
    }
    // Encode and decode again.
    let mut again = Vec::new();
    codec.encode(&all, &view, &vec![1; size], &mut again, &mut scratch).expect("encodes");
    let back = decode(&codec, size, &again, &whole(&codec), &mut scratch);
    assert_eq!(back.as_ref(), Some(&all), "{codec:?}");
});
