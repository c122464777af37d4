//! `packbits` and `reshape`.

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use zarrs::array::codec::api::{
    ArrayToArrayCodecTraits, ArrayToBytesCodecTraits, AsyncArrayPartialDecoderTraits,
    AsyncBytesPartialDecoderTraits, BytesPartialDecoderTraits, BytesPartialEncoderTraits,
    CodecError, CodecOptions,
};
use zarrs::array::{ArrayBytes, ArrayBytesRaw, ArraySubset, FillValue, Indexer, data_type};
use zarrs::metadata::v3::MetadataV3;
use zarrs::storage::StorageError;
use zarrs::storage::byte_range::{ByteRange, ByteRangeIterator};
use zarrs_kit::{PackbitsCodec, ReshapeCodec};

use crate::{
    Random, Result, create, document, packbits, part, read, rectilinear, refusal, regular, reshape,
    stored, write,
};

fn int16(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Every region of an array is what the whole has there.
fn assert_regions(document: &Value, elements: &[u8], size: usize) -> Result<()> {
    let (array, _) = create(document)?;
    write(&array, elements)?;
    assert_eq!(read(&array, &array.subset_all())?, elements);
    let shape = array.shape().to_vec();
    let mut random = Random(elements.len() as u64 + 1);
    for _ in 0..60 {
        let region = random.region(&shape);
        let expected = part(elements, &shape, &region, size);
        assert_eq!(read(&array, &region)?, expected, "{region:?} of {document}");
    }
    Ok(())
}

#[test]
fn sd_13_sign_extends_to_the_whole_width() -> Result<()> {
    let codecs = json!([packbits(json!({"first_bit": 0, "last_bit": 6}))]);
    let document = document("int16", &[5], regular(&[5]), codecs, json!(0));
    let (array, store) = create(&document)?;
    let elements = int16(&[-1, -2, -64, 63, 0]);
    write(&array, &elements)?;
    assert_eq!(stored(&store, "c/0")?, [0x7f, 0x3f, 0xf0, 0x07, 0x00]);
    assert_regions(&document, &elements, 2)
}

#[test]
fn sd_14_full_width_types_have_their_padding_byte() -> Result<()> {
    for (padding, expected) in [
        ("first_byte", vec![0, 1, 0, 2, 0]),
        ("last_byte", vec![1, 0, 2, 0, 0]),
        ("none", vec![1, 0, 2, 0]),
    ] {
        let codecs = json!([packbits(json!({"padding_encoding": padding}))]);
        let document = document("int16", &[2], regular(&[2]), codecs, json!(0));
        let (array, store) = create(&document)?;
        write(&array, &int16(&[1, 2]))?;
        assert_eq!(stored(&store, "c/0")?, expected, "{padding}");
        assert_regions(&document, &int16(&[1, 2]), 2)?;
        if padding != "none" {
            let error = refusal(&document, &[1, 0, 2, 0]);
            assert!(error.contains("packbits: "), "{error}");
            assert!(error.contains("padding byte"), "{error}");
        }
    }
    Ok(())
}

#[test]
fn sd_49_what_would_not_read_back_is_refused() -> Result<()> {
    let codecs = json!([packbits(json!({"last_bit": 6}))]);
    let (array, store) = create(&document("int16", &[3], regular(&[3]), codecs, json!(0)))?;
    let error = write(&array, &int16(&[63, -64, 64])).expect_err("64 needs bit 7").to_string();
    assert!(error.contains("packbits: ") && error.contains("element 2"), "{error}");
    assert!(stored(&store, "c/0").is_err());

    // zarrs asks no codec about a fill value: the array can be made, and a chunk with it not written.
    let codecs = json!([packbits(json!({"last_bit": 6}))]);
    let (array, _) = create(&document("int16", &[3], regular(&[3]), codecs, json!(64)))?;
    write(&array, &int16(&[1, 2, 3]))?;
    let first = ArraySubset::new_with_shape(vec![1]);
    array.erase_chunk(&[0])?;
    let error = array.store_array_subset(&first, ArrayBytes::new_flen(int16(&[1])));
    let error = error.expect_err("64 needs bit 7").to_string();
    assert!(error.contains("packbits: ") && error.contains("element 1"), "{error}");
    Ok(())
}

#[test]
fn regions_of_reshaped_ragged_chunks() -> Result<()> {
    let grid = rectilinear(json!([[1, [2, 2]], [4, 3]]));
    let elements = int16(&(0..35).map(|n| n * 7 - 100).collect::<Vec<_>>());
    let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
    for shape in [json!([-1]), json!([[0, 1]]), json!([[0], 1, -1]), json!([[0], [1], []])] {
        for last in [packbits(json!({"last_bit": 9})), bytes.clone()] {
            let codecs = json!([reshape(shape.clone()), last]);
            assert_regions(
                &document("int16", &[5, 7], grid.clone(), codecs, json!(-1)),
                &elements,
                2,
            )?;
        }
    }
    Ok(())
}

/// Chunks of every packable type that zarrs reads without features, of every range of bits.
#[test]
fn random_chunks_in_part_and_whole() -> Result<()> {
    let types = [
        ("bool", 1, 1, false),
        ("int2", 2, 1, true),
        ("uint4", 4, 1, false),
        ("int4", 4, 1, true),
        ("uint8", 8, 1, false),
        ("int16", 16, 2, true),
        ("uint32", 32, 4, false),
        ("int64", 64, 8, true),
        ("complex64", 32, 4, false),
    ];
    let mut random = Random(49);
    for round in 0..150 {
        let (name, bits, size, signed) = random.of(&types);
        let (first, last) = (random.below(bits), random.below(bits));
        let (first, last) =
            if name == "complex64" { (0, 31) } else { (first.min(last), first.max(last)) };
        let padding = random.of(&["none", "first_byte", "last_byte"]);
        let (rows, columns) = (1 + random.below(6), 1 + random.below(9));
        let shape = [rows * 2, columns * 2];
        let components = if name == "complex64" { 2 } else { 1 };
        let elements: Vec<u8> = (0..shape[0] * shape[1] * components)
            .flat_map(|_| {
                let width = last - first + 1;
                let kept = random.next() >> (64 - width);
                let sign = signed && kept >> (width - 1) & 1 == 1;
                let value =
                    kept << first | if sign { (u64::MAX << first) << (width - 1) } else { 0 };
                value.to_le_bytes().into_iter().take(size).collect::<Vec<_>>()
            })
            .collect();
        let fill = if name == "bool" {
            json!(false)
        } else if components == 2 {
            json!([0, 0])
        } else {
            json!(0)
        };
        let shapes =
            [json!([-1]), json!([[0, 1]]), json!([2, -1]), json!([[0], 2, -1]), json!([[0], [1]])];
        let reshaped = random.below(3) > 0;
        let bits =
            packbits(json!({"first_bit": first, "last_bit": last, "padding_encoding": padding}));
        let codecs = match reshaped {
            true => json!([reshape(shapes[round % shapes.len()].clone()), bits]),
            false => json!([bits]),
        };
        let grid = match random.below(2) {
            0 => regular(&shape),
            _ => rectilinear(json!([[rows * 2], 2])),
        };
        let document = document(name, &shape, grid, codecs, fill);
        assert_regions(&document, &elements, size * components as usize)?;
    }
    Ok(())
}

#[test]
fn configurations_are_kept_as_they_are_written() -> Result<()> {
    let codecs = json!([
        reshape(json!([[0], -1])),
        packbits(json!({"last_bit": 11, "padding_encoding": "last_byte"}))
    ]);
    let grid = rectilinear(json!([3, [[2, 2], 1, 1]]));
    let (array, _) = create(&document("int16", &[6, 6], grid.clone(), codecs.clone(), json!(0)))?;
    let written = serde_json::to_value(array.metadata())?;
    assert_eq!((&written["chunk_grid"], &written["codecs"]), (&grid, &codecs));
    Ok(())
}

#[test]
fn refusals_say_what_was_found_and_what_is_allowed() {
    let of = |codecs: Value| document("int16", &[4, 6], regular(&[4, 6]), codecs, json!(0));
    for (document, text) in [
        (
            of(json!([packbits(json!({"first_bit": 8, "last_bit": 3}))])),
            "packbits: $.configuration.last_bit: found 3, expected at least 8, the first bit",
        ),
        (
            of(json!([packbits(json!({"padding_encoding": "start_byte"}))])),
            "expected \"first_byte\", which \"start_byte\" is in an early schema",
        ),
        (of(json!([packbits(json!({"last_bit": 16}))])), "packbits: last_bit is 16"),
        (
            of(json!([reshape(json!([5, -1])), packbits(json!({}))])),
            "reshape: $.shape[1]: found -1 beside sizes whose product is 5, expected -1 only if the \
             sizes divide 24, the elements of the input, for a chunk of shape [4, 6]",
        ),
        (
            of(json!([reshape(json!([2, [1], 2])), packbits(json!({}))])),
            "found an output whose lengths before it have the product 2, expected 4",
        ),
        (
            of(json!([reshape(json!([[1], [0]])), packbits(json!({}))])),
            "expected an input dimension after 1: they increase over the whole shape",
        ),
    ] {
        let error = refusal(&document, &[0; 48]);
        assert!(error.contains(text), "{error}\nhas not\n{text}");
    }
}

#[test]
fn types_that_are_not_packed_are_refused() {
    let codecs = json!([packbits(json!({}))]);
    let mut times = document("x", &[2], regular(&[2]), codecs, json!(0));
    times["data_type"] =
        json!({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}});
    let error = refusal(&times, &[0; 16]);
    assert!(error.contains("numpy.datetime64") && error.contains("packbits"), "{error}");
}

