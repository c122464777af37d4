//! The traits that all types implement: checked at compile time. Which documents are equal.

use std::fmt::Debug;

use zarr_metadata::*;

use crate::support::array;

fn all<T: Send + Sync + Debug + Clone>() {}
fn compared<T: Eq>() {}

#[test]
fn types_can_be_sent_shown_cloned_and_compared() {
    all::<(ArrayMetadata, GroupMetadata, NodeMetadata, ConsolidatedMetadata<'_>, Finding)>();
    all::<(ChunkGrid, ChunkEdges, EdgeRun, ChunkKeyEncoding, Separator, MetadataError)>();
    all::<(Codec, Reshape, ReshapeDim, Transpose, Packbits, Sharding, Zstd, Blosc, Extension)>();
    all::<(DataType, ElementLayout, RawBits, FillValue)>();
    compared::<(ArrayMetadata, GroupMetadata, NodeMetadata, ChunkGrid, ChunkEdges, Codec)>();
    compared::<(ChunkKeyEncoding, DataType, FillValue, Finding, MetadataError, Extension)>();
    let error = Codec::from_json(b"{}").unwrap_err();
    let _: &dyn std::error::Error = &error;
}

#[test]
fn documents_with_other_contents_differ() {
    let same = array(&[("attributes", r#"{"a": 1.0, "b": [2]}"#)]).unwrap();
    assert_eq!(same, array(&[("attributes", r#"{"b":[2], "a":1.00}"#)]).unwrap());
    let other = r#"{"must_understand": false, "n": 1}"#;
    for (member, value) in [
        ("shape", "[6, 5]"),
        ("data_type", "\"uint16\""),
        ("chunk_grid", r#"{"name": "regular", "configuration": {"chunk_shape": [3, 3]}}"#),
        ("chunk_key_encoding", r#"{"name": "v2", "configuration": {"separator": "/"}}"#),
        ("fill_value", "1"),
        ("codecs", r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#),
        ("dimension_names", r#"["y", "x"]"#),
        ("attributes", r#"{"a": 2}"#),
        ("other", other),
    ] {
        assert_ne!(array(&[(member, value)]).unwrap(), array(&[]).unwrap(), "{member}");
    }

    let group = |members: &str| {
        let text = format!(r#"{{"zarr_format": 3, "node_type": "group"{members}}}"#);
        GroupMetadata::from_json(text.as_bytes()).unwrap()
    };
    assert_eq!(group(r#", "attributes": {"a": 1.0}"#), group(r#", "attributes": {"a":1.00}"#));
    assert_eq!(group(r#", "consolidated_metadata": null"#), group(""));
    for members in [
        r#", "attributes": {"a": 1}"#.to_owned(),
        format!(r#", "other": {other}"#),
        r#", "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}"#
            .to_owned(),
    ] {
        assert_ne!(group(&members), group(""), "{members}");
    }
}
