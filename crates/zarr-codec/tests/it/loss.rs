//! Values that `packbits` would cut (SD-49).

use zarr_codec::{AxisEdges, Chain, ChunkCodec, ChunkError, Encoded, Lost, Options, Scratch};
use zarr_metadata::Codec;
use zarr_view::View;

use crate::support::{data_type, decode_whole, encode};

fn chain(codecs: &str, data_type: &str, shape: &[u64], options: Options) -> Chain {
    let codecs = Codec::list_from_json(codecs.as_bytes()).expect("valid");
    let edges: Vec<AxisEdges> = shape.iter().map(|size| AxisEdges::one(*size)).collect();
    Chain::bind_with(&codecs, &self::data_type(data_type), &edges, options).expect("binds")
}

fn bits(first: u32, last: u32) -> String {
    format!(
        r#"[{{"name": "packbits", "configuration": {{"first_bit": {first}, "last_bit": {last}}}}}]"#
    )
}

fn sharded(inner: &str, chunk: &str) -> String {
    format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {chunk},
            "codecs": {inner},
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}]"#
    )
}

/// Encodes a chunk of one axis.
fn try_encode(
    chain: &Chain,
    elements: &[u8],
    fill: &[u8],
) -> Result<(Encoded, Vec<u8>), ChunkError> {
    let codec = chain.for_shape(&[(elements.len() / chain.element_size()) as u64]).expect("fits");
    let view = View::contiguous(codec.shape()).expect("small");
    let mut out = Vec::new();
    let content = codec.encode(elements, &view, fill, &mut out, &mut Scratch::new())?;
    Ok((content, out))
}

#[test]
fn sd_49_what_would_be_cut_is_refused_unless_loss_is_allowed() {
    let codecs = sharded(&bits(0, 3), "[2]");
    let refusing = chain(&codecs, "uint8", &[4], Options::new());
    let codec = refusing.for_shape(&[4]).expect("fits");
    let error = encode(&codec, &[1, 2, 3, 0x13], &[0]).expect_err("five bits");
    insta::assert_snapshot!(error, @"codec packbits ($.codecs[0].configuration.codecs[0]): inner chunk [1]: element 1 has the bits 0x13, and the codec would drop some of them");
    let losing = chain(&codecs, "uint8", &[4], Options::new().allow_loss(true));
    let codec = losing.for_shape(&[4]).expect("fits");
    let (_, bytes) = encode(&codec, &[1, 2, 3, 0x13], &[0]).expect("encodes");
    assert_eq!(decode_whole(&codec, &bytes, &[0]).expect("decodes"), [1, 2, 3, 3]);
    assert_eq!(losing.read_back(&[0x13, 7]).expect("elements"), [3, 7]);
    let lost = refusing.lost(&[1, 2, 0x13, 3, 0x23]).expect("elements");
    assert_eq!(lost, Some(Lost { first: 2, count: 2 }));
}

