//! Regions by labels of coordinate arrays.

use std::path::Path;

use crate::support::{file, root, run, run_with, session, succeed, text};

/// Writes an array of one axis: a JSON list of its elements.
fn array(folder: &Path, name: &str, data_type: &str, dims: &str, attributes: &str, json: &str) {
    let elements: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let length = elements.as_array().expect("a list").len().to_string();
    let mut create = vec!["create", name, "--shape", &length, "--dtype", data_type];
    create.extend(["--attributes", attributes]);
    if !dims.is_empty() {
        create.extend(["--dims", dims]);
    }
    succeed(folder, &create);
    file(folder, "elements.json", json);
    succeed(folder, &["write", name, "--from", "elements.json"]);
}

/// Ten elements on each of these axes: 0 to 9.
fn group(folder: &Path, axes: &[&str]) {
    succeed(folder, &["create", "g.zarr", "--group"]);
    let names = axes.join(",");
    let shape = vec!["10"; axes.len()].join(",");
    succeed(
        folder,
        &["create", "g.zarr/v", "--shape", &shape, "--dtype", "uint8", "--dims", &names],
    );
    let count = 10_usize.pow(u32::try_from(axes.len()).expect("few"));
    let elements: Vec<u8> = (0..count).map(|n| u8::try_from(n % 10).expect("a digit")).collect();
    assert!(run_with(folder, &["write", "g.zarr/v", "--from", "-"], &elements).status.success());
}

#[test]
fn dates_of_real_data() {
    let array = "fixtures/seattle-weather.zarr/temp_max_12bit";
    let by = |region: &str| text(&root(), &["read", array, "--format", "lines", "-r", region]);
    // Days since 2012-01-01, counted by the calendar: 366 + 365 + 365 to 2015, 59 to March.
    for (labels, indices) in [
        ("time=2015-03", "1155:1186"),
        ("time=2015-03-01:2015-04-15", "1155:1201"),
        ("time=2015-03:2015-03-02", "1155:1157"),
        ("time=2015-03-30:2015-03", "1184:1186"),
        ("time=2012", "0:366"),
        ("time=2015-12-30:", "1459:1461"),
        ("time=:2012-01", "0:31"),
        ("time=2011:2012-01-02", "0:2"),
        ("time=2015-03-01", "1155"),
        ("time=[2015-03-01,2012-01-01]", "[1155,0]"),
        ("time=@2012-02-29", "59"),
        ("time=2012-02-29T00:00:00", "59"),
    ] {
        let labels = labels.replace("=2012", "=@2012");
        assert_eq!(by(&labels), by(indices), "{labels}");
    }
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["read", array, "-r", "time=2015-02-27:2015-03-01"],
            &["read", array, "-r", "time=2016-03"],
            &["read", array, "-r", "time=2015-02-30"],
            &["read", array, "-r", "time=2015"],
            &["read", array, "-r", "time=1.5"],
            &["read", array, "-r", "time=March"],
            &["read", array, "-r", "time=2015-03:2015-04:2"],
            &["read", array, "-r", "2015-03"],
            &["read", array, "-r", "time="],
            &["read", array, "-r", "time=@"],
            &["read", array, "-r", "time=[2015-03,2015-04-01]"],
            &["plan", array, "-r", "time=2015-03-30:2015-04-01"],
        ],
    ));
}

