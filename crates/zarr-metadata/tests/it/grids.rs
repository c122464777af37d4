//! Chunk grids.

use std::num::NonZeroU64;

use zarr_metadata::{
    ArrayBuilder, ArrayMetadata, ChunkEdges, ChunkGrid, Codec, DataType, EdgeRun, IndexLocation,
    NodeMetadata, Sharding,
};

use crate::support::{breaks, document, message, with_grid};

/// An array with one rectilinear axis.
fn axis(length: u64, edges: &str) -> Result<ArrayMetadata, zarr_metadata::MetadataError> {
    let grid = format!(
        r#"{{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": [{edges}]}}}}"#
    );
    with_grid(&format!("[{length}]"), &grid)
}

fn edges_of(array: &ArrayMetadata) -> ChunkEdges {
    let ChunkGrid::Rectilinear { chunk_shapes } = array.chunk_grid() else { panic!() };
    chunk_shapes[0].clone()
}

fn repeat(edge: u64, count: u64) -> EdgeRun {
    EdgeRun::Repeat { edge, count: NonZeroU64::new(count).unwrap() }
}

#[test]
fn sd_04_an_integer_stays_one_and_a_list_stays_one() {
    for (edges, expected) in [
        ("4", ChunkEdges::Regular(4)),
        ("[4, 4, 4]", ChunkEdges::Runs(vec![EdgeRun::Edge(4); 3])),
        ("[[4, 3]]", ChunkEdges::Runs(vec![repeat(4, 3)])),
        (
            "[[4, 1], 4, [4, 1]]",
            ChunkEdges::Runs(vec![repeat(4, 1), EdgeRun::Edge(4), repeat(4, 1)]),
        ),
    ] {
        let array = axis(6, edges).unwrap();
        assert_eq!(edges_of(&array), expected);
        let grid = array.chunk_grid().to_json();
        assert!(grid.contains(&format!("\"chunk_shapes\": [{edges}]")), "{grid}");
        assert_eq!(&ChunkGrid::from_json(grid.as_bytes()).unwrap(), array.chunk_grid());
    }
    assert!(axis(0, "4").is_ok());
}

/// The list of edges as `serde_json` and a walk read it.
fn by_serde(list: &str) -> Option<Vec<EdgeRun>> {
    let list: Vec<serde_json::Value> = serde_json::from_str(list).ok()?;
    let mut sum = 0_u64;
    let positive = |value: &serde_json::Value| value.as_u64().filter(|&value| value > 0);
    list.iter()
        .map(|item| match item {
            serde_json::Value::Array(pair) => {
                let [edge, count] = pair.as_slice() else { return None };
                let (edge, count) = (positive(edge)?, positive(count)?);
                sum = sum.checked_add(edge.checked_mul(count)?)?;
                Some(repeat(edge, count))
            }
            edge => {
                let edge = positive(edge)?;
                sum = sum.checked_add(edge)?;
                Some(EdgeRun::Edge(edge))
            }
        })
        .collect()
}

fn reads_as_by_serde(list: &str) {
    let ours = axis(0, list).ok().map(|array| edges_of(&array));
    assert_eq!(ours, by_serde(list).map(ChunkEdges::Runs), "{list}");
}

#[test]
fn every_short_list_of_edges_reads_as_by_serde_json() {
    const ALPHABET: &[u8] = b"01,[] .";
    for length in 0..=5 {
        for mut number in 0..ALPHABET.len().pow(length) {
            let mut list = String::from("[2,");
            for _ in 0..length {
                list.push(ALPHABET[number % ALPHABET.len()].into());
                number /= ALPHABET.len();
            }
            list.push_str(",3]");
            reads_as_by_serde(&list);
        }
    }
}

#[test]
fn long_edges_read_as_by_serde_json() {
    let most = u64::MAX;
    for edge in ["9223372036854775807", "9999999999999999999", "10000000000000000000"] {
        for other in ["1", "8446744073709551615", "8446744073709551616", "9223372036854775808"] {
            reads_as_by_serde(&format!("[{edge},{other}]"));
            reads_as_by_serde(&format!("[{other},{edge},1]"));
        }
    }
    for lone in [format!("{most}"), format!("0{most}"), format!("{most}0"), "1".repeat(60)] {
        reads_as_by_serde(&format!("[{lone}]"));
        reads_as_by_serde(&format!("[{lone},1]"));
    }
}