/// Every path to packing: from the caller's memory, by rows, through a buffer of all elements (a
/// reshape that is not a view of a transpose), and in shards of small and of large chunks.
#[test]
fn sd_49_every_way_of_encoding_refuses() {
    let packed = |before: &str| {
        format!(r#"[{before}{{"name": "packbits", "configuration": {{"last_bit": 11}}}}]"#)
    };
    let chains = [
        packed(""),
        packed(r#"{"name": "transpose", "configuration": {"order": [1, 0]}},"#),
        packed(
            r#"{"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "reshape", "configuration": {"shape": [-1]}},"#,
        ),
        packed("").replace(']', r#", {"name": "crc32c"}]"#),
        sharded(&packed(""), "[8, 8]"),
        sharded(&packed(""), "[256, 512]"),
        sharded(&packed("").replace(']', r#", {"name": "crc32c"}]"#), "[8, 8]"),
        sharded(&sharded(&packed(""), "[8, 8]"), "[128, 16]"),
    ];
    let shape = [256, 512];
    let mut elements = vec![0; 2 * 256 * 512];
    elements[2 * (37 * 512 + 100) + 1] = 0x08; // 2048, of twelve bits
    let view = View::contiguous(&shape).expect("small");
    // The same elements at the start of rows twice as long.
    let wide: Vec<u8> = elements.chunks(1024).flat_map(|row| [row, row].concat()).collect();
    let rows = View::new(&shape, &[1024, 1], 0).expect("small");
    for codecs in &chains {
        for (data_type, fits) in [("uint16", true), ("int16", false)] {
            let refusing = chain(codecs, data_type, &[256, 512], Options::new());
            let codec = refusing.for_shape(&[256, 512]).expect("fits");
            let (mut out, mut scratch) = (Vec::new(), Scratch::new());
            for (data, view) in [(&elements, &view), (&wide, &rows)] {
                let result = codec.encode(data, view, &[0, 0], &mut out, &mut scratch);
                assert_eq!(result.is_ok(), fits, "{codecs} {data_type}");
                if let Err(error) = result {
                    assert!(error.to_string().contains("0x0800"), "{error}");
                    assert_eq!(error.codec(), "packbits");
                }
            }
        }
    }
}

/// One value that is cut, at each place of a chunk, from adjacent rows and from rows apart:
/// checks the reported place, and the bytes if the loss is allowed.
#[test]
fn sd_49_one_cut_value_is_named_wherever_it_is() {
    // One byte of each element, with one bit that is not packed.
    let cases = [
        ("uint8", bits(0, 4), 1, (0, 0x20)),
        ("int8", bits(0, 3), 1, (0, 0x40)),
        ("int8", bits(2, 5), 1, (0, 0x01)),
        ("uint16", bits(0, 9), 2, (1, 0x80)),
        ("int16", bits(4, 13), 2, (1, 0x40)),
        ("uint32", bits(0, 0), 4, (2, 0x10)),
        ("float32", bits(16, 31), 4, (1, 0x02)),
        ("int64", bits(0, 47), 8, (6, 0x01)),
        ("complex64", bits(16, 31), 8, (4, 0x80)),
    ];
    let [rows, columns] = [5_usize, 67];
    for (data_type, codecs, size, (byte, bit)) in cases {
        let shape = [rows as u64, columns as u64];
        let refusing = chain(&codecs, data_type, &shape, Options::new());
        let losing = chain(&codecs, data_type, &shape, Options::new().allow_loss(true));
        let codecs = [&refusing, &losing].map(|chain| chain.for_shape(&shape).expect("fits"));
        let fill = vec![0; size];
        for (stride, name) in [(columns, "side by side"), (2 * columns + 1, "apart")] {
            let view = View::new(&[rows, columns], &[stride as isize, 1], 0).expect("small");
            let mut data = vec![0; rows * stride * size];
            let (mut out, mut scratch) = (Vec::new(), Scratch::new());
            let mut encode = |codec: &ChunkCodec, data: &[u8]| {
                codec.encode(data, &view, &fill, &mut out, &mut scratch).map(|_| out.clone())
            };
            let zeros = encode(&codecs[0], &data).expect("kept");
            for place in 0..rows * columns {
                let at = (place / columns * stride + place % columns) * size + byte;
                data[at] = bit;
                let what = format!("{data_type}, {name}, element {place}");
                let error = encode(&codecs[0], &data).map(drop).expect_err(&what).to_string();
                assert!(error.contains(&format!(": element {place} has the bits")), "{error}");
                assert_eq!(encode(&codecs[1], &data).expect("packs"), zeros, "{what}");
                data[at] = 0;
            }
        }
    }
}

#[test]
fn sd_49_the_element_is_counted_from_the_start_of_the_chunk() {
    let refusing = chain(&bits(0, 3), "uint8", &[200_000], Options::new());
    for lost in [0, 1, 16_383, 16_384, 65_536, 131_071, 199_999] {
        let mut elements = vec![0; 200_000];
        elements[lost] = 16;
        let error = try_encode(&refusing, &elements, &[1]).expect_err("five bits").to_string();
        assert!(error.contains(&format!("element {lost} has the bits 0x10")), "{error}");
    }
}

#[test]
fn sd_49_signs_components_and_first_bits() {
    let cases: [(&str, String, &[u8], bool); 15] = [
        ("int16", bits(0, 11), &(-2048_i16).to_le_bytes(), true),
        ("int16", bits(0, 11), &2047_i16.to_le_bytes(), true),
        ("int16", bits(0, 11), &2048_i16.to_le_bytes(), false),
        ("int16", bits(0, 11), &(-2049_i16).to_le_bytes(), false),
        ("int16", bits(4, 11), &(-2048_i16).to_le_bytes(), true),
        ("int16", bits(4, 11), &(-2047_i16).to_le_bytes(), false),
        ("uint16", bits(0, 11), &4095_u16.to_le_bytes(), true),
        ("uint16", bits(0, 11), &0xf800_u16.to_le_bytes(), false),
        ("float32", bits(16, 31), &1.5_f32.to_le_bytes(), true),
        ("float32", bits(16, 31), &0.1_f32.to_le_bytes(), false),
        // The imaginary part counts, too.
        ("complex64", bits(16, 31), &[0, 0, 0, 0, 1, 0, 0, 0], false),
        ("complex64", bits(16, 31), &[0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f], true),
        ("int4", bits(0, 2), &[0xfc], true),
        ("int4", bits(0, 2), &[0xfb], false),
        ("bool", bits(0, 0), &[1], true),
    ];
    for (data_type, codecs, element, fits) in cases {
        let refusing = chain(&codecs, data_type, &[3], Options::new());
        let elements = [element; 3].concat();
        let fill = vec![0; refusing.element_size()];
        let encoded = try_encode(&refusing, &elements, &fill);
        assert_eq!(encoded.is_ok(), fits, "{data_type} {codecs} {element:02x?}");
        let lost = (!fits).then_some(Lost { first: 0, count: 3 });
        assert_eq!(refusing.lost(&elements).expect("elements"), lost);
    }
}

/// Every byte that is not a value of its type, extended from its own bits, is refused, and
/// nothing else; if loss is allowed, only these bits are kept. With `bytes` and `packbits`, alone
/// and in shards of small and large chunks, with and without a compressor, from the caller's
/// memory and from a transposed view.
#[test]
fn sd_18_bytes_out_of_range_are_refused_unless_loss_is_allowed() {
    let bytes = r#"[{"name": "bytes"}]"#.to_owned();
    let packbits = r#"[{"name": "packbits"}]"#.to_owned();
    let with_crc32c = |codecs: &str| codecs.replace(']', r#", {"name": "crc32c"}]"#);
    let mut chains = vec![bytes.clone(), packbits.clone()];
    for inner in [bytes, packbits] {
        chains.push(with_crc32c(&inner));
        chains.push(sharded(&inner, "[3]"));
        chains.push(sharded(&with_crc32c(&inner), "[3]"));
        chains.push(sharded(&inner, "[150000]"));
    }
    let extended = |bits: u32, signed: bool, byte: u8| match (byte << (8 - bits), signed) {
        (high, true) => ((high as i8) >> (8 - bits)) as u8,
        (high, false) => high >> (8 - bits),
    };
    for (data_type, bits, signed) in [
        ("int2", 2, true),
        ("int4", 4, true),
        ("uint2", 2, false),
        ("uint4", 4, false),
        ("float4_e2m1fn", 4, false),
        ("float6_e2m3fn", 6, false),
    ] {
        for codecs in &chains {
            let large = codecs.contains("150000");
            let len = if large { 300_000 } else { 6 };
            let refusing = chain(codecs, data_type, &[len], Options::new());
            let losing = chain(codecs, data_type, &[len], Options::new().allow_loss(true));
            let every = if large { 37 } else { 1 };
            for byte in (0..=255_u8).step_by(every) {
                let mut elements = vec![1; len as usize];
                elements[4] = byte;
                let kept = extended(bits, signed, byte);
                let encoded = try_encode(&refusing, &elements, &[0]);
                assert_eq!(encoded.is_ok(), kept == byte, "{data_type} {codecs} {byte}");
                if let Err(error) = &encoded {
                    let bits = format!("has the bits 0x{byte:02x}");
                    assert!(error.to_string().contains(&bits), "{error}");
                }
                let lost = (kept != byte).then_some(Lost { first: 4, count: 1 });
                assert_eq!(refusing.lost(&elements).expect("elements"), lost);
                let (_, stored) = try_encode(&losing, &elements, &[0]).expect("allowed");
                if let Ok((_, same)) = encoded {
                    assert_eq!(same, stored, "{data_type} {codecs} {byte}");
                }
                elements[4] = kept;
                let codec = losing.for_shape(&[len]).expect("fits");
                assert_eq!(decode_whole(&codec, &stored, &[0]).expect("decodes"), elements);
            }
        }
    }
    // Counted in the order in which the chunk is stored: element [0, 2] of a transposed view.
    let order = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"}]"#;
    let refusing = chain(order, "int4", &[2, 3], Options::new());
    let codec = refusing.for_shape(&[2, 3]).expect("fits");
    let error = encode(&codec, &[1, 2, 100, 4, 5, 6], &[0]).expect_err("100");
    assert!(
        error.to_string().contains("codec bytes ($.codecs[1]): element 4 has the bits 0x64"),
        "{error}"
    );
}

/// A chunk of bytes that would read as the fill value is not a chunk of the fill value.
#[test]
fn sd_18_out_of_range_is_not_the_fill_value() {
    for codecs in [r#"[{"name": "bytes"}]"#, r#"[{"name": "packbits"}]"#] {
        let refusing = chain(codecs, "int4", &[3], Options::new());
        assert_eq!(try_encode(&refusing, &[0xfd; 3], &[0xfd]).expect("fill").0, Encoded::Empty);
        assert!(try_encode(&refusing, &[0xfd, 0x0d, 0xfd], &[0xfd]).is_err(), "{codecs}");
        let losing = chain(codecs, "int4", &[3], Options::new().allow_loss(true));
        let content = try_encode(&losing, &[0xfd, 0x0d, 0xfd], &[0xfd]).expect("allowed").0;
        assert_eq!(content, Encoded::Empty);
    }
}

#[test]
fn sd_49_a_fill_value_that_is_cut_is_refused_where_it_would_be_stored() {
    // Chunks of only the fill value are left out, so nothing is lost.
    let inner = bits(0, 3);
    let fill = &[0x55];
    for (codecs, large) in [(sharded(&inner, "[2]"), 1), (sharded(&inner, "[131072]"), 65_536)] {
        let refusing = chain(&codecs, "uint8", &[4 * large], Options::new());
        let elements = |values: [u8; 4]| values.map(|value| vec![value; large as usize]).concat();
        let (content, _) =
            try_encode(&refusing, &elements([1, 2, 0x55, 0x55]), fill).expect("kept");
        assert_eq!(content, Encoded::Chunk);
        let error = try_encode(&refusing, &elements([0x55, 2, 3, 4]), fill).expect_err("cut");
        assert!(error.to_string().contains("element 0 has the bits 0x55"), "{error}");
        assert_eq!(error.inner_chunks(), [[0]]);
    }
    // A chunk that may have to be stored anyway.
    let refusing = chain(&inner, "uint8", &[4], Options::new());
    assert!(try_encode(&refusing, &[0x55; 4], fill).is_err());
}

#[test]
fn sd_49_a_shard_index_never_loses_bits() {
    let narrow = sharded(&bits(0, 7), "[2]").replace(
        r#"{"name": "bytes", "configuration": {"endian": "little"}}"#,
        r#"{"name": "packbits", "configuration": {"last_bit": 31}}"#,
    );
    for options in [Options::new(), Options::new().allow_loss(true)] {
        let chain = chain(&narrow, "uint8", &[4], options);
        assert!(try_encode(&chain, &[1, 2, 3, 4], &[0]).is_ok());
        // The sign of a chunk that is left out is 2^64 - 1.
        let error = try_encode(&chain, &[1, 2, 0, 0], &[0]).expect_err("64 bits");
        assert!(error.to_string().contains("0xffffffffffffffff"), "{error}");
    }
}
