//! Coordinates in any group of a tree: the order and the places that they give.

use std::sync::Arc;

use zarr_array::Group;
use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_join::{
    GroupArrangement, GroupJoinPlan, GroupMember, JoinError, JoinGroups, JoinOptions, check_order,
};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};

use crate::cases::{Case, case, group_in};

/// A tree with the arrays of each case in a group of its own.
fn tree(name: &str, cases: &[(&str, Case)]) -> GroupMember {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new());
    for (path, case) in cases {
        group_in(store.clone(), &Prefix::new(path).expect("a prefix"), case);
    }
    GroupMember::new(name, root.expect("creates"))
}

fn nested(case: Case) -> GroupMember {
    tree(case.name, &[("obs", case)])
}

fn joined(plan: Result<GroupJoinPlan, JoinError>) -> Group {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let joined = plan.expect("fits").execute(&store, &Prefix::root(), &JoinOptions::new(), &|_| {});
    joined.expect("joins").0
}

fn times(group: &Group, path: &str) -> Vec<i32> {
    let time = group.array(path).expect("opens");
    time.read_as::<i32>(0..time.shape()[0]).expect("reads")
}

fn along(members: Vec<GroupMember>) -> JoinGroups {
    JoinGroups::new(members, GroupArrangement::Along("time".into()))
}

