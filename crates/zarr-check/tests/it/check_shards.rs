//! The findings of a check in shards.

use zarr_array::store::Prefix;
use zarr_check::{CheckOptions, check};

use crate::check::{BYTES, GROUP, array, findings, memory, rules_of};

/// A shard of four inner chunks of two elements, followed by its index.
pub(crate) fn shard(chunks: [Option<&[u8]>; 4]) -> Vec<u8> {
    let (mut shard, mut index) = (Vec::new(), Vec::new());
    for chunk in chunks {
        let (offset, length) = match chunk {
            Some(bytes) => (shard.len() as u64, bytes.len() as u64),
            None => (u64::MAX, u64::MAX),
        };
        index.extend(offset.to_le_bytes());
        index.extend(length.to_le_bytes());
        shard.extend(chunk.unwrap_or_default());
    }
    shard.extend(index);
    shard
}

#[test]
fn sd_16_sd_60_inner_chunks() {
    let sharded = |inner: &str, outer: &str| {
        let codecs = format!(
            r#"[{outer}{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2],
            "codecs": {inner}, "index_codecs": [{{"name": "bytes", "configuration":
            {{"endian": "little"}}}}]}}}}]"#
        );
        array("uint8", &codecs, "").replace("[4]", "[8]").replace("[6]", "[8]")
    };
    let packed = r#"[{"name": "packbits", "configuration": {"last_bit": 2}}]"#;
    let plain = sharded(packed, "");
    let transposed = sharded(packed, r#"{"name": "transpose", "configuration": {"order": [0]}}, "#);
    let nested = sharded(BYTES, "").replace(
        BYTES,
        r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1],
        "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes", "configuration":
        {"endian": "little"}}]}}]"#,
    );
    // Two inner chunks of one element, the first of them the fill value.
    let mut inner = vec![0, 7];
    for (offset, length) in [(0_u64, 1_u64), (1, 1)] {
        inner.extend(offset.to_le_bytes());
        inner.extend(length.to_le_bytes());
    }
    let clean: &[u8] = &[0b00_010_001];
    let padded: &[u8] = &[0b11_010_001];
    let zeros: &[u8] = &[0];
    let store = memory(&[
        ("zarr.json", GROUP),
        ("bits/zarr.json", plain.as_bytes()),
        ("bits/c/0", &shard([Some(clean), Some(padded), None, Some(padded)])),
        ("clean/zarr.json", transposed.as_bytes()),
        ("clean/c/0", &shard([Some(clean), None, None, Some(clean)])),
        ("empty/zarr.json", plain.as_bytes()),
        ("empty/c/0", &shard([Some(zeros), Some(clean), None, None])),
        ("nested/zarr.json", nested.as_bytes()),
        ("nested/c/0", &shard([None, Some(&inner), None, None])),
        ("none/zarr.json", plain.as_bytes()),
        ("none/c/0", &shard([None; 4])),
        ("zeros/zarr.json", transposed.as_bytes()),
        ("zeros/c/0", &shard([Some(zeros), None, Some(zeros), None])),
    ]);
    let found = findings(&store, true);
    let fill_only = ["note", "fill-only-chunk"];
    assert_eq!(
        rules_of(&found),
        [["warning", "not-canonical"], fill_only, fill_only, fill_only, fill_only]
    );
    insta::assert_snapshot!(found.join("\n"));
}

/// A shard under a reshape, cut by the array's end: elements past the end are found by decoding
/// all of them, up to 64 MiB or 16 times the stored bytes, and within the given memory.
#[test]
fn elements_past_the_end_of_a_reshaped_shard() {
    const MIB: u64 = 1 << 20;
    // Rows of a mebibyte; the last one is stored, with 7 as its last element or as all of them.
    let found = |rows: u64, noise: bool, memory_limit: u64| {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [{}], "data_type": "uint8",
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{}]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0, "codecs": [
            {{"name": "reshape", "configuration": {{"shape": [{rows}, {MIB}]}}}},
            {{"name": "sharding_indexed", "configuration": {{"chunk_shape": [1, {MIB}],
            "codecs": [{{"name": "bytes"}}], "index_location": "end", "index_codecs":
            [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}]}}"#,
            rows * MIB - 5,
            rows * MIB
        );
        let stored = if noise { 5 } else { 1 };
        let mut row = vec![0; MIB as usize];
        *row.last_mut().expect("not empty") = 7;
        let mut shard = row.repeat(stored);
        for number in 0..rows {
            let at = (number + stored as u64).checked_sub(rows).map(|at| at * MIB);
            shard.extend(at.unwrap_or(u64::MAX).to_le_bytes());
            shard.extend(at.map_or(u64::MAX, |_| MIB).to_le_bytes());
        }
        let store = memory(&[("zarr.json", document.as_bytes()), ("c/0", &shard)]);
        let mut found = Vec::new();
        let options = CheckOptions::new().data(true).memory(memory_limit);
        check(&store, &Prefix::root(), &options, &mut |one| {
            found.push((one.id(), one.message().to_owned()));
        })
        .expect("checks");
        let [(id, message)] = &found[..] else { panic!("{found:?}") };
        assert!(
            *id != "elements-past-end" || message.contains(&format!("[{}]", rows * MIB - 1)),
            "{message}"
        );
        (*id).to_owned()
    };
    assert_eq!(found(64, false, 1 << 30), "elements-past-end");
    assert_eq!(found(65, false, 1 << 30), "not-examined");
    assert_eq!(found(65, true, 1 << 30), "elements-past-end");
    assert_eq!(found(64, false, 32 * MIB), "not-examined");
}
