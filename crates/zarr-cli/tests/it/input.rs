//! `write` and `append` from standard input and from text: what does not fit changes nothing, text is
//! not taken for bytes, and what `read` prints can be stored again.

use std::path::Path;

use crate::support::{file, run_with, stdout, succeed, text};

fn create(folder: &Path, name: &str, shape: &str, data_type: &str) {
    succeed(folder, &["create", name, "--shape", shape, "--dtype", data_type]);
}

/// The exit status and the message of a command with this standard input.
fn given(folder: &Path, arguments: &[&str], input: &[u8]) -> (Option<i32>, String) {
    let output = run_with(folder, arguments, input);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn standard_input_that_does_not_fit_changes_nothing() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    // Several pieces: chunks that would be written one after another.
    succeed(folder, &["create", "a", "--shape", "6", "--dtype", "int16", "--chunks", "2"]);
    succeed(folder, &["create", "b", "--shape", "2,3", "--dtype", "int16", "--chunks", "1,3"]);
    file(folder, "v.json", "[1,2,3,4,5,6]");
    succeed(folder, &["write", "a", "--from", "v.json"]);
    let header = |shape: &str| {
        let text = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{text:117}\n").as_bytes());
        bytes
    };
    let npy = |shape: &str, length: usize| [header(shape), vec![7; length]].concat();
    for (input, format) in [
        (vec![0x81; 14], None),
        (vec![0x81; 11], None),
        (b"AAAAAAAAAAAAAA".to_vec(), Some("raw")),
        (npy("(6,)", 13), None),
        (npy("(6,)", 11), None),
        (npy("(7,)", 14), None),
        (b"1\n2\n3\n4\n5\n6\n7\n".to_vec(), None),
        (b"1\n2\n3\n4\n5\nx\n".to_vec(), None),
        (b"[1, 2, 3, 4, 5, 60000]".to_vec(), None),
        (b"[1, 2, 3]".to_vec(), None),
        (b"t,v\n0,1\n1,2\n".to_vec(), None),
        (b"AAAAAAAAAAAA".to_vec(), None),
        (Vec::new(), None),
    ] {
        let mut command = vec!["write", "a", "--from", "-"];
        command.extend(format.iter().flat_map(|format| ["--format", format]));
        let (status, message) = given(folder, &command, &input);
        assert_eq!(status, Some(2), "{input:?}: {message}");
        assert_eq!(text(folder, &["read", "a"]), "[1 2 3 4 5 6]\n", "{input:?}");
        // Of two axes, whose pieces are rows.
        let fits = input.len() == 12;
        command[1] = "b";
        let (status, message) = given(folder, &command, &input);
        assert!(status == Some(2) || fits, "{input:?}: {message}");
    }
    assert!(!folder.join("b/c").exists());
    let (status, message) = given(folder, &["write", "a", "--from", "-"], &[0x81; 14]);
    insta::assert_snapshot!(
        message,
        @"error: standard input: more than 12 bytes of elements, but the region has 12: 6 elements of int16 (2 bytes each)"
    );
    assert_eq!(status, Some(2));
}

#[test]
fn text_is_not_taken_for_bytes() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    create(folder, "a", "6", "int16");
    let write = |arguments: &[&str], input: &[u8]| {
        let command = [&["write", "a"], arguments, &["--from", "-"]].concat();
        given(folder, &command, input)
    };
    assert_eq!(write(&["-r", "0"], b"7\n").0, Some(0));
    assert_eq!(text(folder, &["read", "a"]), "[7 0 0 0 0 0]\n");
    assert_eq!(write(&[], b"[1,2,3,4,5,6]\n").0, Some(0));
    assert_eq!(text(folder, &["read", "a"]), "[1 2 3 4 5 6]\n");
    // Twelve letters are twelve bytes, but only if the caller says so.
    assert_eq!(write(&[], b"AAAAAAAAAAAA").0, Some(2));
    assert_eq!(write(&["--format", "raw"], b"AAAAAAAAAAAA").0, Some(0));
    assert_eq!(text(folder, &["read", "a", "-r", "5"]), "16705\n");
    // A file without a name that tells is recognised in the same way.
    file(folder, "numbers", "6\n5\n4\n3\n2\n1\n");
    succeed(folder, &["write", "a", "--from", "numbers"]);
    assert_eq!(text(folder, &["read", "a"]), "[6 5 4 3 2 1]\n");
    file(folder, "letters.raw", "AAAAAAAAAAAA");
    succeed(folder, &["write", "a", "--from", "letters.raw"]);
    succeed(folder, &["append", "a", "--from", "numbers"]);
    assert_eq!(text(folder, &["read", "a", "-r", "5:8"]), "[16705     6     5]\n");
}