#[test]
fn numbers_texts_and_times_of_every_kind() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    group(folder, &["lat", "hour", "day", "year", "station", "single"]);
    let coordinate = |name: &str, data_type: &str, attributes: &str, json: &str| {
        array(folder, &format!("g.zarr/{name}"), data_type, name, attributes, json);
    };
    coordinate("lat", "float64", "{}", "[60,57.5,55,52.5,50,47.5,45,42.5,40,37.5]");
    let hours = r#"{"units": "hours since 1900-1-1 00:00:0.0", "calendar": "gregorian"}"#;
    let list: Vec<String> = (0..10).map(|n| (1_009_488 + 6 * n).to_string()).collect();
    coordinate("hour", "float64", hours, &format!("[{}]", list.join(",")));
    let day = r#"{"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}"#;
    let list: Vec<String> =
        (1..=10).map(|n| format!("\"2015-03-{n:02}T12:00:00.000000000\"")).collect();
    coordinate("day", day, "{}", &format!("[{}]", list.join(",")));
    coordinate("year", "int16", "{}", "[1990,1995,2000,2005,2010,2015,2020,2025,2030,2035]");
    let stations = r#"["KSEA","KPDX","KBOS","a:b","é","K","L","M","N","x=y"]"#;
    coordinate("station", "string", "{}", stations);
    coordinate("single", "float32", "{}", "[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0]");
    let others = ["lat", "hour", "day", "year", "station", "single"];
    for (axis, labels, expected) in [
        ("lat", "52.5", "3"),
        ("lat", "40.0:50.0", "[4 5 6 7 8]"),
        ("lat", "50.0:40.0", "[4 5 6 7 8]"),
        ("lat", "@40:50", "[4 5 6 7 8]"),
        ("lat", "41.0:49.9", "[5 6 7]"),
        ("lat", "50.1:", "[0 1 2 3]"),
        ("lat", ":4e1", "[8 9]"),
        ("lat", "[40.0,60.0]", "[8 0]"),
        ("lat", "4", "4"),
        ("hour", "2015-03-01", "[0 1 2 3]"),
        ("hour", "2015-03-01T06:2015-03-02", "[1 2 3 4 5 6 7]"),
        ("hour", "2015-03-01T06:00:2015-03-01T12:00", "[1 2]"),
        ("hour", "2015-03-01T06:00:00", "1"),
        ("day", "2015-03-04", "[3]"),
        ("day", "2015-03-04T12:00:00", "3"),
        ("day", "2015-03-04:2015-03-06", "[3 4 5]"),
        ("day", "2015-03-09T12:00:01:", "[9]"),
        ("year", "@2015", "5"),
        ("year", "2015.0", "5"),
        ("year", "@1999:2011", "[2 3 4]"),
        ("year", "1994.5:2000.5", "[1 2]"),
        ("station", "KPDX", "1"),
        ("station", "[é,KSEA]", "[4 0]"),
        ("station", "a:b", "3"),
        ("station", "x=y", "9"),
        ("single", "0.3", "2"),
        ("single", "0.3:0.6", "[2 3 4 5]"),
    ] {
        // The elements are the indices of the last axis: of the others, one is enough.
        let at: Vec<String> =
            others.iter().filter(|name| **name != axis).map(|name| format!("{name}=0")).collect();
        let values = format!("g.zarr/v{axis}");
        if !folder.join(&values).exists() {
            succeed(
                folder,
                &["create", &values, "--shape", "10", "--dtype", "uint8", "--dims", axis],
            );
            let digits: Vec<u8> = (0..10).collect();
            assert!(run_with(folder, &["write", &values, "--from", "-"], &digits).status.success());
        }
        let region = format!("{axis}={labels}");
        let found = text(folder, &["read", &values, "-r", &region]);
        assert_eq!(found.trim(), expected, "{region}");
        // Beside other axes the shape is that of the indices.
        let both = format!("{region},{}", at.join(","));
        succeed(folder, &["read", "g.zarr/v", "-r", &both]);
    }
    insta::assert_snapshot!(session(
        folder,
        &[
            &["read", "g.zarr/vlat", "-r", "lat=51.0"],
            &["read", "g.zarr/vlat", "-r", "lat=70.0:80.0"],
            &["read", "g.zarr/vlat", "-r", "lat=@40:50:2"],
            &["read", "g.zarr/vlat", "-r", "lat=NaN"],
            &["read", "g.zarr/vlat", "-r", "lat=40"],
            &["read", "g.zarr/vhour", "-r", "hour=2015-03-01T05:30:00"],
            &["read", "g.zarr/vday", "-r", "day=2015-03-04T11"],
            &["read", "g.zarr/vyear", "-r", "year=2015.5"],
            &["read", "g.zarr/vstation", "-r", "station=KSEE"],
            &["read", "g.zarr/vstation", "-r", "station=KSEA:KPDX"],
            &["stats", "g.zarr/vyear", "-r", "year=@2000:2010", "--json"],
        ],
    ));
}

