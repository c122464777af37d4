//! Documents that are made without JSON.

use zarr_metadata::{
    ArrayBuilder, ArrayMetadata, BloscCompressor, ChunkEdges, ChunkGrid, ChunkKeyEncoding, Codec,
    DataType, EdgeRun, FillValue, MetadataError, Packbits, ReshapeDim, Separator,
};

fn parsed(json: &str) -> ArrayMetadata {
    ArrayMetadata::from_json(json.as_bytes()).expect(json)
}

#[test]
fn every_part_stands_in_the_document() {
    let array = ArrayBuilder::new([90, 4], DataType::Int16)
        .chunks([[31, 28, 31].into(), 2.into()])
        .codecs([
            Codec::transpose([1, 0]),
            Codec::reshape([ReshapeDim::InputDims(vec![0]), ReshapeDim::Auto]),
            Codec::packbits(0..=11),
            Codec::gzip(5),
            Codec::Crc32c,
        ])
        .fill_value(-2048)
        .chunk_key_encoding(ChunkKeyEncoding::V2 { separator: Separator::Dot })
        .dimension_names_or_none([Some("day"), None])
        .attributes(r#"{"source": "x", "units": "K"}"#)
        .attribute("units", "\"Celsius\"")
        .attribute("count", "12345678901234567890123")
        .build()
        .expect("a document");
    let expected = parsed(
        r#"{
        "zarr_format": 3, "node_type": "array", "shape": [90, 4], "data_type": "int16",
        "chunk_grid": {"name": "rectilinear",
          "configuration": {"kind": "inline", "chunk_shapes": [[31, 28, 31], 2]}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
        "fill_value": -2048,
        "codecs": [
          {"name": "transpose", "configuration": {"order": [1, 0]}},
          {"name": "reshape", "configuration": {"shape": [[0], -1]}},
          {"name": "packbits", "configuration": {"last_bit": 11}},
          {"name": "gzip", "configuration": {"level": 5}},
          {"name": "crc32c"}],
        "dimension_names": ["day", null],
        "attributes": {"source": "x", "units": "Celsius", "count": 12345678901234567890123}
        }"#,
    );
    assert_eq!(array, expected);
}

/// With each attribute in a document of its own, this takes minutes.
#[test]
fn many_attributes_are_one_change_of_the_document() {
    let mut builder = ArrayBuilder::new([1], DataType::Int8);
    for index in 0..20_000 {
        builder = builder.attribute(index.to_string(), "1");
    }
    assert_eq!(builder.build().expect("a document").attribute_names().len(), 20_000);
}

#[test]
fn shards_blosc_and_types_of_a_few_bits() {
    let codecs =
        [Codec::sharding([32], [Codec::bytes(), Codec::blosc(BloscCompressor::Lz4, 5, 4)])];
    let sharded = ArrayBuilder::new([100], DataType::Uint32)
        .chunk_shape([64])
        .codecs(codecs)
        .build()
        .expect("a document");
    let expected = parsed(
        r#"{
        "zarr_format": 3, "node_type": "array", "shape": [100], "data_type": "uint32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [64]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
        "codecs": [{"name": "sharding_indexed", "configuration": {
          "chunk_shape": [32],
          "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5,
              "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}],
          "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "crc32c"}],
          "index_location": "end"}}]}"#,
    );
    assert_eq!(sharded, expected);
    let mask = ArrayBuilder::new([100], DataType::Bool)
        .codecs([Codec::Packbits(Packbits::default())])
        .fill_value(true)
        .build()
        .expect("a document");
    assert_eq!(mask.fill_value().bytes(), Some(&[1][..]));
}

