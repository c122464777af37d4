//! Files that a release wrote, and what its interrupted runs left: every later version reads and
//! completes them.
//!
//! The files are never written again. `RELEASE=0.2` writes those of the next release, once.

use std::fs::{self, FileTimes};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use zarr_kit::copy::{CopyOptions, Endpoint, TransferError, copy_tree};
use zarr_kit::join::rearrange::{
    GroupRearrangement, Rearrangement, Repair, Span, repair, repair_group,
};
use zarr_kit::join::{Arrangement, Join, JoinOptions, Member};
use zarr_kit::store::{Key, Links, Session, UpdatePolicy};
use zarr_kit::virtual_join::{Document, Missing, OpenOptions, open_store};
use zarr_kit::zip::ZipStore;
use zarr_kit::{
    Array, ArrayBuilder, ArrayMetadata, Codec, DataType, Group, GroupMetadata, LocalStore,
    MemoryStore, Prefix, Store, StoreExt as _,
};

use crate::support::{root, succeed};

const RELEASES: &[&str] = &["0.1"];

fn folder(release: &str) -> PathBuf {
    root().join("fixtures/releases").join(release)
}

fn prefix(name: &str) -> Prefix {
    Prefix::new(name).expect("a prefix")
}

fn metadata(length: u64) -> ArrayMetadata {
    let builder = ArrayBuilder::new([length], DataType::Int16).chunk_shape([2]);
    let builder = builder.codecs([Codec::bytes(), Codec::Crc32c]).dimension_names(["x"]);
    builder.attribute("units", "\"m\"").build().expect("valid")
}

fn values(first: i16, length: u64) -> Vec<i16> {
    (first..).take(usize::try_from(length).expect("small")).collect()
}

fn create(store: &Arc<dyn Store>, name: &str, first: i16, length: u64) {
    let array = Array::create(store.clone(), &prefix(name), metadata(length)).expect("creates");
    array.write_as(0..length, &values(first, length)).expect("writes");
}

fn open(store: &Arc<dyn Store>, name: &str) -> Array {
    let array = Array::open(store.clone(), &prefix(name)).expect("opens");
    array.with_update_policy(UpdatePolicy::AcceptSingleProcess)
}

fn elements(store: &Arc<dyn Store>, name: &str) -> Vec<i16> {
    let array = open(store, name);
    array.read_as::<i16>(0..array.shape()[0]).expect("reads")
}

/// The objects of a folder in memory, put in the order of their keys: a copy compares these numbers.
fn load(folder: &Path) -> Arc<dyn Store> {
    let (files, memory) = (LocalStore::open(folder).expect("opens"), MemoryStore::new());
    let keys = files.list(&Prefix::root(), Links::Follow).collect::<Result<Vec<Key>, _>>();
    let mut keys = keys.expect("lists");
    keys.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    for key in keys {
        memory.put(&key, &files.read(&key).expect("reads").expect("is there")).expect("puts");
    }
    Arc::new(memory)
}

/// Writes arrays and what an interrupted run leaves into a new folder.
fn keep(folder: &Path, make: impl FnOnce(&Arc<dyn Store>), run: impl FnOnce(&Arc<dyn Store>)) {
    let files: Arc<dyn Store> = Arc::new(LocalStore::create(folder).expect("creates"));
    make(&files);
    let memory = load(folder);
    let _interrupted = catch_unwind(AssertUnwindSafe(|| run(&memory)));
    for key in memory.list(&Prefix::root(), Links::Follow) {
        let key = key.expect("lists");
        files.put(&key, &memory.read(&key).expect("reads").expect("is there")).expect("puts");
    }
    let kept: Vec<Key> =
        files.list(&Prefix::root(), Links::Follow).map(|key| key.expect("lists")).collect();
    for key in kept.iter().filter(|key| memory.head(key).expect("looks").is_none()) {
        files.delete(key).expect("deletes");
    }
}

fn copy(store: &Arc<dyn Store>, options: &CopyOptions, stop: bool) -> Result<(), TransferError> {
    let (from, to) = (prefix("s"), prefix("t"));
    let mut same = |_: &Prefix, metadata: &_| Ok(Clone::clone(metadata));
    let ends = (Endpoint::new(store, &from), Endpoint::new(store, &to));
    let mut calls = 0;
    let mut progress = |_: &Prefix, _| {
        calls += 1;
        assert!(!stop || calls < 2, "interrupted");
    };
    copy_tree(ends.0, ends.1, &mut same, options, &mut progress).map(drop)
}

fn join(store: &Arc<dyn Store>, options: &JoinOptions, stop: bool) {
    let members = ["m0", "m1"].map(|name| Member::new(name, open(store, name)));
    let plan = Join::new(members.to_vec(), Arrangement::Along(0)).plan().expect("plans");
    let progress = |_| assert!(!stop, "interrupted");
    plan.execute(store, &prefix("t"), options, &progress).expect("joins");
}

