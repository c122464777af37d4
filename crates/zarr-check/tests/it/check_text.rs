//! Strings of `fixed_length_utf32`, whose code units no codec reads.

use crate::check::{GROUP, array, findings, memory, shard};

#[test]
fn sd_70_code_units_are_code_points_also_in_shards_and_records() {
    let text = r#"{"name": "fixed_length_utf32", "configuration": {"length_bytes": 4}}"#;
    let record = format!(
        r#"{{"name": "struct", "configuration": {{"fields": [
            {{"name": "n", "data_type": "uint8"}}, {{"name": "t", "data_type": {text}}}]}}}}"#
    );
    let bytes = |endian: &str| {
        format!(r#"[{{"name": "bytes", "configuration": {{"endian": "{endian}"}}}}]"#)
    };
    let sharded = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [1],
            "codecs": {0}, "index_codecs": {0}}}}}]"#,
        bytes("little")
    );
    let document = |data_type: &str, codecs: &str, fill: &str| {
        let json = array("TYPE", codecs, "").replace(r#""TYPE""#, data_type);
        json.replace(r#""fill_value": 0"#, &format!(r#""fill_value": {fill}"#))
    };
    let units = |units: [u32; 4]| units.map(u32::to_le_bytes).concat();
    let records = |units: [u32; 4]| {
        let record = |unit: u32| [&[1][..], &unit.to_be_bytes()].concat();
        units.map(record).concat()
    };
    let strings = document(text, &bytes("little"), r#""""#);
    let in_shards = document(text, &sharded, r#""""#);
    let of_records = document(&record, &bytes("big"), r#"{"n": 0, "t": ""}"#);
    let (first, surrogate) = (0x41_u32.to_le_bytes(), 0xd800_u32.to_le_bytes());
    let store = memory(&[
        ("zarr.json", GROUP),
        ("records/zarr.json", of_records.as_bytes()),
        ("records/c/0", &records([0x41, 0xd7ff, 0xe000, 0x10_ffff])),
        ("records/c/1", &records([0x41, 0x11_0000, 0, 0])),
        ("shards/zarr.json", in_shards.as_bytes()),
        ("shards/c/0", &shard([Some(&first), None, Some(&surrogate), None])),
        ("strings/zarr.json", strings.as_bytes()),
        ("strings/c/0", &units([0x41, 0xd7ff, 0xe000, 0x10_ffff])),
        ("strings/c/1", &units([0x41, 0xdfff, 0, 0])),
    ]);
    insta::assert_snapshot!(findings(&store, true).join("\n"));
}
