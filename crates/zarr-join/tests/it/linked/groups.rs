//! Virtual joins of groups: the same nodes and elements as joins that move objects.

use std::path::Path;
use std::sync::Arc;

use zarr_array::store::{Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _, StoreOptions};
use zarr_array::{Array, Group, Selection};
use zarr_join::{
    CombineAttributes, GroupArrangement, GroupMember, JoinGroups, JoinOptions, LinkError, Missing,
    OpenOptions, open_store,
};

use crate::cases::objects;
use crate::groups::{Case, case, group};

/// The groups as stores in a folder, named by their names.
fn on_disk(cases: &[Case], folder: &Path) -> Vec<GroupMember> {
    let place = |case: &Case| {
        let path = folder.join(case.name);
        std::fs::create_dir_all(&path).expect("creates");
        let store = Arc::new(LocalStore::open(&path).expect("opens"));
        for (key, object) in objects(&**group(case).group().store()) {
            store.put(&Key::new(key).expect("a key"), &object).expect("puts");
        }
        let group = Group::open(store, &Prefix::root()).expect("opens");
        GroupMember::new(path.to_str().expect("UTF-8"), group)
    };
    cases.iter().map(place).collect()
}

/// Writes the document of a join, and opens it.
fn linked(join: JoinGroups, folder: &Path) -> Result<Group, LinkError> {
    let place = folder.join("all.zjoin");
    let place = place.to_str().expect("UTF-8");
    join.link(place, Missing::Error)?.write(place, &StoreOptions::new())?;
    let store = open_store(place, &OpenOptions::new())?;
    Ok(Group::open(store, &Prefix::root()).expect("opens"))
}

/// Paths, documents and elements of all arrays, and the documents of all groups.
fn contents(group: &Group, path: &str, found: &mut Vec<(String, String, Vec<u8>)>) {
    // A document of a virtual join has no line breaks.
    let words = |json: &str| json.split_whitespace().collect::<String>();
    found.push((path.to_owned(), words(group.metadata().json()), Vec::new()));
    for child in group.children().expect("lists") {
        let below = format!("{path}/{child}");
        match group.group(&child) {
            Ok(group) => contents(&group, &below, found),
            Err(_) => {
                let array: Array = group.array(&child).expect("opens");
                let elements = array.read(Selection::whole(array.shape())).expect("reads");
                found.push((below, words(array.metadata().json()), elements));
            }
        }
    }
}

#[test]
fn groups_are_linked_as_they_are_joined() {
    let months = || vec![case("a", 0..3), case("b", 3..5), case("c", 5..9)];
    let same = || vec![case("a", 0..3), case("b", 0..3)];
    let along = GroupArrangement::Along("time".into());
    let tiles = GroupArrangement::Tiles(vec![("time".into(), 3)]);
    let by_coordinates = GroupArrangement::ByCoordinates(vec!["time".into()]);
    let backwards = || vec![case("b", 3..5), case("c", 5..9), case("a", 0..3)];
    for (cases, arrangement) in [
        (months(), along),
        (months(), tiles),
        (backwards(), by_coordinates),
        (same(), GroupArrangement::NewDimension("run".into())),
        // Arrays without elements.
        (vec![case("a", 0..0), case("b", 0..0)], GroupArrangement::Along("time".into())),
        (vec![case("a", 0..0), case("b", 0..2)], GroupArrangement::Along("time".into())),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let members = on_disk(&cases, folder.path());
        let join = || JoinGroups::new(members.clone(), arrangement.clone());
        let virtual_one = linked(join(), folder.path()).expect("links");
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let plan = join().plan().expect("fits");
        let moved = plan.execute(&store, &Prefix::root(), &JoinOptions::new(), &|_| {});
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        contents(&moved.expect("joins").0, "", &mut expected);
        contents(&virtual_one, "", &mut found);
        assert_eq!(expected.len(), 6);
        assert_eq!(found, expected, "{arrangement:?}");
    }
}

#[test]
fn members_are_named_relative_to_the_document_with_the_paths_of_their_arrays() {
    let folder = tempfile::tempdir().expect("a folder");
    let members = on_disk(&[case("a", 0..3), case("b", 3..5)], folder.path());
    let join = JoinGroups::new(members, GroupArrangement::Along("time".into()));
    let place = folder.path().join("all.zjoin");
    let document = join.link(place.to_str().expect("UTF-8"), Missing::Error).expect("links");
    let members = document.members();
    let named: Vec<String> =
        members.map(|member| format!("{} {}", member.location, member.path)).collect();
    // An array that is equal in all members is that of the first.
    assert_eq!(named, ["a crs", "a surface/rain", "b surface/rain", "a time", "b time", "a x"]);
}

#[test]
fn groups_that_do_not_fit_are_named() {
    let message = |cases: &[Case], change: &dyn Fn(JoinGroups) -> JoinGroups| {
        let folder = tempfile::tempdir().expect("a folder");
        let members = on_disk(cases, folder.path());
        let join = JoinGroups::new(members, GroupArrangement::Along("time".into()));
        match linked(change(join), folder.path()) {
            Ok(_) => "joined".to_owned(),
            Err(error) => {
                assert!(!folder.path().join("all.zjoin").exists());
                error.to_string().replace(&format!("{}/", folder.path().display()), "")
            }
        }
    };
    let overlapping = [case("a", 0..3), case("b", 2..5)];
    let empty = [case("a", 0..0)];
    let units = |json| Case { attributes: json, ..case("b", 3..5) };
    let other = [case("a", 0..3), units(r#"{"units": "days since 1970-01-01"}"#)];
    let named = [case("a", 0..3), units(r#"{"units": "days since 2020-01-01", "long_name": "t"}"#)];
    let messages = [
        message(&overlapping, &|join| join),
        message(&overlapping, &|join| join.check_coordinates(false)),
        message(&empty, &|join| join),
        message(&other, &|join| join),
        message(&named, &|join| join.attributes(CombineAttributes::Identical)),
    ];
    insta::assert_snapshot!(messages.join("\n"), @r#"
    b: the coordinates of time begin with 2, but a ends with 2: they overlap or go backwards
    joined
    joined
    b/time: the attribute units is "days since 1970-01-01", but "days since 2020-01-01" in a/time
    b/time: the attribute long_name is "t", but absent in a/time
    "#);
}