#[test]
fn the_order_is_that_of_the_coordinates_of_each_group() {
    let (a, b) = (|| case("a", 0..3), || case("b", 3..6));
    let wrong = along(vec![nested(b()), nested(a())]);
    let error = |plan: Result<_, JoinError>| plan.map(drop).expect_err("is refused").to_string();
    let two = |name, far: Case, near: Case| tree(name, &[("obs", near), ("obs/inner", far)]);
    let errors = [
        error(wrong.clone().plan()),
        error(check_order(&[nested(a()), nested(a())], "time").map(|()| unreachable!())),
        error(along(vec![two("a", a(), a()), two("b", a(), b())]).plan()),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r"
    a: the coordinates of obs/time begin with 2020-01-01, but b ends with 2020-01-06: they overlap or go backwards
    a: the coordinates of obs/time begin with 2020-01-01, but a ends with 2020-01-03: they overlap or go backwards
    b: the coordinates of obs/inner/time begin with 2020-01-01, but a ends with 2020-01-03: they overlap or go backwards
    ");
    assert_eq!(
        times(&joined(wrong.check_coordinates(false).plan()), "obs/time"),
        [3, 4, 5, 0, 1, 2]
    );
    assert_eq!(times(&joined(along(vec![nested(a()), nested(b())]).plan()), "obs/time")[4], 4);
}

#[test]
fn coordinates_of_no_group_are_stacked() {
    let stacked = |x: [f64; 2]| {
        let members =
            vec![nested(case("a", 0..3)), nested(Case { x: x.into(), ..case("b", 0..3) })];
        JoinGroups::new(members, GroupArrangement::NewDimension("run".into())).plan()
    };
    let group = joined(stacked([0.5, 1.5]));
    let shape = |path: &str| group.array(path).expect("opens").shape().to_vec();
    assert_eq!((shape("obs/time"), shape("obs/x")), (vec![3], vec![2]));
    assert_eq!(shape("obs/surface/rain"), [2, 2, 3]);
    let error = stacked([0.5, 2.5]).map(drop).expect_err("differs").to_string();
    assert_eq!(error, "b/obs/x: differs from a/obs/x, and has no axis along which to join them");
}

/// Those nearest the root do. The others must have the same order.
#[test]
fn coordinates_of_one_group_give_the_places() {
    let by_coordinates = |times: &[[i32; 2]]| {
        let names = ["first", "second", "third"].into_iter().zip(times);
        let members = names.map(|(name, [near, far])| {
            tree(name, &[("obs", case("", [*near])), ("obs/inner", case("", [*far]))])
        });
        let dimensions = vec!["time".into()];
        JoinGroups::new(members.collect(), GroupArrangement::ByCoordinates(dimensions)).plan()
    };
    let group = joined(by_coordinates(&[[5, 7], [4, 6]]));
    assert_eq!(
        (times(&group, "obs/time"), times(&group, "obs/inner/time")),
        (vec![4, 5], vec![6, 7])
    );
    let error = by_coordinates(&[[5, 7], [4, 6], [6, 5]]).map(drop).expect_err("is refused");
    let begin = "third: the coordinates of obs/inner/time begin with 2020-01-06, but first ends with \
                 2020-01-08";
    assert!(error.to_string().starts_with(begin), "{error}");
}

#[test]
fn coordinates_that_all_descend_give_places_in_their_order() {
    let by_coordinates = |times: &[&[i32]]| {
        let members = times.iter().map(|time| nested(case("", time.to_vec()))).collect();
        let dimensions = vec!["time".into()];
        JoinGroups::new(members, GroupArrangement::ByCoordinates(dimensions)).plan()
    };
    let found = |times: &[&[i32]]| self::times(&joined(by_coordinates(times)), "obs/time");
    assert_eq!(found(&[&[60], &[90, 80], &[50, 40]]), [90, 80, 60, 50, 40]);
    assert_eq!(found(&[&[60], &[90], &[50]]), [50, 60, 90]);
    assert!(by_coordinates(&[&[60, 70], &[90, 80]]).is_err());
}

/// What lies between the ends counts, and what is missing does not.
#[test]
fn all_values_are_compared_and_missing_ones_count_as_none() {
    let of = |name: &'static str, data_type: DataType, attributes: &str, elements: &[u8]| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let group = Group::create(store, &Prefix::root(), GroupMetadata::new()).expect("creates");
        let size = u64::try_from(data_type.size().expect("a size")).expect("small");
        let length = u64::try_from(elements.len()).expect("small") / size;
        let metadata = ArrayBuilder::new([length], data_type)
            .attributes(attributes)
            .dimension_names(["time"])
            .build();
        let array = group.create_array("time", metadata.expect("valid")).expect("creates");
        array.write(0..length, elements).expect("writes");
        GroupMember::new(name, group)
    };
    let floats = |name, times: &[f64]| {
        let bytes: Vec<u8> = times.iter().flat_map(|time| time.to_le_bytes()).collect();
        of(name, DataType::Float64, "{}", &bytes)
    };
    let shorts = |name, attributes, times: &[i16]| {
        let bytes: Vec<u8> = times.iter().flat_map(|time| time.to_le_bytes()).collect();
        of(name, DataType::Int16, attributes, &bytes)
    };
    let check = |one, other| check_order(&[one, other], "time").map_err(|error| error.to_string());
    let overlap = |found: &str, other: &str| {
        Err(format!(
            "b: the coordinates of time begin with {found}, but a ends with {other}: they overlap or \
             go backwards"
        ))
    };
    let nan = f64::NAN;
    assert_eq!(check(floats("a", &[0.0, 10.0, nan]), floats("b", &[3.0, 4.0])), overlap("3", "10"));
    assert_eq!(check(floats("a", &[0.0, 10.0, 2.0]), floats("b", &[3.0, 4.0])), overlap("3", "10"));
    assert_eq!(check(floats("a", &[0.0, 1.0]), floats("b", &[nan, 3.0, 1.0])), overlap("3", "1"));
    assert_eq!(check(floats("a", &[5.0, 4.0]), floats("b", &[4.5, 3.0])), overlap("4.5", "4"));
    assert_eq!(check(floats("a", &[0.0, nan, 2.0, 1.0]), floats("b", &[nan, 3.0])), Ok(()));
    assert_eq!(check(floats("a", &[nan, nan]), floats("b", &[3.0])), Ok(()));
    let fill = r#"{"_FillValue": 9999}"#;
    assert_eq!(check(shorts("a", fill, &[0, 1, 9999]), shorts("b", fill, &[3, 4])), Ok(()));
    assert_eq!(
        check(shorts("a", "{}", &[0, 1, 9999]), shorts("b", "{}", &[3, 4])),
        overlap("3", "9999")
    );
    let unsigned = r#"{"_Unsigned": "true"}"#;
    assert_eq!(check(shorts("a", unsigned, &[1, 2]), shorts("b", unsigned, &[-2, -1])), Ok(()));
}
