//! Arrays with a cache, beside the same arrays without it: what is decoded and asked for again, and
//! that no read sees what is no longer stored.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{AnySelection, Array, ArrayError, AxisSelection, Points, Resize, Selection};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, ChunkGrid, Codec, DataType};
use zarr_view::{Output, View};

use watched::{Watched, counted};

mod others;
mod requests;
mod versions;
mod watched;

/// 16 by 16 in shards of 8 by 8 with inner chunks of 2 by 4, all stored.
fn watched() -> (Arc<Watched>, Array, Arc<AtomicU64>) {
    let decodes = Arc::new(AtomicU64::new(0));
    let (codec, options) = counted(&decodes);
    let builder = ArrayBuilder::new([16, 16], DataType::Uint8).chunk_shape([8, 8]);
    let builder = builder.codecs([Codec::sharding([2, 4], [Codec::bytes(), codec])]);
    let metadata = builder.fill_value(255).build().expect("valid");
    let store = Watched::new(MemoryStore::new());
    let array = Array::create_with(store.clone(), &Prefix::root(), metadata, options);
    let array = array.expect("creates").with_threads(NonZeroUsize::MIN);
    array.write([0..16, 0..16], &numbers()).expect("writes");
    decodes.store(0, Ordering::Relaxed);
    store.asked();
    (store, array, decodes)
}

fn numbers() -> Vec<u8> {
    (0..=254).chain([0]).collect()
}

#[test]
fn a_window_read_again_is_neither_fetched_nor_decoded() {
    let (store, plain, decodes) = watched();
    let taken = || decodes.swap(0, Ordering::Relaxed);
    let array = plain.clone().with_cache(1 << 20);
    let window = || [3..6, 6..11];
    let wanted = plain.read(window()).expect("reads");
    taken();
    store.asked();

    assert_eq!(array.read(window()).expect("reads"), wanted);
    // Two rows of inner chunks by three; shards side by side.
    assert_eq!((taken(), store.asked().0), (4, 2));
    assert_eq!(array.read(window()).expect("reads"), wanted);
    assert_eq!((taken(), store.asked()), (0, (2, 0)));
    // By every way to read, of a clone too; of what is new, only that is decoded.
    let clone = array.clone().with_cache(1 << 20);
    assert_eq!(clone.read_as::<u8>(window()).expect("reads"), wanted);
    let mut bytes = vec![0; 15];
    clone.read_into(window(), &mut bytes).expect("reads");
    assert_eq!(bytes, wanted);
    let view = View::contiguous(&[5, 3]).unwrap().permute(&[1, 0]).unwrap();
    let mut turned = vec![0; 15];
    clone.read_into(window(), Output::new(&mut turned, &view, 1).unwrap()).expect("reads");
    assert!((0..15).all(|at| turned[at % 5 * 3 + at / 5] == wanted[at]));
    let points = Points::from([[5, 3, 3], [10, 6, 6]]);
    assert_eq!(clone.read(points).expect("reads"), [90, 54, 54]);
    assert_eq!(array.read(([5, 3, 3], 6)).expect("reads"), [86, 54, 54]);
    assert_eq!((taken(), store.asked().1), (0, 0));
    clone.read([2..6, 6..13]).expect("reads");
    assert_eq!(taken(), 2);
    // Whatever else is set stays, and so does the cache.
    let again = clone.with_range_cost(9).with_threads(NonZeroUsize::MIN);
    again.read(window()).expect("reads");
    assert_eq!(taken(), 0);
    // Another limit begins an empty one; without one, all is decoded again.
    again.clone().with_cache(2 << 20).read(window()).expect("reads");
    again.with_cache(0).read(window()).expect("reads");
    assert_eq!(taken(), 8);
}

#[cfg(feature = "async")]
#[test]
fn asynchronous_reads_use_the_same_cache() {
    let (store, plain, decodes) = watched();
    let array = plain.clone().with_cache(1 << 20);
    let wanted = plain.read([3..6, 6..11]).expect("reads");
    array.read([3..6, 6..11]).expect("reads");
    decodes.store(0, Ordering::Relaxed);
    store.asked();
    futures_executor::block_on(async {
        let array = array.asynchronous();
        assert_eq!(array.read([3..6, 6..11]).await.expect("reads"), wanted);
        assert_eq!(array.read_as::<u8>([3..6, 6..11]).await.expect("reads"), wanted);
        assert_eq!(array.read(([5, 3], 6..8)).await.expect("reads"), [86, 87, 54, 55]);
        assert_eq!(array.read(Points::from([[5], [10]])).await.expect("reads"), [90]);
    });
    assert_eq!((decodes.load(Ordering::Relaxed), store.asked().1), (0, 0));
}