#[test]
fn coordinates_that_label_nothing() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g.zarr", "--group"]);
    let values = |name: &str, dims: &str| {
        let path = format!("g.zarr/{name}");
        succeed(folder, &["create", &path, "--shape", "4", "--dtype", "uint8", "--dims", dims]);
    };
    let coordinate = |name: &str, attributes: &str, json: &str| {
        array(folder, &format!("g.zarr/{name}"), "float64", name, attributes, json);
        values(&format!("of_{name}"), name);
    };
    coordinate("unsorted", "{}", "[1,3,2,5]");
    coordinate("nan", "{}", r#"[1,"NaN",2,5]"#);
    coordinate("twice", "{}", "[1,2,2,3]");
    coordinate("long", "{}", "[1,2,3,4,5]");
    coordinate("months", r#"{"units": "months since 1970-01-01"}"#, "[1,2,3,4]");
    coordinate("lunar", r#"{"units": "days since 1970-01-01", "calendar": "lunar"}"#, "[1,2,3,4]");
    coordinate("packed", r#"{"scale_factor": 0.1}"#, "[1,2,3,4]");
    values("of_group", "sub");
    succeed(folder, &["create", "g.zarr/sub", "--group"]);
    values("of_nothing", "nothing");
    // A name of a dimension leads nowhere but into the same group.
    values("of_outside", "../g.zarr/twice");
    succeed(folder, &["create", "alone", "--shape", "4", "--dtype", "uint8", "--dims", "x"]);
    succeed(folder, &["create", "none.zarr", "--group"]);
    let mut commands: Vec<[String; 4]> = Vec::new();
    for (name, region) in [
        ("unsorted", "3.0"),
        ("unsorted", "3.0:4.0"),
        ("unsorted", ":1.0"),
        ("nan", "2.0:3.0"),
        ("twice", "2.0"),
        ("twice", "2.0:2.0"),
        ("long", "2.0"),
        ("months", "1970-02"),
        ("lunar", "1970-02"),
        ("packed", "0.1"),
        ("group", "2.0"),
        ("nothing", "2.0"),
        ("outside", "2.0"),
    ] {
        let axis = match name {
            "group" => "sub",
            "outside" => "../g.zarr/twice",
            name => name,
        };
        let region = format!("{axis}={region}");
        commands.push(["read".into(), format!("g.zarr/of_{name}"), "-r".into(), region]);
    }
    commands.push(["read".into(), "alone".into(), "-r".into(), "x=1.5".into()]);
    let commands: Vec<Vec<&str>> =
        commands.iter().map(|command| command.iter().map(String::as_str).collect()).collect();
    let commands: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(session(folder, &commands));
}

/// As of numbers, one of several equal texts is not the one that was meant.
#[test]
fn texts_that_occur_twice_select_nothing() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    for (name, data_type) in [
        ("s", "string"),
        ("u", r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":4}}"#),
    ] {
        let values = format!("g/of_{name}");
        let create = ["create", &values, "--shape", "6", "--dtype", "uint8", "--dims", name];
        succeed(folder, &[&create[..], &["--chunks", "1"]].concat());
        let written = run_with(folder, &["write", &values, "--from", "-"], &[0, 1, 2, 3, 4, 5]);
        assert!(written.status.success());
        let texts = r#"["a","b","a","c","c","c"]"#;
        array(folder, &format!("g/{name}"), data_type, name, "{}", texts);
    }
    insta::assert_snapshot!(session(
        folder,
        &[
            &["read", "g/of_s", "-r", "s=a"],
            &["read", "g/of_s", "-r", "s=[b,c]"],
            &["read", "g/of_s", "-r", "s=[b,b]"],
            &["read", "g/of_u", "-r", "u=a"],
            &["read", "g/of_u", "-r", "u=b"],
            &["rearrange", "g/of_s", "--axis", "s", "--remove", "a"],
            &["rearrange", "g/of_s", "--axis", "s", "--remove", "b", "--dry-run"],
        ],
    ));
}

/// A missing time is before and after none, whatever number stands for it.
#[test]
fn missing_times_are_in_no_range() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    let coordinate = |name: &str, data_type: &str, attributes: &str, json: &str| {
        array(folder, &format!("g/{name}"), data_type, name, attributes, json);
        let values = format!("g/of_{name}");
        let create = ["create", &values, "--shape", "3", "--dtype", "uint8", "--dims", name];
        succeed(folder, &[&create[..], &["--chunks", "1"]].concat());
        assert!(run_with(folder, &["write", &values, "--from", "-"], &[0, 1, 2]).status.success());
    };
    let numpy = |unit: &str| {
        format!(
            r#"{{"name": "numpy.datetime64", "configuration": {{"unit": "{unit}", "scale_factor": 1}}}}"#
        )
    };
    coordinate("day", &numpy("D"), "{}", r#"["NaT","2015-01-01","2015-02-01"]"#);
    let nanoseconds = r#"["NaT","2015-01-01T00:00:00.000000000","2015-02-01T00:00:00.000000000"]"#;
    coordinate("ns", &numpy("ns"), "{}", nanoseconds);
    let filled = r#"{"units": "days since 2000-01-01", "_FillValue": -99}"#;
    coordinate("filled", "int32", filled, "[-99, 5, 6]");
    let missing = r#"{"units": "days since 2000-01-01", "missing_value": 1e3}"#;
    coordinate("float", "float64", missing, "[5, 6, 1000]");
    coordinate("whole", "int32", filled, "[4, 5, 6]");
    insta::assert_snapshot!(session(
        folder,
        &[
            &["rearrange", "g/of_day", "--axis", "day", "--remove", ":2015-01-31", "--dry-run"],
            &["read", "g/of_day", "-r", "day=:2015-01-31"],
            &["read", "g/of_day", "-r", "day=2015-01"],
            &["read", "g/of_day", "-r", "day=2015-01-01"],
            &["read", "g/of_day", "-r", "day=[2015-02-01,2015-01-01]"],
            &["read", "g/of_day", "-r", "day=~2015-01-02"],
            &["read", "g/of_ns", "-r", "ns=1677-09-21"],
            &["read", "g/of_ns", "-r", "ns=2015-01-01T00:00:00"],
            &["read", "g/of_filled", "-r", "filled=1999-09-24"],
            &["read", "g/of_filled", "-r", "filled=2000-01-06"],
            &["read", "g/of_filled", "-r", "filled=:2000-01-06"],
            &["read", "g/of_float", "-r", "float=2000-01-06T00:00:00:"],
            &["read", "g/of_float", "-r", "float=2002-09-27T00:00:00"],
            &["read", "g/of_whole", "-r", "whole=:2000-01-06"],
        ],
    ));
}

/// A coordinate of more than 64 MiB is searched, not read: this one would be 8 TB.
#[test]
fn a_large_coordinate_is_searched() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g.zarr", "--group"]);
    let create = |name: &str, data_type: &str| {
        let units = r#"{"units": "seconds since 2000-01-01"}"#;
        let command = ["create", name, "--shape", "1000000000000", "--dtype", data_type, "--dims"];
        let more = ["time", "--chunks", "1000", "--attributes", units];
        succeed(folder, &[&command[..], &more[..]].concat());
    };
    create("g.zarr/v", "uint8");
    create("g.zarr/time", "int64");
    // Chunks that are not stored are 0: the coordinate is that until its last element.
    file(folder, "last.json", "[5]");
    succeed(folder, &["write", "g.zarr/time", "--from", "last.json", "-r", "999999999999:"]);
    let region = "time=2000-01-01T00:00:05";
    assert_eq!(text(folder, &["read", "g.zarr/v", "-r", region, "--format", "lines"]), "0\n");
    let plan = text(folder, &["plan", "g.zarr/v", "-r", region]);
    assert!(plan.contains("c/999999999"), "{plan}");
}

/// Labels without order are searched in no coordinate, however large: the search would find other rows.
#[test]
fn a_large_coordinate_without_order_is_refused() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g.zarr", "--group"]);
    let create = |name: &str, data_type: &str| {
        let command = ["create", name, "--shape", "1000000000000", "--dtype", data_type];
        succeed(folder, &[&command[..], &["--dims", "x", "--chunks", "1000"]].concat());
    };
    create("g.zarr/v", "uint8");
    create("g.zarr/x", "int64");
    let write = |start: u64, json: &str| {
        file(folder, "labels.json", json);
        let region = format!("{start}:{}", start + 3);
        succeed(folder, &["write", "g.zarr/x", "--from", "labels.json", "-r", &region]);
    };
    let read = ["read", "g.zarr/v", "-r", "x=@5:9", "-f", "lines"];
    // The labels are 0 where nothing is stored.
    write(999_999_999_997, "[5, 7, 9]");
    assert_eq!(text(folder, &read), "0\n0\n0\n");
    write(999_999_999_997, "[5, 9, 7]");
    let within = session(folder, &[&read, &["read", "g.zarr/v", "-r", "x=@9"]]);
    write(999_999_999_997, "[5, 7, 9]");
    write(500_000_000_997, "[1, 2, 3]");
    let between = session(folder, &[&read]);
    write(500_000_000_000, "[-1, -1, -1]");
    insta::assert_snapshot!([within, between, session(folder, &[&read])].join("\n"));
}

/// What a message says to write must select what it says.
#[test]
fn all_of_several_equal_labels_are_selected_as_the_message_says() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    array(folder, "lat", "int16", "lat", "{}", "[50, 40, 40, 30]");
    array(folder, "v", "uint8", "lat", "{}", "[0, 1, 2, 3]");
    let read = |region: &str| run(folder, &["read", "v", "-f", "lines", "-r", region]);
    let message = String::from_utf8(read("lat=@40").stderr).expect("UTF-8");
    assert!(message.contains("select them by index, or all by @40:40"), "{message}");
    assert_eq!(read("lat=@40:40").stdout, b"1\n2\n");
}

