//! `write`: from .npy of any order, from raw bytes, into regions.

use std::path::Path;

use crate::support::{file, run_with, session, stdout, succeed, text};

/// A .npy file as numpy writes it.
fn npy(descr: &str, fortran: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{text:117}\n").as_bytes());
    bytes.extend(elements);
    bytes
}

fn create(folder: &Path, name: &str, shape: &str, data_type: &str, chunks: &str, codecs: &str) {
    succeed(
        folder,
        &[
            "create", name, "--shape", shape, "--dtype", data_type, "--chunks", chunks, "--codecs",
            codecs,
        ],
    );
}

const BIG: &str = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}},
    {"name": "bytes", "configuration": {"endian": "big"}}]"#;

#[test]
fn every_order_of_npy_gives_the_same_array() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    // 2 x 3: 1 2 3 / 4 5 -2.
    let little = [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 254, 255];
    let big = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 255, 254];
    let columns_little = [1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 254, 255];
    let columns_big = [0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 255, 254];
    for (at, (bytes, from)) in [
        (npy("<i2", "False", "(2, 3)", &little), "a.npy"),
        (npy(">i2", "False", "(2, 3)", &big), "a.npy"),
        (npy("<i2", "True", "(2, 3)", &columns_little), "a.npy"),
        (npy(">i2", "True", "(2, 3)", &columns_big), "a.npy"),
        (little.to_vec(), "a.raw"),
        (little.to_vec(), "-"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("a{at}");
        create(folder, &name, "2,3", "int16", "2,2|1", BIG);
        if from != "-" {
            file(folder, from, &bytes);
        }
        let output = run_with(folder, &["write", &name, "--from", from], &bytes);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(stdout(folder, &["read", &name, "-f", "raw"]), little, "{at}");
        // The first chunk is transposed and big endian: 1 4 2 5.
        let chunk = std::fs::read(folder.join(&name).join("c/0/0")).expect("stored");
        assert_eq!(chunk, [0, 1, 0, 4, 0, 2, 0, 5]);
    }
}

#[test]
fn regions_keep_what_is_around_them() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    create(folder, "a", "4,6", "uint8", "2|2,4|2", r#"[{"name": "bytes"}]"#);
    file(folder, "column.npy", npy("|u1", "False", "(4,)", &[1, 2, 3, 4]));
    file(folder, "kept.npy", npy("|u1", "False", "(4, 1)", &[5, 6, 7, 8]));
    file(folder, "box.raw", [11, 12, 13, 14]);
    for arguments in [
        ["write", "a", "--from", "column.npy", "--region", ":,3"],
        ["write", "a", "--from", "kept.npy", "--region", ":,0"],
        ["write", "a", "--from", "box.raw", "--region", "1:3,4:6"],
        ["write", "a", "--from", "box.raw", "--region", "::-1,5"],
    ] {
        succeed(folder, &arguments);
    }
    assert_eq!(
        text(folder, &["read", "a"]),
        "[[ 5  0  0  1  0 14]\n [ 6  0  0  2 11 13]\n [ 7  0  0  3 13 12]\n [ 8  0  0  4  0 11]]\n"
    );
}

#[test]
fn types_that_numpy_lacks_are_void_or_the_byte_that_holds_them() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for (data_type, descr, bytes) in [
        ("bfloat16", "|V2", vec![0x80, 0x3f, 0, 0xc0]),
        ("float8_e4m3", "|V1", vec![0x38, 0xb8]),
        ("int4", "|i1", vec![7, 0xf8]),
        ("uint2", "|u1", vec![3, 0]),
        ("float4_e2m1fn", "|V1", vec![2, 10]),
        ("r24", "|V3", vec![1, 2, 3, 4, 5, 6]),
        ("complex64", "<c8", (0..16).collect()),
    ] {
        succeed(folder, &["create", data_type, "--shape", "2", "--dtype", data_type]);
        let file_bytes = npy(descr, "False", "(2,)", &bytes);
        file(folder, "a.npy", &file_bytes);
        succeed(folder, &["write", data_type, "--from", "a.npy"]);
        assert_eq!(stdout(folder, &["read", data_type, "-f", "npy"]), file_bytes, "{data_type}");
        assert_eq!(stdout(folder, &["read", data_type, "-f", "raw"]), bytes, "{data_type}");
    }
    assert_eq!(text(folder, &["read", "bfloat16", "-f", "lines"]), "1.0\n-2.0\n");
    assert_eq!(text(folder, &["read", "int4"]), "[ 7 -8]\n");
}

