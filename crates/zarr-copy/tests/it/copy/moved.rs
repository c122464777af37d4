//! Chunks that move into, out of and between shards as they are stored.

use std::sync::Arc;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _,
};
use zarr_array::{Array, Part, Selection};
use zarr_copy::{CopyOptions, Endpoint, Route, TransferError, copy_tree, plan_tree};
use zarr_metadata::{
    ArrayBuilder, ArrayMetadata, ChunkEdges, ChunkGrid, Codec, DataType, IndexLocation, Sharding,
};
use zarr_store_tests::{CountedChunks, folder_in_memory, objects, sampled};

use super::copy;

/// An array of bytes, of chunks or shards of these edges on each axis.
fn array(shape: &[u64], edges: &[Vec<u64>], codecs: &[Codec]) -> ArrayMetadata {
    let builder = ArrayBuilder::new(shape, DataType::Uint8).fill_value(0);
    let builder = if edges.iter().all(|edges| edges.len() == 1) {
        builder.chunk_shape(edges.concat())
    } else {
        let chunk_shapes = edges.iter().map(|edges| match &**edges {
            [edge] => ChunkEdges::Regular(*edge),
            edges => edges.into(),
        });
        let chunk_shapes = chunk_shapes.collect();
        builder.chunk_grid(ChunkGrid::Rectilinear { chunk_shapes })
    };
    builder.codecs(codecs.to_vec()).build().expect("valid")
}

fn shard(unit: &[u64], codecs: &[Codec], location: IndexLocation) -> Vec<Codec> {
    let mut shard = Sharding::new(unit, codecs.to_vec());
    shard.index_location = location;
    vec![Codec::ShardingIndexed(Box::new(shard))]
}

/// What a plain write of the elements stores.
fn written(metadata: &ArrayMetadata, elements: &[u8]) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    Array::create(store.clone(), &Prefix::root(), metadata.clone())
        .and_then(|array| array.write(Selection::whole(metadata.shape()), elements))
        .expect("writes");
    store
}

fn open(store: &Arc<MemoryStore>) -> Array {
    Array::open(store.clone(), &Prefix::root()).expect("opens")
}

/// Small numbers, always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Edges of whole units that reach the end of the axis.
fn edges(numbers: &mut Numbers, unit: u64, extent: u64) -> Vec<u64> {
    if numbers.below(2) == 0 {
        return vec![unit * (1 + numbers.below(4))];
    }
    let mut edges = Vec::new();
    while edges.iter().sum::<u64>() < extent || edges.len() < 2 {
        edges.push(unit * (1 + numbers.below(3)));
    }
    edges
}

#[test]
fn moved_chunks_are_those_that_a_write_stores_in_any_layout() {
    let mut numbers = Numbers(61);
    let inner = [
        vec![Codec::bytes()],
        vec![Codec::bytes(), Codec::Crc32c],
        vec![Codec::bytes(), Codec::zstd(3)],
    ];
    for case in (0..300).step_by(sampled(1)) {
        let rank = 1 + numbers.below(3);
        let shape: Vec<u64> = (0..rank).map(|_| 1 + numbers.below(20)).collect();
        let unit: Vec<u64> = (0..rank).map(|_| 1 + numbers.below(4)).collect();
        let codecs = &inner[usize::try_from(numbers.below(3)).unwrap()];
        let layout = |numbers: &mut Numbers| match numbers.below(3) {
            0 => {
                let edges: Vec<_> = unit.iter().map(|edge| vec![*edge]).collect();
                array(&shape, &edges, codecs)
            }
            at => {
                let location = [IndexLocation::Start, IndexLocation::End][usize::from(at == 1)];
                let axes = shape.iter().zip(&unit);
                let edges: Vec<_> = axes.map(|(n, edge)| edges(numbers, *edge, *n)).collect();
                array(&shape, &edges, &shard(&unit, codecs, location))
            }
        };
        let (from, to) = (layout(&mut numbers), layout(&mut numbers));
        let count = shape.iter().product::<u64>();
        // Some regions are only the fill value.
        let zeros = numbers.below(count + 1);
        let value = |at| if at < zeros { 0 } else { u8::try_from(at % 250).unwrap() };
        let elements: Vec<u8> = (0..count).map(value).collect();
        let (from, expected) = (written(&from, &elements), written(&to, &elements));
        for verify in [false, true] {
            let options = CopyOptions::new().verify(verify);
            let copied = Arc::new(MemoryStore::new());
            let summary = copy(&open(&from), copied.clone(), to.clone(), &options).expect("copies");
            assert_eq!(objects(&*copied), objects(&*expected), "{case}: {}", to.json());
            assert_eq!(summary.bytes, count, "{case}");
        }
    }
}

