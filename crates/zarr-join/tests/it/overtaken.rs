//! Joins of groups that stop while another run takes over, and then go on: at each operation of the
//! first run, the other is killed at each of its own. What is resumed then is whole.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_array::unfinished::is_ended;
use zarr_array::{Array, Group};
use zarr_copy::{MARKER, TransferError};
use zarr_join::{GroupArrangement, GroupJoinPlan, GroupMember, JoinError, JoinGroups, JoinOptions};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
use zarr_store_tests::{Apart, Stage, objects, prefix, sampled};

/// A member with arrays of this many elements from `first` on, in chunks of 2.
fn member(name: &str, first: u8, count: u8) -> GroupMember {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = Group::create(store, &Prefix::root(), GroupMetadata::new()).expect("creates");
    for path in ["t", "v"] {
        let metadata = ArrayBuilder::new([count.into()], DataType::Uint8).chunk_shape([2]);
        let metadata = metadata.dimension_names(["t"]).build().expect("valid");
        let array = group.create_array(path, metadata).expect("creates");
        let values: Vec<u8> = (first..first + count).collect();
        array.write(0..u64::from(count), &values).expect("writes");
    }
    GroupMember::new(name, group)
}

fn plan(lengths: [u8; 2]) -> GroupJoinPlan {
    let members = vec![member("a", 1, lengths[0]), member("b", 1 + lengths[0], lengths[1])];
    JoinGroups::new(members, GroupArrangement::Along("t".into())).plan().expect("fits")
}

fn join(
    plan: &GroupJoinPlan,
    store: &Arc<dyn Store>,
    options: &JoinOptions,
) -> Result<(), JoinError> {
    let options = options.clone().threads(NonZeroUsize::MIN);
    plan.execute(store, &prefix("to"), &options, &|_| {}).map(drop)
}

fn is_of(error: &JoinError, what: fn(&TransferError) -> bool) -> bool {
    matches!(error, JoinError::Transfer(cause) if what(cause))
}

fn is_overtaken(apart: Apart, first: [u8; 2], other: [u8; 2], takes: &JoinOptions) {
    let (one, two) = (plan(first), plan(other));
    let (mut stops, mut goes_on) = (0, true);
    while goes_on {
        let (mut kills, mut lives) = (0, false);
        while !lives {
            let at = format!("{apart:?} {first:?} {other:?} stopped at {stops}, killed at {kills}");
            let memory = MemoryStore::new();
            let stage = Stage::new(memory.clone(), apart, stops, kills);
            let ((_, stopped), (_, killed)) = stage.run(
                |store| join(&one, &store, &JoinOptions::new()),
                |store| join(&two, &store, takes),
            );
            (goes_on, lives) = (stopped, !killed);
            kills += sampled(3) as u64;
            let resumed = Stage::new(memory.clone(), apart, u64::MAX, u64::MAX);
            let again = |plan: &GroupJoinPlan| {
                let options = JoinOptions::new().resume(true);
                resumed.run(|store| join(plan, &store, &options), |_| ()).0.0
            };
            let result = match again(&two) {
                Err(error)
                    if is_of(&error, |cause| matches!(cause, TransferError::OtherCopy { .. })) =>
                {
                    again(&one)
                }
                result => result,
            };
            if let Err(error) = result {
                let is_told = apart == Apart::Conditions
                    && first != other
                    && is_of(&error, |cause| matches!(cause, TransferError::OtherDocument { .. }));
                if is_told {
                    continue;
                }
                let is_whole =
                    is_of(&error, |cause| matches!(cause, TransferError::NotInterrupted { .. }));
                assert!(is_whole, "{at}: {error}");
            }
            let store: Arc<dyn Store> = Arc::new(memory);
            for path in ["to/t", "to/v"] {
                let array = Array::open(store.clone(), &prefix(path));
                let array = array.unwrap_or_else(|error| panic!("{at}: {error}"));
                let length = array.shape()[0];
                let expected: Vec<u8> =
                    (1..).take(usize::try_from(length).expect("small")).collect();
                assert_eq!(array.read(0..length).expect("reads"), expected, "{at}: {path}");
            }
            let left = objects(&*store);
            assert!(left.iter().all(|(key, text)| !key.contains(MARKER) || is_ended(text)), "{at}");
        }
        stops += sampled(2) as u64;
    }
}

#[test]
fn a_join_that_was_begun_anew_while_it_slept_loses_nothing() {
    for apart in [Apart::Locks, Apart::Conditions] {
        is_overtaken(apart, [4, 3], [4, 3], &JoinOptions::new().overwrite(true));
    }
}

#[test]
fn a_join_that_was_resumed_while_it_slept_loses_nothing() {
    for apart in [Apart::Locks, Apart::Conditions] {
        is_overtaken(apart, [4, 3], [4, 3], &JoinOptions::new().resume(true));
    }
}

#[test]
fn a_join_that_was_replaced_by_another_while_it_slept_changes_nothing_of_that() {
    // Other chunks of the same keys: the second member begins within one.
    for apart in [Apart::Locks, Apart::Conditions] {
        is_overtaken(apart, [4, 3], [3, 4], &JoinOptions::new().overwrite(true));
    }
}
