//! Ranges of labels.

use crate::support::{file, run, succeed, text};

/// As `loc` of a series with this index in pandas 3.1.1; if it falls, as `loc` of the reversed series
/// with the bounds in rising order.
#[test]
fn ranges_go_from_the_first_period_to_the_end_of_the_second() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let shape = ["--shape", "6", "--dtype", "int32", "--dims"];
    let coordinate = |name: &str, data_type: &str, attributes: &str, json: &str| {
        let create = ["create", name, "--shape", "6", "--dtype", data_type, "--dims", name];
        succeed(folder, &[&create[..], &["--attributes", attributes]].concat());
        file(folder, "in.json", json);
        succeed(folder, &["write", name, "--from", "in.json"]);
        let values = format!("v{name}");
        succeed(folder, &[&["create", &values][..], &shape, &[name]].concat());
        file(folder, "in.json", "[0, 1, 2, 3, 4, 5]");
        succeed(folder, &["write", &values, "--from", "in.json"]);
    };
    let hours = r#"{"units": "hours since 2010-01-31"}"#;
    coordinate("up", "int32", hours, "[0, 24, 25, 48, 700, 20000]");
    coordinate("down", "int32", hours, "[20000, 700, 48, 25, 24, 0]");
    let packed = r#"{"_Unsigned": "true", "scale_factor": 0.5, "_FillValue": -1}"#;
    coordinate("packed", "int8", packed, "[0, 1, 2, 100, -100, -2]");
    coordinate("name", "string", "{}", r#"["a", "a,b", "b\"c", "[d]", "e:f", "z"]"#);
    coordinate("sorted", "|S3", "{}", r#"["YQ==", "Yg==", "Yw==", "ZA==", "ZQ==", "Zg=="]"#);
    coordinate("back", "string", "{}", r#"["z", "y", "d", "c", "b", "a"]"#);
    for (region, expected) in [
        ("up=2010-02-01:2010-02-01T01", "1 2"),
        ("up=2010-02-02:", "3 4 5"),
        ("up=:2010-02-01T00", "0 1"),
        ("down=2010-02-02:", "0 1 2"),
        ("down=:2010-02-01T00", "4 5"),
        ("up=2010:2010-02-01", "0 1 2"),
        ("up=2010-02:2010-02-01", "1 2"),
        ("up=2010-02-02:2010-02", "3"),
        ("down=2010-02-01:2010-02-01T01", "3 4"),
        ("down=2010-02-01T01:2010-02-01", "3 4"),
        ("down=2010-02:2010-02-01", "2 3 4"),
        ("down=2010-02-02:2010", "2 3 4 5"),
        ("packed=0.5:1.0", "1 2"),
        ("packed=78.0:127.0", "4 5"),
        ("name=\"a,b\"", "1"),
        ("name=[\"b\\\"c\",\"[d]\"]", "2 3"),
        ("name=\"[d]\":e:f", "3 4"),
        ("name=\"a,b\":\"e:f\"", "1 2 3 4"),
        ("sorted=b", "1"),
        ("sorted=bb:d", "2 3"),
        ("sorted=bb:", "2 3 4 5"),
        ("sorted=:bb", "0 1"),
        ("back=c:y", "1 2 3"),
        ("back=y:c", "1 2 3"),
        ("back=c:", "0 1 2 3"),
        ("back=:c", "3 4 5"),
        ("back=bb:", "0 1 2 3"),
        ("back=:bb", "4 5"),
    ] {
        let (name, _) = region.split_once('=').expect("a name");
        let found = text(folder, &["read", &format!("v{name}"), "-f", "lines", "-r", region]);
        assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{region}");
    }
    for (region, message) in [
        ("up=2010-03:2010-02", "rise, and 2010-03 is after 2010-02: write 2010-02:2010-03"),
        ("packed=1.0:0.5", "rise, and 1.0 is after 0.5"),
        ("sorted=d:b", "\"d\" after \"b\""),
        ("back=x:e", "no text from \"x\" to \"e\""),
        ("up=2010", "up=@2010 is the year, up=2010:2011 the index"),
    ] {
        let (name, _) = region.split_once('=').expect("a name");
        let run = run(folder, &["read", &format!("v{name}"), "-r", region]);
        let stderr = String::from_utf8(run.stderr).expect("UTF-8");
        assert!(stderr.contains(message) && !run.status.success(), "{region}: {stderr}");
    }
    // A column of times has one form.
    let header = ["read", "vup", "-f", "csv", "--header", "-r", "up=0:3"];
    let expected = "up,vup\n2010-01-31T00:00:00,0\n2010-02-01T00:00:00,1\n2010-02-01T01:00:00,2\n";
    assert_eq!(text(folder, &header), expected);
}