/// Elements of variable length, and shards within shards.
#[test]
fn strings_and_inner_shards_move_too() {
    let strings = |codecs: Vec<Codec>, chunk: u64| {
        let builder = ArrayBuilder::new([9], DataType::String).chunk_shape([chunk]);
        builder.codecs(codecs).build().expect("valid")
    };
    let inner = vec![Codec::VlenUtf8, Codec::zstd(1)];
    let (plain, sharded) =
        (strings(inner.clone(), 2), strings(vec![Codec::sharding([2], inner)], 6));
    let store = |metadata: &ArrayMetadata| {
        let store = Arc::new(MemoryStore::new());
        let array =
            Array::create(store.clone(), &Prefix::root(), metadata.clone()).expect("creates");
        array.write_as::<&str>(3..9, &["a", "bc", "", "def", "g", "hi"]).expect("writes");
        store
    };
    for (from, to) in [(&plain, &sharded), (&sharded, &plain)] {
        let copied = Arc::new(MemoryStore::new());
        let summary = copy(&open(&store(from)), copied.clone(), to.clone(), &CopyOptions::new());
        assert!(summary.expect("copies").bytes > 0);
        assert_eq!(objects(&*copied), objects(&*store(to)));
    }

    let within = shard(&[2], &[Codec::bytes()], IndexLocation::End);
    let plain = array(&[20], &[vec![4]], &within);
    let sharded = array(&[20], &[vec![8]], &shard(&[4], &within, IndexLocation::Start));
    let elements: Vec<u8> = (1..21).collect();
    for (from, to) in [(&plain, &sharded), (&sharded, &plain)] {
        let copied = Arc::new(MemoryStore::new());
        copy(&open(&written(from, &elements)), copied.clone(), to.clone(), &CopyOptions::new())
            .expect("copies");
        assert_eq!(objects(&*copied), objects(&*written(to, &elements)));
    }
}

fn plain() -> ArrayMetadata {
    array(&[24], &[vec![4]], &[Codec::bytes(), Codec::Crc32c])
}

/// Shards of some units of [`plain`].
fn shards(edges: &[u64]) -> ArrayMetadata {
    let inner = [Codec::bytes(), Codec::Crc32c];
    array(&[24], &[edges.to_vec()], &shard(&[4], &inner, IndexLocation::End))
}

/// Chunks that no codec could decode: what is moved, is not decoded.
fn damaged() -> Arc<MemoryStore> {
    let store = written(&plain(), &[1; 24]);
    for chunk in [0, 1, 3, 5] {
        let bytes = vec![u8::try_from(chunk).unwrap(); 3 + chunk];
        store.put(&Key::new(format!("c/{chunk}")).unwrap(), &bytes).expect("puts");
    }
    for chunk in [2, 4] {
        Store::delete(&*store, &Key::new(format!("c/{chunk}")).unwrap()).expect("deletes");
    }
    store
}

#[test]
fn nothing_is_decoded_and_each_chunk_is_put_once() {
    let chunks = damaged();
    // Into shards, into other shards, and out of them.
    let mut from: Arc<dyn Store> = chunks.clone();
    for (to, puts) in
        [(shards(&[8]), 3), (shards(&[12, 4, 8]), 3), (shards(&[24]), 1), (plain(), 4)]
    {
        let copied = Arc::new(CountedChunks::new(MemoryStore::new()));
        let array = Array::open(from.clone(), &Prefix::root()).expect("opens");
        copy(&array, copied.clone(), to, &CopyOptions::new()).expect("copies");
        assert_eq!(copied.taken()[1], puts);
        from = Arc::new(copied.inner.clone());
    }
    assert_eq!(objects(&*from), objects(&*chunks));

    let root = Prefix::root();
    let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut change = |_: &Prefix, _: &ArrayMetadata| Ok(shards(&[8]));
    let ends = (Endpoint::new(&from, &root), Endpoint::new(&target, &root));
    let plans = plan_tree(ends.0, ends.1, &mut change, &CopyOptions::new()).expect("plans");
    let plan = plans[0].1.as_ref().expect("of the array");
    assert_eq!((plan.route, plan.chunks, plan.reads, plan.times()), (Route::Moved, 6, 0, 0));
}

