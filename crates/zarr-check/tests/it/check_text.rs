//! Strings of `fixed_length_utf32`, whose code units no codec reads.

use crate::check::{GROUP, array, findings, memory};
use crate::check_shards::shard;

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

#[test]
fn strings_past_the_end_are_told_by_their_index() {
    let document = array("string", r#"[{"name": "vlen-utf8"}]"#, "")
        .replace("[6]", "[3, 3]")
        .replace("[4]", "[2, 2]")
        .replace(": 0,", ": \"\",");
    let chunk = |strings: [&str; 4]| {
        let length = |length: usize| u32::try_from(length).expect("short").to_le_bytes();
        let strings = strings.map(|text| [&length(text.len()), text.as_bytes()].concat());
        [&length(strings.len())[..], &strings.concat()].concat()
    };
    let store = memory(&[
        ("zarr.json", document.as_bytes()),
        ("c/0/0", &chunk(["a", "b", "c", "d"])),
        ("c/0/1", &chunk(["a", "", "b", "c"])),
        ("c/1/0", &chunk(["a", "b", "", ""])),
        ("c/1/1", &chunk(["a", "", "b", ""])),
    ]);
    let told = |chunk: &str, at: &str| {
        format!(
            "note: {chunk}: element {at} of the chunk is past the array's end, and not the fill \
             value; it shows again when the array grows; a resize to the array's own shape \
             removes it [elements-past-end]"
        )
    };
    let expected = [told("c/0/1", "[1, 1]"), told("c/1/1", "[1, 0]")];
    assert_eq!(findings(&store, true), expected);
}
