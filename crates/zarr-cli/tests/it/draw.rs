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
    // The background, the months, which are all stored, the region, and the legend of these two: the
    // region as it looks over stored chunks.
    assert_eq!(svg.matches("<rect ").count(), 1 + 1 + 1 + 3);
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

/// The pixels of a PNG picture, four bytes each, and its width and height.
fn pixels(path: &std::path::Path) -> (Vec<u8>, u32, u32) {
    let file = std::io::BufReader::new(fs::File::open(path).expect("written"));
    let mut reader = png::Decoder::new(file).read_info().expect("PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!(info.color_type, png::ColorType::Rgba);
    (pixels, info.width, info.height)
}

#[test]
fn values_as_png() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "2,100,100", "--dtype", "float32", "--dims", "z,y,x"];
    let units = ["--attributes", r#"{"units": "m s⁻¹"}"#];
    succeed(folder, &[&create[..], &["--chunks", "1,30,30", "--fill", "-1"], &units].concat());
    let values: Vec<u8> = (0..10_000_u16)
        .flat_map(|at| {
            match at {
                1 => f32::NAN,
                2 => -1.0,
                3 => f32::INFINITY,
                at => f32::from(at),
            }
            .to_le_bytes()
        })
        .collect();
    assert!(
        run_with(folder, &["write", "a", "--from", "-", "-r", "z=0"], &values).status.success()
    );
    succeed(folder, &["draw", "a", "--values", "-r", "z=0", "-o", "a.png"]);
    let (found, width, height) = pixels(&folder.join("a.png"));
    // Five pixels a value, and below the colour bar, a title and a line for each axis.
    assert_eq!((width, height), (500, 500 + 44 + 3 * 16));
    let pixel = |row: usize, column: usize| {
        let at = (row * 5 * 500 + column * 5) * 4;
        <[u8; 4]>::try_from(&found[at..at + 4]).expect("four bytes")
    };
    // The ends of viridis, as matplotlib has them.
    assert_eq!(pixel(0, 0), [68, 1, 84, 255]);
    assert_eq!(pixel(99, 99), [253, 231, 37, 255]);
    assert_eq!((pixel(0, 1), pixel(0, 2)), ([0; 4], [0; 4]));
    assert_eq!(pixel(0, 3), [253, 231, 37, 255], "infinity is at the end of the range");
    // Brighter with the value.
    let light = |pixel: [u8; 4]| pixel[..3].iter().map(|part| u32::from(*part)).sum::<u32>();
    let lights: Vec<u32> = (0..100).step_by(9).map(|row| light(pixel(row, 50))).collect();
    assert!(lights.is_sorted(), "{lights:?}");
    // The bar, from the darkest colour to the brightest, opaque on white as wide as the picture.
    let at = |row: usize, column: usize| {
        let at = (row * 500 + column) * 4;
        <[u8; 4]>::try_from(&found[at..at + 4]).expect("four bytes")
    };
    let bar: Vec<[u8; 4]> = (8..492).map(|column| at(510, column)).collect();
    assert_eq!((bar[0], bar[483]), ([68, 1, 84, 255], [253, 231, 37, 255]));
    // Its green grows from pixel to pixel.
    assert!(bar.iter().map(|pixel| pixel[1]).is_sorted());
    assert_eq!((at(510, 0), at(510, 499), at(500, 250)), ([255; 4], [255; 4], [255; 4]));
    insta::assert_snapshot!(ink(&found[500 * 500 * 4..], 500, 24..92));

    // Of long axes every n-th index; nothing that was never written.
    let create = ["create", "long", "--shape", "1000000000,4", "--dtype", "int16", "--chunks"];
    succeed(folder, &[&create[..], &["1000000,4", "--fill", "-1"]].concat());
    succeed(folder, &["draw", "long", "--values", "-o", "long.png"]);
    let (found, width, height) = pixels(&folder.join("long.png"));
    assert!(found.iter().all(|byte| *byte == 0) && width == 256 && height <= 1024);
    succeed(folder, &["draw", "long", "--values", "-r", "0:0", "-o", "empty.png"]);
    assert_eq!(pixels(&folder.join("empty.png")), (vec![0; 4], 1, 1));
}

/// What is written on white below a picture: its outermost columns, dark pixels as `#`.
fn ink(below: &[u8], width: usize, rows: std::ops::Range<usize>) -> String {
    let side = 72;
    let row = |row: usize| {
        let mark = |column: usize| {
            let pixel = &below[(row * width + column) * 4..][..4];
            if pixel[0] < 128 { '#' } else { ' ' }
        };
        let shown: String = (0..side).chain(width - side..width).map(mark).collect();
        format!("{}\n", shown.trim_end())
    };
    rows.map(row).collect()
}