#[test]
fn a_damaged_chunk_is_refused_if_it_is_verified() {
    let copied = Arc::new(MemoryStore::new());
    let refused = copy(&open(&damaged()), copied, shards(&[8]), &CopyOptions::new().verify(true));
    assert!(matches!(refused, Err(TransferError::Source(_))), "{refused:?}");
}

/// What is stored in another way is decoded.
#[test]
fn other_chunks_codecs_and_fill_values_are_decoded() {
    let inner = [Codec::bytes(), Codec::Crc32c];
    let mut others = vec![
        array(&[24], &[vec![8]], &shard(&[2], &inner, IndexLocation::End)),
        array(&[24], &[vec![8]], &shard(&[4], &[Codec::bytes()], IndexLocation::End)),
        array(
            &[24],
            &[vec![8]],
            &[shard(&[4], &inner, IndexLocation::End), vec![Codec::Crc32c]].concat(),
        ),
    ];
    let fill = ArrayBuilder::new([24], DataType::Uint8).chunk_shape([8]).fill_value(1);
    others.push(fill.codecs(shard(&[4], &inner, IndexLocation::End)).build().expect("valid"));
    let elements: Vec<u8> = (0..24).map(|at| at / 4 % 3).collect();
    for to in others {
        let refused =
            copy(&open(&damaged()), Arc::new(MemoryStore::new()), to.clone(), &CopyOptions::new());
        assert!(matches!(refused, Err(TransferError::Source(_))), "{refused:?}");
        let copied = Arc::new(MemoryStore::new());
        copy(&open(&written(&plain(), &elements)), copied.clone(), to.clone(), &CopyOptions::new())
            .expect("copies");
        assert_eq!(objects(&*copied), objects(&*written(&to, &elements)));
    }
}

/// The encoded chunks of a shard must fit, however many elements it has.
#[test]
fn a_shard_that_is_larger_than_the_memory_is_refused_with_the_need() {
    let from = damaged();
    // 3, 4, 6 and 8 bytes are stored.
    for (to, needed) in [(shards(&[24]), 21), (shards(&[8]), 8)] {
        for store in [from.clone(), {
            let store = Arc::new(MemoryStore::new());
            copy(&open(&from), store.clone(), shards(&[12]), &CopyOptions::new()).expect("copies");
            store
        }] {
            let copied = Arc::new(MemoryStore::new());
            let options = CopyOptions::new().memory(needed - 1);
            let refused = copy(&open(&store), copied, to.clone(), &options);
            let Err(TransferError::Object { key, size, limit }) = refused else {
                panic!("{refused:?}")
            };
            assert!(key.starts_with("c/") && size <= needed && size > limit, "{size} of {needed}");
            let copied = Arc::new(MemoryStore::new());
            copy(&open(&store), copied, to.clone(), &CopyOptions::new().memory(needed))
                .expect("copies");
        }
    }
}