#[test]
fn what_does_not_fit_is_read_without_the_cache() {
    let (store, plain, decodes) = watched();
    // An inner chunk with its bookkeeping is larger.
    let small = plain.clone().with_cache(8);
    small.read([0..1, 0..8]).expect("reads");
    assert_eq!((store.asked().0, decodes.swap(0, Ordering::Relaxed)), (0, 2));
    // A read of more bytes than the limit, or of too many inner chunks, leaves what is kept.
    let limit = 1000;
    let array = plain.with_cache(limit);
    array.read([0..2, 0..4]).expect("reads");
    assert!(numbers().len() < limit);
    decodes.store(0, Ordering::Relaxed);
    store.asked();
    let lists: [Vec<u64>; 2] = [vec![9; 50], vec![9; 50]];
    array.read(lists.map(AxisSelection::Indices)).expect("reads");
    assert_eq!((store.asked().0, decodes.swap(0, Ordering::Relaxed)), (0, 1));
    array.read([0..16, 0..1]).expect("reads");
    assert_eq!((store.asked().0, decodes.swap(0, Ordering::Relaxed)), (0, 8));
    array.read([0..2, 0..4]).expect("reads");
    assert_eq!(decodes.load(Ordering::Relaxed), 0);
}

/// As for lists: the points that touch more than fits.
#[test]
fn points_that_may_touch_more_than_fits_are_read_without_the_cache() {
    let (store, plain, decodes) = watched();
    let array = plain.clone().with_cache(1000);
    array.read([0..2, 0..4]).expect("reads");
    decodes.store(0, Ordering::Relaxed);
    store.asked();
    // One in each inner chunk of a column of them.
    let points = Points::from([[0, 2, 4, 6, 8, 10, 12, 14], [0; 8]]);
    let wanted = plain.read(&points).expect("reads");
    decodes.store(0, Ordering::Relaxed);
    assert_eq!(array.read(&points).expect("reads"), wanted);
    assert_eq!((store.asked().0, decodes.swap(0, Ordering::Relaxed)), (0, 8));
    array.read([0..2, 0..4]).expect("reads");
    array.read(Points::from([[0, 1], [0, 3]])).expect("reads");
    assert_eq!(decodes.load(Ordering::Relaxed), 0);
}

#[test]
fn many_threads_look_an_object_up_once() {
    let decodes = Arc::new(AtomicU64::new(0));
    let (codec, options) = counted(&decodes);
    let builder = ArrayBuilder::new([64], DataType::Uint8).chunk_shape([64]);
    let builder = builder.codecs([Codec::sharding([1], [Codec::bytes(), codec])]);
    let store = Watched::new(MemoryStore::new());
    let metadata = builder.build().expect("valid");
    let array = Array::create_with(store.clone(), &Prefix::root(), metadata, options);
    let array = array.expect("creates").with_cache(1 << 20);
    let array = array.with_threads(NonZeroUsize::new(16).expect("not 0"));
    array.write(0..64, &[1; 64]).expect("writes");
    store.tell(|meta| {
        thread::sleep(Duration::from_millis(2));
        meta
    });
    for decoded in [64, 0] {
        decodes.store(0, Ordering::Relaxed);
        store.asked();
        assert_eq!(array.read(0..64).expect("reads"), [1; 64]);
        assert_eq!((store.asked().0, decodes.load(Ordering::Relaxed)), (1, decoded));
    }
}

#[test]
fn objects_that_appear_change_and_disappear_are_seen() {
    let (store, plain, _) = watched();
    let array = plain.clone().with_cache(1 << 20);
    let key = Key::new("c/0/0").expect("a key");
    let old = store.inner.read(&key).expect("reads").expect("stored");
    for _ in 0..2 {
        assert_eq!(array.read([7..9, 7..9]).expect("reads"), [119, 120, 135, 136]);
        Store::delete(&*store, &key).expect("deletes");
        assert_eq!(array.read([7..9, 7..9]).expect("reads"), [255, 120, 135, 136]);
        store.put(&key, &old).expect("writes");
    }
    array.write((7, 7), &[1]).expect("writes");
    assert_eq!(array.read([7..9, 7..9]).expect("reads"), [1, 120, 135, 136]);
    // Handles of other documents and places.
    let longer = array.append(0, 2, &[7; 32]).expect("appends");
    assert_eq!(longer.read([15..18, 15..16]).expect("reads"), [0, 7, 7]);
    let shorter = longer.resize(Resize::to([17, 16]).keep(true)).expect("resizes");
    assert_eq!(shorter.read([15..17, 15..16]).expect("reads"), [0, 7]);
    assert_eq!(array.read([15..16, 15..16]).expect("reads"), [0]);
    let there = Prefix::new("there").expect("a prefix");
    let other = plain.at(store.clone(), &there).with_cache(1 << 20);
    assert_eq!(array.at(store, &there).read((7, 7)).expect("reads"), [255]);
    assert_eq!(other.read((7, 7)).expect("reads"), [255]);
}