fn rearrange(store: &Arc<dyn Store>, stop: u64) {
    let spans = [Span::Kept(2..6), Span::Kept(0..2)];
    let plan = Rearrangement::plan(&open(store, "a"), 0, spans).expect("plans");
    plan.execute(&|progress| assert!(progress.done < stop, "interrupted")).expect("rearranges");
}

/// Gives the marker of the target the place of its source: a store in memory has another one in each
/// process. An interrupted run tells.
fn move_here(store: &Arc<dyn Store>, run: impl FnOnce()) {
    let target = prefix("t");
    let list = || store.list(&target, Links::Follow).map(|key| key.expect("lists"));
    let read = |key: &Key| store.read(key).expect("reads").expect("is there");
    let kept: Vec<(Key, Vec<u8>)> = list().map(|key| (key.clone(), read(&key))).collect();
    store.delete_prefix(&target).expect("deletes");
    let _interrupted = catch_unwind(AssertUnwindSafe(run));
    let marker = Key::new("t/zarr-kit-copy.json").expect("a key");
    let here = String::from_utf8(read(&marker)).expect("text");
    store.delete_prefix(&target).expect("deletes");
    for (key, bytes) in kept {
        store.put(&key, &bytes).expect("puts");
    }
    let text = String::from_utf8(read(&marker)).expect("text");
    let line = |line: &str| {
        let names = ["  \"from\": ", "  \"source_place\": "];
        let name = names.into_iter().find(|name| line.starts_with(name));
        let found = name.and_then(|name| here.lines().find(|line| line.starts_with(name)));
        format!("{}\n", found.unwrap_or(line))
    };
    let moved: String = text.lines().map(line).collect();
    store.put(&marker, moved.as_bytes()).expect("puts");
}

fn group(store: &Arc<dyn Store>) -> Group {
    let group = Group::open(store.clone(), &prefix("g")).expect("opens");
    group.with_update_policy(UpdatePolicy::AcceptSingleProcess)
}

fn rearrange_group(store: &Arc<dyn Store>, stop: u64) {
    let spans = [Span::Kept(2..6), Span::Kept(0..2)];
    let plan = GroupRearrangement::plan(&group(store), "x", spans, false).expect("plans");
    plan.execute(&|progress| assert!(progress.done < stop, "interrupted")).expect("rearranges");
}

fn create_group(store: &Arc<dyn Store>) {
    Group::create(store.clone(), &prefix("g"), GroupMetadata::new()).expect("creates");
    create(store, "g/u", 1, 6);
    create(store, "g/v", 11, 6);
}

/// Files have this time, which no checkout keeps.
fn set_times(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            set_times(&path);
        } else {
            let time = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
            let file = fs::File::options().write(true).open(path).expect("opens");
            file.set_times(FileTimes::new().set_modified(time)).expect("sets");
        }
    }
}

fn part(number: u32) -> CopyOptions {
    CopyOptions::new().part(zarr_kit::array::Part::new(number, 3).expect("a part"))
}

/// Makes the files of a release.
fn write(folder: &Path) {
    let source = |store: &Arc<dyn Store>| create(store, "s", 1, 6);
    keep(&folder.join("copy"), source, |store| copy(store, &CopyOptions::new(), true).expect("no"));
    keep(&folder.join("part"), source, |store| copy(store, &part(2), false).expect("copies"));
    let members = |store: &Arc<dyn Store>| {
        create(store, "m0", 1, 3);
        create(store, "m1", 4, 3);
    };
    let one = JoinOptions::new().threads(std::num::NonZeroUsize::MIN);
    keep(&folder.join("join"), members, |store| join(store, &one, true));
    let array = |store: &Arc<dyn Store>| create(store, "a", 1, 6);
    keep(&folder.join("leaving"), array, |store| rearrange(store, 2));
    keep(&folder.join("returning"), array, |store| rearrange(store, 5));
    keep(&folder.join("group-leaving"), create_group, |store| rearrange_group(store, 3));
    keep(&folder.join("group-returning"), create_group, |store| rearrange_group(store, 8));
    let files: Arc<dyn Store> =
        Arc::new(LocalStore::create(folder.join("store")).expect("creates"));
    create(&files, "a", 1, 6);
    create_group(&files);
    let zip: Arc<dyn Store> = Arc::new(ZipStore::create(folder.join("a.zip")).expect("creates"));
    let session = Session::begin(&zip).expect("begins");
    create(session.store(), "a", 1, 6);
    session.commit().expect("commits");
    let linked: Arc<dyn Store> =
        Arc::new(LocalStore::create(folder.join("virtual")).expect("creates"));
    members(&linked);
    set_times(&folder.join("virtual"));
    let members = ["m0", "m1"].map(|name| {
        let path = folder.join("virtual").join(name);
        let path = path.to_str().expect("text").to_owned();
        let store = open_store(&path, &OpenOptions::new()).expect("opens");
        Member::new(path, Array::open(store, &Prefix::root()).expect("opens"))
    });
    let place = folder.join("virtual/j.zjoin");
    let place = place.to_str().expect("text");
    let join = Join::new(members.to_vec(), Arrangement::Along(0));
    let document = Document::of_join(join, place, Missing::Error).expect("joins");
    document.write(place, &zarr_kit::store::StoreOptions::new()).expect("writes");
}

