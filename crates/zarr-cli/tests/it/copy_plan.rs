//! What a copy will read, and intermediates.

use std::path::Path;

use crate::support::{run, run_with, stdout, succeed, text};

/// Rows of 2 MiB, compressed, which columns read in little memory many times.
fn rows(folder: &Path) {
    let create = ["create", "rows.zarr", "--shape", "1024,2048", "--dtype", "uint8"];
    succeed(folder, &[&create[..], &["--chunks", "16,2048", "--codecs", "zstd:1"]].concat());
    let values: Vec<u8> = (0..1024 * 2048_u64).map(|at| (at * at % 251).to_le_bytes()[0]).collect();
    assert!(run_with(folder, &["write", "rows.zarr", "--from", "-"], &values).status.success());
}

#[test]
fn a_copy_says_what_it_reads_before_it_does() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    rows(folder);
    let copy = ["copy", "rows.zarr", "columns.zarr", "--chunks", "1024,32", "--memory"];
    let plan = |rest: &[&str]| text(folder, &[&copy[..], rest, &["--dry-run"]].concat());
    assert_eq!(
        plan(&["512KiB"]),
        "2.0 MiB in 20 tasks, 352.0 KiB of memory; the source is read once; by \
         way of an intermediate of 2.0 MiB in 100 chunks\n"
    );
    // The buffers are as many as there are processors.
    let much = plan(&["1GiB"]);
    assert!(much.starts_with("2.0 MiB in 1 task, "), "{much}");
    assert!(much.ends_with("; the source is read once\n"), "{much}");
    let parts = plan(&["512KiB", "--part", "1/2"]);
    assert!(
        parts.contains("chunks of the source are read 7 times, since a part has no"),
        "{parts}"
    );
    let whole = text(folder, &["copy", "rows.zarr", "columns.zarr", "--dry-run"]);
    assert_eq!(whole, "copied object by object, as it is\n");
    let json: serde_json::Value =
        serde_json::from_str(&plan(&["512KiB", "--json"])).expect("one document");
    let array = &json["arrays"][0];
    assert_eq!((&array["route"], &array["reads"]), (&"intermediate".into(), &64.into()));
    let placed = plan(&["512KiB", "--intermediate", "scratch/deep"]);
    assert!(placed.contains("by way of an intermediate"), "{placed}");
    assert!(!folder.join("columns.zarr").exists() && !folder.join("scratch").exists());

    let copied = run(folder, &[&copy[..], &["512KiB", "--verify"]].concat());
    let said = String::from_utf8_lossy(&copied.stderr).into_owned();
    assert!(copied.status.success() && said.contains("; in two passes\n"), "{said}");
    let raw = |array: &str| stdout(folder, &["read", array, "-f", "raw"]);
    assert!(raw("rows.zarr") == raw("columns.zarr"));
    assert!(!folder.join("columns.zarr/zarr-kit-intermediate").exists());
}

#[test]
fn an_archive_needs_a_place_for_the_intermediate() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    rows(folder);
    let copy = ["copy", "rows.zarr", "a.zip", "--chunks", "1024,32", "--memory", "512KiB"];
    let said = String::from_utf8_lossy(&run(folder, &copy).stderr).into_owned();
    let expected = "rows.zarr: chunks of the source are read 7 times, since an archive has no place for \
                    an intermediate: give --intermediate, or more --memory\n";
    assert!(said.starts_with(expected), "{said}");
    let placed = ["copy", "rows.zarr", "b.zip", "--chunks", "1024,32", "--memory", "512KiB"];
    let placed = run(folder, &[&placed[..], &["--intermediate", "place"]].concat());
    let said = String::from_utf8_lossy(&placed.stderr).into_owned();
    assert!(said.contains("in two passes") && !said.contains("times"), "{said}");
    assert!(!folder.join("place").exists(), "the copy made it, and has no use for it any more");
    let inside = ["copy", "rows.zarr", "b.zarr", "--chunks", "1024,32", "--memory", "512KiB"];
    let inside = [&inside[..], &["--intermediate", "rows.zarr"]].concat();
    let refused = run(folder, &inside);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("it lies in the source"), "{said}");
    let both = run(folder, &[&copy[..], &["--dry-run", "--resume"]].concat());
    assert_eq!(both.status.code(), Some(2));
}

/// Damaged chunks show that none is decoded.
#[test]
fn chunks_move_into_shards_and_out_of_them() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    rows(folder);
    std::fs::write(folder.join("rows.zarr/c/3/0"), b"damaged").expect("writes");
    let shards = ["copy", "rows.zarr", "shards.zarr", "--shards", "256,2048"];
    let plan = text(folder, &[&shards[..], &["--dry-run"]].concat());
    assert!(plan.ends_with("; chunks move as they are stored\n"), "{plan}");
    succeed(folder, &shards);
    let number = |folder: &Path| std::fs::read_dir(folder).expect("a folder").count();
    assert_eq!(number(&folder.join("shards.zarr/c")), 4);
    let other = ["copy", "shards.zarr", "other.zarr", "--shards", "128|896,2048"];
    succeed(folder, &other);
    succeed(folder, &["copy", "other.zarr", "again.zarr", "--chunks", "16,2048"]);
    let files = |name: &str| super::copy::files(&folder.join(name));
    assert!(files("again.zarr") == files("rows.zarr"));

    let verified =
        run(folder, &["copy", "rows.zarr", "no.zarr", "--shards", "1024,2048", "--verify"]);
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(!verified.status.success() && said.contains("c/3/0"), "{said}");
}

#[test]
fn new_arrays_have_shards() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a.zarr", "--shape", "100,40", "--dtype", "int16", "--dims", "t,x"];
    succeed(folder, &[&create[..], &["--chunks", "10,20", "--shards", "x=40,t=50|60"]].concat());
    succeed(folder, &["create", "b.zarr", "--like", "a.zarr", "--shards", "50,40"]);
    let document = |name: &str| -> serde_json::Value {
        let json = std::fs::read(folder.join(name).join("zarr.json")).expect("reads");
        serde_json::from_slice(&json).expect("JSON")
    };
    let (a, b) = (document("a.zarr"), document("b.zarr"));
    assert_eq!(a["codecs"], b["codecs"]);
    let shards = &a["codecs"][0]["configuration"];
    assert_eq!(shards["chunk_shape"], serde_json::json!([10, 20]));
    let edges = &a["chunk_grid"]["configuration"]["chunk_shapes"];
    assert_eq!(*edges, serde_json::json!([[50, 60], 40]));
    assert_eq!(b["chunk_grid"]["configuration"]["chunk_shape"], serde_json::json!([50, 40]));

    let wrong = run(
        folder,
        &[&create[..1], &["c.zarr"], &create[2..], &["--chunks", "10|90,20", "--shards", "50,40"]]
            .concat(),
    );
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("chunks of one length on each axis, within shards"), "{said}");
    let wrong = run(
        folder,
        &[&create[..1], &["c.zarr"], &create[2..], &["--chunks", "10,20", "--shards", "55,40"]]
            .concat(),
    );
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && said.contains("55"), "{said}");
    assert!(!folder.join("c.zarr").exists());
}
