//! Changes through stores that begin below a consolidated group: its metadata follows them.

use std::path::Path;
use std::sync::Arc;

use zarr_array::store::{LocalStore, Prefix, Store, StoreOptions, UpdatePolicy, open_url};
use zarr_array::{Array, Changes, Group, create_parents, delete_node, refresh_consolidated};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, Endpoint, copy_tree};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType, GroupMetadata};

fn findings(store: &Arc<dyn Store>) -> Vec<String> {
    let mut found = Vec::new();
    let report = &mut |finding: zarr_check::Finding| found.push(finding.to_string());
    check(store, &Prefix::root(), &CheckOptions::new(), report).expect("checks");
    found
}

fn array(length: u64) -> ArrayMetadata {
    ArrayBuilder::new([length], DataType::Uint8).chunk_shape([4]).build().expect("valid")
}

fn local(path: impl AsRef<Path>) -> Arc<dyn Store> {
    Arc::new(LocalStore::create(path).expect("a store"))
}

/// A consolidated group with an array and a consolidated group.
fn hierarchy(store: &Arc<dyn Store>) {
    let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new()).expect("new");
    root.create_array("wind", array(5)).expect("new");
    let inner = root.create_group("days", GroupMetadata::new()).expect("new");
    inner.create_array("sun", array(6)).expect("new");
    inner.consolidate().expect("consolidates");
    root.consolidate().expect("consolidates");
}

/// Each kind of change of the nodes of [`hierarchy`], through the store at a path in it that `at` opens.
fn change(at: &dyn Fn(&str) -> Arc<dyn Store>, current: &dyn Fn(&str)) {
    let root = Prefix::root();
    let open = |path: &str| Array::open(at(path), &root).expect("opens");
    Array::create(at("rain"), &root, array(3)).expect("creates");
    current("create");
    open("wind").resize([9]).expect("resizes");
    current("resize");
    let wind = open("wind").with_update_policy(UpdatePolicy::AcceptSingleProcess);
    wind.resize([7]).expect("resizes");
    current("discard");
    open("days/sun").append(0, 2, &[1, 2]).expect("appends");
    current("append");
    open("days/sun").update_attributes(&[("units", Some(r#""h""#))]).expect("sets");
    current("attributes of an array");
    let days = Group::open(at("days"), &root).expect("opens");
    days.update_attributes(&[("year", Some("2026"))]).expect("sets");
    current("attributes of a group");
    days.create_array("rain", array(4)).expect("creates");
    current("create in a group");
    Group::create(at("nights"), &root, GroupMetadata::new()).expect("creates");
    current("create a group");
    create_parents(&at("hours"), &Prefix::new("a/b").expect("a prefix")).expect("creates");
    current("create parents");
    let (from, to) = (at("days"), at("copied"));
    let ends = (Endpoint::new(&from, &root), Endpoint::new(&to, &root));
    copy_tree(ends.0, ends.1, &mut |_, same| Ok(same.clone()), &CopyOptions::new(), &mut |_, _| {})
        .expect("copies");
    current("copy");
    delete_node(&at("rain"), &root).expect("deletes");
    current("delete");
    delete_node(&at("days"), &Prefix::new("sun").expect("a prefix")).expect("deletes");
    current("delete in a group");
}

#[test]
fn groups_above_a_folder_follow() {
    let folder = tempfile::tempdir().expect("a folder");
    let top = folder.path().join("g.zarr");
    hierarchy(&local(&top));
    let current = |what: &str| assert_eq!(findings(&local(&top)), [""; 0], "{what}");
    change(&|path| local(top.join(path)), &current);
    // Nothing between two nodes says that the hierarchy ends.
    Array::create(local(top.join("no/group/rain")), &Prefix::root(), array(3)).expect("creates");
    let listed = Group::open_consolidated(local(&top), &Prefix::root()).expect("opens");
    assert!(listed.array("no/group/rain").is_ok());
}

#[cfg(unix)]
#[test]
fn groups_around_a_link_and_around_its_target_follow() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, other] = ["one.zarr", "other.zarr"].map(|name| folder.path().join(name));
    for top in [&one, &other] {
        hierarchy(&local(top));
    }
    std::os::unix::fs::symlink(one.join("wind"), other.join("linked")).expect("links");
    std::os::unix::fs::symlink(one.join("days"), one.join("alias")).expect("links");
    let outside = |path: &Path, allowed| -> Arc<dyn Store> {
        Arc::new(LocalStore::open(path).expect("a store").with_outside_links(allowed))
    };
    for top in [&one, &other] {
        let group = Group::open(outside(top, true), &Prefix::root()).expect("opens");
        group.consolidate().expect("consolidates");
    }
    let listed = |top: &Path, path: &str| {
        let group = Group::open_consolidated(outside(top, true), &Prefix::root()).expect("opens");
        group.array(path).expect("listed").shape().to_vec()
    };
    // A link out of a hierarchy is followed only on request.
    for (length, allowed, shown) in [(40, false, 5), (50, true, 50)] {
        let linked = outside(&other.join("linked"), allowed);
        let linked = Array::open(linked, &Prefix::root()).expect("opens");
        linked.resize([length]).expect("resizes");
        assert_eq!(listed(&one, "wind"), [length]);
        assert_eq!(listed(&other, "linked"), [shown]);
    }
    let sun = Array::open(outside(&one.join("alias/sun"), false), &Prefix::root()).expect("opens");
    sun.resize([60]).expect("resizes");
    assert_eq!((listed(&one, "alias/sun"), listed(&one, "days/sun")), (vec![60], vec![60]));
}

#[cfg(feature = "object_store")]
#[test]
fn groups_above_a_path_in_a_bucket_follow() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore};

    let bucket = Arc::new(InMemory::new());
    let at = |path: &str| -> Arc<dyn Store> {
        let base =
            Path::parse(format!("data/g.zarr/{path}").trim_end_matches('/')).expect("a path");
        let (supported, options) = (ConditionalPut::Supported, StoreOptions::new());
        Arc::new(RemoteStore::new(bucket.clone(), base, supported, &options))
    };
    hierarchy(&at(""));
    change(&at, &|what| assert_eq!(findings(&at("")), [""; 0], "{what}"));
}