/// Shards that do not fit pass through the memory in pieces, to stores that take these.
#[test]
fn shards_larger_than_the_memory_are_streamed_to_files() {
    let mut numbers = Numbers(7);
    let mut streamed = 0;
    for case in (0..200).step_by(sampled(1)) {
        let rank = 1 + numbers.below(2);
        let shape: Vec<u64> = (0..rank).map(|_| 1 + numbers.below(20)).collect();
        let unit: Vec<u64> = (0..rank).map(|_| 1 + numbers.below(4)).collect();
        let count = shape.iter().product::<u64>();
        let codecs = [Codec::bytes(), Codec::Crc32c];
        let layout = |numbers: &mut Numbers, is_plain| {
            let location = [IndexLocation::Start, IndexLocation::End][numbers.below(2) as usize];
            if is_plain {
                let units: Vec<_> = unit.iter().map(|edge| vec![*edge]).collect();
                return array(&shape, &units, &codecs);
            }
            let axes = shape.iter().zip(&unit);
            let outer: Vec<_> = axes.map(|(n, edge)| edges(numbers, *edge, *n)).collect();
            array(&shape, &outer, &shard(&unit, &codecs, location))
        };
        let is_plain = numbers.below(2) == 0;
        let (from, to) = (layout(&mut numbers, is_plain), layout(&mut numbers, false));
        let zeros = numbers.below(count + 1);
        let value = |at| if at < zeros { 0 } else { u8::try_from(at % 250).unwrap() };
        let elements: Vec<u8> = (0..count).map(value).collect();
        let from = written(&from, &elements);
        let options = CopyOptions::new().memory(unit.iter().product::<u64>() + 4);
        // Of this store the most that is put at once is a whole shard.
        let whole = copy(&open(&from), Arc::new(MemoryStore::new()), to.clone(), &options);
        let folder = folder_in_memory();
        let store: Arc<dyn Store> = Arc::new(LocalStore::open(folder.path()).expect("opens"));
        let copied = copy(&open(&from), store.clone(), to.clone(), &options).expect("copies");
        assert_eq!(copied.bytes, count, "{case}");
        let found = Array::open(store.clone(), &Prefix::root()).expect("opens");
        let read = found.read(Selection::whole(&shape)).expect("reads");
        assert_eq!(read, elements, "{case}: {}", to.json());
        let stored = objects(&*store);
        if is_plain {
            assert_eq!(stored, objects(&*written(&to, &elements)), "{case}: {}", to.json());
        }
        streamed += u32::from(whole.is_err());
    }
    assert!(streamed > 100, "{streamed}");
}

/// A killed copy has whole shards only, and its resume puts the others.
#[test]
fn a_killed_stream_leaves_no_part_of_a_shard() {
    let from = damaged();
    let expected = Arc::new(MemoryStore::new());
    copy(&open(&from), expected.clone(), shards(&[24]), &CopyOptions::new()).expect("copies");
    let expected = objects(&*expected);
    let options = CopyOptions::new().memory(8);
    for step in 1.. {
        let folder = folder_in_memory();
        let local = LocalStore::open(folder.path()).expect("opens");
        let dying = Arc::new(FaultStore::new(local.clone()).at(step, Fault::DieAfter));
        let died = copy(&open(&from), dying, shards(&[24]), &options);
        if died.is_ok() {
            // Each write of a piece is a step.
            assert!(step > 8, "{step}");
            break;
        }
        let again = copy(
            &open(&from),
            Arc::new(local.clone()),
            shards(&[24]),
            &options.clone().resume(true),
        );
        let is_done = matches!(again, Err(TransferError::NotInterrupted { .. }));
        assert!(again.is_ok() || is_done, "{step}: {again:?}");
        if again.is_ok() || !objects(&local).is_empty() {
            assert_eq!(objects(&local), expected, "{step}");
        }
    }
}

/// Units that share bytes would be written once each: a small shard became one of any size.
#[test]
fn a_shard_whose_units_share_bytes_has_to_fit() {
    let from = written(&shards(&[24]), &[1; 24]);
    let key = Key::new("c/0").expect("a key");
    let shard = from.read(&key).expect("memory").expect("stored");
    let (units, index) = shard.split_at(6 * 8);
    let entry = index.get(..16).expect("an entry");
    let mut entries = entry.repeat(6);
    entries.extend(crc32c(&entries).to_le_bytes());
    from.put(&key, &[units, &*entries].concat()).expect("puts");
    let folder = folder_in_memory();
    let local: Arc<dyn Store> = Arc::new(LocalStore::open(folder.path()).expect("opens"));
    let to = shards(&[48]);
    let copy =
        |memory| copy(&open(&from), local.clone(), to.clone(), &CopyOptions::new().memory(memory));
    let refused = copy(47);
    let Err(TransferError::Object { size: 48, limit: 47, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert!(objects(&*local).keys().all(|key| !key.starts_with("c/")));
    let folder = folder_in_memory();
    let local: Arc<dyn Store> = Arc::new(LocalStore::open(folder.path()).expect("opens"));
    super::copy(&open(&from), local, to.clone(), &CopyOptions::new().memory(48)).expect("copies");
}

/// The checksum of an index.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (if crc & 1 == 1 { 0x82f6_3b78 } else { 0 })
        })
    })
}