/// Every format that `read` prints, for arrays of each kind, written into a new array.
#[test]
fn what_is_read_can_be_piped_back() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for (name, shape, data_type, values) in [
        ("ints", "2,3", "int16", "[[1, -2, 3], [4, 5, 60]]"),
        ("one", "1", "int32", "[2147483647]"),
        ("point", "", "float32", "1.5"),
        ("floats", "4", "float32", r#"[0.1, "NaN", "-Infinity", 16777216.0]"#),
        ("wide", "2", "uint64", "[18446744073709551615, 0]"),
        ("complex", "2", "complex64", "[[1.0, -2.0], [0.5, 0.0]]"),
        ("bools", "3", "bool", "[true, false, true]"),
        ("times", "2", "M8[s]", r#"["2001-02-03T04:05:06", "NaT"]"#),
        ("texts", "2,2", "string", r#"[["a,b", "\"c\""], ["", "12"]]"#),
        ("fixed", "2", "U3", r#"["abc", ""]"#),
        ("cube", "1,2,2", "uint8", "[[[1, 2], [3, 4]]]"),
    ] {
        create(folder, name, shape, data_type);
        file(folder, "v.json", values);
        succeed(folder, &["write", name, "--from", "v.json"]);
        let kept = stdout(folder, &["read", name, "-f", "json"]);
        let formats = ["lines", "json", "csv", "csv --header", "npy", "raw"];
        let is_text = data_type == "string";
        for format in formats.into_iter().filter(|f| !(is_text && ["npy", "raw"].contains(f))) {
            if name == "cube" && format.starts_with("csv") {
                continue;
            }
            let mut words = format.split(' ');
            let (plain, header) = (words.next().expect("a format"), words.next());
            let read = [&["read", name, "-f", plain][..], header.as_slice()].concat();
            let printed = stdout(folder, &read);
            for said in [false, true] {
                let target = format!("{name}-{plain}-{said}-{}", header.is_some());
                create(folder, &target, shape, data_type);
                let mut write = vec!["write", &target, "--from", "-"];
                write.extend(["--format", plain].iter().filter(|_| said));
                let (status, message) = given(folder, &write, &printed);
                // Raw bytes of a few numbers may be text.
                if status != Some(0) && plain == "raw" && !said {
                    continue;
                }
                assert_eq!(status, Some(0), "{target}: {message}");
                assert_eq!(stdout(folder, &["read", &target, "-f", "json"]), kept, "{target}");
            }
        }
    }
}

#[test]
fn numbers_that_would_change_are_refused_unless_loss_is_allowed() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for (data_type, value) in [
        ("float16", "70000"),
        ("float16", "1e5"),
        ("float32", "16777217"),
        ("float32", "1e300"),
        ("float64", "9007199254740993"),
        ("float64", "1e999"),
        ("bfloat16", "257"),
        ("float8_e4m3fn", "1000"),
        ("complex64", "[16777217, 0]"),
        ("complex64", "[0.5, 1e300]"),
    ] {
        let name = format!("{data_type}-{value}").replace(['[', ']', ',', ' '], "_");
        create(folder, &name, "2", data_type);
        let lines = format!("{value}\n{value}\n");
        let write = ["write", &name, "--from", "-", "--format", "lines"];
        let (status, message) = given(folder, &write, lines.as_bytes());
        assert_eq!(status, Some(2), "{name}: {message}");
        assert!(message.contains("line 1"), "{message}");
        assert!(!folder.join(&name).join("c").exists());
        if data_type != "float8_e4m3fn" {
            let allowed = [&write[..], &["--allow-loss"]].concat();
            assert_eq!(given(folder, &allowed, lines.as_bytes()).0, Some(0), "{name}");
        }
        let append = ["append", &name, "--from", "-", "--format", "lines"];
        assert_eq!(given(folder, &append, lines.as_bytes()).0, Some(2), "{name}");
    }
    create(folder, "fractions", "2", "int16");
    let (status, message) = given(folder, &["write", "fractions", "--from", "-"], b"1\n2.5\n");
    assert_eq!(status, Some(2), "{message}");
    insta::assert_snapshot!(message, @"error: standard input: line 2: found 2.5, expected an integer from -32768 to 32767, a value of type int16");
}

#[test]
fn numbers_of_another_type_are_converted_if_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    create(folder, "a", "2,2", "float32");
    let npy = |descr: &str, fortran: &str, elements: &[u8]| {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': (2, 2), }}");
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{text:117}\n").as_bytes());
        bytes.extend(elements);
        bytes
    };
    let numbers = [0.1_f64, 2., 3., 4.];
    let columns = [numbers[0], numbers[2], numbers[1], numbers[3]];
    let write = |input: &[u8], more: &[&str]| {
        let command = [&["write", "a", "--from", "-"], more].concat();
        given(folder, &command, input)
    };
    let little = npy("<f8", "False", &numbers.map(f64::to_le_bytes).concat());
    let (status, message) = write(&little, &[]);
    assert_eq!(status, Some(2), "{message}");
    assert!(message.contains("--cast"), "{message}");
    for input in [little, npy(">f8", "True", &columns.map(f64::to_be_bytes).concat())] {
        assert_eq!(write(&input, &["--cast"]), (Some(0), "wrote 4 elements to a\n".into()));
        assert_eq!(text(folder, &["read", "a", "-f", "csv"]), "0.1,2.0\n3.0,4.0\n");
        std::fs::remove_dir_all(folder.join("a")).expect("removes");
        create(folder, "a", "2,2", "float32");
    }
    let large = npy("<i8", "False", &[1_i64, 2, 3, 16_777_217].map(i64::to_le_bytes).concat());
    let (status, message) = write(&large, &["--cast"]);
    insta::assert_snapshot!(message, @"error: standard input: element [1, 1]: 16777217 does not fit into float32, where it would be 16777216.0");
    assert!(status == Some(2) && !folder.join("a/c").exists());
    assert_eq!(write(&large, &["--cast", "--allow-loss"]).0, Some(0));
    assert_eq!(text(folder, &["read", "a", "-r", "1,1"]), "16777216.0\n");
    let append = ["append", "a", "--from", "-", "--cast"];
    assert_eq!(given(folder, &append, &large).0, Some(2));
    let small = npy("|u1", "False", &[1, 2, 3, 4]);
    assert_eq!(given(folder, &append, &small).0, Some(0));
    assert_eq!(text(folder, &["read", "a", "-r", "2:,:"]), "[[1.0 2.0]\n [3.0 4.0]]\n");
}
