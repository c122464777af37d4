//! `zarrs.optional`: elements that may be missing.

use zarr_metadata::{
    ArrayBuilder, Codec, CodecKind, DataType, FillValue, NodeMetadata, Optional, OptionalCodecs,
    Packbits, Rule,
};

use crate::support::array;

fn of(inner: DataType) -> DataType {
    DataType::ZarrsOptional(Optional::new(inner).expect("a type with known elements"))
}

#[test]
fn types_are_read_and_written_as_zarrs_writes_them() {
    let json =
        r#"{"name": "zarrs.optional", "configuration": {"name": "uint8", "configuration": {}}}"#;
    let twice = format!(r#"{{"name": "zarrs.optional", "configuration": {json}}}"#);
    let time = r#"{"name": "zarrs.optional", "configuration": {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}}"#;
    for (json, data_type) in [
        (json, of(DataType::Uint8)),
        (&twice, of(of(DataType::Uint8))),
        (time, DataType::from_json(time.as_bytes()).unwrap()),
    ] {
        assert_eq!(DataType::from_json(json.as_bytes()).unwrap(), data_type);
        assert_eq!(data_type.to_json(), json);
        assert!(data_type.is_variable_length() && data_type.size().is_none());
        // The name in betas of zarrs 0.23.
        let earlier = json.replace("zarrs.optional", "optional");
        assert_eq!(DataType::from_json(earlier.as_bytes()).unwrap(), data_type);
    }
    assert_eq!(of(of(DataType::Uint8)).to_string(), "zarrs.optional of zarrs.optional of uint8");
    // A type of elements that are not known.
    let json = br#"{"name": "zarrs.optional", "configuration": {"name": "x.y"}}"#;
    assert!(DataType::from_json(json).unwrap().is_unknown());
    let DataType::Opaque(_) = DataType::from_json(json).unwrap() else { panic!("it is known") };
    assert!(Optional::new(DataType::from_json(json).unwrap()).is_err());
}

/// The table in the documentation of zarrs.
#[test]
fn fill_values_have_the_bytes_of_the_table_of_zarrs() {
    let (once, twice) = (of(DataType::Uint8), of(of(DataType::Uint8)));
    for (data_type, json, bytes) in [
        (&once, "null", &[0][..]),
        (&once, "[42]", &[42, 1]),
        (&twice, "null", &[0]),
        (&twice, "[null]", &[0, 1]),
        (&twice, "[[42]]", &[42, 1, 1]),
        (&of(DataType::Int16), "[-2]", &[0xfe, 0xff, 1]),
        (&of(DataType::String), r#"["é"]"#, &[0xc3, 0xa9, 1]),
        (&of(DataType::String), r#"[""]"#, &[1]),
    ] {
        let value = FillValue::parse(data_type, json).unwrap();
        assert_eq!(value.bytes(), Some(bytes), "{data_type} {json}");
        assert_eq!(FillValue::from_bytes(data_type, bytes).unwrap().json(), json);
    }
    assert_eq!(FillValue::zero(&once).unwrap().json(), "null");
    let messages = [
        FillValue::parse(&once, "42"),
        FillValue::parse(&once, "[]"),
        FillValue::parse(&once, "[1, 2]"),
        FillValue::parse(&once, "[256]"),
        FillValue::parse(&once, "[null]"),
        FillValue::from_bytes(&once, &[]),
        FillValue::from_bytes(&once, &[1]),
        FillValue::from_bytes(&once, &[42, 0]),
        FillValue::from_bytes(&once, &[42, 2]),
        FillValue::from_bytes(&of(DataType::Int4), &[0x7f, 1]),
    ]
    .map(|refused| refused.expect_err("refused").to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn codecs_are_checked_against_the_type() {
    let json = r#"{"name": "zarrs.optional", "configuration": {"mask_codecs": [{"name": "packbits"}], "data_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}"#;
    let codec = Codec::from_json(json.as_bytes()).unwrap();
    let mask = Codec::Packbits(Packbits::default());
    let own = OptionalCodecs::new([mask], [Codec::bytes()]);
    assert_eq!(codec, Codec::ZarrsOptional(Box::new(own)));
    assert_eq!(codec.kind(), Some(CodecKind::ArrayToBytes));
    assert_eq!(Codec::from_json(codec.to_json().as_bytes()).unwrap(), codec);
    let earlier = json.replace("zarrs.optional", "optional");
    assert_eq!(Codec::from_json(earlier.as_bytes()).unwrap(), codec);
    // The codecs of the type if none are chosen.
    let built = ArrayBuilder::new([2], of(of(DataType::Uint8))).build().unwrap();
    assert!(NodeMetadata::from_json(built.json().as_bytes()).is_ok());
    assert_eq!(built.fill_value().json(), "null");

    let refused = |data_type: &DataType, codecs: &str| {
        let error = array(&[
            ("data_type", &data_type.to_json()),
            ("fill_value", if data_type.is_variable_length() { "null" } else { "0" }),
            ("codecs", codecs),
        ])
        .expect_err("refused");
        (error.rule().map(Rule::id), error.to_string())
    };
    let chain = |mask: &str, data: &str| {
        format!(
            r#"[{{"name": "zarrs.optional", "configuration": {{"mask_codecs": {mask},
                "data_codecs": {data}}}}}]"#
        )
    };
    let bytes = r#"[{"name": "bytes"}]"#;
    let (once, strings) = (of(DataType::Uint8), of(DataType::String));
    let cases = [
        (&DataType::Uint8, chain(bytes, bytes), "optional-data-type"),
        (&once, bytes.to_owned(), "bytes-data-type"),
        (&strings, chain(bytes, bytes), "bytes-data-type"),
        (&once, chain(bytes, r#"[{"name": "vlen-utf8"}]"#), "vlen-data-type"),
        (&once, chain(r#"[{"name": "vlen-utf8"}]"#, bytes), "vlen-data-type"),
        (&once, chain("[]", bytes), "chain-order"),
    ];
    let mut messages = Vec::new();
    for (data_type, codecs, rule) in cases {
        let (found, message) = refused(data_type, &codecs);
        assert_eq!(found, Some(rule), "{message}");
        messages.push(message);
    }
    insta::assert_snapshot!(messages.join("\n"));
}
