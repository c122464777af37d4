//! Files that hold arrays: `info` says what makes an array of each.

use std::path::Path;

use zarr_kit::array::store::{Key, StoreExt as _};
use zarr_kit::zip::ZipStore;

use crate::support::{file, run, session, stdout, succeed};

/// A `.npy` file as numpy 2.5 writes it.
fn npy(dtype: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:117}\n").bytes());
    bytes.extend(elements);
    bytes
}

/// Runs the commands of this program that `info` prints.
fn follow(folder: &Path, name: &str) {
    let said = String::from_utf8(stdout(folder, &["info", name])).expect("UTF-8");
    let commands: Vec<_> =
        said.lines().filter_map(|line| line.strip_prefix("  zarr-kit ")).collect();
    assert!(!commands.is_empty(), "{said}");
    for command in commands {
        succeed(folder, &command.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn files_of_arrays_say_what_makes_arrays_of_them() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let elements: Vec<u8> = (1..13).collect();
    let numbers = npy("<i2", "(2, 3)", &elements);
    file(folder, "a.npy", &numbers);
    // numpy has no name for the types of ml_dtypes.
    file(folder, "small.npy", npy("<V2", "(2, 3)", &elements));
    file(folder, "tiny.npy", npy("|V1", "(12,)", &elements));
    file(folder, "with space.npy", &numbers);
    file(folder, "cut.npy", &numbers[..40]);
    file(folder, "numbers.csv", "1,2,3\n4,5.5,6\n");
    file(folder, "table.csv", "time,rain\n2020-01-01,1.5\n2020-01-02,2.5\n");
    let header = r#"{"w": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]},
        "__metadata__": {"a": "b"}, "b": {"dtype": "I64", "shape": [], "data_offsets": [12, 20]}}"#;
    let length = u64::try_from(header.len()).expect("fits").to_le_bytes();
    file(folder, "m.safetensors", [&length, header.as_bytes(), &[0; 20]].concat());
    file(folder, "lying.safetensors", [&u64::MAX.to_le_bytes()[..], b"{}"].concat());
    file(folder, "p.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x04\0\0\0\x03\x08\x02\0\0\0");
    file(folder, "deep.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x04\0\0\0\x03\x10\x06\0\0\0");
    file(folder, "other.txt", "text");
    let archive = ZipStore::create(folder.join("n.npz")).expect("makes an archive");
    archive.put(&Key::new("x.npy").expect("a key"), &numbers).expect("puts");
    drop(archive);
    let names = [
        "a.npy",
        "small.npy",
        "tiny.npy",
        "with space.npy",
        "cut.npy",
        "numbers.csv",
        "table.csv",
        "m.safetensors",
        "lying.safetensors",
        "p.png",
        "deep.png",
        "other.txt",
        "n.npz",
    ];
    let commands = names.map(|name| ["info", name]);
    insta::assert_snapshot!(session(folder, &commands.each_ref().map(|command| &command[..])));
    insta::assert_snapshot!(session(folder, &[&["info", "n.npz", "--json"]]));

    // The commands do what they say.
    for name in ["a", "small", "tiny"] {
        follow(folder, &format!("{name}.npy"));
        assert_eq!(
            stdout(folder, &["read", &format!("{name}.zarr"), "-f", "raw"]),
            elements,
            "{name}"
        );
    }
    follow(folder, "numbers.csv");
    assert_eq!(
        stdout(folder, &["read", "numbers.zarr", "-f", "csv"]),
        b"1.0,2.0,3.0\n4.0,5.5,6.0\n"
    );

    // Raw bytes are not taken for raw bytes, as which numpy saves small floats.
    let like = run(folder, &["create", "b.zarr", "--like", "small.npy"]);
    let said = String::from_utf8(like.stderr).expect("UTF-8");
    assert!(said.contains("give --dtype, such as bfloat16 or V2"), "{said}");
}

#[test]
fn icechunk_repositories_say_how_they_are_opened() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    file(folder, "one/refs/branch.main/ref.json", "{}");
    file(folder, "one/snapshots/A", "ICE");
    file(folder, "two/repo", "ICE");
    file(folder, "two/snapshots/A", "ICE");
    file(folder, "other/repo", "ICE");
    for (name, is_one) in [("one", true), ("two", true), ("other", false)] {
        for command in ["info", "read", "check"] {
            let output = run(folder, &[command, name]);
            let said = String::from_utf8(output.stderr).expect("UTF-8");
            let opened = format!("icechunk.local_filesystem_storage(\"{name}\")");
            assert_eq!(said.contains(&opened), is_one, "{command} {name}: {said}");
        }
    }
}

/// `--quiet` leaves results, errors and statuses as they are.
#[test]
fn quiet_commands_print_results_and_errors_alone() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    file(folder, "a.json", "[1, 2, 3]");
    for command in [
        &["create", "a", "--shape", "3", "--dtype", "complex_float16"][..],
        &["create", "b", "--shape", "3", "--dtype", "int8"],
        &["write", "b", "--from", "a.json"],
        &["append", "b", "--from", "a.json"],
        &["copy", "b", "c"],
        &["delete", "c", "--yes"],
    ] {
        let output = run(folder, &[command, &["--quiet"]].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{command:?}: {output:?}");
    }
    let output = run(folder, &["-q", "read", "b", "-f", "json"]);
    assert_eq!((output.stdout, output.stderr), (b"[1, 2, 3, 1, 2, 3]\n".to_vec(), Vec::new()));
    let output = run(folder, &["read", "none", "--quiet"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stderr.starts_with(b"error: none: "), "{output:?}");
}
