//! The cache of shard indices.

use std::sync::Arc;

use shuttle::thread;
use zarr_codec::ShardIndex;
use zarr_store::Version;

use super::shard_indices::Indices;

fn version(number: u64) -> Option<Version> {
    Some(Version::from_numbers([number, 0, 0, 0]))
}

/// An index is kept with its own version, whoever replaces or removes it meanwhile.
#[test]
fn an_index_has_its_own_version() {
    crate::in_orders(crate::ORDERS, || {
        let indices = Arc::new(Indices::default());
        let known: [Arc<ShardIndex>; 2] = [Arc::default(), Arc::default()];
        let threads = [0, 1, 2].map(|number: u64| {
            let (indices, known) = (indices.clone(), known.clone());
            thread::spawn(move || {
                for shard in [7, 8] {
                    match usize::try_from(number).ok().and_then(|at| known.get(at)) {
                        Some(index) => indices.insert(&[shard], index, &version(number)),
                        None => indices.remove(&[shard]),
                    }
                    if let Some(found) = indices.get(&[shard]) {
                        let at = known.iter().position(|one| Arc::ptr_eq(one, &found.index));
                        let at = at.and_then(|at| u64::try_from(at).ok()).expect("known");
                        assert_eq!(found.version, version(at));
                    }
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().expect("ends"));
        indices.remove(&[7]);
        indices.remove(&[8]);
        assert!(indices.get(&[7]).is_none() && indices.get(&[8]).is_none());
    });
}