#[test]
fn wrong_input_changes_nothing() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    create(
        folder,
        "a",
        "4",
        "int16",
        "2",
        r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#,
    );
    create(folder, "nibbles", "2", "int4", "2", r#"[{"name": "packbits"}]"#);
    create(folder, "bools", "2", "bool", "2", r#"[{"name": "packbits"}]"#);
    file(folder, "floats.npy", npy("<f4", "False", "(4,)", &[0; 16]));
    file(folder, "long.npy", npy("<i2", "False", "(5,)", &[0; 10]));
    file(folder, "cut.npy", npy("<i2", "False", "(4,)", &[0; 6]));
    file(folder, "more.npy", npy("<i2", "False", "(4,)", &[0; 9]));
    file(folder, "huge.npy", npy("<i2", "True", "(18446744073709551615, 9)", &[0; 9]));
    file(folder, "broken.npy", b"\x93NUMPY\x01\x00\xff\xff{'descr'");
    file(folder, "short.raw", [0; 7]);
    file(folder, "eight.raw", [7, 8]);
    file(folder, "two.raw", [1, 2]);
    let from = |array: &'static str, file: &'static str| vec!["write", array, "--from", file];
    let commands = [
        from("a", "floats.npy"),
        from("a", "long.npy"),
        from("a", "cut.npy"),
        from("a", "more.npy"),
        from("a", "huge.npy"),
        from("a", "broken.npy"),
        from("a", "short.raw"),
        from("a", "missing.raw"),
        from("a", "a"),
        from("nibbles", "eight.raw"),
        from("bools", "two.raw"),
        vec!["write", "a", "--from", "two.raw", "--region", "7"],
        vec!["write", "a"],
        vec!["write", "missing", "--from", "two.raw"],
    ];
    let commands: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(session(folder, &commands));
    assert!(!folder.join("a/c").exists());
    let output = run_with(folder, &["write", "a", "--from", "-"], &[0; 9]);
    assert_eq!(output.status.code(), Some(2));
}

/// The bytes of a damaged header are no elements.
#[test]
fn a_file_named_npy_has_the_header_of_one() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let little = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    create(folder, "a", "4", "int32", "4", little);
    create(folder, "long", "36", "int32", "36", little);
    create(folder, "text", "4", "string", "4", r#"["vlen-utf8"]"#);
    let whole = npy("<i4", "False", "(4,)", &[1; 16]);
    let mut damaged = whole.clone();
    damaged[0] = b'X';
    file(folder, "damaged.npy", &damaged);
    file(folder, "Zeros.NPY", [0; 144]);
    file(folder, "empty.npy", []);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["append", "a", "--from", "damaged.npy"],
            &["append", "a", "--from", "Zeros.NPY"],
            &["append", "a", "--from", "empty.npy"],
            &["write", "long", "--from", "damaged.npy"],
            &["write", "a", "--from", "empty.npy"],
            &["append", "text", "--from", "empty.npy"],
            &["write", "text", "--from", "empty.npy"],
            &["create", "b", "--like", "damaged.npy"],
        ],
    ));
    // Other names say nothing of a header, and a file with one needs no name.
    file(folder, "zeros.raw", [0; 16]);
    file(folder, "whole", &whole);
    succeed(folder, &["append", "a", "--from", "zeros.raw"]);
    succeed(folder, &["append", "a", "--from", "whole"]);
    assert_eq!(text(folder, &["read", "a", "-r", "7:9"]), "[       0 16843009]\n");
}

#[test]
fn what_was_written_as_json() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    create(folder, "a", "4,3", "int16", "2,3", r#"[{"name": "packbits"}]"#);
    file(folder, "two.raw", [1, 0, 2, 0]);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["write", "a", "--from", "two.raw", "--region", "::-2,1", "--json"],
            &["write", "a", "--from", "two.raw", "--region", "::2,1"],
            &["write", "a", "--from", "two.raw", "--json"],
            &["read", "a"],
        ],
    ));
}

#[test]
fn sd_49_values_that_would_be_cut_are_refused_unless_loss_is_allowed() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let ten_bits = r#"[{"name": "packbits", "configuration": {"last_bit": 9}}]"#;
    create(folder, "a", "4", "uint16", "4", ten_bits);
    // 1023, 1, 1024, 2: the third has a bit more.
    file(folder, "in.raw", [255, 3, 1, 0, 0, 4, 2, 0]);
    let cut = [255, 3, 1, 0, 0, 0, 2, 0];
    let refused = run_with(folder, &["write", "a", "--from", "in.raw"], &[]);
    assert_eq!(refused.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8_lossy(&refused.stderr), @"error: a: zarr.json: $.codecs[0]: element [2] is 1024, which packbits would store as 0; 1 of 4 elements would change; --allow-loss stores them anyway");
    assert!(!folder.join("a/c").exists());
    succeed(folder, &["write", "a", "--from", "in.raw", "--allow-loss"]);
    assert_eq!(stdout(folder, &["read", "a", "-f", "raw"]), cut);
    // Rows that are appended, to a shape that is refused with them.
    let refused = run_with(folder, &["append", "a", "--from", "in.raw"], &[]);
    assert_eq!(refused.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8_lossy(&refused.stderr), @"error: a: zarr.json: $.codecs[0]: element [6] is 1024, which packbits would store as 0; 1 of 4 elements would change; --allow-loss stores them anyway");
    assert_eq!(stdout(folder, &["read", "a", "-f", "raw"]), cut);
    succeed(folder, &["append", "a", "--from", "in.raw", "--allow-loss"]);
    assert_eq!(stdout(folder, &["read", "a", "-f", "raw"]), [cut, cut].concat());
    // A copy into fewer bits.
    create(
        folder,
        "b",
        "2,2",
        "int16",
        "2,2",
        r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#,
    );
    file(folder, "b.raw", [31, 0, 0xe0, 0xff, 5, 0, 0x09, 0xfb]); // 31, -32, 5, -1271
    succeed(folder, &["write", "b", "--from", "b.raw"]);
    let six_bits = r#"[{"name": "packbits", "configuration": {"last_bit": 5}}]"#;
    let copy = ["copy", "b", "c", "--codecs", six_bits, "--verify"];
    let refused = run_with(folder, &copy, &[]);
    assert_eq!(refused.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8_lossy(&refused.stderr), @"error: c: zarr.json: $.codecs[0]: element [1, 1] is -1271, which packbits would store as 9; at least 1 element would change; --allow-loss stores them anyway");
    succeed(folder, &[&copy[..], &["--overwrite", "--allow-loss"]].concat());
    let expected = [31, 0, 0xe0, 0xff, 5, 0, 9, 0];
    assert_eq!(stdout(folder, &["read", "c", "-f", "raw"]), expected);
}

