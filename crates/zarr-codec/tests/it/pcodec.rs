//! `numcodecs.pcodec`: bytes of numcodecs, the types it takes, and files that lie.

use zarr_codec::{AxisEdges, Chain, Options};
use zarr_metadata::{Codec, DataType, Pcodec};

use crate::support::{Random, codec, decode_whole, encode};

fn pcodec(configuration: &str) -> String {
    format!(r#"[{{"name": "numcodecs.pcodec", "configuration": {configuration}}}]"#)
}

/// `PCodec().encode(numpy.arange(10, dtype="int32"))` of numcodecs 0.17.1 with pcodec 1.1.0.
const TEN: &[u8] = &[
    112, 99, 111, 33, 3, 0, 131, 2, 4, 1, 3, 9, 0, 0, 16, 1, 1, 128, 0, 0, 0, 64, 0, 0, 0, 0, 128,
    0,
];

#[test]
fn what_numcodecs_wrote_is_read_under_every_name() {
    let expected: Vec<u8> = (0..10_i32).flat_map(i32::to_le_bytes).collect();
    for name in ["numcodecs.pcodec", "https://codec.zarrs.dev/array_to_bytes/pcodec"] {
        for shape in [&[10][..], &[2, 5]] {
            let codec = codec(&format!(r#"[{{"name": "{name}"}}]"#), "int32", shape);
            assert_eq!(decode_whole(&codec, TEN, &[0; 4]).expect("decodes"), expected);
            assert_eq!(encode(&codec, &expected, &[0; 4]).expect("encodes").1, TEN);
        }
    }
}

#[test]
fn all_types_and_options_read_what_they_write() {
    let mut random = Random(7);
    for (data_type, size) in [
        ("int16", 2),
        ("int32", 4),
        ("int64", 8),
        ("uint16", 2),
        ("uint32", 4),
        ("uint64", 8),
        ("float16", 2),
        ("float32", 4),
        ("float64", 8),
        ("complex64", 8),
        ("complex128", 16),
        ("complex_float16", 4),
    ] {
        for options in [
            "{}",
            r#"{"level": 0, "mode_spec": "classic", "delta_spec": "none"}"#,
            r#"{"level": 12, "delta_spec": "try_lookback"}"#,
            r#"{"delta_spec": "try_consecutive", "delta_encoding_order": 7}"#,
            r#"{"delta_encoding_order": 2, "equal_pages_up_to": 7}"#,
        ] {
            let codec = codec(&pcodec(options), data_type, &[30, 10]);
            // Every bit pattern is kept, NaN of any kind among them.
            let elements: Vec<u8> = (0..300 * size)
                .map(|n| {
                    u8::try_from(if n % 2 == 0 { random.below(256) } else { n % 7 })
                        .expect("a byte")
                })
                .collect();
            let (_, encoded) = encode(&codec, &elements, &vec![0; size]).expect("encodes");
            let decoded = decode_whole(&codec, &encoded, &vec![0; size]).expect("decodes");
            assert_eq!(decoded, elements, "{data_type} {options}");
        }
    }
}

#[test]
fn other_types_are_refused() {
    let chain = [Codec::NumcodecsPcodec(Pcodec::default())];
    for data_type in [DataType::Uint8, DataType::Bool, DataType::Bfloat16, DataType::Int4] {
        let error = Chain::bind(&chain, &data_type, &[AxisEdges::one(3)]).expect_err("refused");
        assert!(error.to_string().contains("$.codecs[0]"), "{error}");
    }
}

/// Files with each way of storing numbers that pco has.
fn files() -> Vec<(String, Vec<u8>, usize)> {
    let mut random = Random(3);
    let few: Vec<u64> =
        (0..9).map(|_| u64::try_from(random.below(usize::MAX)).expect("64 bits")).collect();
    let kinds: [Vec<u8>; 4] = [
        (0..900_u64).flat_map(|n| (n * n).to_le_bytes()).collect(),
        (0..900).flat_map(|_| few[random.below(9)].to_le_bytes()).collect(),
        (0..900_u64)
            .flat_map(|n| (few[usize::try_from(n % 9).expect("small")] + n / 9).to_le_bytes())
            .collect(),
        (0..900_u32).flat_map(|n| (f64::from(n) * 0.1).to_le_bytes()).collect(),
    ];
    let options =
        ["{}", r#"{"delta_spec": "try_lookback", "equal_pages_up_to": 300}"#, r#"{"level": 12}"#];
    let mut files = Vec::new();
    for (elements, data_type) in kinds.iter().zip(["uint64", "uint64", "uint64", "float64"]) {
        for options in options {
            let codec = codec(&pcodec(options), data_type, &[900]);
            let (_, encoded) = encode(&codec, elements, &[0; 8]).expect("encodes");
            files.push((data_type.to_owned(), encoded, 900));
        }
    }
    files
}

#[test]
fn damaged_files_are_errors_or_other_numbers() {
    let mut random = Random(11);
    for (data_type, file, count) in files() {
        let codec = codec(&pcodec("{}"), &data_type, &[u64::try_from(count).expect("small")]);
        for length in 0..file.len() {
            assert!(decode_whole(&codec, &file[..length], &[0; 8]).is_err(), "cut to {length}");
        }
        assert!(decode_whole(&codec, &[&file[..], &[0]].concat(), &[0; 8]).is_err());
        for at in 0..file.len().min(200) {
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[at] ^= 1 << bit;
                // Not a panic, and never other than so many elements.
                if let Ok(elements) = decode_whole(&codec, &damaged, &[0; 8]) {
                    assert_eq!(elements.len(), count * 8);
                }
            }
        }
        for _ in 0..2000 {
            let mut damaged = file.clone();
            for _ in 0..1 + random.below(6) {
                let at = random.below(damaged.len());
                damaged[at] = u8::try_from(random.below(256)).expect("a byte");
            }
            let _error_or_not = decode_whole(&codec, &damaged, &[0; 8]);
        }
    }
}

#[test]
fn sd_35_lengths_that_a_file_cannot_have_are_refused_before_memory_is_taken() {
    // More elements than the file can hold.
    let codec = codec(&pcodec("{}"), "int32", &[1 << 30]);
    let error = decode_whole_of(&codec, TEN);
    insta::assert_snapshot!(error, @"codec numcodecs.pcodec ($.codecs[0]): 28 bytes cannot decode to the expected 4294967296 bytes");

    // More numbers than the chunk has, and fewer.
    for count in [9, 11] {
        let codec = self::codec(&pcodec("{}"), "int32", &[count]);
        let error = decode_whole(&codec, TEN, &[0; 4]).expect_err("another number");
        assert!(error.to_string().contains("numcodecs.pcodec"), "{error}");
    }

    // A dictionary of 2^25 - 1 values.
    let mut dictionary = TEN[..14].to_vec();
    dictionary.extend([0xf4, 0xff, 0xff, 0x1f, 0, 0, 0, 0, 0, 0, 0, 0]);
    let codec = self::codec(&pcodec("{}"), "int32", &[10]);
    let error = decode_whole(&codec, &dictionary, &[0; 4]).expect_err("no dictionary");
    insta::assert_snapshot!(error, @"codec numcodecs.pcodec ($.codecs[0]): corrupt: a dictionary of 33554431 values in 8 bytes");

    // Out of a compressor whose length is not known, as far as the options let it.
    let codecs = Codec::list_from_json(pcodec("{}").as_bytes()).expect("codecs");
    let options = Options::new().unknown_decoded_len(4);
    let chain = Chain::bind_with(&codecs, &DataType::Int32, &[AxisEdges::one(10)], options);
    let codec = chain.expect("binds").for_shape(&[10]).expect("fits");
    assert!(decode_whole(&codec, TEN, &[0; 4]).is_ok(), "the length is known");
}

fn decode_whole_of(codec: &zarr_codec::ChunkCodec, encoded: &[u8]) -> String {
    use zarr_codec::{Scratch, Slice};
    use zarr_view::{Output, View};
    // One element is asked for, so that the memory is that of the codec.
    let view = View::contiguous(&[1]).expect("small");
    let mut element = [0; 4];
    let mut out = Output::new(&mut element, &view, 4).expect("fits");
    let region = [Slice { start: 0, count: 1, step: 1 }];
    let decoded = codec.decode(encoded, &region, &mut out, &[0; 4], &mut Scratch::new());
    decoded.expect_err("too long").to_string()
}
