//! `read`: every format, on stores that other programs wrote.

use std::fs;

use crate::support::{command, root, run, run_with, session, stdout, succeed, text};

const SEATTLE: &str = "fixtures/seattle-weather.zarr";

/// Array, bytes per element, elements per row.
const ARRAYS: [(&str, usize, usize); 10] = [
    ("daily", 4, 4),
    ("precipitation", 4, 1),
    ("rain", 1, 1),
    ("temp_max", 4, 1),
    ("temp_max_12bit", 2, 1),
    ("temp_min", 4, 1),
    ("temp_range_12bit", 2, 2),
    ("time", 4, 1),
    ("weather", 1, 1),
    ("wind", 4, 1),
];

fn expected(array: &str) -> Vec<u8> {
    fs::read(root().join(format!("fixtures/seattle-weather.expected/{array}.raw"))).expect("reads")
}

#[test]
fn seattle_is_read_to_the_byte() {
    for (array, _, _) in ARRAYS {
        let path = format!("{SEATTLE}/{array}");
        assert_eq!(
            stdout(&root(), &["read", &path, "--format", "raw"]),
            expected(array),
            "{array}"
        );
    }
}

#[test]
fn regions_of_seattle_are_read_to_the_byte() {
    for (array, size, columns) in ARRAYS {
        let path = format!("{SEATTLE}/{array}");
        let whole = expected(array);
        let rows: Vec<&[u8]> = whole.chunks_exact(size * columns).collect();
        assert_eq!(rows.len(), 1461);
        for (region, indices) in [
            ("28:34", (28..34).collect::<Vec<_>>()),
            ("-3:", (1458..1461).collect()),
            ("::100", (0..1461).step_by(100).collect()),
            ("70:20:-7", (21..71).rev().step_by(7).collect()),
            ("1460", vec![1460]),
            ("5:5", vec![]),
            ("[700, 3, -1, 3]", vec![700, 3, 1460, 3]),
            ("[]", vec![]),
        ] {
            let found = stdout(&root(), &["read", &path, "--region", region, "-f", "raw"]);
            let wanted: Vec<u8> = indices.iter().flat_map(|row| rows[*row].to_vec()).collect();
            assert_eq!(found, wanted, "{array} {region}");
        }
    }
}

#[test]
fn lines_are_fill_values_one_a_line() {
    let found = text(&root(), &["read", &format!("{SEATTLE}/temp_max"), "-f", "lines"]);
    let numbers: Vec<f32> = found.lines().map(|line| line.parse().expect("a number")).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(bytes, expected("temp_max"));

    let found = text(&root(), &["read", &format!("{SEATTLE}/rain"), "-f", "lines", "-r", ":4"]);
    assert_eq!(found, "false\ntrue\ntrue\ntrue\n");
}

#[test]
fn npy_is_a_header_and_the_raw_elements() {
    let path = format!("{SEATTLE}/temp_range_12bit");
    let found = stdout(&root(), &["read", &path, "-f", "npy", "-r", "28:34"]);
    let (header, elements) = found.split_at(128);
    assert_eq!(header[..10], *b"\x93NUMPY\x01\x00\x76\x00");
    assert_eq!(
        String::from_utf8_lossy(&header[10..]).trim_end(),
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6, 2), }"
    );
    assert_eq!(elements, &expected("temp_range_12bit")[28 * 4..34 * 4]);

    let folder = tempfile::tempdir().expect("makes a folder");
    let file = folder.path().join("out.npy");
    let shown = file.to_str().expect("UTF-8");
    assert_eq!(stdout(&root(), &["read", &path, "-r", "28:34", "-o", shown]), b"");
    assert_eq!(fs::read(&file).expect("reads"), found);
}

#[test]
fn text_and_explanations() {
    let range = &format!("{SEATTLE}/temp_range_12bit");
    let daily = &format!("{SEATTLE}/daily");
    let rain = &format!("{SEATTLE}/rain");
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["read", range, "--region", "28:34", "--explain"],
            &["read", range, "--region", "0:1461:100,1"],
            &["read", daily, "--region", "58:62"],
            &["read", daily, "--region", "3,1"],
            &["read", daily, "--elide"],
            &["read", rain, "--region", "-20:"],
            &["read", rain, "--region", "3:3"],
            &["read", daily, "--region", "...,-1", "--elide"],
        ],
    ));
}