#[cfg(feature = "async")]
#[test]
fn groups_above_follow_changes_that_do_not_block() {
    use futures_executor::block_on;
    use zarr_array::asynchronous::{AsyncArray, delete_node};

    let folder = tempfile::tempdir().expect("a folder");
    let top = folder.path().join("g.zarr");
    hierarchy(&local(&top));
    let (at, root) = (|path: &str| local(top.join(path)), Prefix::root());
    block_on(AsyncArray::create(at("rain"), &root, array(3))).expect("creates");
    assert_eq!(findings(&at("")), [""; 0]);
    let wind = block_on(AsyncArray::open(at("wind"), &root)).expect("opens");
    let resized = wind.asynchronous().resize([9]);
    block_on(resized).expect("resizes");
    assert_eq!(findings(&at("")), [""; 0]);
    block_on(delete_node(at("rain"), &root)).expect("deletes");
    assert_eq!(findings(&at("")), [""; 0]);
}

/// Entries of an archive can be added, but not replaced.
#[test]
fn an_archive_follows_within_a_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = StoreOptions::new().openers(&[&zarr_zip::ZipOpener]).create(true);
    let at = |path: &str| {
        let url = folder.path().join("g.zip").join(path);
        open_url(url.to_str().expect("UTF-8").trim_end_matches('/'), &options).expect("opens")
    };
    let changes = Changes::begin(&at("")).expect("begins");
    hierarchy(changes.store());
    assert_eq!(changes.commit().expect("commits"), None);
    let changes = Changes::begin(&at("rain")).expect("begins");
    Array::create(changes.store().clone(), &Prefix::root(), array(3)).expect("creates");
    let outdated = changes.commit().expect("commits").expect("no entry can be replaced");
    assert!(outdated.contains("no way to replace entries of a zip archive"), "{outdated}");
    assert_eq!(findings(&at("")).len(), 1);
}

#[cfg(unix)]
#[test]
fn a_group_that_cannot_be_written_is_said() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a folder");
    let top = folder.path().join("g.zarr");
    hierarchy(&local(&top));
    let set = |mode| fs::set_permissions(&top, Permissions::from_mode(mode)).expect("sets");
    // The administrator may write anywhere.
    set(0o555);
    let is_refused = fs::create_dir(top.join("x")).is_err();
    let outdated = || {
        let changes = Changes::begin(&local(top.join("wind"))).expect("begins");
        let wind = Array::open(changes.store().clone(), &Prefix::root()).expect("opens");
        let longer = wind.shape()[0] + 1;
        wind.resize([longer]).expect("the change is done");
        changes.commit().expect("commits")
    };
    let read_only = outdated();
    set(0o755);
    if is_refused {
        let said = read_only.expect("the group is not written");
        assert!(said.contains("ermission denied"), "{said}");
        assert_eq!(findings(&local(&top)).len(), 1);
    }
    refresh_consolidated(&local(top.join("wind")), &Prefix::root(), UpdatePolicy::default())
        .expect("refreshes");
    assert_eq!(findings(&local(&top)), [""; 0]);
}
