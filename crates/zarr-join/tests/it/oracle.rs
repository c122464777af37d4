//! Random joins against elements put together one by one, and chunks compared one by one.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store, StoreExt as _};
use zarr_join::{Join, JoinError, JoinOptions, Members};

use crate::cases::{Random, expected, random_members, whole};

#[test]
fn a_join_holds_the_elements_of_its_members() {
    let (mut moved, mut written, mut refused) = (0, 0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let (members, arrangement) = random_members(&mut random);
        let laid = Members::new(members.clone(), arrangement.clone()).expect("fits");
        let plan = match Join::new(members.clone(), arrangement).plan() {
            Ok(plan) => plan,
            // A cut chunk need not be a whole number of inner chunks; here it always is.
            Err(error) => panic!("seed {seed}: {error}"),
        };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let to = Prefix::new("joined").expect("a prefix");
        let result = plan.execute(&store, &to, &JoinOptions::new(), &|_| {});
        let (array, summary) = match result {
            Ok(done) => done,
            Err(JoinError::Target(_)) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        assert_eq!(whole(&array), expected(&laid), "seed {seed}");
        assert_eq!(summary.copied, plan.moved_chunks() as u64, "seed {seed}");
        assert_eq!(summary.written, plan.written_chunks() as u64, "seed {seed}");
        // As every program sees it.
        let again = zarr_array::Array::open(store.clone(), &to).expect("opens");
        assert_eq!(whole(&again), expected(&laid), "seed {seed}");

        // What is moved is the member's object, and everything that could be moved is.
        let moves: HashMap<(String, String), Vec<u64>> = plan
            .moves()
            .map(|(name, key, to)| ((name.to_owned(), key.to_string()), to.to_vec()))
            .collect();
        let first = laid.members()[0].array();
        for (number, member) in laid.members().iter().enumerate() {
            let from = member.array();
            let alike = from.metadata().codecs() == first.metadata().codecs()
                && from.fill() == first.fill();
            for chunk in from.stored_chunks() {
                let chunk = chunk.expect("lists");
                if !chunk.occupied {
                    continue;
                }
                let mut region = from.layout().chunk_region(&chunk.index).expect("is declared");
                let mut shape = from.layout().chunk_shape(&chunk.index).expect("is declared");
                if let Some(axis) = laid.new_axis() {
                    region.insert(axis, 0..1);
                    shape.insert(axis, 1);
                }
                let place = laid.region(number);
                let region: Vec<Range<u64>> = region
                    .iter()
                    .zip(&place)
                    .map(|(own, place)| place.start + own.start..place.start + own.end)
                    .collect();
                let start: Vec<u64> = region.iter().map(|range| range.start).collect();
                let (to, _) = array.layout().locate(&start).expect("within");
                let same = array.layout().chunk_region(&to).expect("is declared") == region
                    && array.layout().chunk_shape(&to).expect("is declared") == shape;
                let name = (member.name().to_owned(), chunk.key.to_string());
                let found = moves.get(&name);
                assert_eq!(found, (alike && same).then_some(&to), "seed {seed}: {name:?}");
                if let Some(to) = found {
                    let key = array.layout().key(to).expect("a key");
                    let object = |store: &dyn Store, key| store.read(key).expect("reads");
                    assert_eq!(object(&*store, &key), object(&**from.store(), &chunk.key));
                }
            }
        }
        moved += summary.copied;
        written += summary.written;
    }
    // The cases are not all of one kind.
    assert!(moved > 900 && written > 900, "{moved} moved, {written} written");
    assert_eq!(refused, 0);
}