// What zarrs' own tests of `reshape` show, of the same shapes and regions.

fn lengths(shape: &[u64]) -> Vec<NonZeroU64> {
    shape.iter().map(|length| NonZeroU64::new(*length).expect("a length")).collect()
}

fn codecs(shape: Value) -> Result<(Arc<ReshapeCodec>, Arc<PackbitsCodec>)> {
    let metadata = |value: Value| serde_json::from_value::<MetadataV3>(value);
    let reshape = ReshapeCodec::from_metadata(&metadata(reshape(shape))?)?;
    let packbits = PackbitsCodec::from_metadata(&metadata(packbits(json!({"last_bit": 8})))?)?;
    Ok((Arc::new(reshape), Arc::new(packbits)))
}

/// The shape of `reshape`, that of the chunk, what is asked for, and the elements there.
type Part = (Value, Vec<u64>, Box<dyn Indexer>, Vec<u16>);

fn regions() -> Vec<Part> {
    let ranges = |ranges: &[std::ops::Range<u64>]| ArraySubset::new_with_ranges(ranges);
    // zarrs writes [[2], [0, 1]], which the document forbids, for this shape.
    let square = || json!([4, 6]);
    vec![
        (
            square(),
            vec![2, 3, 4],
            Box::new(ranges(&[1..2, 1..3, 1..4])),
            vec![17, 18, 19, 21, 22, 23],
        ),
        (
            square(),
            vec![2, 3, 4],
            Box::new(vec![vec![1, 2, 3], vec![0, 0, 1], vec![1, 0, 2]]),
            vec![23, 1, 14],
        ),
        (
            json!([[0, 1, 2]]),
            vec![2, 3, 4],
            Box::new(ranges(&[0..2, 1..3, 2..4])),
            vec![6, 7, 10, 11, 18, 19, 22, 23],
        ),
        (
            json!([4, -1]),
            vec![2, 3, 4],
            Box::new(vec![vec![0, 2, 3], vec![1, 0, 0], vec![1, 2, 2]]),
            vec![11, 12, 22],
        ),
        (
            json!([2, 3, 2]),
            vec![12],
            Box::new(ArraySubset::new_with_start_shape(vec![3], vec![7]).expect("one dimension")),
            vec![3, 4, 5, 6, 7, 8, 9],
        ),
        (json!([-1]), vec![3, 4], Box::new(ranges(&[1..1, 0..4])), vec![]),
        (
            json!([[0, 1], 2, 2]),
            vec![2, 3, 4],
            Box::new(vec![ranges(&[0..1, 0..1, 2..4]), ranges(&[1..2, 2..3, 0..2])]),
            vec![2, 3, 20, 21],
        ),
    ]
}