/// A long file is written in pieces, and what is said is of all of them.
#[test]
fn a_failed_write_counts_the_chunks_of_all_pieces() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let four_bits = r#"[{"name": "packbits", "configuration": {"last_bit": 3}}]"#;
    let chunk = 5 << 20;
    create(folder, "a", &(13 * chunk).to_string(), "uint8", &chunk.to_string(), four_bits);
    // Chunks of zeros, and in the last one, which is a piece of its own, a value of 5 bits.
    let raw = std::fs::File::create(folder.join("in.raw")).expect("creates");
    raw.set_len(13 * chunk - 1).expect("is sparse");
    let mut raw =
        std::fs::OpenOptions::new().append(true).open(folder.join("in.raw")).expect("opens");
    std::io::Write::write_all(&mut raw, &[16]).expect("writes");
    let refused = run_with(folder, &["write", "a", "--from", "in.raw"], &[]);
    let said = String::from_utf8_lossy(&refused.stderr);
    let end = "; at least 1 element would change; --allow-loss stores them anyway; 12 of 13 chunks were \
               written";
    assert!(said.trim_end().ends_with(end), "{said}");
}

#[test]
fn chunks_of_the_fill_value_are_stored_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    create(folder, "a", "4", "uint8", "2", r#"[{"name": "bytes"}]"#);
    file(folder, "in.raw", [0, 0, 0, 5]);
    succeed(folder, &["write", "a", "--from", "in.raw"]);
    assert!(!folder.join("a/c/0").exists() && folder.join("a/c/1").exists());
    succeed(folder, &["write", "a", "--from", "in.raw", "--store-empty"]);
    assert_eq!(std::fs::read(folder.join("a/c/0")).expect("stored"), [0, 0]);
    file(folder, "more.raw", [0, 0]);
    succeed(folder, &["append", "a", "--from", "more.raw", "--store-empty"]);
    assert!(folder.join("a/c/2").exists());
}

#[test]
fn lists_write_their_indices_in_their_order() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    create(folder, "a", "5,3", "uint8", "2,2", r#"[{"name": "bytes"}]"#);
    file(folder, "in.raw", [1, 2, 3, 4, 5, 6]);
    succeed(folder, &["write", "a", "--from", "in.raw", "-r", "[4,-4,4],[2,0]"]);
    let mut wanted = [0; 15];
    // Rows 4, 1 and 4 again, with columns 2 and 0 of each: the last value stays.
    (wanted[4 * 3 + 2], wanted[4 * 3], wanted[3 + 2], wanted[3]) = (5, 6, 3, 4);
    assert_eq!(stdout(folder, &["read", "a", "-f", "raw"]), wanted);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["write", "a", "--from", "in.raw", "-r", "[4,0,3],::-2", "--json"],
            &["read", "a"],
            &["read", "a", "-r", "[4,4,0],::-2", "--explain"],
        ],
    ));
}

/// Lists of no elements do not say all of the shape.
#[test]
fn arrays_without_elements_are_written_as_they_were_read() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for (shape, data_type) in
        [("0,3", "uint8"), ("0,3", "string"), ("2,0,3", "uint8"), ("3,0", "string")]
    {
        let create = ["create", "a", "--shape", shape, "--dtype", data_type, "--overwrite"];
        succeed(folder, &create);
        succeed(folder, &["read", "a", "-o", "a.json"]);
        succeed(folder, &["write", "a", "--from", "a.json"]);
        if shape == "0,3" {
            succeed(folder, &["append", "a", "--axis", "0", "--from", "a.json"]);
        }
        file(folder, "other.json", "[[]]");
        let refused = crate::support::run(folder, &["write", "a", "--from", "other.json"]);
        assert!(!refused.status.success(), "{shape}");
    }
}
