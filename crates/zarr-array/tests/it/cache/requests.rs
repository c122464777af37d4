//! The requests of reads with a cache to a store that answers slowly.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix};
use zarr_array::{Array, AxisSelection, Selection};
use zarr_metadata::{ArrayBuilder, Codec, DataType};

use super::Random;
use super::watched::Watched;

/// A store with 64 by 64 in shards of 32 by 32 with inner chunks of 4 by 4.
fn stored() -> (Arc<Watched>, Vec<u16>) {
    let store = Watched::new(MemoryStore::new());
    store.set_far();
    let builder = ArrayBuilder::new([64, 64], DataType::Uint16).chunk_shape([32, 32]);
    let codecs = [Codec::sharding([4, 4], [Codec::bytes(), Codec::gzip(1)])];
    let metadata = builder.codecs(codecs).build().expect("valid");
    let array = Array::create(store.clone(), &Prefix::root(), metadata).expect("creates");
    let values: Vec<u16> = (0..4096).collect();
    array.write_as([0..64, 0..64], &values).expect("writes");
    (store, values)
}

/// An array that knows no index yet.
fn opened(store: &Arc<Watched>) -> Array {
    let array = Array::open(store.clone(), &Prefix::root()).expect("opens");
    array.with_threads(NonZeroUsize::new(16).expect("not 0"))
}

#[test]
fn a_cold_window_takes_the_requests_of_a_read_without_the_cache() {
    let (store, values) = stored();
    // In one shard, and in four.
    for (start, shards) in [(3_u64, 1), (20, 4)] {
        let window = || [start..start + 24, start..start + 24];
        let plain = opened(&store);
        store.asked();
        let wanted = plain.read_as::<u16>(window()).expect("reads");
        assert_eq!(wanted[25], values[(start as usize + 1) * 65]);
        let (_, gets) = store.asked();
        assert!(gets <= 2 * shards, "{gets}");
        let array = opened(&store).with_cache(1 << 20);
        store.asked();
        assert_eq!(array.read_as::<u16>(window()).expect("reads"), wanted);
        assert_eq!(store.asked(), (shards, gets));
        assert_eq!(array.read_as::<u16>(window()).expect("reads"), wanted);
        assert_eq!(store.asked(), (shards, 0));
    }
}

#[test]
fn a_window_that_moves_takes_a_request_for_what_is_new() {
    let (store, _) = stored();
    let (plain, array) = (opened(&store), opened(&store).with_cache(1 << 20));
    for start in 0..8 {
        let window = || [start..start + 9, 2 * start..2 * start + 9];
        let wanted = plain.read(window()).expect("reads");
        store.asked();
        assert_eq!(array.read(window()).expect("reads"), wanted);
        let (heads, gets) = store.asked();
        assert!(heads == 1 && gets <= 1 + u64::from(start == 0), "{start}: {gets}");
        assert_eq!(array.read(window()).expect("reads"), wanted);
        assert_eq!(store.asked(), (1, 0));
    }
}

/// Ranges, of any handle: never more gets than without the cache.
#[test]
fn random_regions_take_no_more_requests_than_without_the_cache() {
    let (store, _) = stored();
    let mut random = Random(5);
    for round in 0..60 {
        let (plain, array) = (opened(&store), opened(&store).with_cache(1 << 20));
        for _ in 0..4 {
            let region = [random.range(64), random.range(64)];
            store.asked();
            let wanted = plain.read(region.clone()).expect("reads");
            let without = store.asked().1;
            assert_eq!(array.read(region.clone()).expect("reads"), wanted);
            let with = store.asked().1;
            assert!(with <= without, "{round}: {region:?} {with} {without}");
        }
    }
}

/// With gaps, each is read alone: what lies between is not.
#[test]
fn selections_with_gaps_read_nothing_between() {
    let (store, values) = stored();
    let array = opened(&store).with_cache(1 << 20);
    let ends: [_; 2] = [AxisSelection::from([0, 31]), AxisSelection::from([0, 31])];
    store.asked();
    let found = array.read_as::<u16>(Selection::new(ends.to_vec())).expect("reads");
    assert_eq!(found, [values[0], values[31], values[31 * 64], values[31 * 65]]);
    let step = AxisSelection::Step { range: 0..32, step: -11 };
    let found = array.read_as::<u16>(Selection::new(vec![step.clone(), step])).expect("reads");
    assert_eq!(found[..3], [31 * 65, 31 * 64 + 20, 31 * 64 + 9]);
}