#[test]
fn a_file_has_its_name_once_it_is_whole() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "1000000", "--dtype", "float64", "--chunks", "1000"];
    succeed(folder, &create);
    let whole = "0.0\n".repeat(1_000_000);
    let read = |name| ["read", "a", "-f", "lines", "-o", name];
    succeed(folder, &read("whole"));
    assert!(fs::read(folder.join("whole")).expect("written") == whole.as_bytes());
    // Killed at different times, possibly before it began or after it ended.
    for wait in [1, 10, 30, 100, 300] {
        let mut child = command(folder, &read("cut")).spawn().expect("starts");
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().expect("is killed, or has ended");
        child.wait().expect("ends");
        if let Ok(found) = fs::read(folder.join("cut")) {
            assert!(found == whole.as_bytes(), "{wait}: {} bytes", found.len());
            fs::remove_file(folder.join("cut")).expect("removes");
        }
    }
    // An existing file is overwritten, and nothing else is left.
    crate::support::file(folder, "cut", "old");
    succeed(folder, &read("cut"));
    assert!(fs::read(folder.join("cut")).expect("written") == whole.as_bytes());
    let mut left: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["a", "cut", "whole"]);
}

/// The file until it is whole has a new name: other files and links stay.
#[cfg(unix)]
#[test]
fn a_read_into_a_file_takes_the_place_of_no_other() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "a", "--shape", "4", "--dtype", "uint8"]);
    for name in ["out.partial", "precious"] {
        crate::support::file(folder, name, "of another");
    }
    std::os::unix::fs::symlink("precious", folder.join("linked.partial")).expect("links");
    for name in ["out", "linked"] {
        succeed(folder, &["read", "a", "-f", "raw", "-o", name]);
        assert_eq!(fs::read(folder.join(name)).expect("written"), [0; 4]);
        assert!(!folder.join(name).is_symlink());
    }
    for name in ["out.partial", "precious", "linked.partial"] {
        assert_eq!(fs::read(folder.join(name)).expect("is there"), b"of another", "{name}");
    }
    assert!(folder.join("linked.partial").is_symlink());
}

/// A read that fails at its last chunk leaves neither the file nor a part of it.
#[test]
fn a_read_that_fails_leaves_no_file() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "4", "--dtype", "uint8", "--chunks", "1"];
    succeed(folder, &[&create[..], &["--codecs", "bytes"]].concat());
    crate::support::file(folder, "a/c/3", "too long");
    for format in ["raw", "lines"] {
        let read = run(folder, &["read", "a", "-f", format, "-o", "out"]);
        assert_eq!(read.status.code(), Some(2), "{format}");
        let left = fs::read_dir(folder).expect("a folder");
        let left: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
        assert_eq!(left, ["a"], "{format}");
    }
}

/// Nor does it take away what was there, also behind links. A link stays one, if it leads to nothing too.
#[cfg(unix)]
#[test]
fn a_read_that_fails_keeps_the_file_that_was_there() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "4", "--dtype", "uint8", "--chunks", "1"];
    succeed(folder, &[&create[..], &["--codecs", "bytes"]].concat());
    crate::support::file(folder, "a/c/3", "too long");
    crate::support::file(folder, "there/target", "old");
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(folder.join("there/target"), private).expect("sets");
    symlink("there/target", folder.join("link")).expect("links");
    symlink("../link", folder.join("there/link")).expect("links");
    symlink("there/new", folder.join("dangling")).expect("links");
    let read = |name, format| run(folder, &["read", "a", "-f", format, "-o", name]);
    let names = || {
        let left = fs::read_dir(folder.join("there")).expect("a folder");
        let mut left: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
        left.sort();
        left
    };
    for format in ["raw", "lines", "text", "csv"] {
        for name in ["there/target", "link", "there/link", "dangling"] {
            assert_eq!(read(name, format).status.code(), Some(2), "{format} {name}");
            assert_eq!(
                fs::read(folder.join("there/target")).expect("is there"),
                b"old",
                "{format}"
            );
            assert_eq!(names(), ["link", "target"], "{format} {name}");
        }
    }
    fs::remove_file(folder.join("a/c/3")).expect("removes");
    for name in ["there/link", "dangling"] {
        assert!(read(name, "raw").status.success(), "{name}");
        assert!(folder.join(name).is_symlink() && folder.join("link").is_symlink());
    }
    assert_eq!(names(), ["link", "new", "target"]);
    let (target, new) = (folder.join("there/target"), folder.join("there/new"));
    assert_eq!([&target, &new].map(|path| fs::read(path).expect("is there")), [[0; 4], [0; 4]]);
    let mode = fs::metadata(&target).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// The output of another program may be a file: that one is written to, not another of its name.
