//! Virtual joins of groups: the same nodes and elements as joins that move objects.

use std::path::Path;
use std::sync::Arc;

use zarr_array::store::{
    Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _, StoreOptions, UpdatePolicy,
};
use zarr_array::{Array, Group, Selection, delete_node};
use zarr_join::rearrange::Span;
use zarr_join::{
    CombineAttributes, GroupArrangement, GroupMember, JoinGroups, JoinOptions, NodeMember,
};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
use zarr_store_tests::objects;
use zarr_virtual_join::{
    AxisOf, Document, Missing, OpenOptions, StoredDocument, VirtualJoinError, open_store,
};

use super::without_times;
use crate::cases::{Case, case, group};

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
fn linked(join: JoinGroups, folder: &Path) -> Result<Group, VirtualJoinError> {
    let place = folder.join("all.zjoin");
    let place = place.to_str().expect("UTF-8");
    Document::of_groups(&join, place, Missing::Error)?.write(place, &StoreOptions::new())?;
    Ok(open(Path::new(place)))
}

fn open(place: &Path) -> Group {
    let store = open_store(place.to_str().expect("UTF-8"), &OpenOptions::new());
    Group::open(store.expect("a valid document"), &Prefix::root()).expect("opens")
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
    let document =
        Document::of_groups(&join, place.to_str().expect("UTF-8"), Missing::Error).expect("links");
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
    let other = [case("a", 0..3), units(r#"{"units": "days since 2020-01-02"}"#)];
    let named = [case("a", 0..3), units(r#"{"units": "days since 2020-01-01", "long_name": "t"}"#)];
    let messages = [
        message(&overlapping, &|join| join),
        message(&overlapping, &|join| join.check_coordinates(false)),
        message(&empty, &|join| join),
        message(&other, &|join| join),
        message(&named, &|join| join.attributes(CombineAttributes::Identical)),
    ];
    insta::assert_snapshot!(messages.join("\n"), @r#"
    b: the coordinates of time begin with 2020-01-03, but a ends with 2020-01-03: they overlap or go backwards
    joined
    joined
    b/time: the attribute units is "days since 2020-01-02", but "days since 2020-01-01" in a/time: a virtual join converts no values
    b/time: the attribute long_name is "t", but absent in a/time
    "#);
}

/// Puts a group before an index of a dimension.
fn insert(
    place: &Path,
    dimension: &str,
    member: NodeMember,
    at: u64,
) -> Result<(), VirtualJoinError> {
    let document = StoredDocument::open(place.to_str().expect("UTF-8"), &OpenOptions::new())?;
    let axis = AxisOf::Named(dimension);
    let end = document.length(axis)?;
    let spans = [Span::Kept(0..at), Span::Inserted(member), Span::Kept(at..end)];
    document.rearrange(axis, &spans, false)?.write(UpdatePolicy::RequireExclusion)
}

#[test]
fn an_inserted_group_makes_the_document_of_a_join_of_all() {
    let months = || [case("a", 0..3), case("b", 3..5), case("c", 5..9)];
    let same = || [case("a", 0..3), case("b", 0..3), case("c", 0..3)];
    let along = || GroupArrangement::Along("time".into());
    let stacked = || GroupArrangement::NewDimension("run".into());
    for (cases, arrangement, dimension, ends) in
        [(months(), along(), "time", [3, 5, 9]), (same(), stacked(), "run", [1, 2, 3])]
    {
        for left_out in [1, 2] {
            let folder = tempfile::tempdir().expect("a folder");
            let members = on_disk(&cases, folder.path());
            let place = folder.path().join("all.zjoin");
            let join = |members| JoinGroups::new(members, arrangement.clone());
            linked(join(members.clone()), folder.path()).expect("links");
            let expected = std::fs::read_to_string(&place).expect("reads");
            std::fs::remove_file(&place).expect("removes");
            let mut others = members.clone();
            let one = others.remove(left_out);
            linked(join(others), folder.path()).expect("links");
            let less = std::fs::read_to_string(&place).expect("reads");
            insert(&place, dimension, NodeMember::Group(one), ends[left_out - 1]).expect("fits");
            let found = std::fs::read_to_string(&place).expect("reads");
            let [found, expected, less] = [found, expected, less].map(|text| without_times(&text));
            assert!(found == expected && found != less, "{dimension} {left_out}: {found}");
        }
        // In front, the attributes and codecs are still those of the group that was first.
        let folder = tempfile::tempdir().expect("a folder");
        let members = on_disk(&cases, folder.path());
        let join = JoinGroups::new(members[1..].to_vec(), arrangement.clone());
        linked(join, folder.path()).expect("links");
        let place = folder.path().join("all.zjoin");
        insert(&place, dimension, NodeMember::Group(members[0].clone()), 0).expect("fits");
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        contents(&open(&place), "", &mut found);
        std::fs::remove_file(&place).expect("removes");
        let all = linked(JoinGroups::new(members, arrangement), folder.path());
        contents(&all.expect("links"), "", &mut expected);
        assert_eq!(found, expected, "{dimension}");
    }
}

/// A group within the joined one is rearranged, and a group of that kind inserted into it.
#[test]
fn a_group_is_inserted_into_a_group_within_the_joined_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let members = on_disk(&[case("a", 0..3), case("b", 3..5)], folder.path());
    let inner = members[1].group().group("surface").expect("opens");
    let name = members[1].name().to_owned();
    let join = JoinGroups::new(members, GroupArrangement::Along("time".into()));
    let joined = linked(join, folder.path()).expect("links");
    let rain = |group: &Group| {
        let array = group.array("surface/rain").expect("opens");
        (
            array.shape().to_vec(),
            array.read_as::<f64>(Selection::whole(array.shape())).expect("reads"),
        )
    };
    assert_eq!(rain(&joined).0, [2, 5]);
    let place = folder.path().join("all.zjoin");
    let member = NodeMember::Group(GroupMember::new(name, inner));
    insert(&place.join("surface"), "time", member, 3).expect("fits");
    let again = open(&place);
    let row = |x: f64| [0, 1, 2, 3, 4, 3, 4].map(|t| f64::from(t) + x);
    assert_eq!(rain(&again), (vec![2, 7], [row(0.5), row(1.5)].concat()));
    assert_eq!(again.array("time").expect("opens").shape(), [5]);
}

#[test]
fn groups_that_cannot_be_inserted_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let days = |json| Case { attributes: json, ..case("units", 3..5) };
    let cases = [
        case("a", 0..3),
        case("b", 5..9),
        case("missing", 3..5),
        case("more", 3..5),
        Case { x: vec![0.5, 2.5], ..case("other-x", 3..5) },
        Case { x: vec![0.5], ..case("short-x", 3..5) },
        days(r#"{"units": "days since 1970-01-01"}"#),
        case("unequal", 3..5),
        case("meaning", 3..5),
    ];
    let members = on_disk(&cases, folder);
    let at = |name: &str| {
        let found = members.iter().find(|member| member.name().ends_with(&format!("/{name}")));
        found.expect("is there").clone()
    };
    let edit = |name: &str, path: &str, builder: Option<ArrayBuilder>| {
        let member = at(name);
        delete_node(member.group().store(), &Prefix::new(path).expect("a prefix"))
            .expect("deletes");
        if let Some(builder) = builder {
            member.group().create_array(path, builder.build().expect("valid")).expect("creates");
        }
    };
    edit("missing", "crs", None);
    at("more").group().create_group("more", GroupMetadata::new()).expect("creates");
    edit(
        "unequal",
        "time",
        Some(
            ArrayBuilder::new([3], DataType::Int32)
                .dimension_names(["time"])
                .attributes(r#"{"units": "days since 2020-01-01"}"#),
        ),
    );
    // The same elements, which mean something else.
    edit(
        "meaning",
        "crs",
        Some(ArrayBuilder::new([], DataType::Int8).attributes(r#"{"epsg": 1, "units": "m"}"#)),
    );
    let join = JoinGroups::new(vec![at("a"), at("b")], GroupArrangement::Along("time".into()));
    linked(join, folder).expect("links");
    let place = folder.join("all.zjoin");
    let nested = folder.join("nested.zjoin");
    std::fs::copy(&place, &nested).expect("copies");
    let nested = GroupMember::new(nested.to_str().expect("UTF-8"), open(&nested));
    let before = std::fs::read(&place).expect("reads");
    let array = {
        let time = at("b").group().array("time").expect("opens");
        NodeMember::Array(zarr_join::Member::new(at("b").name(), time))
    };
    let message = |place: &Path, member: NodeMember| {
        let error = insert(place, "time", member, 3).expect_err("does not fit").to_string();
        error.replace(&format!("{}/", folder.display()), "")
    };
    let names = ["missing", "more", "other-x", "short-x", "units", "unequal", "meaning"];
    let mut messages: Vec<String> =
        names.iter().map(|name| message(&place, NodeMember::Group(at(name)))).collect();
    messages.push(message(&place, NodeMember::Group(nested)));
    messages.push(message(&place, array));
    messages.push(message(&place.join("time"), NodeMember::Group(at("b"))));
    insta::assert_snapshot!(messages.join("\n"));
    assert!(std::fs::read(&place).expect("reads") == before);
    // An equal array is read from the first group, which is gone.
    std::fs::rename(folder.join("a"), folder.join("away")).expect("moves");
    let gone = message(&place, NodeMember::Group(at("b")));
    assert!(gone.contains("member a/"), "{gone}");
}
