//! Groups joined by the names of their arrays.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::unfinished::UnfinishedWork;
use zarr_array::{ArrayError, Group, Selection};
use zarr_copy::MARKER;
use zarr_join::rearrange::{GroupRearrangement, Span};
use zarr_join::{
    CombineAttributes, GroupArrangement, GroupAxes, GroupJoinPlan, GroupMember, JoinGroups,
    JoinOptions,
};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
use zarr_store_tests::objects;

use crate::cases::{Case, case, group};

fn along_time(cases: &[Case]) -> Result<GroupJoinPlan, String> {
    let members = cases.iter().map(group).collect();
    let join = JoinGroups::new(members, GroupArrangement::Along("time".into()));
    join.plan().map_err(|error| error.to_string())
}

fn execute(plan: &GroupJoinPlan) -> Group {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let to = Prefix::new("to").expect("a prefix");
    plan.execute(&store, &to, &JoinOptions::new(), &|_| {}).expect("joins").0
}

fn floats(group: &Group, path: &str) -> (Vec<u64>, Vec<f64>) {
    let array = group.array(path).expect("opens");
    let all = array.read_as::<f64>(Selection::whole(array.shape())).expect("reads");
    (array.shape().to_vec(), all)
}

#[test]
fn arrays_with_the_dimension_are_joined_and_the_others_copied() {
    let plan = along_time(&[case("a", 0..3), case("b", 3..5), case("c", 5..9)]).expect("fits");
    let joined = execute(&plan);
    let time = joined.array("time").expect("opens");
    assert_eq!(time.read_as::<i32>(0..9).expect("reads"), (0..9).collect::<Vec<i32>>());
    assert_eq!(floats(&joined, "x"), (vec![2], vec![0.5, 1.5]));
    let (shape, rain) = floats(&joined, "surface/rain");
    let expected: Vec<f64> =
        [0.5, 1.5].iter().flat_map(|x| (0..9).map(move |t| f64::from(t) + x)).collect();
    assert_eq!((shape, rain), (vec![2, 9], expected));
    assert_eq!(joined.array("crs").expect("opens").metadata().attribute("epsg"), Some("1"));
    assert_eq!(joined.metadata().attributes(), r#"{"title": "t"}"#);
    assert_eq!(joined.children().expect("lists"), ["crs", "surface", "time", "x"]);
    assert!(plan.arrays().all(|(_, plan)| plan.written_chunks() == 0));
}

#[test]
fn members_that_do_not_fit_are_named() {
    let a = || case("a", 0..3);
    let units = Case { attributes: r#"{"units": "days since 1970-01-01"}"#, ..case("b", 3..5) };
    let other_x = Case { x: vec![0.5, 2.5], ..case("b", 3..5) };
    let missing = {
        let member = group(&case("b", 3..5));
        zarr_array::delete_node(member.group().store(), &Prefix::new("crs").expect("a prefix"))
            .expect("deletes");
        let members = vec![group(&a()), member];
        JoinGroups::new(members, GroupArrangement::Along("time".into())).plan()
    };
    let nothing = JoinGroups::new(vec![group(&a())], GroupArrangement::Along("day".into())).plan();
    let cases = [
        along_time(&[a(), units]).expect_err("other units"),
        along_time(&[a(), other_x]).expect_err("other x"),
        along_time(&[a(), case("b", 2..5)]).expect_err("overlaps"),
        along_time(&[case("b", 3..5), a()]).expect_err("backwards"),
        along_time(&[a(), case("b", [5, 4])]).expect_err("turns"),
        along_time(&[case("b", [3]), case("c", [5]), case("d", [4])]).expect_err("turns"),
        missing.expect_err("misses an array").to_string(),
        nothing.expect_err("has no such dimension").to_string(),
    ];
    insta::assert_snapshot!(cases.join("\n"), @r#"
    b: the coordinates of time begin with 1970-01-04, but a ends with 2020-01-03: they overlap or go backwards
    b/x: differs from a/x, and has no axis along which to join them
    b: the coordinates of time begin with 2020-01-03, but a ends with 2020-01-03: they overlap or go backwards
    a: the coordinates of time begin with 2020-01-01, but b ends with 2020-01-05: they overlap or go backwards
    b: the coordinates of time begin with 2020-01-06, but a ends with 2020-01-03: they overlap or go backwards
    d: the coordinates of time begin with 2020-01-05, but c ends with 2020-01-06: they overlap or go backwards
    b: there is no crs here, as there is in a
    no array has a dimension day; they have time, x
    "#);
    // Coordinates that decrease are in order too.
    along_time(&[case("b", [9, 8]), case("a", [7]), case("c", [6, 5])]).expect("fits");
}

#[test]
fn tiles_find_their_places_by_their_coordinates() {
    let tile =
        |name, time: std::ops::Range<i32>, x: &[f64]| Case { x: x.to_vec(), ..case(name, time) };
    let members = || {
        let tiles = [
            tile("d", 2..5, &[2.5]),
            tile("a", 0..2, &[0.5, 1.5]),
            tile("b", 2..5, &[0.5, 1.5]),
            tile("c", 0..2, &[2.5]),
        ];
        tiles.iter().map(group).collect::<Vec<_>>()
    };
    let expected: Vec<f64> =
        [0.5, 1.5, 2.5].iter().flat_map(|x| (0..5).map(move |t| f64::from(t) + x)).collect();
    for dimensions in [["time", "x"], ["x", "time"]] {
        let dimensions = dimensions.map(str::to_owned).to_vec();
        let plan = JoinGroups::new(members(), GroupArrangement::ByCoordinates(dimensions)).plan();
        let joined = execute(&plan.expect("fits"));
        assert_eq!(floats(&joined, "surface/rain"), (vec![3, 5], expected.clone()));
        assert_eq!(floats(&joined, "x"), (vec![3], vec![0.5, 1.5, 2.5]));
    }
    // In the order of the tiles, as the caller says it.
    let mut sorted = members();
    sorted.sort_by(|a, b| a.name().cmp(b.name()));
    let tiles = vec![("x".to_owned(), 2), ("time".to_owned(), 2)];
    let joined =
        execute(&JoinGroups::new(sorted, GroupArrangement::Tiles(tiles)).plan().expect("fits"));
    assert_eq!(floats(&joined, "surface/rain"), (vec![3, 5], expected));

    let mut twice = members();
    twice[0] = group(&tile("e", 2..5, &[0.5, 1.5]));
    let dimensions = vec!["time".to_owned(), "x".to_owned()];
    let error = JoinGroups::new(twice, GroupArrangement::ByCoordinates(dimensions)).plan();
    assert!(error.is_err());
}

#[test]
fn a_new_dimension_stacks_all_but_coordinates() {
    let members = vec![group(&case("a", 0..3)), group(&case("b", 0..3))];
    let arrangement = GroupArrangement::NewDimension("run".into());
    let joined = execute(&JoinGroups::new(members, arrangement).plan().expect("fits"));
    let (shape, rain) = floats(&joined, "surface/rain");
    assert_eq!(shape, [2, 2, 3]);
    assert_eq!(rain[..6], rain[6..]);
    assert_eq!(joined.array("time").expect("opens").shape(), [3]);
    let rain = joined.array("surface/rain").expect("opens");
    let names = rain.metadata().dimension_names().expect("has names");
    let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    assert_eq!(names, ["run", "x", "time"]);
}

#[test]
fn attributes_of_groups_follow_the_rule_and_consolidated_metadata_is_made_again() {
    let members = [case("a", 0..3), case("b", 3..5)].map(|case| group(&case));
    let members = members.map(|member| {
        let name = format!(r#""{}""#, member.name());
        let group = member.group().update_attributes(&[("history", Some(&name))]);
        let group = group.and_then(|group| group.consolidate()).expect("updates");
        GroupMember::new(member.name().to_owned(), group)
    });
    let plan = |rule| {
        let along = GroupArrangement::Along("time".into());
        JoinGroups::new(members.to_vec(), along).attributes(rule).plan()
    };
    assert!(plan(CombineAttributes::Identical).is_err());
    let joined = execute(&plan(CombineAttributes::DropConflicts).expect("fits"));
    assert_eq!(joined.metadata().attributes(), r#"{"title": "t"}"#);
    let group = Group::open_consolidated(joined.store().clone(), joined.prefix());
    assert_eq!(group.expect("opens").array("time").expect("is there").shape(), [5]);
}

#[test]
fn a_join_of_groups_that_is_killed_leaves_no_group_and_can_be_resumed() {
    let plan = along_time(&[case("a", 0..3), case("b", 3..5)]).expect("fits");
    let to = Prefix::root();
    let in_order = || JoinOptions::new().threads(NonZeroUsize::MIN);
    let run = |inner: &MemoryStore, fault: Option<(u64, Fault)>, options: &JoinOptions| {
        let store = FaultStore::new(inner.clone());
        let store = Arc::new(match fault {
            Some((at, fault)) => store.at(at, fault),
            None => store,
        });
        let shared: Arc<dyn Store> = store.clone();
        (plan.execute(&shared, &to, options, &|_| {}).map(drop), store.operations())
    };
    let undisturbed = MemoryStore::new();
    let (result, operations) = run(&undisturbed, None, &in_order());
    result.expect("joins");
    let expected = objects(&undisturbed);
    for at in 0..operations {
        for fault in [Fault::DieBefore, Fault::DieAfter] {
            let inner = MemoryStore::new();
            assert!(run(&inner, Some((at, fault)), &in_order()).0.is_err());
            let found = objects(&inner);
            let shared: Arc<dyn Store> = Arc::new(inner.clone());
            match Group::open(shared, &to) {
                Ok(_) => {
                    let whole = expected.iter().all(|(key, value)| found.get(key) == Some(value));
                    assert!(whole, "{at} {fault:?}");
                }
                Err(ArrayError::Unfinished { resumable, work, .. }) => {
                    assert!(resumable && work == UnfinishedWork::Join);
                }
                Err(ArrayError::NotFound { .. }) => assert!(found.is_empty(), "{at} {fault:?}"),
                Err(error) => panic!("{at} {fault:?}: {error}"),
            }
            if found == expected {
                continue;
            }
            let resume = !found.is_empty();
            let again = run(&inner, None, &in_order().resume(resume)).0;
            again.unwrap_or_else(|error| panic!("{at} {fault:?}: {error}"));
            assert_eq!(objects(&inner), expected, "{at} {fault:?}");
        }
    }
}

/// Also where the joined array was complete before the join was killed.
#[test]
fn a_group_that_has_changed_does_not_continue_it() {
    let members = vec![group(&case("a", 0..3)), group(&case("b", 3..5))];
    let plan = || {
        let join = JoinGroups::new(members.clone(), GroupArrangement::Along("time".into()));
        join.plan().expect("fits")
    };
    let in_order = || JoinOptions::new().threads(NonZeroUsize::MIN);
    let whole = Arc::new(FaultStore::new(MemoryStore::new()));
    let store: Arc<dyn Store> = whole.clone();
    let to = Prefix::root();
    plan().execute(&store, &to, &in_order(), &|_| {}).expect("joins");
    let inner = MemoryStore::new();
    let late = whole.operations() - 4;
    let dying: Arc<dyn Store> = Arc::new(FaultStore::new(inner.clone()).at(late, Fault::DieBefore));
    assert!(plan().execute(&dying, &to, &in_order(), &|_| {}).is_err());
    assert!(objects(&inner).contains_key("time/zarr.json"));
    let time = members[0].group().array("time").expect("opens");
    time.write_as::<i32>(0..1, &[-1]).expect("writes");
    let inner: Arc<dyn Store> = Arc::new(inner);
    let refused = plan().execute(&inner, &to, &in_order().resume(true), &|_| {});
    let error = refused.expect_err("is another").to_string();
    assert!(error.contains("the source has changed since"), "{error}");
}

/// Programs that make groups ahead put the documents that the join would put, or others.
#[test]
fn documents_of_groups_by_another_program_do_not_end_a_join() {
    let plan = along_time(&[case("a", 0..3), case("b", 3..5)]).expect("fits");
    let to = Prefix::new("to").expect("a prefix");
    let options = JoinOptions::new().threads(NonZeroUsize::MIN);
    let run = |store: &Arc<dyn Store>, options: &JoinOptions| {
        plan.execute(store, &to, options, &|_| {}).map(drop).map_err(|error| error.to_string())
    };
    let undisturbed = Arc::new(FaultStore::new(MemoryStore::new()));
    run(&(undisturbed.clone() as Arc<dyn Store>), &options).expect("joins");
    let expected = objects(undisturbed.inner());
    let (mut resumed, mut refused) = (0, 0);
    for key in ["to/zarr.json", "to/surface/zarr.json"] {
        for at in 0..undisturbed.operations() {
            for document in [expected[key].as_slice(), br#"{"zarr_format":3,"node_type":"group"}"#]
            {
                let inner = MemoryStore::new();
                let dying: Arc<dyn Store> =
                    Arc::new(FaultStore::new(inner.clone()).at(at, Fault::DieBefore));
                run(&dying, &options).expect_err("dies");
                let found = objects(&inner);
                if !found.contains_key(&format!("to/{MARKER}")) || found.contains_key(key) {
                    continue;
                }
                let store: Arc<dyn Store> = Arc::new(inner.clone());
                store.put(&Key::new(key).expect("a key"), document).expect("puts");
                let before = objects(&inner);
                let again = options.clone().resume(true);
                if document != expected[key].as_slice() {
                    let error = run(&store, &again).expect_err("is another's");
                    let path = key.trim_end_matches("/zarr.json");
                    let begin = format!("target {path}: another program has put zarr.json here");
                    assert!(error.starts_with(&begin), "{error}");
                    let after = objects(&inner);
                    assert!(
                        before
                            .iter()
                            .all(|(key, object)| after.get(key) == Some(object)
                                || key.contains(MARKER)),
                        "{key} {at}"
                    );
                    store.delete(&Key::new(key).expect("a key")).expect("moves away");
                    refused += 1;
                }
                run(&store, &again).unwrap_or_else(|error| panic!("{key} {at}: {error}"));
                assert!(objects(&inner) == expected, "{key} {at}: {:?}", objects(&inner).keys());
                resumed += 1;
            }
        }
    }
    assert!(resumed > 20 && refused > 10, "{resumed} {refused}");
}

/// A group of two levels and a scalar, whose axes have no names.
fn unnamed(name: &str, attributes: &str, shapes: [&[u64]; 2]) -> GroupMember {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let metadata = GroupMetadata::new().with_attributes(attributes).expect("attributes");
    let group = Group::create(store, &Prefix::root(), metadata).expect("creates");
    for (level, shape) in ["0", "1", "scalar"].into_iter().zip([shapes[0], shapes[1], &[]]) {
        let chunks: Vec<u64> = shape.iter().map(|_| 1).collect();
        let metadata = ArrayBuilder::new(shape.to_vec(), DataType::Uint8).chunk_shape(chunks);
        let array = group.create_array(level, metadata.build().expect("valid")).expect("creates");
        let count = usize::try_from(shape.iter().product::<u64>()).expect("small");
        let values: Vec<u8> =
            (1..=count).map(|value| u8::try_from(value).expect("small")).collect();
        array.write(Selection::whole(shape), &values).expect("writes");
    }
    GroupMember::new(name, group)
}

#[test]
fn where_no_array_has_names_axes_have_numbers() {
    let image = r#"{"multiscales": [{"version": "0.4", "axes": [{"name": "t", "type": "time"},
        {"name": "x", "type": "space"}], "datasets": [{"path": "0",
        "coordinateTransformations": [{"type": "translation", "translation": [0, 1]}]}, {"path": "1"}]}]}"#;
    let shapes = |group: &Group| {
        ["0", "1", "scalar"].map(|path| group.array(path).expect("opens").shape().to_vec())
    };
    let member = |name, attributes| unnamed(name, attributes, [&[2, 3], &[2, 1]]);
    for (attributes, along, expected) in [
        ("{}", "0", [vec![4, 3], vec![4, 1], vec![]]),
        ("{}", "-1", [vec![2, 6], vec![2, 2], vec![]]),
        (image, "t", [vec![4, 3], vec![4, 1], vec![]]),
        (image, "0", [vec![4, 3], vec![4, 1], vec![]]),
        (image, "-1", [vec![2, 6], vec![2, 2], vec![]]),
    ] {
        let members = vec![member("a", attributes), member("b", attributes)];
        let whole = members[0].group().clone();
        let end = whole.array("1").expect("opens").shape()[usize::from(along == "-1")];
        let join = JoinGroups::new(members.clone(), GroupArrangement::Along(along.into()));
        let joined = execute(&join.plan().expect("fits"));
        assert_eq!(shapes(&joined), expected, "{attributes} {along}");
        let level = joined.array("0").expect("opens").read(Selection::whole(&expected[0]));
        let rows: &[u8] = match along {
            "-1" => &[1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6],
            _ => &[1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6],
        };
        assert_eq!(level.expect("reads"), rows);

        // Levels have other lengths on the last axis, which are refused together.
        // As `append` does it, with nothing after the end.
        let other = Span::Inserted(members[1].group().clone());
        let spans = [Span::Kept(0..end), other, Span::Kept(end..end)];
        let plan = GroupRearrangement::plan(&whole, along, spans, false);
        if along == "-1" {
            let error = plan.expect_err("lengths differ").to_string();
            assert!(error.contains("1: has the length 1 on the dimension"), "{error}");
            continue;
        }
        plan.expect("fits").execute(&|_| {}).expect("appends");
        assert_eq!(shapes(&whole), expected, "{attributes} {along}");
    }
    let along = |attributes, along: &str| {
        let members = vec![member("a", attributes), member("b", attributes)];
        let join = JoinGroups::new(members, GroupArrangement::Along(along.into()));
        join.plan().expect_err("no such axis").to_string()
    };
    let none = "axes without names have numbers: 0, or -1 for the last";
    assert_eq!(along("{}", "t"), format!("no array has a dimension t; {none}"));
    assert_eq!(along("{}", "2"), format!("no array has a dimension 2; {none}"));
    assert_eq!(along(image, "z"), "no array has a dimension z; they have t, x");
    // An image names the axes of one array only: then a number would mean two things.
    let half = image.replace(r#", {"path": "1"}"#, "");
    assert_eq!(along(&half, "0"), "no array has a dimension 0; they have t, x");
    // Two numbers of one axis, and one of none.
    for (other, expected) in
        [("-2", "a: two dimensions have the name 0"), ("7", "no array has a dimension 7")]
    {
        let members = ["a", "b", "c", "d"].map(|name| member(name, "{}")).to_vec();
        let tiles = ["0", other].map(|name| (name.to_owned(), 2)).to_vec();
        let error = JoinGroups::new(members, GroupArrangement::Tiles(tiles)).plan();
        let error = error.expect_err("is refused").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_list_without_a_name_says_the_same_as_none() {
    let image = r#"{"multiscales": [{"version": "0.4", "axes": [{"name": "t"}, {"name": "x"}],
        "datasets": [{"path": "0"}]}]}"#;
    let image = GroupMetadata::new().with_attributes(image).expect("attributes");
    let array = ArrayBuilder::new([2, 3], DataType::Uint8).build().expect("valid");
    let nameless = array.with_dimension_names(&[None, None]).expect("valid");
    for array in [array, nameless] {
        let mut axes = GroupAxes::of([("", &image)], [("0", &array)]);
        assert_eq!((axes.numbers("0", "x"), &*axes.dimension("0")), (vec![1], "t"));
    }
}