#[cfg(target_os = "linux")]
#[test]
fn open_files_and_devices_are_written_to_as_they_are() {
    use std::io::{Read as _, Seek as _};
    use std::path::Path;

    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "4", "--dtype", "uint8", "--chunks", "1"];
    succeed(folder, &[&create[..], &["--codecs", "bytes"]].concat());
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let mut file = tempfile::tempfile_in(folder).expect("makes a file");
        let mut read = command(folder, &["read", "a", "-f", "raw", "-o", name]);
        let read = read.stdout(file.try_clone().expect("clones")).status().expect("runs");
        assert!(read.success(), "{name}");
        let mut found = Vec::new();
        file.rewind().expect("rewinds");
        file.read_to_end(&mut found).expect("reads");
        assert_eq!(found, [0; 4], "{name}");
        let piped = run(folder, &["read", "a", "-f", "raw", "-o", name]);
        assert_eq!((piped.status.code(), piped.stdout), (Some(0), vec![0; 4]), "{name}");
    }
    let full = run(folder, &["read", "a", "-f", "raw", "-o", "/dev/full"]);
    assert_eq!(full.status.code(), Some(2));
    assert!(run(folder, &["read", "a", "-f", "raw", "-o", "/dev/null"]).status.success());
    crate::support::file(folder, "a/c/3", "too long");
    assert!(!run(folder, &["read", "a", "-f", "raw", "-o", "/dev/null"]).status.success());
    assert!(Path::new("/dev/null").exists() && Path::new("/dev/full").exists());
}

#[test]
fn elided_text_is_that_of_the_whole_and_reads_the_ends_only() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "40,2,50", "--dtype", "uint16", "--chunks", "7,2,9"];
    succeed(folder, &create);
    let elements: Vec<u8> = (0..4000_u16).flat_map(u16::to_le_bytes).collect();
    assert!(run_with(folder, &["write", "a", "--from", "-"], &elements).status.success());
    // The output of numpy 2 for numpy.arange(4000, dtype='uint16').reshape(40, 2, 50).
    let expected = "\
[[[   0    1    2 ...   47   48   49]
  [  50   51   52 ...   97   98   99]]

 [[ 100  101  102 ...  147  148  149]
  [ 150  151  152 ...  197  198  199]]

 [[ 200  201  202 ...  247  248  249]
  [ 250  251  252 ...  297  298  299]]

 ...

 [[3700 3701 3702 ... 3747 3748 3749]
  [3750 3751 3752 ... 3797 3798 3799]]

 [[3800 3801 3802 ... 3847 3848 3849]
  [3850 3851 3852 ... 3897 3898 3899]]

 [[3900 3901 3902 ... 3947 3948 3949]
  [3950 3951 3952 ... 3997 3998 3999]]]
";
    assert_eq!(text(folder, &["read", "a", "--elide"]), expected);
    let lines = text(folder, &["read", "a", "--elide", "-r", "::-1,1,::-1"]);
    let expected = "\
[[3999 3998 3997 ... 3952 3951 3950]
 [3899 3898 3897 ... 3852 3851 3850]
 [3799 3798 3797 ... 3752 3751 3750]
 ...
 [ 299  298  297 ...  252  251  250]
 [ 199  198  197 ...  152  151  150]
 [  99   98   97 ...   52   51   50]]
";
    assert_eq!(lines, expected);
    // A chunk between the ends that does not decode is not read.
    fs::write(folder.join("a/c/3/0/3"), "no chunk").expect("writes");
    assert_eq!(text(folder, &["read", "a", "--elide", "-r", "::-1,1,::-1"]), expected);
    assert!(!run(folder, &["read", "a"]).status.success());
}

#[test]
fn files_are_of_the_format_that_their_name_says() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "a", "--shape", "3,2", "--dtype", "float32", "--fill", "NaN"]);
    let half: Vec<u8> = [1.5_f32, -2.0].iter().flat_map(|n| n.to_le_bytes()).collect();
    assert!(run_with(folder, &["write", "a", "--from", "-", "-r", "1"], &half).status.success());
    let written = |name: &str, region: &str| {
        succeed(folder, &["read", "a", "-o", name, "-r", region]);
        fs::read(folder.join(name)).expect("written")
    };
    assert_eq!(written("a.csv", ":"), b"NaN,NaN\n1.5,-2.0\nNaN,NaN\n");
    assert_eq!(written("b.CSV", ":,1"), b"NaN\n-2.0\nNaN\n");
    assert_eq!(written("a.raw", "1"), half);
    assert_eq!(written("a.bin", "1"), half);
    assert!(written("a.npy", ":").starts_with(b"\x93NUMPY"));
    assert_eq!(written("a.txt", "1"), b"[ 1.5 -2.0]\n");
    assert_eq!(written("plain", "1"), b"[ 1.5 -2.0]\n");
    insta::assert_snapshot!(session(
        folder,
        &[&["read", "a", "-o", "a.npz"], &["read", "a", "-o", "a.json", "--format", "lines"],],
    ));
    assert_eq!(written("one.csv", "1,0"), b"1.5\n");
    assert!(!folder.join("a.npz").exists());
}