fn uint16(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

#[test]
fn parts_of_zarrs_own_tests() -> Result<()> {
    let (of_type, fill, options) =
        (data_type::uint16(), FillValue::from(7_u16), CodecOptions::default());
    for (shape, decoded, indexer, expected) in regions() {
        let (reshape, packbits) = codecs(shape.clone())?;
        let decoded = lengths(&decoded);
        let encoded = reshape.encoded_shape(&decoded)?;
        let count: u64 = encoded.iter().map(|length| length.get()).product();
        let elements: Vec<u8> = (0..count as u16).flat_map(u16::to_le_bytes).collect();
        let chunk = packbits
            .encode(ArrayBytes::new_flen(elements), &encoded, &of_type, &fill, &options)?
            .into_owned();

        let input: Arc<dyn BytesPartialDecoderTraits> = Arc::new(chunk.clone());
        let inner = packbits.clone().partial_decoder(input, &encoded, &of_type, &fill, &options)?;
        let outer = reshape.clone().partial_decoder(inner, &decoded, &of_type, &fill, &options)?;
        let found = outer.partial_decode(&*indexer, &options)?.into_fixed()?;
        assert_eq!(uint16(&found), expected, "{shape}");
        let wrong = ArraySubset::new_with_ranges(&vec![0..1; decoded.len() + 1]);
        assert!(outer.partial_decode(&wrong, &options).is_err());
        let beyond = ArraySubset::new_with_ranges(
            &decoded.iter().map(|n| 0..n.get() + 1).collect::<Vec<_>>(),
        );
        assert!(outer.partial_decode(&beyond, &options).is_err());

        let input: Arc<dyn AsyncBytesPartialDecoderTraits> = Arc::new(chunk.clone());
        let found = futures::executor::block_on(async {
            let inner = packbits
                .clone()
                .async_partial_decoder(input, &encoded, &of_type, &fill, &options)
                .await?;
            let outer: Arc<dyn AsyncArrayPartialDecoderTraits> = reshape
                .clone()
                .async_partial_decoder(inner, &decoded, &of_type, &fill, &options)
                .await?;
            let found = outer.partial_decode(&*indexer, &options).await?.into_fixed()?;
            Result::Ok(uint16(&found))
        })?;
        assert_eq!(found, expected, "{shape}, without blocking");

        // Written in part: into a chunk, and into one that does not exist.
        let added: Vec<u8> =
            expected.iter().flat_map(|value| (value + 100).to_le_bytes()).collect();
        for before in [Some(chunk), None] {
            let rest: Vec<u16> = match before {
                Some(_) => (0..count as u16).collect(),
                None => vec![7; count as usize],
            };
            let output = Arc::new(Mutex::new(before));
            let input_output: Arc<dyn BytesPartialEncoderTraits> = output.clone();
            let inner = packbits.clone().partial_encoder(
                input_output,
                &encoded,
                &of_type,
                &fill,
                &options,
            )?;
            let outer =
                reshape.clone().partial_encoder(inner, &decoded, &of_type, &fill, &options)?;
            outer.partial_encode(&*indexer, &ArrayBytes::new_flen(added.clone()), &options)?;
            let bytes = output.lock().expect("not poisoned").clone();
            let after = match bytes {
                Some(bytes) => {
                    let bytes =
                        packbits.decode(bytes.into(), &encoded, &of_type, &fill, &options)?;
                    uint16(&bytes.into_fixed()?)
                }
                None => vec![7; count as usize],
            };
            let shape: Vec<u64> = decoded.iter().map(|length| length.get()).collect();
            let mut wanted = rest;
            for (place, value) in indexer.iter_linearised_indices(&shape)?.zip(&expected) {
                wanted[place as usize] = value + 100;
            }
            assert_eq!(after, wanted);
        }
    }
    Ok(())
}

/// A chunk that notes what is read of it.
struct Noted(Vec<u8>, Mutex<Vec<ByteRange>>);

impl BytesPartialDecoderTraits for Noted {
    fn exists(&self) -> std::result::Result<bool, StorageError> {
        Ok(true)
    }

    fn size_held(&self) -> usize {
        0
    }

    fn partial_decode_many(
        &self,
        ranges: ByteRangeIterator,
        options: &CodecOptions,
    ) -> std::result::Result<Option<Vec<ArrayBytesRaw<'_>>>, CodecError> {
        let ranges: Vec<ByteRange> = ranges.collect();
        self.1.lock().expect("not poisoned").extend(&ranges);
        let ranges = Box::new(ranges.into_iter());
        BytesPartialDecoderTraits::partial_decode_many(&self.0, ranges, options)
    }

    fn supports_partial_decode(&self) -> bool {
        true
    }
}