/// A shard is replaced when the read has looked up its version: the read is of one version.
#[test]
fn an_object_that_is_replaced_during_a_read_is_read_as_one() {
    let (store, plain, _) = watched();
    let key = Key::new("c/0/0").expect("a key");
    plain.write([0..8, 0..8], &[9; 64]).expect("writes");
    let nines = store.inner.read(&key).expect("reads").expect("stored");
    plain.write([0..8, 0..8], &[1; 64]).expect("writes");
    let array = plain.with_cache(1 << 20);
    // An inner chunk of the version that the read looks up is kept, and others are not.
    assert_eq!(array.read([0..2, 0..4]).expect("reads"), [1; 8]);
    *store.before_get.lock().unwrap() = Some((key, nines));
    assert_eq!(array.read([0..8, 0..8]).expect("reads"), [9; 64]);
    assert!(store.before_get.lock().unwrap().is_none());
    assert_eq!(array.read([0..8, 0..8]).expect("reads"), [9; 64]);
}

#[test]
fn faults_are_told_as_without_the_cache() {
    let (store, plain, _) = watched();
    let key = Key::new("c/1/1").expect("a key");
    let mut shard = store.inner.read(&key).expect("reads").expect("stored");
    let last = shard.len() - 1;
    shard[last] ^= 1;
    store.put(&key, &shard).expect("writes");
    let text = |result: Result<Vec<u8>, ArrayError>| result.map_err(|error| format!("{error:?}"));
    let array = plain.clone().with_cache(1 << 20);
    let regions = [[6..9, 6..9], [0..4, 0..4], [15..17, 0..1], [3..3, 0..1]];
    for region in regions {
        let (with, without) = (array.read(region.clone()), plain.read(region.clone()));
        assert_eq!(text(with), text(without), "{region:?}");
    }
    assert!(array.read([15..16, 15..16]).is_err());
    // By each way to read: one attempt with the cache, and one without.
    let points = Points::from([[15], [15]]);
    let view = View::new(&[1], &[2], 0).unwrap();
    let mut bytes = [0; 2];
    store.asked();
    assert!(array.read_into(&points, Output::new(&mut bytes, &view, 1).unwrap()).is_err());
    assert_eq!(store.asked().0, 1);
    let mut short = [0_u8; 3];
    let refused = array.read_into([0..2, 0..2], &mut short).expect_err("of another length");
    assert!(matches!(refused, ArrayError::BufferLength { .. }), "{refused}");
    assert!(array.read_as::<f32>([0..2, 0..2]).is_err());
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn range(&mut self, length: u64) -> std::ops::Range<u64> {
        let start = self.below(length);
        start..start + 1 + self.below(length - start)
    }

    fn axis(&mut self, length: u64) -> AxisSelection {
        match self.below(5) {
            0 => AxisSelection::Index(self.below(length)),
            1 => AxisSelection::Step {
                range: self.range(length),
                step: [2, 3, -1, -4][self.below(4) as usize],
            },
            2 => AxisSelection::Indices((0..self.below(7)).map(|_| self.below(length)).collect()),
            _ => AxisSelection::Range(self.range(length)),
        }
    }

    fn selection(&mut self, shape: &[u64]) -> AnySelection {
        if self.below(4) == 0 {
            let count = self.below(9);
            let axis = |length: &u64| (0..count).map(|_| self.below(*length)).collect();
            return Points::new(shape.iter().map(axis).collect()).into();
        }
        Selection::new(shape.iter().map(|length| self.axis(*length)).collect()).into()
    }
}