#[test]
fn the_colour_bar_has_room_and_says_what_the_values_are() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = |name: &str, dtype: &str, more: &[&str]| {
        let create = ["create", name, "--shape", "3", "--dtype", dtype];
        succeed(folder, &[&create[..], more].concat());
    };
    let time = r#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}"#;
    create("time", time, &[]);
    create("same", "int8", &["--attributes", r#"{"units": "\u001b[31m%", "scale_factor": 0.5}"#]);
    create("none", "float32", &["--fill", "NaN"]);
    create("infinite", "float64", &[]);
    let write = |name: &str, bytes: &[u8]| {
        assert!(run_with(folder, &["write", name, "--from", "-"], bytes).status.success());
    };
    let times = [0_i64, 86_400, 1_700_000_000];
    write("time", &times.map(i64::to_le_bytes).concat());
    write("same", &[7; 3]);
    write("infinite", &[f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(f64::to_le_bytes).concat());
    let drawn = ["time", "same", "none", "infinite"]
        .map(|name| ["draw", name, "--values", "-o", &format!("{name}.png")].map(str::to_owned));
    let shown = ["time", "same", "none", "infinite"]
        .map(|name| ["draw", name, "--values"].map(str::to_owned));
    let commands: Vec<Vec<&str>> = drawn
        .iter()
        .map(|words| words.iter().map(String::as_str).collect())
        .chain(shown.iter().map(|words| words.iter().map(String::as_str).collect()))
        .collect();
    let commands: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(session(folder, &commands));
    // 3 values of 64 pixels are narrower than two times; what is right of them is transparent.
    let (found, width, height) = pixels(&folder.join("time.png"));
    assert_eq!((width, height), (2 * 8 + 32 + 2 * 19 * 7, 64 + 44 + 2 * 16));
    assert_eq!(found[4 * 191 + 3], 255);
    assert_eq!(found[4 * 192..][..4], [0; 4]);
    // One colour, in the middle of the map, for one value.
    let (found, width, _) = pixels(&folder.join("same.png"));
    let row = (64 + 8 + 6) * width as usize * 4;
    assert_eq!(found[row + 4 * 10..][..4], found[..4]);
    assert_eq!(found[row + 4 * 100..][..4], found[..4]);
    // Without a number there is no bar.
    assert_eq!(pixels(&folder.join("none.png")), (vec![0; 64 * 192 * 4], 192, 64));
    let (found, width, height) = pixels(&folder.join("infinite.png"));
    assert_eq!((width, height), (192, 64));
    assert_eq!(
        (&found[..4], &found[4 * 64..][..4]),
        (&[253, 231, 37, 255][..], &[68, 1, 84, 255][..])
    );
}

#[test]
fn values_in_the_terminal() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = |name: &str, shape: &str, dtype: &str| {
        succeed(folder, &["create", name, "--shape", shape, "--dtype", dtype]);
    };
    create("line", "10", "uint8");
    create("square", "9,20", "int16");
    create("cube", "2,3,4", "uint8");
    create("complex", "4", "complex64");
    let write = |name: &str, bytes: &[u8]| {
        assert!(run_with(folder, &["write", name, "--from", "-"], bytes).status.success());
    };
    write("line", &(0..10).collect::<Vec<u8>>());
    write("square", &(0..180_i16).flat_map(|at| (at - 90).to_le_bytes()).collect::<Vec<u8>>());
    insta::assert_snapshot!(session(
        folder,
        &[
            &["draw", "line", "--values"],
            &["draw", "square", "--values"],
            &["draw", "square", "--values", "-r", "0,0"],
            &["draw", "square", "--values", "-r", "0:0"],
            &["draw", "cube", "--values"],
            &["draw", "cube", "--values", "-r", "1:2"],
            &["draw", "complex", "--values"],
            &["draw", "square", "--values", "-o", "square.svg"],
            &["draw", "square", "--values", "--json"],
        ],
    ));
    let colored = |terminal: &str| {
        let mut command = command(folder, &["draw", "square", "--values"]);
        let command = command.env("CLICOLOR_FORCE", "1").env("COLORTERM", terminal);
        String::from_utf8(command.output().expect("runs").stdout).expect("UTF-8")
    };
    assert!(colored("truecolor").contains("\u{1b}[38;2;68;1;84m"), "{}", colored("truecolor"));
    assert!(colored("").contains("\u{1b}[38;5;"), "{}", colored(""));
}

/// A mask is of two colours, though one of its values is the fill value.
#[test]
fn both_values_of_a_mask_are_drawn() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for (name, data_type) in [("bool", "bool"), ("float", "float32")] {
        succeed(
            folder,
            &["create", name, "--shape", "2,4", "--dtype", data_type, "--codecs", "bytes"],
        );
        let one: &[u8] = if name == "bool" { &[1; 4] } else { &[0, 0, 128, 63] };
        let elements = if name == "bool" { one.to_vec() } else { one.repeat(4) };
        let write = ["write", name, "--from", "-", "-r", "1"];
        assert!(run_with(folder, &write, &elements).status.success());
    }
    insta::assert_snapshot!(session(
        folder,
        &[&["draw", "bool", "--values"], &["draw", "float", "--values"]],
    ));
}