#[test]
fn an_open_range_has_infinite_labels() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    array(folder, "up", "float64", "up", "{}", r#"["-Infinity", 2, 3, "Infinity"]"#);
    array(folder, "down", "float32", "down", "{}", r#"["Infinity", 3, 2, "-Infinity"]"#);
    succeed(folder, &["create", "v", "--shape", "4,4", "--dtype", "uint8", "--dims", "up,down"]);
    let elements: Vec<u8> = (0..16).collect();
    assert!(run_with(folder, &["write", "v", "--from", "-"], &elements).status.success());
    for (region, expected) in [
        ("up=2.0:,down=0", "4\n8\n12\n"),
        ("up=:2.0,down=0", "0\n4\n"),
        ("up=0,down=2.0:", "0\n1\n2\n"),
        ("up=0,down=:2.0", "2\n3\n"),
    ] {
        assert_eq!(text(folder, &["read", "v", "-f", "lines", "-r", region]), expected, "{region}");
    }
}

#[test]
fn the_nearest_label_where_none_is_equal() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    group(folder, &["time", "lat"]);
    let times = r#"{"units": "days since 2012-01-01", "calendar": "standard"}"#;
    let months = "[0, 31, 60, 91, 121, 152, 182, 213, 244, 274]";
    array(folder, "g.zarr/time", "int32", "time", times, months);
    let descending = "[60.0, 55.5, 50.0, 45.0, 40.0, 35.0, 30.0, 25.0, 20.0, 15.0]";
    array(folder, "g.zarr/lat", "float64", "lat", "{}", descending);
    let lines = |region: &str| text(folder, &["read", "g.zarr/v", "-f", "lines", "-r", region]);
    // The value is the index of lat.
    for (region, expected) in [
        ("time=0,lat=~53.0", "1\n"),
        ("time=0,lat=~52.0", "2\n"),
        ("time=0,lat=~99.0", "0\n"),
        ("time=0,lat=~-99.0", "9\n"),
        ("time=0,lat=~50.0", "2\n"),
        ("time=~2012-01-20,lat=1", "1\n"),
        ("time=~2012-01-20,lat=~44", "3\n"),
        ("time=0,lat=~[53.0,16.0]", "1\n9\n"),
    ] {
        assert_eq!(lines(region), expected, "{region}");
    }
    insta::assert_snapshot!(session(
        folder,
        &[
            &["read", "g.zarr/v", "-r", "time=2012-01-20,lat=1"],
            &["read", "g.zarr/v", "-r", "lat=51.0:52.0"],
            &["read", "g.zarr/v", "-r", "lat=51.0", "--nearest"],
        ]
    ));
}

