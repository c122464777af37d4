//! Members that are not what they were, or not there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use zarr_array::store::{DirEntry, Key, Links, Prefix, Store as _};
use zarr_array::{Array, Selection};
use zarr_join::{Arrangement, Join};
use zarr_virtual_join::{Document, Missing};

use super::{link, on_disk, open};
use crate::cases::whole;
use crate::cases::{fixture, year};

/// The first year as twelve stores, joined.
fn joined(folder: &Path) -> Array {
    let members = on_disk(&year(&fixture("temp_range_12bit")), folder);
    link(members, Arrangement::Along(0), &folder.join("year.zjoin")).expect("links");
    open(&folder.join("year.zjoin")).expect("opens")
}

/// The error of a read of February.
fn error(array: &Array) -> String {
    let mut selection: Vec<_> = array.shape().iter().map(|length| 0..*length).collect();
    selection[0] = 31..33;
    array.read(selection.as_slice()).expect_err("February").to_string()
}

#[test]
fn a_member_that_is_not_what_it_was_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut messages = Vec::new();
    let mut case = |name: &str, change: &dyn Fn(&Path)| {
        let folder = folder.path().join(name);
        let array = joined(&folder);
        let february = folder.join("1.zarr");
        change(&february);
        messages.push(format!("{name}: {}", error(&array)));
        // The other members are read.
        let mut selection: Vec<_> = array.shape().iter().map(|length| 0..*length).collect();
        selection[0] = 0..31;
        array.read(selection.as_slice()).expect("January");
    };
    case("missing", &|member| fs::remove_dir_all(member).expect("removes"));
    case("longer document", &|member| {
        let document = fs::read_to_string(member.join("zarr.json")).expect("reads");
        fs::write(member.join("zarr.json"), document + " ").expect("writes");
    });
    case("written again", &|member| {
        let file = fs::File::options().write(true).open(member.join("zarr.json")).expect("opens");
        let then = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 5);
        file.set_modified(then).expect("sets");
    });
    case("truncated chunk", &|member| {
        let key = chunk(member);
        let bytes = fs::read(member.join(key.as_str())).expect("reads");
        let chunk = member.join(key.as_str());
        let file = fs::File::options().write(true).open(&chunk).expect("opens");
        file.set_len(bytes.len() as u64 / 2).expect("cuts");
        // As by a failing disk, which sets no time.
        let then = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 5);
        file.set_modified(then).expect("sets");
    });
    case("a folder in place of the document", &|member| {
        fs::remove_file(member.join("zarr.json")).expect("removes");
        fs::create_dir(member.join("zarr.json")).expect("creates");
    });
    let written = regex(&messages.join("\n"));
    insta::assert_snapshot!(written);
}

/// Times of files differ from run to run.
fn regex(text: &str) -> String {
    text.lines()
        .map(|line| match line.split_once(".000000005, and was ") {
            Some((start, _)) => format!("{start}.000000005, and was (time)"),
            None => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The key of the one chunk of a member.
fn chunk(member: &Path) -> Key {
    let store = std::sync::Arc::new(zarr_array::store::LocalStore::open(member).expect("opens"));
    let array = Array::open(store, &zarr_array::store::Prefix::root()).expect("opens");
    array.layout().key(&vec![0; array.shape().len()]).expect("a key")
}

/// Two members are gone: the error of the first is the last item of a listing.
#[test]
fn a_member_that_is_gone_ends_a_listing() {
    let folder = tempfile::tempdir().expect("a folder");
    let array = joined(folder.path());
    for member in ["1.zarr", "3.zarr"] {
        fs::remove_dir_all(folder.path().join(member)).expect("removes");
    }
    let (root, chunks) = (Prefix::root(), Prefix::new("c").expect("a prefix"));
    let keys = array.store().list(&root, Links::Follow).map(|key| key.map(|key| key.to_string()));
    let entries =
        array.store().list_dir(&chunks).map(|entry| entry.map(|entry| format!("{entry:?}")));
    for mut items in [keys.collect::<Vec<_>>(), entries.collect()] {
        let error = items.pop().expect("an item").expect_err("February").to_string();
        assert!(error.contains("1.zarr"), "{error}");
        assert!(!items.is_empty() && items.iter().all(Result::is_ok), "{items:?}");
    }
    // What needs no member is listed.
    let top = array.store().list_dir(&root).collect::<Result<BTreeSet<_>, _>>().expect("lists");
    let document = DirEntry::Object(Key::new("zarr.json").expect("a key"));
    assert_eq!(top, BTreeSet::from([document, DirEntry::Prefix(chunks)]));
}

#[test]
fn a_member_that_disappears_while_it_is_open_does_not_read_as_the_fill_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let array = joined(folder.path());
    whole(&array);
    let february = folder.path().join("1.zarr");
    let away = folder.path().join("away.zarr");
    // A chunk that is absent is fill values as long as its array is there.
    let object = chunk(&february);
    fs::rename(february.join(object.as_str()), folder.path().join("kept")).expect("moves");
    let mut selection: Vec<_> = array.shape().iter().map(|length| 0..*length).collect();
    selection[0] = 31..59;
    array.read(selection.as_slice()).expect("reads");
    fs::rename(&february, &away).expect("moves");
    let gone = error(&array);
    assert!(gone.contains("member 1.zarr") && gone.contains("removed after"), "{gone}");
    fs::rename(&away, &february).expect("moves");
    array.read(selection.as_slice()).expect("reads");
    // Another array in its place.
    fs::write(february.join("zarr.json"), "{}").expect("writes");
    let changed = error(&array);
    assert!(changed.contains("changed after the join was opened"), "{changed}");
}

#[test]
fn missing_members_read_as_the_fill_value_if_that_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = fixture("temp_range_12bit");
    let members = on_disk(&year(&of), folder.path());
    let place = folder.path().join("year.zjoin");
    let text = place.to_str().expect("UTF-8");
    let join = Join::new(members, Arrangement::Along(0));
    let document = Document::of_join(join, text, Missing::Fill).expect("links");
    document.write(text, &Default::default()).expect("writes");
    fs::remove_dir_all(folder.path().join("1.zarr")).expect("removes");
    let array = open(&place).expect("opens");
    let all = whole(&array);
    let mut selection: Vec<_> = of.shape().iter().map(|length| 0..*length).collect();
    selection[0] = 0..366;
    let mut expected = of.read(selection.as_slice()).expect("reads");
    let day = expected.len() / 366;
    let size = array.fill().len();
    expected[31 * day..60 * day].chunks_mut(size).for_each(|at| at.copy_from_slice(array.fill()));
    assert!(all == expected);
    // One that has changed is an error nevertheless.
    fs::write(folder.path().join("2.zarr/zarr.json"), "{}").expect("writes");
    let array = open(&place).expect("opens");
    assert!(array.read(Selection::whole(array.shape())).is_err());
}

#[test]
fn nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let array = joined(folder.path());
    let elements = whole(&array);
    let all = Selection::whole(array.shape());
    let error = array.write(&all, &elements).expect_err("is read only").to_string();
    assert!(error.contains("virtual join"), "{error}");
    let zeros = vec![0; elements.len()];
    array.write(&all, &zeros).expect_err("is read only");
    assert!(whole(&array) == elements);
}
