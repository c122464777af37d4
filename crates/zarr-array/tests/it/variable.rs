//! Arrays of strings and byte strings in memory: partial writes, and errors.

use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, AxisSelection, Selection};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, copy_array};
use zarr_metadata::{ArrayBuilder, ChunkGrid, Codec, DataType, ReshapeDim};

fn create(builder: ArrayBuilder) -> (Arc<dyn Store>, Array) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let metadata = builder.build().expect("a document");
    let array = Array::create(Arc::clone(&store), &Prefix::root(), metadata).expect("creates");
    (store, array)
}

fn all(array: &Array) -> Vec<String> {
    let strings = array.read_as::<String>(Selection::whole(array.shape())).expect("reads");
    strings.iter().map(str::to_owned).collect()
}

fn there(store: &Arc<dyn Store>, key: &str) -> bool {
    store.read(&Key::new(key).expect("a key")).expect("reads").is_some()
}

/// Chains whose chunks can only be changed as a whole.
fn builders() -> Vec<ArrayBuilder> {
    let grids = [
        ChunkGrid::Regular { chunk_shape: vec![2, 4] },
        ChunkGrid::Rectilinear { chunk_shapes: vec![[2, 2].into(), [4, 2, 2].into()] },
    ];
    let chains = [
        vec![Codec::VlenUtf8],
        vec![Codec::transpose([1, 0]), Codec::VlenUtf8, Codec::gzip(1), Codec::Crc32c],
        vec![Codec::sharding([1, 2], [Codec::VlenUtf8, Codec::zstd(1)])],
        vec![Codec::reshape([ReshapeDim::Auto]), Codec::sharding([2], [Codec::VlenUtf8])],
    ];
    let pairs = grids.iter().flat_map(|grid| chains.iter().map(move |chain| (grid, chain)));
    pairs
        .map(|(grid, chain)| {
            ArrayBuilder::new([3, 7], DataType::String)
                .chunk_grid(grid.clone())
                .codecs(chain.clone())
                .fill_value("-")
        })
        .collect()
}

#[test]
fn writes_of_any_part_are_those_of_a_table() {
    for (number, builder) in builders().into_iter().enumerate() {
        let (store, array) = create(builder);
        let mut table = vec!["-".to_owned(); 21];
        assert_eq!(all(&array), table);
        let selections = [
            Selection::from([1..2, 1..6]),
            Selection::from([0..3, 6..7]),
            Selection::from([0..2, 0..4]),
            Selection::new(vec![
                AxisSelection::Step { range: 0..3, step: -2 },
                AxisSelection::Indices(vec![5, 0, 5, 2]),
            ]),
            Selection::from([2..2, 0..7]),
            Selection::whole(&[3, 7]),
        ];
        for (turn, selection) in selections.iter().enumerate() {
            let mut strings = Vec::new();
            for row in 0..selection.axes()[0].len() {
                for column in 0..selection.axes()[1].len() {
                    let at = |axis: usize, n| selection.axes()[axis].get(n).expect("there");
                    let index = at(0, row) * 7 + at(1, column);
                    let string = format!("{number}.{turn} é{row},{column}");
                    table[usize::try_from(index).expect("small")].clone_from(&string);
                    strings.push(string);
                }
            }
            array.write_as(selection, &strings).expect("writes");
            assert_eq!(all(&array), table, "{number} {turn}");
        }
        array.write_as(Selection::whole(&[3, 7]), &["-"; 21]).expect("writes");
        let chunks = array.stored_chunks().count();
        assert_eq!(chunks, 0, "chunks of the fill value are removed");
        drop(store);
    }
}

#[test]
fn arrays_of_strings_grow_and_shrink() {
    for codecs in [vec![Codec::VlenUtf8], vec![Codec::sharding([2], [Codec::VlenUtf8])]] {
        let builder = ArrayBuilder::new([3], DataType::String).chunk_shape([4]).codecs(codecs);
        let (store, array) = create(builder);
        array.write_as(0..3, &["a", "b", "c"]).expect("writes");
        let array = array.append_as(0, 3, &["d", "e", "f"]).expect("appends");
        assert_eq!(all(&array), ["a", "b", "c", "d", "e", "f"]);
        let array = array.resize([2]).expect("shrinks");
        assert!(!there(&store, "c/1"));
        let array = array.resize([6]).expect("grows");
        assert_eq!(all(&array), ["a", "b", "", "", "", ""]);
        let error = array.append_as(0, 3, &["d"]).expect_err("too few");
        assert_eq!(error.to_string(), "1 element, but the selection has shape [3]");
    }
}