#[test]
fn files_of_every_release_are_read() {
    if let Ok(release) = std::env::var("RELEASE") {
        write(&folder(&release));
    }
    for release in RELEASES {
        let kept = folder(release);
        let store = load(&kept.join("store"));
        assert_eq!(elements(&store, "a"), values(1, 6));
        assert_eq!(elements(&store, "g/v"), values(11, 6));
        let zip: Arc<dyn Store> = Arc::new(ZipStore::open(kept.join("a.zip")).expect("opens"));
        assert_eq!(elements(&zip, "a"), values(1, 6));
        let copied = tempfile::tempdir().expect("makes a folder");
        let there: Arc<dyn Store> = Arc::new(LocalStore::open(copied.path()).expect("opens"));
        let here = LocalStore::open(kept.join("virtual")).expect("opens");
        for key in here.list(&Prefix::root(), Links::Follow) {
            let key = key.expect("lists");
            there.put(&key, &here.read(&key).expect("reads").expect("is there")).expect("puts");
        }
        set_times(copied.path());
        let place = copied.path().join("j.zjoin");
        let opened = open_store(place.to_str().expect("text"), &OpenOptions::new()).expect("opens");
        let array = Array::open(opened, &Prefix::root()).expect("opens");
        assert_eq!(array.read_as::<i16>(0..6).expect("reads"), values(1, 6));
        succeed(copied.path(), &["check", "j.zjoin", "--data"]);
    }
}

#[test]
fn what_every_release_left_unfinished_is_completed() {
    for release in RELEASES {
        let kept = folder(release);
        let store = load(&kept.join("copy"));
        move_here(&store, || copy(&store, &CopyOptions::new(), true).expect("interrupted"));
        copy(&store, &CopyOptions::new().resume(true), false).expect("resumes");
        assert_eq!(elements(&store, "t"), values(1, 6));
        let store = load(&kept.join("part"));
        move_here(&store, || copy(&store, &part(2), true).expect("interrupted"));
        [1, 3].into_iter().for_each(|number| copy(&store, &part(number), false).expect("copies"));
        assert_eq!(elements(&store, "t"), values(1, 6));
        let store = load(&kept.join("join"));
        move_here(&store, || join(&store, &JoinOptions::new(), true));
        join(&store, &JoinOptions::new().resume(true), false);
        assert_eq!(elements(&store, "t"), values(1, 6));
        for (name, repaired, expected) in [
            ("leaving", Repair::Undone, [1, 2, 3, 4, 5, 6]),
            ("returning", Repair::Completed, [3, 4, 5, 6, 1, 2]),
        ] {
            let store = load(&kept.join(name));
            assert_eq!(repair(&open(&store, "a")).expect("repairs"), Some(repaired));
            assert_eq!(elements(&store, "a"), expected);
            let store = load(&kept.join(format!("group-{name}")));
            assert_eq!(repair_group(&group(&store)).expect("repairs"), Some(repaired));
            assert_eq!(elements(&store, "g/u"), expected);
            assert_eq!(elements(&store, "g/v"), expected.map(|element| element + 10));
        }
    }
}

/// The markers of a later release are told from other files in their place.
#[test]
fn markers_of_a_version_that_is_not_known_are_refused() {
    let later = |name: &str, key: &str| {
        let store = load(&folder(RELEASES[0]).join(name));
        let key = Key::new(key).expect("a key");
        let text = store.read(&key).expect("reads").expect("is there");
        let text = String::from_utf8(text).expect("text");
        assert!(text.contains("\"version\": 1,"), "{text}");
        store
            .put(&key, text.replace("\"version\": 1,", "\"version\": 2,").as_bytes())
            .expect("puts");
        store
    };
    let refused = |error: String| {
        assert!(error.contains("has version 2, and version 1 is known"), "{error}");
    };
    let store = later("copy", "t/zarr-kit-copy.json");
    let resumed = copy(&store, &CopyOptions::new().resume(true), false);
    refused(resumed.expect_err("of version 2").to_string());
    let error = Array::open(store.clone(), &prefix("t")).expect_err("unfinished").to_string();
    assert!(error.contains("unfinished copy"), "{error}");
    let store = later("part", "t/zarr-kit-copy.json");
    refused(copy(&store, &part(1), false).expect_err("of version 2").to_string());
    let store = later("returning", "a/zarr-kit-rearrange.json");
    refused(repair(&open(&store, "a")).expect_err("of version 2").to_string());
    let store = later("group-returning", "g/zarr-kit-rearrange.json");
    refused(repair_group(&group(&store)).expect_err("of version 2").to_string());
}
