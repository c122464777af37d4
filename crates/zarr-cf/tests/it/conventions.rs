//! Attributes of groups that follow no convention, or only nearly.

use zarr_cf::{Change, GroupMeaning, JoinedAxes};
use zarr_metadata::GroupMetadata;

/// Attributes of wrong types belong to no convention, or are refused; nothing panics.
#[test]
fn hostile_attributes_are_read() {
    let values = [
        "null",
        "1",
        "\"x\"",
        "[]",
        "[1]",
        "[[]]",
        "{}",
        "[{}]",
        r#"[{"axes": 1}]"#,
        r#"[{"axes": ["t"], "datasets": 2}]"#,
        r#"[{"axes": [1], "datasets": [3, {"path": 4}]}]"#,
        r#"[{"axes": [{"name": "x"}], "datasets": [{"path": "../up", "coordinateTransformations": 5}]}]"#,
        r#"[{"axes": [{"name": "x"}], "datasets": [{"path": "", "coordinateTransformations": [6, {"scale": 7},
            {"type": "scale", "scale": [[], "y"]}]}], "coordinateTransformations": [8]}]"#,
    ];
    let keys = [
        "ome",
        "multiscales",
        "omero",
        "plate",
        "well",
        "labels",
        "image-label",
        "encoding-type",
        "spatialdata_attrs",
        "vcf_zarr_version",
        "spatial:dimensions",
        "spatial:transform",
        "zarr_conventions",
    ];
    for key in keys {
        for value in values {
            for text in
                [format!("{{\"{key}\": {value}}}"), format!("{{\"ome\": {{\"{key}\": {value}}}}}")]
            {
                let group = GroupMetadata::new().with_attributes(&text).expect("attributes");
                let of = || GroupMeaning::of(&group);
                let meaning = of();
                let _shown = (meaning.conventions(), meaning.parts(), meaning.contradictions());
                let _refused =
                    (meaning.refuses(Change::Join), meaning.refuses(Change::Rearrange("x")));
                let _moved = meaning.refuses(Change::Move("x"));
                let _named = (meaning.axes(""), meaning.ome_0_5("labels"));
                let names = ["x".to_owned(), "y".to_owned()];
                for axes in [JoinedAxes::New("t"), JoinedAxes::Along(&names)] {
                    let _joined = GroupMeaning::joined(&[("a", of()), ("b", of())], axes);
                }
            }
        }
    }
}

fn meaning(text: &str) -> GroupMeaning {
    GroupMeaning::of(&GroupMetadata::new().with_attributes(text).expect("attributes"))
}

/// Only the origin of the joined axis differs between tiles.
#[test]
fn tiles_have_an_origin_of_their_own_on_the_joined_axis_alone() {
    let tile = |x: u32, y: u32, bbox: &str| {
        meaning(&format!(
            r#"{{"spatial:dimensions": ["y", "x"], "spatial:transform": [1, 0, {x}, 0, -1, {y}],
                "spatial:bbox": {bbox}}}"#
        ))
    };
    let joined = |other: GroupMeaning, axes: JoinedAxes<'_>| {
        GroupMeaning::joined(&[("a", tile(0, 9, "[0, 0, 9, 9]")), ("b", other)], axes)
            .map_err(|error| error.to_string())
    };
    let (x, y) = (["x".to_owned()], ["y".to_owned()]);
    let below = || tile(0, 4, "[0, 0, 9, 4]");
    let left_out = joined(below(), JoinedAxes::Along(&y)).expect("joins");
    assert_eq!(left_out, [("spatial:bbox", None)]);
    let error = joined(below(), JoinedAxes::Along(&x)).expect_err("another y");
    assert!(error.starts_with("b: spatial:transform is [1,0,0,0,-1,4]"), "{error}");
    let right = tile(5, 9, "[5, 0, 14, 9]");
    joined(right.clone(), JoinedAxes::Along(&x)).expect("joins");
    joined(right, JoinedAxes::Along(&y)).expect_err("another x");
    let time = JoinedAxes::New("t");
    assert_eq!(joined(tile(0, 9, "[0, 0, 9, 9]"), time).expect("joins"), []);
    let error = joined(tile(0, 9, "[0, 0, 9, 8]"), time).expect_err("another extent");
    assert!(error.starts_with("b: spatial:bbox is [0,0,9,8]"), "{error}");

    let placed =
        meaning(r#"{"spatial:dimensions": ["y", "x"], "spatial:transform": [1, 0, 2, 0, -1, 3]}"#);
    assert_eq!(placed.refuses(Change::Rearrange("x")), None);
    assert!(placed.refuses(Change::Move("x")).is_some_and(|why| why.contains("spatial:transform")));
    assert_eq!(placed.refuses(Change::Move("t")), None);
}

/// Attributes that only have the names of keys of OME-Zarr 0.4 are the user's.
#[test]
fn attributes_of_users_do_not_become_those_of_ome() {
    for text in [
        r#"{"labels": ["train", "test"]}"#,
        r#"{"plate": {"colour": "red"}}"#,
        r#"{"well": {"depth": 30}}"#,
    ] {
        assert_eq!(meaning(text).ome_0_5("deep"), None, "{text}");
        assert_eq!(meaning(text).conventions(), [""; 0], "{text}");
    }
    assert_eq!(meaning(r#"{"labels": [1]}"#).ome_0_5("labels"), None);
    let names = |text: &str| {
        let changes = meaning(text).ome_0_5("labels").expect("OME-Zarr 0.4");
        changes.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(r#"{"labels": ["cells"], "well": {"depth": 30}}"#), ["labels", "ome"]);
    assert_eq!(names(r#"{"well": {"images": []}, "plate": 1}"#), ["well", "ome"]);
}

/// An image with a place on an axis keeps the indices of that axis.
#[test]
fn placed_images_are_not_moved() {
    let image = |kind: &str| {
        meaning(&format!(
            r#"{{"ome": {{"multiscales": [{{"axes": [{{"name": "x", "type": "space"}}], "datasets":
                [{{"path": "0", "coordinateTransformations": [{{"type": "{kind}", "{kind}": [2]}}]}}]}}]}}}}"#
        ))
    };
    let refused = image("translation").refuses(Change::Move("x"));
    assert!(refused.is_some_and(|why| why.contains("its attribute multiscales depends on x")));
    assert_eq!(image("translation").refuses(Change::Move("y")), None);
    assert_eq!(image("scale").refuses(Change::Move("x")), None);
}