#[test]
fn what_lies_past_the_end_is_kept_by_those_who_know_the_old_shape() {
    let builder = ArrayBuilder::new([3], DataType::String).chunk_shape([4]);
    let (_, old) = create(builder);
    let new = old.append_as(0, 1, &["d"]).expect("appends");
    old.write_as(0..3, &["a", "b", "c"]).expect("writes");
    assert_eq!(all(&new), ["a", "b", "c", "d"]);
}

#[test]
fn what_has_no_fixed_size_is_refused_by_name() {
    let (_, strings) = create(ArrayBuilder::new([2], DataType::String));
    let (_, bytes) = create(ArrayBuilder::new([2], DataType::Bytes));
    let (_, numbers) = create(ArrayBuilder::new([2], DataType::Int16));
    assert_eq!((strings.element_size(), strings.fill()), (0, &b""[..]));
    let messages = [
        strings.read(0..2).expect_err("refused"),
        strings.read(0..0).expect_err("refused"),
        strings.read_as::<f32>(0..2).expect_err("refused"),
        strings.write(0..2, &[0; 4]).expect_err("refused"),
        bytes.read_into(0..2, &mut [0_u8; 0]).expect_err("refused"),
        bytes.read_as::<String>(0..2).expect_err("refused"),
        bytes.write_as(0..1, &["a"]).expect_err("refused"),
        numbers.read_as::<String>(0..2).expect_err("refused"),
        numbers.read_as::<Vec<u8>>(0..2).expect_err("refused"),
        numbers.write_as(0..1, &[b"a"]).expect_err("refused"),
        strings.write_as(0..2, &["a"]).expect_err("refused"),
        strings.read_as::<String>(0..3).expect_err("refused"),
        strings.write_as(0..1, &[b"\xff"]).expect_err("refused"),
    ]
    .map(|error| error.to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn damaged_chunks_are_errors_that_name_the_chunk() {
    let builder = ArrayBuilder::new([4], DataType::String).chunk_shape([2]);
    let (store, array) = create(builder.codecs([Codec::VlenUtf8]));
    array.write_as(0..4, &["a", "b", "c", "d"]).expect("writes");
    let key = Key::new("c/1").expect("a key");
    let put = |bytes: &[u8]| store.put(&key, bytes).expect("puts");
    put(&[2, 0, 0, 0, 1, 0, 0, 0, b'c', 9, 0, 0, 0, b'd']);
    let error = array.read_as::<String>(0..4).expect_err("damaged");
    insta::assert_snapshot!(
        error,
        @"chunk c/1: codec vlen-utf8 ($.codecs[0]): element 1 needs 9 bytes, but 1 byte follows"
    );
    assert!(matches!(error, ArrayError::Chunk { .. }));
    // None of it can be kept, and nothing is lost silently.
    assert!(array.write_as(2..3, &["x"]).is_err());
    array.write_as(2..4, &["x", "y"]).expect("covers it");
    assert_eq!(all(&array), ["a", "b", "x", "y"]);

    let mut messages = Vec::new();
    for bytes in [
        &[2, 0, 0, 0, 1, 0, 0, 0, b'c', 9, 0, 0, 0, b'd'][..],
        &[2, 0, 0, 0, 1, 0, 0, 0, 0xff, 0, 0, 0, 0],
        &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[1, 0, 0, 0, 0, 0, 0, 0],
    ] {
        put(bytes);
        let options = CheckOptions::new().data(true);
        let report = &mut |finding: zarr_check::Finding| messages.push(finding.to_string());
        check(&store, &Prefix::root(), &options, report).expect("checks");
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_check_finds_elements_past_the_end_and_clipped_chunks() {
    let builder = ArrayBuilder::new([3], DataType::String).chunk_shape([2]);
    let (store, _) = create(builder.codecs([Codec::VlenUtf8]));
    let key = Key::new("c/1").expect("a key");
    let mut messages = Vec::new();
    for bytes in [&[2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, b'd'][..], &[1, 0, 0, 0, 1, 0, 0, 0, b'd']]
    {
        store.put(&key, bytes).expect("puts");
        let options = CheckOptions::new().data(true);
        let report = &mut |finding: zarr_check::Finding| messages.push(finding.to_string());
        check(&store, &Prefix::root(), &options, report).expect("checks");
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn copies_have_other_chunks_and_other_codecs() {
    let builder = ArrayBuilder::new([5, 7], DataType::String).chunk_shape([2, 3]);
    let (_, from) = create(builder.fill_value("none"));
    let strings: Vec<String> = (0..20).map(|n| format!("nº {n}")).collect();
    from.write_as([0..4, 1..6], &strings).expect("writes");
    let grid = ChunkGrid::Regular { chunk_shape: vec![4, 2] };
    let metadata = from.metadata().with_shape_and_grid(&[5, 7], &grid).expect("fits");
    let chain = [Codec::sharding([2, 1], [Codec::VlenUtf8, Codec::gzip(1)])];
    let metadata = metadata.with_codecs(&chain).expect("fits");
    // Room for a few of the elements at a time.
    for memory in [1 << 30, 4 << 10] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = CopyOptions::new().verify(true).memory(memory);
        let mut told = Vec::new();
        let (to, summary) = copy_array(
            &from,
            store,
            &Prefix::root(),
            metadata.clone(),
            &options,
            &mut |progress| told.push(progress),
        )
        .expect("copies");
        assert_eq!(all(&to), all(&from));
        assert!(summary.tasks > u64::from(memory < 1 << 20), "{summary:?}");
        assert_eq!(summary.bytes, u64::try_from(all(&from).concat().len()).expect("small"));
        assert!(told.iter().all(|progress| progress.total.is_none()));
    }
}

/// A shard of three inner chunks, of which the middle one need not be there.
#[test]
fn a_check_finds_inner_chunks_of_strings_that_hold_only_the_fill_value() {
    let shard = Codec::sharding([2], [Codec::VlenUtf8]);
    let builder = ArrayBuilder::new([6], DataType::String).chunk_shape([6]).codecs([shard]);
    let (store, array) = create(builder.fill_value("-"));
    array.write_as(0..6, &["a", "b", "c", "c", "d", "e"]).expect("writes");
    let key = Key::new("c/0").expect("a key");
    let mut bytes = store.read(&key).expect("reads").expect("stored").to_vec();
    // The two strings "c", each one byte behind its length.
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'c').collect();
    assert_eq!(places.len(), 2);
    // The index has a checksum of its own bytes only.
    for place in places {
        bytes[place] = b'-';
    }
    store.put(&key, &bytes).expect("stores");
    assert_eq!(all(&array), ["a", "b", "-", "-", "d", "e"]);
    let mut found = Vec::new();
    let options = CheckOptions::new().data(true);
    check(&store, &Prefix::root(), &options, &mut |finding| found.push(finding.to_string()))
        .expect("checks");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("inner chunk [1]: nothing but the fill value"), "{found:?}");
}

/// A chunk of 64 KiB compresses to some hundred bytes.
#[test]
fn a_check_examines_no_strings_that_do_not_fit_its_memory() {
    let builder = ArrayBuilder::new([2], DataType::String).chunk_shape([1]);
    let (store, array) = create(builder.codecs([Codec::VlenUtf8, Codec::zstd(1)]));
    array.write_as(0..2, &["x".repeat(64 << 10), "short".to_owned()]).expect("writes");
    for (memory, unexamined) in [(100 << 10, 1), (200 << 10, 0)] {
        let mut found = Vec::new();
        let options = CheckOptions::new().data(true).memory(memory);
        let mut report = |finding: zarr_check::Finding| found.push(finding);
        check(&store, &Prefix::root(), &options, &mut report).expect("checks");
        assert_eq!(found.len(), unexamined, "{found:?}");
        assert!(found.iter().all(|finding| finding.id() == "not-examined"), "{found:?}");
        assert!(found.iter().all(|finding| finding.key() == Some("c/0")), "{found:?}");
    }
}

/// Strings of 4 KiB where 64 bytes are expected.
#[test]
fn copies_of_long_strings_keep_to_their_memory() {
    let builder = ArrayBuilder::new([40], DataType::String).chunk_shape([5]);
    let (_, array) = create(builder);
    let strings: Vec<String> = (0..40).map(|n| format!("{n}{}", "é".repeat(2048))).collect();
    array.write_as(0..40, &strings).expect("writes");
    let copied = |memory: u64, chunk: u64| {
        let grid = ChunkGrid::Regular { chunk_shape: vec![chunk] };
        let metadata = array.metadata().with_shape_and_grid(&[40], &grid).expect("valid");
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = CopyOptions::new().memory(memory).verify(true);
        copy_array(&array, store, &Prefix::root(), metadata, &options, &mut |_| {})
    };
    // All of them at once, or chunk by chunk.
    for memory in [1 << 20, 64 << 10] {
        let (copy, summary) = copied(memory, 4).expect("copies");
        assert_eq!(all(&copy), strings);
        assert_eq!(summary.bytes, strings.iter().map(|text| text.len() as u64).sum::<u64>());
    }
    let error = copied(64 << 10, 20).expect_err("a chunk of 80 KiB").to_string();
    assert!(error.contains("more than the"), "{error}");
}
