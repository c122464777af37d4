//! `draw`: pictures in characters and as SVG.

use std::fs;

use crate::support::{command, not_supported, root, run_with, session, succeed};

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
            &["draw", "square", "--region", "[59,0],[3,40]"],
            &["draw", "cube"],
            &["draw", "cube", "--axes", "z,x", "--region", "2"],
            &["draw", "million"],
            &["draw", "long"],
            &["draw", "empty"],
            &["draw", "scalar"],
            &["draw", "cube", "--axes", "t"],
            &["draw", "cube", "--axes", "x,x"],
            &["draw", "cube", "-o", "grid.png"],
            &["draw", "cube", "--axes", "z,x", "--region", "2", "--json"],
            &["draw", "scalar", "--json"],
            &["draw", "line", "--json", "-o", "grid.svg"],
        ],
    ));
}

#[test]
fn as_wide_as_the_terminal() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = |name: &str, shape: &str, chunks: &str| {
        succeed(
            folder,
            &["create", name, "--shape", shape, "--dtype", "uint8", "--chunks", chunks],
        );
    };
    create("line", "1000", "1");
    create("square", "1000,1000", "100,1");
    let drawn = |name: &str, columns: &str| {
        let output = command(folder, &["draw", name]).env("COLUMNS", columns).output();
        let output = output.expect("runs");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    for columns in ["40", "80", "160"] {
        for name in ["line", "square"] {
            let picture = drawn(name, columns);
            // The legend is not part of the grid.
            let widest = picture.lines().filter(|line| !line.contains("stored"));
            let widest = widest.map(|line| line.chars().count()).max();
            let most = columns.parse().expect("a number");
            assert!(widest.is_some_and(|widest| widest <= most), "{columns}:\n{picture}");
            assert!(widest.is_some_and(|widest| widest * 2 > most), "{columns}:\n{picture}");
        }
    }
    // A value that is not a width does not change the width.
    assert_eq!(drawn("square", "wide"), drawn("square", "80"));
    assert_eq!(drawn("square", "0"), drawn("square", "80"));
    insta::assert_snapshot!(drawn("square", "60"));
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
    // The background, the months, which are all stored, the region, and the legend of these two.
    assert_eq!(svg.matches("<rect ").count(), 1 + 1 + 1 + 2);
    // The start of each of 48 months, the end of the last, and two sides.
    assert_eq!(svg.matches("<line ").count(), 49 + 2);
    insta::assert_snapshot!(svg);
}

#[test]
fn arrays_that_are_not_read() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    not_supported(folder);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["draw", "codec", "--region", "5,3"],
            &["draw", "codec", "--json"],
            &["draw", "type", "--axes", "x"],
        ],
    ));
}
