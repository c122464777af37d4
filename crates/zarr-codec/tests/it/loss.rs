//! Values that `packbits` would cut (SD-49).

use zarr_codec::{AxisEdges, Chain, ChunkError, Encoded, Lost, Options, Scratch};
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
    insta::assert_snapshot!(error, @"codec packbits ($.codecs[0].configuration.codecs[0]): inner chunk [1]: element 1 has the bits 0x13, some of which the packed form cannot keep");
    let losing = chain(&codecs, "uint8", &[4], Options::new().allow_loss(true));
    let codec = losing.for_shape(&[4]).expect("fits");
    let (_, bytes) = encode(&codec, &[1, 2, 3, 0x13], &[0]).expect("encodes");
    assert_eq!(decode_whole(&codec, &bytes, &[0]).expect("decodes"), [1, 2, 3, 3]);
    assert_eq!(losing.read_back(&[0x13, 7]).expect("elements"), [3, 7]);
    let lost = refusing.lost(&[1, 2, 0x13, 3, 0x23]).expect("elements");
    assert_eq!(lost, Some(Lost { first: 2, count: 2 }));
}

/// Every way to the packing: from where the caller has the elements, by rows, by way of a buffer of
/// all of them (a reshape that is no view of a transpose), in shards of small and of large chunks.
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
    let cases: [(&str, String, &[u8], bool); 16] = [
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
        // Sub-byte types are extended in memory (SD-18); bits that carry no value are not lost.
        ("int4", bits(0, 3), &[0x0f], true),
        ("int4", bits(0, 2), &[0xfc], true),
        ("int4", bits(0, 2), &[0x0b], false),
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

#[test]
fn sd_49_a_fill_value_that_is_cut_is_refused_where_it_would_be_stored() {
    // Chunks of nothing else are left out: nothing of them is lost.
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
    // A chunk that may have to be stored all the same.
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
