//! The location of chunks, whatever their content.

use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, ChunkLayout, Selection};
use zarr_metadata::ArrayMetadata;

/// Ten by six elements, in chunks of edges 4, 4, 4, 4 and 1, 5: the last row of chunks lies past
/// the end.
fn metadata(data_type: &str, codecs: &str, encoding: &str) -> ArrayMetadata {
    let fill = if data_type == "string" { r#""""# } else { "0" };
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [10, 6], "data_type": "{data_type}",
        "chunk_grid": {{"name": "rectilinear", "configuration": {{"kind": "inline",
        "chunk_shapes": [[[4, 4]], [1, 5]]}}}}, "chunk_key_encoding": {encoding},
        "fill_value": {fill}, "codecs": {codecs}}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).expect("a document")
}

const DEFAULT: &str = r#"{"name": "default"}"#;
const V2: &str = r#"{"name": "v2", "configuration": {"separator": "."}}"#;

/// Types and codecs that are not supported, and one of each that is.
const CASES: [(&str, &str); 4] = [
    ("uint8", r#"["bytes"]"#),
    ("uint8", r#"["bytes", {"name": "lzma"}]"#),
    ("string", r#"["vlen-utf8"]"#),
    ("somebody.type", r#"["bytes"]"#),
];

#[test]
fn every_element_has_its_chunk_and_every_chunk_its_elements() {
    for (data_type, codecs) in CASES {
        for encoding in [DEFAULT, V2] {
            let prefix = Prefix::new("a/b").expect("a prefix");
            let metadata = metadata(data_type, codecs, encoding);
            let layout = ChunkLayout::new(&prefix, &metadata).expect("a layout");
            assert_eq!(
                (layout.grid().declared(), layout.grid().occupied()),
                (&[4, 2][..], &[3, 2][..])
            );
            // The expected chunk, by counting.
            let edges = [vec![4, 4, 4, 4], vec![1, 5]];
            for row in 0..10 {
                for column in 0..6 {
                    let chunk = [row / 4, u64::from(column >= 1)];
                    let within = [row % 4, u64::saturating_sub(column, 1)];
                    let found = layout.locate(&[row, column]).expect("an element");
                    assert_eq!(found, (chunk.to_vec(), within.to_vec()));
                    let region = layout.chunk_region(&chunk).expect("declared");
                    assert!(region[0].contains(&row) && region[1].contains(&column));
                }
            }
            assert!(layout.locate(&[10, 0]).is_err() && layout.locate(&[0]).is_err());
            let mut elements = 0;
            for row in 0..4_u64 {
                for column in 0..2_u64 {
                    let chunk = [row, column];
                    let shape = layout.chunk_shape(&chunk).expect("declared");
                    assert_eq!(shape, [edges[0][row as usize], edges[1][column as usize]]);
                    let region = layout.chunk_region(&chunk).expect("declared");
                    elements += region.iter().map(|axis| axis.end - axis.start).product::<u64>();
                    let key = layout.key(&chunk).expect("a key");
                    let name = match encoding {
                        V2 => format!("a/b/{row}.{column}"),
                        _ => format!("a/b/c/{row}/{column}"),
                    };
                    assert_eq!(key.as_str(), name);
                    assert_eq!(layout.chunk_of_key(&key), Some(chunk.to_vec()));
                    assert!(layout.is_declared(&chunk));
                    assert_eq!(layout.is_occupied(&chunk), row < 3);
                }
            }
            assert_eq!(elements, 60);
            assert_eq!(layout.chunk_region(&[3, 0]).expect("declared"), [10..10, 0..1]);
            assert!(layout.chunk_shape(&[4, 0]).is_err() && layout.chunk_region(&[0]).is_err());
            assert!(!layout.is_declared(&[4, 0]) && !layout.is_declared(&[0]));
        }
    }
}

#[test]
fn other_keys_are_no_chunks() {
    let prefix = Prefix::new("a").expect("a prefix");
    let layout =
        ChunkLayout::new(&prefix, &metadata("string", r#"["vlen-utf8"]"#, DEFAULT)).expect("one");
    for key in
        ["a/zarr.json", "a/c/0", "a/c/0/0/0", "a/c/00/0", "a/0.0", "c/0/0", "ab/c/0/0", "a/c/0/x"]
    {
        assert_eq!(layout.chunk_of_key(&Key::new(key).expect("a key")), None, "{key}");
    }
    // The key of a chunk that the grid does not declare is still a chunk key.
    let far = layout.chunk_of_key(&Key::new("a/c/9/9").expect("a key")).expect("a chunk");
    assert!(!layout.is_declared(&far));
}

#[test]
fn plans_and_listings_need_no_codec() {
    let store = MemoryStore::new();
    for key in ["c/0/1", "c/3/0", "c/9/9", "notes.txt", "zarr.json"] {
        store.put(&Key::new(key).expect("a key"), b"?").expect("puts");
    }
    let known = metadata("uint8", r#"["bytes"]"#, DEFAULT);
    let store: Arc<dyn Store> = Arc::new(store);
    let array = Array::with_metadata(
        Arc::clone(&store),
        &Prefix::root(),
        known,
        zarr_codec::Options::new(),
    )
    .expect("an array");
    for (data_type, codecs) in CASES {
        let metadata = metadata(data_type, codecs, DEFAULT);
        let layout = ChunkLayout::new(&Prefix::root(), &metadata).expect("a layout");
        assert_eq!(&layout, array.layout());
        let found = layout.stored_chunks(&store).map(|chunk| chunk.expect("lists"));
        let mut found: Vec<_> = found.map(|chunk| (chunk.index, chunk.occupied)).collect();
        found.sort();
        assert_eq!(found, [(vec![0, 1], true), (vec![3, 0], false), (vec![9, 9], false)]);
        let region = Selection::parse("3:9:2, 0:2", &[10, 6]).expect("a region");
        let of = |plan: zarr_array::RegionPlan<'_>| plan.chunks(0..u64::MAX).expect("keys");
        let chunks = of(layout.plan(&region).expect("plans"));
        let keys: Vec<&str> = chunks.iter().map(|chunk| chunk.key.as_str()).collect();
        assert_eq!(keys, ["c/0/0", "c/0/1", "c/1/0", "c/1/1"]);
        assert_eq!(chunks.iter().map(|chunk| chunk.elements).sum::<u64>(), 6);
        let outside = Selection::from([0..11, 0..6]);
        assert!(matches!(layout.plan(&outside), Err(ArrayError::Selection { .. })));
    }
}
