//! Documents that a join writes: each leads to the members that were joined, or is refused.

use std::path::Path;
use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{LocalStore, Prefix, StoreOptions};
use zarr_join::{Arrangement, Member};
use zarr_metadata::{ArrayBuilder, DataType};
use zarr_virtual_join::{AllowedMembers, OpenOptions, VirtualJoinError, open_store};

use super::link;

/// A new array of two elements.
fn create(path: &Path, elements: [u8; 2]) {
    std::fs::create_dir_all(path).expect("creates");
    let metadata = ArrayBuilder::new([2], DataType::Uint8).build().expect("valid");
    let store = Arc::new(LocalStore::open(path).expect("opens"));
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    array.write(0..2, &elements).expect("writes");
}

/// The array at a path, as it is written.
fn member(path: &Path) -> Member {
    let text = path.to_str().expect("UTF-8");
    let store = open_store(text, &OpenOptions::new()).expect("opens");
    Member::new(text, Array::open(store, &Prefix::root()).expect("opens"))
}

/// The elements of the join of these members, and where its document says that they are.
fn joined(members: &[&Path], place: &Path) -> Result<(Vec<u8>, Vec<String>), VirtualJoinError> {
    let members = members.iter().map(|path| member(path)).collect();
    let document = link(members, Arrangement::Along(0), place)?;
    let options = OpenOptions::new().store(StoreOptions::new().outside_links(true));
    let options = options.allowed_members(AllowedMembers::Anywhere);
    let store = open_store(place.to_str().expect("UTF-8"), &options).expect("opens");
    let array = Array::open(store, &Prefix::root()).expect("opens");
    let elements = array.read(0..array.shape()[0]).expect("reads");
    Ok((elements, document.members().map(|member| member.location.clone()).collect()))
}

/// They were written, and could not be read.
#[test]
fn documents_that_would_be_nested_too_deeply_are_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    create(&at.join("m.zarr"), [1, 2]);
    let mut last = at.join("m.zarr");
    // Each has the one before twice: each document is counted once.
    for level in 0..9 {
        let next = at.join(format!("{level}.zjoin"));
        let (elements, _) = joined(&[&last, &last], &next).expect("is shallow enough");
        assert_eq!(elements.len(), 4 << level);
        last = next;
    }
    let next = at.join("9.zjoin");
    // Also behind a member that is not nested as deeply.
    for members in [[&last, &last], [&at.join("m.zarr"), &last]] {
        let error = joined(&members.map(|path| path.as_path()), &next).expect_err("is too deep");
        assert!(matches!(error, VirtualJoinError::Depth { limit: 8, .. }), "{error}");
        assert!(error.to_string().contains("0.zjoin"), "{error}");
        assert!(!next.exists());
    }
}

/// They were written, and could not be read.
#[cfg(unix)]
#[test]
fn names_that_a_document_cannot_have_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let mut messages = Vec::new();
    for name in ["a\nb.zarr", "a\u{1b}[31m.zarr", "a\\b.zarr", "s\\t/x.zarr"] {
        create(&at.join(name), [1, 2]);
        let error = joined(&[&at.join(name)], &at.join("v.zjoin")).expect_err("is refused");
        messages.push(error.to_string());
        assert!(!at.join("v.zjoin").exists());
    }
    insta::assert_snapshot!(messages.join("\n"));
    // Beside the folder a backslash is a character like others.
    std::fs::create_dir(at.join("joined")).expect("creates");
    let place = at.join("joined/v.zjoin");
    let (elements, locations) = joined(&[&at.join("a\\b.zarr")], &place).expect("is named");
    assert_eq!((elements, locations), (vec![1, 2], vec!["../a\\b.zarr".to_owned()]));
}

/// The locations were made of the names, and led to other places.
#[cfg(unix)]
#[test]
fn locations_lead_between_real_folders() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::create_dir_all(at.join("a/b/phys")).expect("creates");
    std::fs::create_dir_all(at.join("other/place")).expect("creates");
    symlink("a/b/phys", at.join("work")).expect("links");
    symlink("other/place", at.join("lnk")).expect("links");
    create(&at.join("data/m.zarr"), [1, 2]);
    create(&at.join("a/b/data/m.zarr"), [7, 8]);
    create(&at.join("other/x.zarr"), [3, 4]);
    create(&at.join("x.zarr"), [7, 8]);
    create(&at.join("work/near.zarr"), [5, 6]);
    create(&at.join("other/place/far.zarr"), [9, 9]);
    for (member, place, elements, location) in [
        // The document is behind a link.
        ("data/m.zarr", "work/0.zjoin", [1, 2], "../../../data/m.zarr"),
        ("work/near.zarr", "work/1.zjoin", [5, 6], "near.zarr"),
        ("a/b/phys/near.zarr", "work/2.zjoin", [5, 6], "near.zarr"),
        // The way to the member leads up from behind a link.
        ("lnk/../x.zarr", "3.zjoin", [3, 4], "other/x.zarr"),
        // A member behind a link in the folder is named by the link.
        ("work/near.zarr", "4.zjoin", [5, 6], "work/near.zarr"),
        ("lnk/far.zarr", "5.zjoin", [9, 9], "lnk/far.zarr"),
    ] {
        let (found, locations) = joined(&[&at.join(member)], &at.join(place)).expect("is named");
        assert_eq!(found, elements, "{member} {place}");
        assert_eq!(locations, [location], "{member} {place}");
    }
}