/// A unit that does not fit alone is refused, and no shard is put.
#[test]
fn a_unit_larger_than_the_memory_is_refused_with_the_need() {
    let from = damaged();
    from.put(&Key::new("c/5").expect("a key"), b"longer than before").expect("puts");
    let folder = folder_in_memory();
    let local: Arc<dyn Store> = Arc::new(LocalStore::open(folder.path()).expect("opens"));
    let options = CopyOptions::new().memory(17);
    let refused = copy(&open(&from), local.clone(), shards(&[24]), &options);
    assert!(matches!(refused, Err(TransferError::Object { .. })), "{refused:?}");
    assert!(objects(&*local).keys().all(|key| !key.starts_with("c/")));
}

#[test]
fn a_killed_copy_is_resumed_and_moves_no_chunk_twice() {
    let from = damaged();
    let expected = Arc::new(MemoryStore::new());
    copy(&open(&from), expected.clone(), shards(&[8]), &CopyOptions::new()).expect("copies");
    let expected = objects(&*expected);
    for step in 1.. {
        let inner = MemoryStore::new();
        let dying = Arc::new(FaultStore::new(inner.clone()).at(step, Fault::DieBefore));
        let died = copy(&open(&from), dying, shards(&[8]), &CopyOptions::new());
        if died.is_ok() {
            assert!(step > 5);
            break;
        }
        let stored = objects(&inner).keys().filter(|key| key.starts_with("c/")).count();
        let counted = Arc::new(CountedChunks::new(inner.clone()));
        let again =
            copy(&open(&from), counted.clone(), shards(&[8]), &CopyOptions::new().resume(true));
        match again {
            Ok(_) => assert_eq!(counted.taken()[1], 3 - stored as u64, "{step}"),
            // Nothing was begun, or all was done.
            Err(TransferError::NotInterrupted { .. }) => {
                let found = objects(&inner);
                if found.is_empty() {
                    continue;
                }
            }
            Err(error) => panic!("{step}: {error}"),
        }
        if !objects(&inner).is_empty() {
            assert_eq!(objects(&inner), expected, "{step}");
        }
    }
}

#[test]
fn parts_move_their_own_chunks() {
    let from: Arc<dyn Store> = damaged();
    let (to, whole) = (MemoryStore::new(), Arc::new(MemoryStore::new()));
    copy(
        &Array::open(from.clone(), &Prefix::root()).expect("opens"),
        whole.clone(),
        shards(&[8]),
        &CopyOptions::new(),
    )
    .expect("copies");
    let target: Arc<dyn Store> = Arc::new(to.clone());
    let root = Prefix::root();
    for number in [3, 1, 2] {
        let options = CopyOptions::new().part(Part::new(number, 3).expect("a part"));
        let ends = (Endpoint::new(&from, &root), Endpoint::new(&target, &root));
        copy_tree(ends.0, ends.1, &mut |_, _| Ok(shards(&[8])), &options, &mut |_, _| {})
            .expect("copies");
    }
    assert_eq!(objects(&to), objects(&*whole));
}

/// Far more chunks than objects: only tasks with objects are done.
#[test]
fn few_chunks_of_many_move() {
    let many = |edge: u64, codecs: Vec<Codec>| array(&[1 << 20], &[vec![edge]], &codecs);
    let inner = [Codec::bytes()];
    let (plain, sharded) =
        (many(64, inner.to_vec()), many(4096, shard(&[64], &inner, IndexLocation::End)));
    let store = |metadata: &ArrayMetadata| {
        let store = Arc::new(MemoryStore::new());
        let array =
            Array::create(store.clone(), &Prefix::root(), metadata.clone()).expect("creates");
        array.write(70_000..70_300, &[3; 300]).expect("writes");
        store
    };
    let copied = Arc::new(MemoryStore::new());
    copy(&open(&store(&plain)), copied.clone(), sharded.clone(), &CopyOptions::new())
        .expect("copies");
    assert_eq!(objects(&*copied), objects(&*store(&sharded)));
}