fn layouts(data_type: &DataType) -> Vec<ArrayMetadata> {
    let raw = || vec![Codec::bytes(), Codec::gzip(1)];
    let mut chains = vec![
        vec![Codec::bytes()],
        raw(),
        vec![Codec::transpose([1, 0]), Codec::bytes(), Codec::Crc32c],
        vec![Codec::sharding([2, 3], raw())],
        vec![Codec::sharding([2, 3], [Codec::bytes()]), Codec::Crc32c],
        vec![Codec::sharding([4, 3], [Codec::sharding([2, 1], raw())])],
        vec![Codec::transpose([1, 0]), Codec::sharding([3, 2], raw())],
        vec![Codec::sharding([2, 3], raw()), Codec::gzip(1)],
    ];
    if *data_type == DataType::Uint16 {
        chains.push(vec![Codec::packbits(0..=11)]);
        chains.push(vec![Codec::sharding([4, 3], [Codec::packbits(0..=11), Codec::zstd(1)])]);
    }
    let grids = [
        ChunkGrid::Regular { chunk_shape: vec![8, 6] },
        ChunkGrid::Rectilinear {
            chunk_shapes: vec![vec![4, 8, 12, 4].into(), vec![6, 3, 9].into()],
        },
    ];
    let mut all = Vec::new();
    for codecs in chains {
        for grid in &grids {
            let builder = ArrayBuilder::new([21, 17], data_type.clone()).codecs(codecs.clone());
            all.push(builder.chunk_grid(grid.clone()).build().expect("valid"));
        }
    }
    all
}

/// Random reads of an array with a cache, beside the array without it, between writes and deletions
/// through other handles. The limits keep everything, some units, and hardly any.
#[test]
fn reads_are_those_without_the_cache_whatever_others_do() {
    let mut random = Random(3);
    let types = ["uint16", "int4", "bool", "complex64", "float8_e4m3", "r24", "int64"];
    for data_type in types.map(|name| DataType::from_name(name).expect("a type")) {
        for metadata in layouts(&data_type) {
            let store = Watched::new(MemoryStore::new());
            if random.below(2) == 0 {
                store.set_far();
            }
            let at = format!("{data_type}, {}", metadata.json());
            let plain = Array::create(store.clone(), &Prefix::root(), metadata).expect("creates");
            let shape = plain.shape().to_vec();
            let size = plain.element_size();
            let arrays = [1 << 20, 2000, 700].map(|bytes| {
                Array::open(store.clone(), &Prefix::root()).expect("opens").with_cache(bytes)
            });
            for round in 0..24_u64 {
                if random.below(3) == 0 {
                    let region: [_; 2] = [random.range(shape[0]), random.range(shape[1])];
                    let count = region.iter().map(|range| (range.end - range.start) as usize);
                    let bytes = count.product::<usize>() * size;
                    // Every type has these values; zeros are the fill value.
                    let bytes: Vec<u8> = (0..bytes)
                        .map(|at| if size > 1 && at % size > 0 { 0 } else { random.below(2) as u8 })
                        .collect();
                    let writer = if round % 2 == 0 { &plain } else { &arrays[0] };
                    writer.write(region, &bytes).expect("writes");
                } else if random.below(12) == 0 {
                    let chunk = plain.stored_chunks().next();
                    chunk
                        .into_iter()
                        .for_each(|chunk| Store::delete(&*store, &chunk.unwrap().key).unwrap());
                }
                let selection = random.selection(&shape);
                let wanted = plain.read(selection.clone()).expect("reads");
                for (number, array) in arrays.iter().enumerate() {
                    let found = array.read(selection.clone()).expect("reads");
                    assert_eq!(found, wanted, "{at}, array {number}, round {round}: {selection:?}");
                }
            }
        }
    }
}

/// Elements without axes, and axes without elements.
#[test]
fn arrays_of_one_element_and_of_none() {
    for shape in [vec![], vec![0, 3], vec![1]] {
        let builder = ArrayBuilder::new(shape.clone(), DataType::Int32);
        let metadata = builder.fill_value(-7).build().expect("valid");
        let store = Arc::new(MemoryStore::new());
        let plain = Array::create(store, &Prefix::root(), metadata).expect("creates");
        let array = plain.clone().with_cache(1 << 20);
        let all = Selection::whole(&shape);
        let count = usize::from(!shape.contains(&0));
        for value in [-7_i32, 5, 6] {
            if value != -7 {
                plain.write_as(&all, &vec![value; count]).expect("writes");
            }
            assert_eq!(array.read_as::<i32>(&all).expect("reads"), vec![value; count]);
            assert_eq!(array.read_as::<i32>(&all).expect("reads"), vec![value; count]);
        }
    }
}
