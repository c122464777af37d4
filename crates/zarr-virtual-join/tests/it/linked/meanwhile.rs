//! Members that change while their virtual join is made.

use std::path::Path;
use std::sync::Arc;

use zarr_array::store::{LocalStore, Prefix, Store, StoreExt as _, StoreOptions};
use zarr_array::{Array, Group, Selection};
use zarr_join::{Arrangement, GroupArrangement, GroupMember, Join, JoinGroups, Member};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};

use zarr_store_tests::{Change, Changing, key, prefix};
use zarr_virtual_join::{Document, Missing, OpenOptions, VirtualJoinError, open_store};

fn local(place: &Path) -> Arc<dyn Store> {
    Arc::new(LocalStore::create(place).expect("creates"))
}

fn text(place: &Path) -> &str {
    place.to_str().expect("UTF-8")
}

fn open_array(store: &Arc<dyn Store>, name: &str) -> Array {
    Array::open(Arc::clone(store), &prefix(name)).expect("opens")
}

fn fill(store: &Arc<dyn Store>, name: &str, values: &[i32]) {
    let array = open_array(store, name);
    array.write_as(Selection::whole(array.shape()), values).expect("writes");
}

/// A store of a group: `time`, which is joined, `place`, which is equal in all, and `rain`.
fn month(place: &Path, first: i32) {
    let root = Group::create(local(place), &Prefix::root(), GroupMetadata::new()).expect("creates");
    for (name, dimension, chunk) in
        [("time", "time", 4), ("place", "place", 2), ("rain", "time", 2)]
    {
        let metadata = ArrayBuilder::new([4], DataType::Int32)
            .chunk_shape([chunk])
            .dimension_names([dimension])
            .build();
        root.create_array(name, metadata.expect("valid")).expect("creates");
    }
    fill(root.store(), "time", &[first, first + 1, first + 2, first + 3]);
    fill(root.store(), "place", &[7, 8, 9, 10]);
    fill(root.store(), "rain", &[1, 2, 3, 4]);
}

/// Makes the document while the member of a number changes before its operation of a number.
/// Returns whether it changed.
fn joined(
    folder: &Path,
    of_groups: bool,
    (member, operation): (usize, u64),
    change: Change,
) -> (bool, Result<(), VirtualJoinError>) {
    for (name, first) in [("a.zarr", 0), ("b.zarr", 4)] {
        month(&folder.join(name), first);
    }
    let changing: [Arc<Changing>; 2] = [0, 1].map(|number| {
        let at = if number == member { operation } else { u64::MAX };
        Arc::new(Changing::at(&local(&folder.join(["a.zarr", "b.zarr"][number])), at, change))
    });
    let stores = changing.clone().map(|store| -> Arc<dyn Store> { store });
    let place = folder.join("both.zjoin");
    let names = ["a.zarr", "b.zarr"].map(|name| text(&folder.join(name)).to_owned());
    let members = names.into_iter().zip(&stores);
    let document = match of_groups {
        true => {
            let members = members.map(|(name, store)| {
                let group = Group::open(Arc::clone(store), &Prefix::root()).expect("opens");
                GroupMember::new(name, group)
            });
            let along = GroupArrangement::Along("time".to_owned());
            let join = JoinGroups::new(members.collect(), along);
            Document::of_groups(&join, text(&place), Missing::Error)
        }
        false => {
            let members = members.map(|(name, store)| {
                Member::in_group(&name.into(), "rain", open_array(store, "rain"))
            });
            let join = Join::new(members.collect(), Arrangement::Along(0));
            Document::of_join(join, text(&place), Missing::Error)
        }
    };
    let made = document.and_then(|document| document.write(text(&place), &StoreOptions::new()));
    (changing[member].has_changed(), made)
}

/// Changes, each with what is named of it.
const CHANGES: [(&str, Change); 6] = [
    ("rain/zarr.json", |store| {
        open_array(store, "rain").update_attributes(&[("units", Some("\"mm\""))]).expect("updates");
    }),
    ("rain/zarr.json", |store| {
        open_array(store, "rain").resize(zarr_array::Resize::to([3]).keep(true)).expect("resizes");
    }),
    ("rain/c/1", |store| fill(store, "rain", &[1, 2, 30, 40])),
    ("time/c/0", |store| fill(store, "time", &[0, 1, 2, 30])),
    ("place/c/1", |store| fill(store, "place", &[7, 8, 9, 11])),
    ("zarr.json", |store| {
        store
            .put(
                &key("zarr.json"),
                br#"{"zarr_format":3,"node_type":"group","attributes":{"a":1}}"#,
            )
            .expect("puts");
    }),
];

/// Whatever changes before whichever operation of a member: the join names it, or else whoever reads
/// it from the join, or it is the state that is read.
#[test]
fn what_changes_while_a_join_is_made_is_named() {
    let mut named = [0_u32; CHANGES.len()];
    for of_groups in [true, false] {
        for (number, (what, change)) in CHANGES.into_iter().enumerate() {
            for member in [0, 1] {
                for operation in 1.. {
                    let folder = tempfile::tempdir().expect("a folder");
                    let folder = folder.path();
                    let at = (member, operation);
                    let (has_changed, made) = joined(folder, of_groups, at, change);
                    if !has_changed {
                        assert!(operation > 3, "{made:?}");
                        break;
                    }
                    let case = format!("{what} of {at:?}, groups {of_groups}");
                    match made {
                        Err(error) => {
                            let error = error.to_string();
                            let member = ["a.zarr", "b.zarr"][member];
                            assert!(error.contains(member), "{case}: {error}");
                            named[number] += 1;
                        }
                        Ok(()) => look(folder, of_groups, number, member, &case),
                    }
                }
            }
        }
    }
    assert!(
        named.iter().enumerate().all(|(number, named)| (*named > 0) != (number == 2)),
        "{named:?}"
    );
}

/// Reads a join that was made although something changed.
fn look(folder: &Path, of_groups: bool, number: usize, member: usize, case: &str) {
    let place = folder.join("both.zjoin");
    let store = open_store(text(&place), &OpenOptions::new()).expect("opens");
    let read = |name: &str| {
        let array = Array::open(store.clone(), &prefix(name)).expect("opens");
        let units = array.metadata().attribute("units").is_some();
        (units, array.read_as::<i32>(Selection::whole(array.shape())))
    };
    let (units, rain) = read(if of_groups { "rain" } else { "" });
    match (number, rain) {
        // Read with the new document or chunk, or refused.
        (0, rain) => assert!(units || rain.is_err(), "{case}"),
        (1, Ok(rain)) => assert_eq!(rain.len(), 7, "{case}"),
        (2, Ok(rain)) => {
            assert_eq!(rain[4 * member..4 * member + 4], [1, 2, 30, 40], "{case}");
        }
        (1 | 2, Err(_)) => {}
        (_, rain) => assert_eq!(rain.expect("reads").len(), 8, "{case}"),
    }
    if of_groups && number > 2 {
        match (number, read("time").1, read("place").1) {
            (3, Ok(time), _) => assert_eq!(time[4 * member + 3], 30, "{case}"),
            (4, _, Ok(places)) => assert!(places == [7, 8, 9, 10] || member == 0, "{case}"),
            _ => {}
        }
    }
}
