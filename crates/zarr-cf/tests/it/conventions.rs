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
                let _named = (meaning.axes(""), meaning.ome_0_5());
                let names = ["x".to_owned(), "y".to_owned()];
                for axes in [JoinedAxes::New("t"), JoinedAxes::Along(&names)] {
                    let _joined = GroupMeaning::joined(&[("a", of()), ("b", of())], axes);
                }
            }
        }
    }
}
