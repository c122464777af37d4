//! The arrangement of members as people name it.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{MemoryStore, Prefix};
use zarr_join::{Arrangement, AxisName, GroupArrangement, Member, MemberGrid, NamedArrangement};
use zarr_metadata::{ArrayBuilder, DataType};

fn members(names: &[&str]) -> Vec<Member> {
    let mut builder = ArrayBuilder::new([2, 3], DataType::Uint8);
    if !names.is_empty() {
        builder = builder.dimension_names(names.iter().copied());
    }
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), builder.build().expect("valid"));
    vec![Member::new("a", array.expect("creates"))]
}

fn text(text: &str) -> AxisName {
    AxisName::Text(text.to_owned())
}

fn named(along: &[AxisName], grid: Option<MemberGrid>) -> NamedArrangement {
    NamedArrangement { along: along.to_vec(), new_axis: None, grid }
}

#[test]
fn axes_are_named_or_numbered() {
    let (plain, called) = (members(&[]), members(&["y", "1"]));
    let along = |axis, members: &[Member]| {
        named(&[axis], None).of_arrays(members).map_err(|error| error.to_string())
    };
    for (axis, members, expected) in [
        (text("y"), &called, 0),
        (AxisName::Number(-1), &called, 1),
        (AxisName::Number(0), &called, 0),
        // A name that looks like a number, and a number where no axis is called so.
        (text("1"), &called, 1),
        (text("0"), &called, 0),
        (text("1"), &plain, 1),
    ] {
        assert_eq!(along(axis, members), Ok(Arrangement::Along(expected)));
    }
    for (axis, members, expected) in [
        (text("x"), &called, r#"along: "x"; the arrays have the axes y, 1"#),
        (text("2"), &plain, r#"along: "2"; the arrays have 2 axes without names: give a number"#),
        (AxisName::Number(2), &called, "along: 2; the arrays have 2 axes"),
        (AxisName::Number(-3), &plain, "along: -3; the arrays have 2 axes"),
        (AxisName::Number(i64::MIN), &plain, "along: -9223372036854775808; the arrays have 2 axes"),
    ] {
        assert_eq!(along(axis, members), Err(expected.to_owned()));
    }
}

#[test]
fn a_grid_has_a_number_of_members_for_each_axis() {
    let members = members(&["y", "x"]);
    let counts = |counts: &[u64]| Some(MemberGrid::Counts(counts.to_vec()));
    let of_arrays = |along: &[AxisName], grid| {
        named(along, grid).of_arrays(&members).map_err(|error| error.to_string())
    };
    assert_eq!(of_arrays(&[text("x")], counts(&[4])), Ok(Arrangement::Tiles(vec![1, 4])));
    let both = [text("y"), text("x")];
    assert_eq!(of_arrays(&both, counts(&[3, 4])), Ok(Arrangement::Tiles(vec![3, 4])));
    let reversed = [text("x"), text("y")];
    for (along, grid, expected) in [
        (
            &reversed[..],
            counts(&[3, 4]),
            r#"along: "x,y"; of arrays, the axes are named in their order"#,
        ),
        (
            &both[..1],
            counts(&[3, 4]),
            r#"along: "y"; the grid has 2 axes, and each needs a name here"#,
        ),
        (
            &both[..],
            None,
            r#"along: "y,x"; one axis is joined without a grid; with it, one per number"#,
        ),
        (
            &both[..],
            Some(MemberGrid::Auto),
            r#"grid: "auto"; only groups have coordinates; give the numbers of members"#,
        ),
    ] {
        assert_eq!(of_arrays(along, grid), Err(expected.to_owned()));
    }

    let of_groups = |along: &[AxisName], grid| {
        named(along, grid).of_groups().map_err(|error| error.to_string())
    };
    let (x, y) = ("x".to_owned(), "y".to_owned());
    assert_eq!(of_groups(&both[1..], None), Ok(GroupArrangement::Along(x.clone())));
    let tiles = GroupArrangement::Tiles(vec![(x.clone(), 3), (y.clone(), 4)]);
    assert_eq!(of_groups(&reversed, counts(&[3, 4])), Ok(tiles));
    let by_coordinates = GroupArrangement::ByCoordinates(vec![y, x]);
    assert_eq!(of_groups(&both, Some(MemberGrid::Auto)), Ok(by_coordinates));
    assert_eq!(
        of_groups(&[AxisName::Number(-1)], None),
        Ok(GroupArrangement::Along("-1".to_owned()))
    );
}

#[test]
fn a_new_axis_stands_instead_of_those_that_there_are() {
    let names = NamedArrangement { new_axis: Some("run".to_owned()), ..named(&[], None) };
    assert_eq!(names.of_arrays(&members(&[])).ok(), Some(Arrangement::NewAxis(0)));
    let expected = GroupArrangement::NewDimension("run".to_owned());
    assert_eq!(names.of_groups().ok(), Some(expected));
}