#[test]
fn a_format_and_a_name_that_contradict_each_other_are_refused() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "a", "--shape", "2", "--dtype", "int8"]);
    for (format, name) in
        [("npy", "x.npz"), ("raw", "x.npy"), ("text", "x.CSV"), ("npy", "x.raw"), ("csv", "x.bin")]
    {
        let output = run(folder, &["read", "a", "-f", format, "-o", name]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{format} {name}");
        assert!(said.contains(&format!("{name}: --format {format} is not what a file")), "{said}");
        assert!(!folder.join(name).exists(), "{name}");
    }
    for (format, name) in [("npy", "x.npy"), ("lines", "x.txt"), ("raw", "x.dat"), ("npy", "x")] {
        succeed(folder, &["read", "a", "-f", format, "-o", name]);
        assert!(folder.join(name).exists(), "{name}");
    }
}

#[test]
fn regions_by_name() {
    let array = "fixtures/seattle-weather.zarr/daily";
    let read = |region: &str| text(&root(), &["read", array, "--region", region]);
    assert_eq!(read("variable=1,time=28:34"), read("28:34,1"));
    assert_eq!(read("variable=[3,0],time=5"), read("5,[3,0]"));
    assert_eq!(read("time=-1"), read("-1"));
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["read", array, "--region", "day=5"],
            &["read", array, "--region", "time=5,3"],
            &["read", array, "--region", "time=5,0=3"],
            &["read", array, "--region", "time=9999"],
            &["read", array, "--region", "variable=9"],
            &["plan", array, "--region", "time=28:34,variable=2"],
        ]
    ));
}

/// Numbers as `scale_factor`, `add_offset` and missing values mean them, times as dates.
#[test]
fn elements_are_decoded_by_their_attributes() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = |name: &str, data_type: &str, attributes: &str, json: &str| {
        let shape = ["create", name, "--shape", "3", "--dtype", data_type];
        succeed(folder, &[&shape[..], &["--attributes", attributes]].concat());
        crate::support::file(folder, "in.json", json);
        succeed(folder, &["write", name, "--from", "in.json"]);
    };
    let scaled = r#"{"scale_factor": 0.1, "add_offset": 5, "_FillValue": -1, "units": "K"}"#;
    create("temp", "int16", scaled, "[-1, 0, 25]");
    create("days", "int32", r#"{"units": "days since 2012-02-28"}"#, "[0, 1, 2]");
    create("hours", "float64", r#"{"units": "hours since 1970-01-01"}"#, "[0.5, \"NaN\", -1.25]");
    create(
        "nanos",
        "int64",
        r#"{"units": "nanoseconds since 1970-01-01"}"#,
        "[9007199254740993, 1, 0]",
    );
    create(
        "leap",
        "int8",
        r#"{"units": "days since 2000-01-01", "calendar": "noleap"}"#,
        "[1, 2, 3]",
    );
    create("old", "int32", r#"{"units": "days since 1582-10-15"}"#, "[0, 1, -1]");
    create("far", "float64", r#"{"units": "days since 2000-01-01"}"#, "[0, 1, 1e300]");
    create("bad", "int8", r#"{"units": "fortnights since 2000-01-01"}"#, "[1, 2, 3]");
    create("plain", "int8", "{}", "[1, 2, 3]");
    succeed(folder, &["create", "text", "--shape", "1", "--dtype", "string"]);
    let read = |name| ["read", name, "--decode", "-f", "csv"];
    insta::assert_snapshot!(session(
        folder,
        &[
            &["read", "temp", "--decode"],
            &read("temp"),
            &["read", "temp", "--decode", "-f", "json", "-r", "1:"],
            &["read", "days", "--decode"],
            &read("hours"),
            &read("nanos"),
            &read("leap"),
            &read("old"),
            &read("far"),
            &read("bad"),
            &read("plain"),
            &read("text"),
        ],
    ));
    let found = stdout(folder, &["read", "temp", "--decode", "-f", "npy"]);
    assert!(String::from_utf8_lossy(&found).contains("'descr': '<f8'"));
    assert_eq!(found[found.len() - 8..], 7.5_f64.to_le_bytes());
    let found = stdout(folder, &["read", "days", "--decode", "-f", "npy"]);
    assert!(String::from_utf8_lossy(&found).contains("'descr': '<M8[s]'"));
    // 2012-02-29.
    assert_eq!(found[found.len() - 16..found.len() - 8], 1_330_473_600_i64.to_le_bytes());
}
