//! Every operation that locks, on a store with one lock for all documents and one for all chunks:
//! where another lock was taken within, it would wait for itself.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, MemoryStore, Prefix, Store};
use zarr_array::{Array, Group, delete_node};
use zarr_check::{CheckOptions, Finding, check};
use zarr_copy::{CopyOptions, Endpoint, copy_array, copy_tree};
use zarr_join::rearrange::{GroupRearrangement, Rearrangement, Repair, Span, repair, repair_group};
use zarr_join::{
    Arrangement, GroupArrangement, GroupMember, Join, JoinGroups, JoinOptions, Member,
};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
use zarr_store_tests::{FewLocks, prefix};

/// Two groups with consolidated metadata, one in the other, and arrays with the dimension `time`.
fn hierarchy(store: &Arc<dyn Store>) -> Group {
    let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new()).expect("new");
    root.consolidate().expect("consolidates");
    let group = root.create_group("g", GroupMetadata::new()).expect("new");
    group.consolidate().expect("consolidates");
    for (name, edges) in [("rain", [2, 3, 4]), ("temp", [5, 2, 2])] {
        let metadata = ArrayBuilder::new([9], DataType::Uint8).chunks([edges.as_slice().into()]);
        let metadata = metadata.dimension_names(["time"]).build().expect("valid");
        let array = group.create_array(name, metadata).expect("new");
        let array = array.with_threads(NonZeroUsize::new(4).expect("not zero"));
        array.write(0..9, &[1, 2, 3, 4, 5, 6, 7, 8, 9]).expect("writes");
        array.write(1..8, &[2, 3, 4, 5, 6, 7, 8]).expect("writes parts of chunks");
    }
    group
}

/// A hierarchy in a store with few locks.
fn few() -> (Arc<FewLocks>, Arc<dyn Store>, Group) {
    let few = Arc::new(FewLocks::new(Arc::new(MemoryStore::new())));
    let store: Arc<dyn Store> = few.clone();
    let group = hierarchy(&store);
    (few, store, group)
}

/// Nothing was refused, and at least so many locks of documents and of chunks were taken.
fn assert_kept(few: &FewLocks, documents: u64, chunks: u64) {
    assert!(few.refused().is_empty(), "{:#?}", few.refused());
    let [taken, of_chunks] = few.taken();
    assert!(taken >= documents && of_chunks >= chunks, "{taken}, {of_chunks}");
}

/// What readers find, and whether consolidated metadata tells the same.
fn time(group: &Group) -> [Vec<u8>; 2] {
    let consolidated = Group::open_consolidated(group.store().clone(), group.prefix());
    let consolidated = consolidated.expect("opens");
    ["rain", "temp"].map(|name| {
        let array = group.array(name).expect("opens");
        let other = consolidated.array(name).expect("is there");
        let plain = |array: &Array| array.metadata().json().split_whitespace().collect::<String>();
        assert_eq!(plain(&array), plain(&other));
        array.read(0..array.shape()[0]).expect("reads")
    })
}