/// 4 rows of 16 elements of 9 bits, 18 bytes a row, reshaped.
#[test]
fn a_part_reads_the_bytes_that_hold_it_and_no_others() -> Result<()> {
    let (of_type, fill, options) =
        (data_type::uint16(), FillValue::from(7_u16), CodecOptions::default());
    let decoded = lengths(&[4, 16]);
    for (shape, region, expected) in [
        (json!([-1]), [1..3, 0..16], vec![(18, 54)]),
        (json!([[0], 4, 4]), [1..3, 4..8], vec![(22, 27), (40, 45)]),
        (json!([8, 8]), [0..2, 15..16], vec![(16, 18), (34, 36)]),
        (json!([[0], [1]]), [3..3, 0..16], vec![]),
    ] {
        let (reshape, packbits) = codecs(shape.clone())?;
        let encoded = reshape.encoded_shape(&decoded)?;
        let chunk = Arc::new(Noted(vec![0; 72], Mutex::default()));
        let input: Arc<dyn BytesPartialDecoderTraits> = chunk.clone();
        let inner = packbits.partial_decoder(input, &encoded, &of_type, &fill, &options)?;
        let outer = reshape.partial_decoder(inner, &decoded, &of_type, &fill, &options)?;
        let found = outer.partial_decode(&ArraySubset::new_with_ranges(&region), &options)?;
        let count: u64 = region.iter().map(|range| range.end - range.start).product();
        assert_eq!(found.size() as u64, count * 2);
        let expected: Vec<_> =
            expected.into_iter().map(|(start, end)| ByteRange::new(start..end)).collect();
        assert_eq!(*chunk.1.lock().expect("not poisoned"), expected, "{shape}");
    }
    Ok(())
}

#[test]
fn shapes_of_zarrs_own_tests() -> Result<()> {
    let decoded = lengths(&[5, 4, 4, 3]);
    for (shape, expected) in [
        (json!([[0, 1], [2], 3]), Some(vec![20, 4, 3])),
        (json!([[0, 1], [2], -1]), Some(vec![20, 4, 3])),
        (json!([[0, 1, 2], 3]), Some(vec![80, 3])),
        (json!([[0], -1, [2, 3]]), Some(vec![5, 4, 12])),
        (json!([[0], -1, [3]]), Some(vec![5, 16, 3])),
        (json!([-1, 2, 2, [3]]), Some(vec![20, 2, 2, 3])),
        (json!([-1, 2, 2, [4]]), None),
        (json!([2, 2, 2]), None),
    ] {
        let (reshape, _) = codecs(shape.clone())?;
        let found = reshape.encoded_shape(&decoded).ok();
        assert_eq!(found, expected.map(|shape| lengths(&shape)), "{shape}");
    }
    Ok(())
}