#[test]
fn csv_with_names_and_labels() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g.zarr", "--group"]);
    let create =
        ["create", "g.zarr/v", "--shape", "2,3", "--dtype", "uint8", "--dims", "time,place"];
    succeed(folder, &create);
    let write = ["write", "g.zarr/v", "--from", "-"];
    assert!(run_with(folder, &write, &[1, 2, 3, 4, 5, 6]).status.success());
    let times = r#"{"units": "days since 2012-01-01"}"#;
    array(folder, "g.zarr/time", "int32", "time", times, "[58, 59]");
    array(folder, "g.zarr/place", "string", "place", "{}", r#"["Rome, IT", "Oslo", "a"]"#);
    let csv = |rest: &[&str]| {
        text(folder, &[&["read", "g.zarr/v", "-f", "csv", "--header"], rest].concat())
    };
    assert_eq!(csv(&[]), "time,\"Rome, IT\",Oslo,a\n2012-02-28,1,2,3\n2012-02-29,4,5,6\n");
    assert_eq!(csv(&["-r", "time=2012-02-29"]), "place,v\n\"Rome, IT\",4\nOslo,5\na,6\n");
    assert_eq!(csv(&["-r", ":,[2,0]"]), "time,a,\"Rome, IT\"\n2012-02-28,3,1\n2012-02-29,6,4\n");
    assert_eq!(csv(&["-r", "1,1"]), "v\n5\n");
    let strings = ["read", "g.zarr/place", "-f", "csv", "--header"];
    assert_eq!(text(folder, &strings), "place,place\n\"Rome, IT\",\"Rome, IT\"\nOslo,Oslo\na,a\n");
    insta::assert_snapshot!(session(folder, &[&["read", "g.zarr/v", "--header"]]));
}