#[test]
fn sd_06_edges_are_integers_of_at_least_1() {
    let lines: Vec<_> = [
        ("grid-zero-edge", "0"),
        ("grid-axis", "-1"),
        ("grid-axis", "4.0"),
        ("grid-axis", "1e1"),
        ("grid-axis", "true"),
        ("grid-axis", "\"4\""),
        ("grid-axis", "null"),
        ("grid-axis", "{}"),
        ("grid-axis", "18446744073709551616"),
        ("grid-zero-edge", "[0]"),
        ("grid-edge", "[6.0]"),
        ("grid-edge", "[6, -1]"),
        ("grid-edge", "[true]"),
        ("grid-edge", "[\"6\"]"),
        ("grid-edge", "[null]"),
        ("grid-edge", "[{}]"),
        ("grid-run", "[[6]]"),
        ("grid-run", "[[]]"),
        ("grid-run", "[[2, 3, 4]]"),
        ("grid-run", "[[6, 0]]"),
        ("grid-run", "[[0, 6]]"),
        ("grid-run", "[[6, 1.0]]"),
        ("grid-run", "[[[6, 1], 1]]"),
        ("grid-run", "[[-6, 1]]"),
        ("grid-run", "[[6, \"1\"]]"),
        ("grid-run", "[6, [6, true]]"),
        ("grid-too-short", "[1, 2, 2]"),
        ("grid-too-short", "[]"),
        ("not-json", "[007]"),
    ]
    .iter()
    .map(|(rule, edges)| format!("{edges}\n  {}", breaks(rule, axis(6, edges))))
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn sd_06_an_empty_list_is_read_and_not_written() {
    let array = axis(0, "[]").unwrap();
    assert_eq!(edges_of(&array), ChunkEdges::Runs(vec![]));
    let new = ArrayMetadata::new(
        array.shape(),
        array.data_type(),
        array.chunk_grid(),
        array.fill_value(),
        array.codecs(),
    );
    insta::assert_snapshot!(
        message(new),
        @"$.chunk_grid.configuration.chunk_shapes[0]: found an empty list of edges, expected an edge of at least 1, also on an axis of length 0"
    );
    assert!(array.with_shape_and_grid(&[0], array.chunk_grid()).is_err());
    // Members that are only kept are not rewritten.
    assert_eq!(array.with_attributes("{}").unwrap().chunk_grid(), array.chunk_grid());
}

#[test]
fn sd_07_runs_are_not_expanded_and_sums_not_wrapped() {
    let array = axis(1_000_000_000_000_000, "[[1, 1000000000000000]]").unwrap();
    assert_eq!(edges_of(&array), ChunkEdges::Runs(vec![repeat(1, 1_000_000_000_000_000)]));
    assert_eq!(edges_of(&array).extent(), Some(1_000_000_000_000_000));
    assert!(axis(u64::MAX, "[[1, 18446744073709551615]]").is_ok());
    assert!(axis(u64::MAX, "[18446744073709551614, 1]").is_ok());
    for edges in [
        "[[1, 18446744073709551615], 1]",
        "[18446744073709551615, 1]",
        "[[4294967296, 4294967296]]",
        "[[18446744073709551615, 18446744073709551615]]",
    ] {
        let error = message(axis(6, edges));
        assert!(error.contains("a sum above 18446744073709551615"), "{error}");
    }
}

#[test]
fn sd_09_the_canonical_writer_counts_characters() {
    let written = |lengths: &[u64]| {
        let edges = ChunkEdges::from_lengths(lengths.iter().copied());
        let grid = ChunkGrid::Rectilinear { chunk_shapes: vec![edges] }.to_json();
        let from = grid.find("\"chunk_shapes\": [").unwrap() + 17;
        grid[from..grid.len() - 3].to_owned()
    };
    // `4,4,4` and `[4,3]` are both 5 characters: the list stays.
    assert_eq!(written(&[4, 4, 4]), "[4, 4, 4]");
    assert_eq!(written(&[4, 4, 4, 4]), "[[4, 4]]");
    // `31,31` is 5 characters, `[31,2]` is 6; `31,31,31` is 8, `[31,3]` 6.
    assert_eq!(written(&[31, 31]), "[31, 31]");
    assert_eq!(written(&[31, 31, 31]), "[[31, 3]]");
    assert_eq!(written(&[1000, 1000]), "[[1000, 2]]");
    assert_eq!(written(&[]), "[]");
    assert_eq!(written(&[31, 28, 31, 30]), "[31, 28, 31, 30]");
    // Neighbouring runs of one length are one run; a sum past u64 stays two.
    let merged = ChunkEdges::from_runs([repeat(2, 3), EdgeRun::Edge(2), repeat(2, 1 << 40)]);
    assert_eq!(merged, ChunkEdges::Runs(vec![repeat(2, (1 << 40) + 4)]));
    let most = u64::MAX;
    let apart = ChunkEdges::from_runs([repeat(1, most), repeat(1, most)]);
    assert_eq!(apart, ChunkEdges::Runs(vec![repeat(1, most), repeat(1, most)]));
    // By brute force: never longer than either form.
    for edge in [1_u64, 9, 10, 99, 1000] {
        for count in 1..130 {
            let lengths = vec![edge; count];
            let list =
                format!("[{}]", lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(","));
            let run = format!("[[{edge},{count}]]");
            let compact = written(&lengths).replace(' ', "");
            assert_eq!(compact, if run.len() < list.len() { run } else { list });
        }
    }
}

#[test]
fn sd_58_regular_grids() {
    let regular = |shape: &str, chunks: &str| {
        with_grid(
            shape,
            &format!(r#"{{"name": "regular", "configuration": {{"chunk_shape": {chunks}}}}}"#),
        )
    };
    assert!(regular("[0, 5]", "[1, 9]").is_ok());
    assert!(regular("[]", "[]").is_ok());
    let lines: Vec<_> = [
        ("[6, 6]", "[0, 1]"),
        ("[6, 6]", "[1]"),
        ("[6, 6]", "[1, 1, 1]"),
        ("[6, 6]", "[1, -1]"),
        ("[6, 6]", "[1, 1.5]"),
        ("[6, 6]", "3"),
        ("[6, -6]", "[1, 1]"),
        ("[6, 6.0]", "[1, 1]"),
        ("6", "[1]"),
    ]
    .iter()
    .map(|(shape, chunks)| message(regular(shape, chunks)))
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn sd_63_the_configuration_of_rectilinear() {
    let configuration = |members: &str| {
        with_grid("[6]", &format!(r#"{{"name": "rectilinear", "configuration": {{{members}}}}}"#))
    };
    let kept = r#""kind": "inline", "note": {"b": 1.0}, "chunk_shapes": [6]"#;
    let array = configuration(kept).unwrap();
    assert!(array.json().contains(kept));
    insta::assert_snapshot!(
        array.findings()[0],
        @r#"note: $.chunk_grid.configuration.note: found unknown member note of value {"b": 1.0}, expected "kind" and "chunk_shapes" only [unknown-rectilinear-member]"#
    );
    let lines: Vec<_> = [
        ("missing-member", r#""chunk_shapes": [6]"#),
        ("missing-member", r#""kind": "inline""#),
        ("grid-kind", r#""kind": "external", "chunk_shapes": [6]"#),
        ("grid-kind", r#""kind": 1, "chunk_shapes": [6]"#),
        ("grid-spelling", r#""kind": "inline", "chunk_shape": [6]"#),
        ("grid-axis", r#""kind": "inline", "chunk_shapes": 6"#),
        ("grid-rank", r#""kind": "inline", "chunk_shapes": [6, 6]"#),
        ("duplicate-key", r#""kind": "inline", "chunk_shapes": [6], "chunk_shapes": [6]"#),
        ("duplicate-key", r#""kind": "inline", "kind": "inline", "chunk_shapes": [6]"#),
        ("duplicate-key", r#""kind": "inline", "a": 1, "a": 2, "chunk_shapes": [6]"#),
    ]
    .iter()
    .map(|(rule, members)| breaks(rule, configuration(members)))
    .collect();
    insta::assert_snapshot!("configurations", lines.join("\n"));
}

#[test]
fn grids_as_objects() {
    let lines: Vec<_> = [
        r#""regular""#,
        r#"{"name": "irregular", "must_understand": false}"#,
        "3",
        "{}",
        r#"{"name": "regular"}"#,
        r#"{"name": 1}"#,
        r#"{"name": "rectilinar", "configuration": {}, "must_understand": false}"#,
        r#"{"name": "regular", "configuration": []}"#,
        r#"{"configuration": 3, "name": "regular"}"#,
        r#"{"name": "regular", "configuration": {"chunk_shape": [6], "shape": 1}}"#,
        r#"{"name": "regular", "configuration": {"chunk_shape": [6]}, "other": 1}"#,
        r#"{"name": "regular", "name": "regular", "configuration": {"chunk_shape": [6]}}"#,
        r#"{"name": "regular", "configuration": {"chunk_shape": [6]}, "must_understand": 1}"#,
    ]
    .iter()
    .map(|grid| message(with_grid("[6]", grid)))
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
    // The configuration may come before the name.
    let array = with_grid(
        "[6]",
        r#"{"configuration": {"chunk_shapes": [[3, [3, 1]]], "kind": "inline"}, "must_understand": false, "name": "rectilinear"}"#,
    )
    .unwrap();
    assert_eq!(edges_of(&array), ChunkEdges::Runs(vec![EdgeRun::Edge(3), repeat(3, 1)]));
    assert!(!document(&[]).is_empty());
}

/// The list of edges is read where it stands, before it is known what grid it is of.
#[test]
fn the_order_of_members_does_not_matter() {
    let orders = [
        r#"{"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[3, 4]]}}"#,
        r#"{"configuration": {"chunk_shapes": [[3, 4]], "kind": "inline"}, "name": "rectilinear"}"#,
    ];
    for json in orders {
        let grid = ChunkGrid::from_json(json.as_bytes()).unwrap();
        let edges = ChunkEdges::from_lengths([3, 4]);
        assert_eq!(grid, ChunkGrid::Rectilinear { chunk_shapes: vec![edges] });
        let wrong = json.replace("[3, 4]", "[3, 0]");
        let error = message(ChunkGrid::from_json(wrong.as_bytes()));
        let place = "$.configuration.chunk_shapes[0][1]: found 0";
        assert!(error.starts_with(place), "{error}");
        let regular = json.replace("rectilinear", "regular");
        let error = message(ChunkGrid::from_json(regular.as_bytes()));
        assert!(error.contains("unknown member") && error.contains("chunk_shape"), "{error}");
    }
}

/// A list that cannot be read as edges is still a value like any other where nobody reads it.
#[test]
fn a_grid_that_may_be_ignored_may_have_any_list() {
    let group = |list: &str| {
        format!(
            r#"{{"zarr_format": 3, "chunk_grid": {{"must_understand": false, "configuration":
            {{"chunk_shapes": {list}}}}}, "node_type": "group"}}"#
        )
    };
    for list in ["[[3, 4]]", "[[0]]", "7", r#"{"a": [[1, "2"]]}"#] {
        let text = group(list);
        let read = NodeMetadata::from_json(text.as_bytes());
        assert_eq!(read.unwrap().json(), text);
    }
    let error = message(NodeMetadata::from_json(group("[[1, 02]]").as_bytes()));
    assert!(error.starts_with("$.chunk_grid.configuration.chunk_shapes[0][1]"), "{error}");
    assert!(error.contains("leading zeros"), "{error}");
}

/// The settings of the index are not those of the chunks: they stay.
#[test]
fn other_shards_keep_their_index() {
    let mut sharding = Sharding::new([2], [Codec::bytes()]);
    sharding.index_location = IndexLocation::Start;
    let codecs = [Codec::ShardingIndexed(Box::new(sharding))];
    let builder = ArrayBuilder::new([24], DataType::Uint8).chunk_shape([8]);
    let sharded = builder.codecs(codecs.clone()).build().expect("valid");
    let grid = |edge: u64| ChunkGrid::Regular { chunk_shape: vec![edge] };
    let other = sharded.with_layout(None, None, Some(&grid(12))).expect("fits");
    assert_eq!((other.codecs(), other.chunk_grid()), (&codecs[..], &grid(12)));
    let both = sharded.with_layout(Some(&grid(3)), Some(&[Codec::Crc32c]), Some(&grid(12)));
    assert!(both.is_err(), "a chain needs a codec that makes bytes");
    let chain = [Codec::bytes(), Codec::Crc32c];
    let both = sharded.with_layout(Some(&grid(3)), Some(&chain), Some(&grid(12))).expect("fits");
    let [Codec::ShardingIndexed(found)] = both.codecs() else { panic!("{}", both.json()) };
    assert_eq!((&found.chunk_shape[..], &found.codecs[..]), (&[3][..], &chain[..]));
    assert_eq!(found.index_location, IndexLocation::Start);

    // Without shards, chunks are what is stored, and codecs the whole chain.
    let stored = sharded.with_layout(Some(&grid(4)), None, None).expect("fits");
    assert_eq!((stored.codecs(), stored.chunk_grid()), (&codecs[..], &grid(4)));
    let single = sharded.with_layout(Some(&grid(2)), Some(&codecs), None).expect("fits");
    assert_eq!(single.codecs(), codecs);
    let plain = sharded.with_layout(Some(&grid(2)), None, None).expect("fits");
    assert_eq!((plain.codecs(), plain.chunk_grid()), (&[Codec::bytes()][..], &grid(2)));

    let lengths = ChunkGrid::Rectilinear { chunk_shapes: vec![[10, 14].into()] };
    let refused = plain.with_layout(Some(&lengths), None, Some(&grid(24))).expect_err("lengths");
    assert_eq!(refused.path(), "$.chunk_grid");
}