#[test]
fn fill_values_are_those_of_the_data_type() {
    let fill = |data_type: DataType, builder: fn(ArrayBuilder) -> ArrayBuilder| {
        let array = builder(ArrayBuilder::new([1], data_type)).build()?;
        Ok::<_, MetadataError>(array.fill_value().bytes().map(<[u8]>::to_vec))
    };
    let tenth = Some(0.1_f32.to_le_bytes().to_vec());
    assert_eq!(fill(DataType::Float32, |b| b.fill_value(0.1)), Ok(tenth.clone()));
    assert_eq!(fill(DataType::Float32, |b| b.fill_value(0.1_f32)), Ok(tenth));
    let one = Some(1.0_f64.to_le_bytes().to_vec());
    assert_eq!(fill(DataType::Float64, |b| b.fill_value(1)), Ok(one));
    let nan = Some(f32::NAN.to_le_bytes().to_vec());
    assert_eq!(fill(DataType::Float32, |b| b.fill_value(f64::NAN)), Ok(nan));
    let least = Some(f32::NEG_INFINITY.to_le_bytes().to_vec());
    assert_eq!(fill(DataType::Float32, |b| b.fill_value(f32::NEG_INFINITY)), Ok(least));
    let largest = Some(u64::MAX.to_le_bytes().to_vec());
    assert_eq!(fill(DataType::Uint64, |b| b.fill_value(u64::MAX)), Ok(largest));
    let payload = |b: ArrayBuilder| {
        b.fill_value(FillValue::parse(&DataType::Float32, "\"0x7fc00001\"").expect("a NaN"))
    };
    let bytes = Some(0x7fc0_0001_u32.to_le_bytes().to_vec());
    assert_eq!(fill(DataType::Float32, payload), Ok(bytes));
    // Not of the type.
    for (data_type, builder) in [
        (DataType::Uint8, (|b| b.fill_value(-1)) as fn(ArrayBuilder) -> ArrayBuilder),
        (DataType::Uint8, |b| b.fill_value(256)),
        (DataType::Int16, |b| b.fill_value(1.0)),
        (DataType::Bool, |b| b.fill_value(1)),
        (DataType::Float64, |b| b.fill_value(false)),
        (DataType::Int32, |b| b.fill_value(f64::NAN)),
    ] {
        let error = fill(data_type.clone(), builder).expect_err(&data_type.to_string());
        assert_eq!(error.path(), "$.fill_value", "{error}");
    }
}

#[test]
fn chunks_by_default_are_of_a_few_mebibytes_and_let_empty_axes_grow() {
    let shape_of = |shape: &[u64], data_type| {
        let array = ArrayBuilder::new(shape, data_type).build().expect("a document");
        match array.chunk_grid() {
            ChunkGrid::Regular { chunk_shape } => chunk_shape.clone(),
            grid => panic!("{grid:?}"),
        }
    };
    assert_eq!(shape_of(&[], DataType::Int8), Vec::<u64>::new());
    assert_eq!(shape_of(&[3, 5], DataType::Float64), [3, 5]);
    assert_eq!(shape_of(&[0], DataType::Float32), [1 << 20]);
    assert_eq!(shape_of(&[0, 0], DataType::Int32), [1024, 1024]);
    assert_eq!(shape_of(&[0, 721, 1440], DataType::Float32), [1, 721, 1440]);
    assert_eq!(shape_of(&[0, 100_000], DataType::Float32), [8, 100_000]);
    assert_eq!(shape_of(&[1, 0], DataType::Bool), [1, 4 << 20]);
    let huge = shape_of(&[u64::MAX, u64::MAX], DataType::Int8);
    assert!(huge.iter().product::<u64>() <= 4 << 20, "{huge:?}");
}

#[test]
fn runs_stay_runs_and_lists_are_written_shortly() {
    let year = ChunkEdges::from_runs([EdgeRun::Repeat {
        edge: 365,
        count: 1_000_000_000.try_into().expect("not 0"),
    }]);
    let array = ArrayBuilder::new([365_000_000_000], DataType::Uint8)
        .chunks([year])
        .build()
        .expect("a document");
    assert!(array.json().contains("[[[365, 1000000000]]]"), "{}", array.json());
    let lengths: ChunkEdges = vec![7; 100].into();
    assert_eq!(lengths, ChunkEdges::from_lengths(std::iter::repeat_n(7, 100)));
}

#[test]
fn what_does_not_fit_is_named_by_its_path() {
    let path = |builder: ArrayBuilder| builder.build().expect_err("does not fit").path().to_owned();
    let new = || ArrayBuilder::new([4, 4], DataType::Uint8);
    assert_eq!(path(new().chunk_shape([4])), "$.chunk_grid.configuration.chunk_shape");
    assert_eq!(path(new().chunk_shape([4, 0])), "$.chunk_grid.configuration.chunk_shape[1]");
    let short = new().chunks([[1, 2].into(), 4.into()]);
    assert_eq!(path(short), "$.chunk_grid.configuration.chunk_shapes[0]");
    assert_eq!(path(new().codecs([Codec::zstd(3)])), "$.codecs[0]");
    assert_eq!(path(new().dimension_names(["y"])), "$.dimension_names");
    assert_eq!(path(new().attributes("[]")), "$.attributes");
}
