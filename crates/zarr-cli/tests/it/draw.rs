//! `draw`: pictures in characters and as SVG.

use std::fs;

use crate::support::{root, run_with, session, succeed};

#[test]
fn in_the_terminal() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = |name: &str, shape: &str, chunks: &str, dims: &str| {
        succeed(
            folder,
            &[
                "create", name, "--shape", shape, "--dtype", "uint8", "--chunks", chunks, "--dims",
                dims,
            ],
        );
    };
    create("line", "100", "7|13|5x16", "x");
    create("square", "60,50", "20,7", "y,x");
    create("cube", "4,60,50", "1,20,7", "z,y,x");
    create("million", "1000,1000", "1,1", "y,x");
    create("long", "100000000000", "1", "x");
    create("empty", "0,5", "1,1", "y,x");
    create("scalar", "", "", "");
    let write = |name: &str, region: &str, count: usize| {
        let command = ["write", name, "--from", "-", "--region", region];
        assert!(run_with(folder, &command, &vec![1; count]).status.success());
    };
    write("line", "10:50", 40);
    write("square", "10:30,20:30", 200);
    write("cube", "1:3,10:30,20:30", 400);
    write("million", "200:203,100:900", 2400);
    write("long", "5:7", 2);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["draw", "line", "--region", "40:60"],
            &["draw", "square", "--region", "25:45,3"],
            &["draw", "cube"],
            &["draw", "cube", "--axes", "z,x", "--region", "2"],
            &["draw", "million"],
            &["draw", "long"],
            &["draw", "empty"],
            &["draw", "scalar"],
            &["draw", "cube", "--axes", "t"],
            &["draw", "cube", "--axes", "x,x"],
            &["draw", "cube", "-o", "grid.png"],
        ],
    ));
}

#[test]
fn as_svg() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let file = folder.path().join("grid.svg");
    let array = "fixtures/seattle-weather.zarr/temp_range_12bit";
    let name = file.to_str().expect("UTF-8");
    succeed(&root(), &["draw", array, "--region", "100:250", "-o", name]);
    let svg = fs::read_to_string(&file).expect("written");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    // The background, the months, which are all stored, and the region.
    assert_eq!(svg.matches("<rect ").count(), 1 + 1 + 1);
    // Where each of 48 months begins and the last ends, and two sides.
    assert_eq!(svg.matches("<line ").count(), 49 + 2);
    insta::assert_snapshot!(svg);
}