#[test]
fn changes_of_arrays_and_groups_keep_the_rule() {
    let (few, store, group) = few();
    let rain = group.array("rain").expect("opens");
    let rain = rain.with_threads(NonZeroUsize::new(4).expect("not zero"));
    let rain = rain.append(0, 3, &[10, 11, 12]).expect("appends");
    let rain = rain.resize([14]).expect("grows");
    let rain = rain.resize([7]).expect("shrinks");
    let rain = rain.resize([9]).expect("grows");
    assert_eq!(rain.read(0..9).expect("reads"), [1, 2, 3, 4, 5, 6, 7, 0, 0]);
    rain.update_attributes(&[("a", Some("1"))]).expect("sets");
    group.update_attributes(&[("a", Some("1"))]).expect("sets");
    assert_eq!(time(&group)[1], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let texts = ArrayBuilder::new([1], DataType::String).chunk_shape([2]).build().expect("valid");
    let texts = group.create_array("texts", texts).expect("new");
    texts.write_as(0..1, &["a"]).expect("writes");
    let texts = texts.append_as(0, 2, &["b", "c"]).expect("appends");
    texts.resize([2]).expect("shrinks");
    let mut found = Vec::new();
    let report = &mut |finding: Finding| found.push(finding.message().to_owned());
    check(store.clone(), &Prefix::root(), &CheckOptions::new(), report).expect("checks");
    assert!(found.is_empty(), "{found:?}");
    delete_node(&store, &prefix("g/texts")).expect("deletes");
    delete_node(&store, &prefix("g")).expect("deletes");
    assert_kept(&few, 10, 10);
}

#[test]
fn copies_and_joins_keep_the_rule() {
    let (few, store, group) = few();
    let (from, to) = (prefix("g"), prefix("copied"));
    let [from, to] = [&from, &to].map(|prefix| Endpoint::new(&store, prefix));
    let same = &mut |_: &_, metadata: &zarr_metadata::ArrayMetadata| Ok(metadata.clone());
    copy_tree(from, to, same, &CopyOptions::new().verify(true), &mut |_, _| {}).expect("copies");
    let rain = group.array("rain").expect("opens");
    let regular = ArrayBuilder::new([9], DataType::Uint8).chunk_shape([4]).build().expect("valid");
    let at = prefix("g/regular");
    copy_array(&rain, store.clone(), &at, regular, &CopyOptions::new(), &mut |_| {})
        .expect("copies");
    let members = ["a", "b"].map(|name| Member::new(name, rain.clone())).to_vec();
    let plan = Join::new(members, Arrangement::Along(0)).plan().expect("fits");
    plan.execute(&store, &prefix("g/joined"), &JoinOptions::new(), &|_| {}).expect("joins");
    let members = ["a", "b"].map(|name| {
        let group = Group::open(store.clone(), &prefix("copied")).expect("opens");
        GroupMember::new(name, group)
    });
    let along = GroupArrangement::Along("time".into());
    let plan = JoinGroups::new(members.to_vec(), along).check_coordinates(false);
    let plan = plan.plan().expect("fits");
    plan.execute(&store, &prefix("joined"), &JoinOptions::new(), &|_| {}).expect("joins");
    let joined = Group::open(store.clone(), &prefix("joined")).expect("opens");
    assert_eq!(joined.array("temp").expect("opens").shape(), [18]);
    let overwrite = JoinOptions::new().overwrite(true);
    plan.execute(&store, &prefix("joined"), &overwrite, &|_| {}).expect("joins again");
    assert_kept(&few, 4, 2);
}

#[test]
fn rearranging_keeps_the_rule() {
    let (few, store, group) = few();
    let rain = group.array("rain").expect("opens");
    rain.update_attributes(&[("since", Some("\"planned\""))]).expect("sets");
    let spans = [Span::Kept(5..9), Span::Kept(0..2)];
    let plan = Rearrangement::plan(&rain, 0, spans).expect("fits");
    group
        .array("rain")
        .and_then(|rain| rain.update_attributes(&[("new", Some("2"))]))
        .expect("sets");
    plan.execute(&|_| {}).expect("rearranges");
    let rain = group.array("rain").expect("opens");
    assert_eq!(rain.metadata().attribute("new"), Some("2"), "of a later change");
    let temp = group.array("temp").expect("opens");
    let plan = Rearrangement::plan(&temp, 0, [Span::Kept(0..5)]).expect("fits");
    assert!(plan.is_in_place());
    plan.execute(&|_| {}).expect("rearranges");
    assert_eq!(time(&group), [vec![6, 7, 8, 9, 1, 2], vec![1, 2, 3, 4, 5]]);
    delete_node(&store, &prefix("g")).expect("deletes");
    delete_node(&store, &Prefix::root()).expect("deletes");
    let group = hierarchy(&store);
    let other = few_less();
    let spans = [Span::Inserted(other), Span::Kept(0..9)];
    GroupRearrangement::plan(&group, "time", spans, false)
        .expect("fits")
        .execute(&|_| {})
        .expect("does");
    let new: Vec<u8> = (1..=9).chain(1..=9).collect();
    assert_eq!(time(&group), [new.clone(), new]);
    assert_kept(&few, 10, 10);
}

/// A group like that of the hierarchy, in another store.
fn few_less() -> Group {
    hierarchy(&(Arc::new(MemoryStore::new()) as Arc<dyn Store>))
}

#[test]
fn repairs_keep_the_rule() {
    let (mut undone, mut completed) = (0, 0);
    for number in 0..400 {
        let (few, store, group) = few();
        let dying = FaultStore::new(store.clone()).at(number, Fault::DieAfter);
        let dying: Arc<dyn Store> = Arc::new(dying);
        let of = Group::open(dying, &prefix("g"));
        let spans = [Span::Inserted(few_less()), Span::Kept(0..9)];
        let plan = of.and_then(|of| GroupRearrangement::plan(&of, "time", spans, false));
        let ended = plan.and_then(|plan| plan.execute(&|_| {}));
        match repair_group(&group).expect("repairs") {
            Some(Repair::Undone) => undone += 1,
            Some(_) => completed += 1,
            None => {}
        }
        for name in ["rain", "temp"] {
            repair(&group.array(name).expect("opens")).expect("repairs");
        }
        let [rain, temp] = time(&group);
        assert!([9, 18].contains(&rain.len()) && rain == temp, "{number}: {rain:?}, {temp:?}");
        assert_kept(&few, 4, 4);
        if ended.is_ok() {
            assert!(undone > 5 && completed > 5, "{undone}, {completed}");
            return;
        }
    }
    panic!("it does not end");
}

#[test]
fn what_breaks_the_rule_is_refused() {
    let (few, store, _) = few();
    let [document, group, chunk] = ["a/zarr.json", "zarr.json", "a/c/0"].map(zarr_store_tests::key);
    let held = store.lock(&document).expect("locks");
    assert!(store.lock(&group).is_err() && store.lock_all(&[group, document]).is_err());
    let within = store.lock(&chunk).expect("chunks are locked within a document");
    assert!(store.lock(&chunk).is_err());
    drop((held, within));
    assert_eq!(few.refused().len(), 3);
    let array = Array::open(store, &prefix("g/rain")).expect("opens");
    array.write(0..1, &[1]).expect("the locks are free again");
}