/// Also texts that could be an index, a mark or two entries, and numbers that are there twice.
#[test]
fn labels_of_findings_are_regions() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    let texts = r#"["KSEA", "@home", "a=b", "12", "6:30", "~x", "K,PDX", "c", "[d]", " e"]"#;
    array(folder, "g/s", "string", "s", "{}", texts);
    array(folder, "g/n", "float32", "n", "{}", "[0, 1, 1, 1, 4, 5, 6, 7, 8, 9.5]");
    for (name, chunks, expected) in [
        ("s", 1, "KSEA @@home a=b @12 @6:30 @~x 6:7 c 8:9 9:10"),
        ("s", 2, "@[KSEA,@home] @[a=b,12] @[6:30,~x] 6:8 8:10"),
        ("s", 10, "0:10"),
        ("n", 2, "0.0:1.0 1.0:1.0 4.0:5.0 6.0:7.0 8.0:9.5"),
    ] {
        let create = ["create", "g/v", "--shape", "10", "--dtype", "int8", "--dims", name];
        let codecs = ["--codecs", "bytes,crc32c", "--overwrite", "--chunks"];
        succeed(folder, &[&create[..], &codecs, &[&chunks.to_string()]].concat());
        for chunk in 0..10 / chunks {
            file(folder, &format!("g/v/c/{chunk}"), vec![7; chunks + 4]);
        }
        let found = run(folder, &["check", "g", "--data", "--json"]).stdout;
        let found: serde_json::Value = serde_json::from_slice(&found).expect("JSON");
        let findings = found["findings"].as_array().expect("a list");
        let of = |member: &str| -> Vec<&str> {
            findings.iter().map(|found| found[member].as_str().expect("a text")).collect()
        };
        let entries = expected.split(' ').map(|entry| format!("{name}={entry}"));
        assert_eq!(of("labels"), entries.collect::<Vec<_>>());
        for (labels, region) in of("labels").into_iter().zip(of("region")) {
            let coordinate = format!("g/{name}");
            let by = |region: &str| {
                text(folder, &["read", &coordinate, "--format", "lines", "-r", region])
            };
            // Of numbers, the equal ones around a chunk as well.
            assert!(by(labels).contains(&by(region)), "{labels}");
        }
    }
}
