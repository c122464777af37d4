//! Files of references: what they lead to, and what they may not lead to.

use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::time::{Duration, SystemTime};

use zarr_references::{ReferenceOpener, ReferenceStore};
use zarr_store::{
    DirEntry, Place, Prefix, ReadRange, Remedy, Store, StoreError, StoreExt as _, StoreOptions,
    archive_of, conformance, open_url,
};
use zarr_store_tests::{key, keys_below, objects, text_of, without_key};
#[cfg(feature = "parquet")]
use {
    zarr_store::Links,
    zarr_store_tests::{folder_in_memory, sampled},
};

/// A folder with a target of 100 bytes, in which each byte is its position.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("data")).unwrap();
    let bytes: Vec<u8> = (0..100).collect();
    fs::write(home.join("data/x.bin"), &bytes).unwrap();
    fs::write(folder.path().join("secret"), b"secret").unwrap();
    (folder, home)
}

/// Options by which references are opened by path.
fn options() -> StoreOptions {
    StoreOptions::new().openers(&[&ReferenceOpener])
}

fn open(home: &Path, refs: &str, options: &StoreOptions) -> ReferenceStore {
    let path = home.join("refs.json");
    fs::write(&path, refs).unwrap();
    ReferenceStore::open(path, options).unwrap()
}

#[test]
fn parts_of_files_are_objects() {
    let (_folder, home) = folder();
    let absolute = text_of(&home.join("data/x.bin"));
    let refs = format!(
        r#"{{"a/zarr.json": {{"k": 1}}, "a/c/0": ["data/x.bin", 10, 20], "a/c/1": ["./data/x.bin"],
        "a/c/2": "base64:AAEC", "a/c/3": ["{absolute}", 99, 1], "a/c/4": ["file://{absolute}", 0, 0],
        "b/../c": "left out"}}"#
    );
    let store = open(&home, &refs, &StoreOptions::new());
    assert_eq!(without_key(&store, ""), ["b/../c"]);
    let read = |name: &str| store.read(&key(name)).unwrap();
    assert_eq!(read("a/zarr.json").as_deref(), Some(&br#"{"k": 1}"#[..]));
    assert_eq!(read("a/c/0"), Some((10..30).collect()));
    assert_eq!(read("a/c/1"), Some((0..100).collect()));
    assert_eq!(read("a/c/2"), Some(vec![0, 1, 2]));
    assert_eq!(read("a/c/3"), Some(vec![99]));
    assert_eq!(read("a/c/4"), Some(vec![]));
    assert_eq!(read("a/c/5"), None);
    conformance::reads(&store, &objects(&store));
    let mut out = Vec::new();
    let meta = store.get(&key("a/c/0"), ReadRange::Ranges(&[5..7, 0..1]), &mut out).unwrap();
    assert_eq!(out, [15, 16, 10]);
    assert_eq!(meta.unwrap().size, 20);
    store.get(&key("a/c/0"), ReadRange::Suffix(2), &mut out).unwrap();
    assert_eq!(out, [28, 29]);
    // Past the end of the part, although the file goes on.
    let beyond = store.get(&key("a/c/0"), ReadRange::Ranges(from_ref(&(19..21))), &mut out);
    assert!(matches!(beyond, Err(StoreError::Range { size: 20, .. })));
    let beyond = store.get(&key("a/c/0"), ReadRange::Suffix(21), &mut out);
    assert!(matches!(beyond, Err(StoreError::Suffix { size: 20, .. })));
    assert_eq!(keys_below(&store, "a").len(), 6);
    let top: Vec<_> = store.list_dir(&Prefix::root()).map(Result::unwrap).collect();
    assert_eq!(top, [DirEntry::Prefix(Prefix::new("a").unwrap())]);
    let refused =
        [store.put(&key("a/c/0"), b"").unwrap_err(), store.delete(&key("a/c/0")).unwrap_err()];
    assert!(refused.iter().all(|error| error.to_string().contains("read only")), "{refused:?}");
}

/// An error, and never a missing object, which would read as the fill value. So is a look-up.
#[test]
fn targets_that_changed_are_named() {
    let (_folder, home) = folder();
    let refs = r#"{"long": ["data/x.bin", 90, 11], "gone": ["data/y.bin", 0, 1],
        "whole": ["data/y.bin"], "a": ["data/x.bin", 0, 10]}"#;
    let store = open(&home, refs, &StoreOptions::new());
    let message = |name: &str| {
        store.head(&key(name)).unwrap_err();
        store.read(&key(name)).unwrap_err().to_string()
    };
    let mut messages = vec![message("long"), message("gone"), message("whole")];
    assert_eq!(store.read(&key("a")).unwrap(), Some((0..10).collect()));
    fs::write(home.join("data/x.bin"), [7; 50]).unwrap();
    messages.push(message("a"));
    fs::remove_file(home.join("data/x.bin")).unwrap();
    messages.push(message("a"));
    insta::assert_snapshot!(messages.join("\n"));
}

/// A reference file that came from somebody else cannot read what is outside of its folder.
#[test]
fn references_out_of_the_folder_are_refused() {
    let (folder, home) = folder();
    let secret = folder.path().join("secret");
    let mut targets = vec![
        "../secret".to_owned(),
        "data/../../secret".to_owned(),
        text_of(&secret),
        format!("file://{}", text_of(&secret)),
        "/etc/passwd".to_owned(),
    ];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink(&secret, home.join("link")).unwrap();
        targets.push("link".to_owned());
    }
    let listed: Vec<String> =
        targets.iter().enumerate().map(|(n, url)| format!(r#""k{n}": ["{url}"]"#)).collect();
    let refs = format!("{{{}}}", listed.join(","));
    let store = open(&home, &refs, &StoreOptions::new());
    for (n, url) in targets.iter().enumerate() {
        let error = store.read(&key(&format!("k{n}"))).unwrap_err();
        use StoreError::{Container, Key, NotAllowed, OutsideRoot};
        let is_refused =
            matches!(error, Container { .. } | NotAllowed { .. } | OutsideRoot { .. } | Key(_));
        assert!(is_refused, "{url}: {error:?}");
    }
    // Unless it is allowed.
    let allowed = StoreOptions::new().target(folder.path().display().to_string());
    let store = open(&home, &refs, &allowed);
    for (n, url) in targets.iter().enumerate().take(4) {
        let read = store.read(&key(&format!("k{n}"))).unwrap();
        assert_eq!(read.as_deref(), Some(&b"secret"[..]), "{url}");
    }
    assert!(store.read(&key("k4")).is_err());
    // Links of the folder are allowed by themselves.
    let store = open(&home, &refs, &StoreOptions::new().outside_links(true));
    for (n, url) in targets.iter().enumerate() {
        let is_link = url == "link";
        assert_eq!(store.read(&key(&format!("k{n}"))).is_ok(), is_link, "{url}");
    }
}

/// fsspec starts relative paths from the current folder, here that of the crate. They are read there if
/// they are not beside the reference file, and if the folder is allowed.
#[test]
fn relative_references_are_also_looked_for_in_the_current_folder() {
    let (_folder, home) = folder();
    let refs = r#"{"a": ["src/lib.rs"], "b": ["data/x.bin"], "c": ["src/not there"]}"#;
    let store = open(&home, refs, &StoreOptions::new());
    let refused = store.read(&key("a")).unwrap_err();
    assert_eq!(refused.remedy(), Some(Remedy::Target), "{refused}");
    let here = std::env::current_dir().unwrap();
    let store = open(&home, refs, &StoreOptions::new().target(here.display().to_string()));
    let expected = fs::read(here.join("src/lib.rs")).unwrap();
    assert_eq!(store.read(&key("a")).unwrap(), Some(expected));
    // The folder of the reference file comes first.
    assert!(store.read(&key("b")).unwrap().is_some());
    let missing = store.read(&key("c")).unwrap_err().to_string();
    assert!(missing.contains("neither in the folder of the reference file, nor in"), "{missing}");
    fs::create_dir(home.join("src")).unwrap();
    fs::write(home.join("src/lib.rs"), "of home").unwrap();
    let store = open(&home, refs, &StoreOptions::new().target(here.display().to_string()));
    assert_eq!(store.read(&key("a")).unwrap().as_deref(), Some(&b"of home"[..]));
}

/// References that lead elsewhere show in their listing, although sizes and targets are the same.
#[test]
fn a_listing_tells_that_references_have_changed() {
    let (_folder, home) = folder();
    let listed = |at: u64, time: SystemTime| {
        let refs =
            format!(r#"{{"a/0": ["data/x.bin", {at}, 2], "a/1": "xy", "b": ["data/y.bin"]}}"#);
        let refs = if at == 1 { refs.replace(r#", "b": ["data/y.bin"]"#, "") } else { refs };
        fs::write(home.join("refs.json"), refs).unwrap();
        let file = fs::File::options().write(true).open(home.join("refs.json")).unwrap();
        file.set_modified(time).unwrap();
        let store = ReferenceStore::open(home.join("refs.json"), &StoreOptions::new()).unwrap();
        let listed = store.list_described(&Prefix::root()).unwrap();
        listed
            .map(|found| found.map(|(key, meta)| (key.to_string(), meta.size, meta.modified)))
            .collect::<Result<Vec<_>, _>>()
    };
    // Later than the target.
    let later = SystemTime::now() + Duration::from_secs(3600);
    let found = listed(1, later).unwrap();
    assert_eq!(found, [("a/0".to_owned(), 2, Some(later)), ("a/1".to_owned(), 2, Some(later))]);
    let target = fs::metadata(home.join("data/x.bin")).unwrap().modified().ok();
    let found = listed(1, SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!((found[0].2, found[1].2), (target, Some(SystemTime::UNIX_EPOCH)));
    // A target that is missing is an error, as it is when it is read.
    assert!(listed(2, later).is_err());
}

#[test]
fn paths_lead_into_reference_files() {
    let (_folder, home) = folder();
    open(
        &home,
        r#"{"g/a/0": ["data/x.bin", 1, 2], "g/a//1": "x", "h//1": "x"}"#,
        &StoreOptions::new(),
    );
    let path = text_of(&home.join("refs.json"));
    let store = open_url(&format!("{path}/g"), &options()).unwrap();
    assert_eq!(store.read(&key("a/0")).unwrap(), Some(vec![1, 2]));
    // Names are those below the path.
    assert_eq!(without_key(&store, ""), ["a//1"]);
    assert_eq!(archive_of(&format!("{path}/g"), &options()), Some(path.as_str()));
    assert!(Place::parse(&path, &options()).unwrap().folder().is_none());
    // A document of Zarr, and a folder.
    fs::write(home.join("zarr.json"), "{}").unwrap();
    fs::create_dir(home.join("folder.json")).unwrap();
    for other in ["zarr.json", "folder.json", "missing.json"] {
        assert_eq!(archive_of(home.join(other).to_str().unwrap(), &options()), None, "{other}");
    }
    fs::write(home.join("broken.json"), "{").unwrap();
    let error = open_url(home.join("broken.json").to_str().unwrap(), &options());
    assert!(error.unwrap_err().to_string().contains("not a JSON object of references"));
}

/// References as tables, written by fsspec through two programs.
#[cfg(feature = "parquet")]
mod tables {
    use super::*;

    fn fixture() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/references")
    }

    /// A copy of the folder of one of the programs beside copies of the targets.
    fn copy(writer: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = folder_in_memory();
        for name in ["january.nc", "february.nc"] {
            fs::copy(fixture().join(name), folder.path().join(name)).unwrap();
        }
        let from = fixture().join(format!("{writer}.parq"));
        let to = folder.path().join("refs.parq");
        for array in ["", "rain", "plain", "station", "time"] {
            fs::create_dir_all(to.join(array)).unwrap();
            for entry in fs::read_dir(from.join(array)).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_file() {
                    fs::copy(entry.path(), to.join(array).join(entry.file_name())).unwrap();
                }
            }
        }
        (folder, to)
    }

    fn message<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
        result.unwrap_err().to_string()
    }

    /// Two damaged files: the error of the first is the last item of a listing.
    #[test]
    fn a_damaged_file_ends_a_listing() {
        let (_folder, path) = copy("pyarrow");
        let store = open_url(path.to_str().unwrap(), &options()).unwrap();
        for array in ["rain", "station"] {
            let file = path.join(array).join("refs.0.parq");
            assert!(file.exists());
            fs::write(file, "not parquet").unwrap();
        }
        let mut items: Vec<_> = store.list(&Prefix::root(), Links::Follow).collect();
        let last = message(items.pop().unwrap());
        assert!(last.contains("rain/refs.0.parq"), "{last}");
        assert!(items.iter().all(Result::is_ok), "{items:?}");
        let entries: Vec<_> = store.list_dir(&Prefix::new("station").unwrap()).collect();
        assert!(matches!(&entries[..], [Err(_)]), "{entries:?}");
    }

    #[test]
    fn tables_and_files_of_the_same_references_have_the_same_objects() {
        let options = options();
        let json =
            open_url(fixture().join("virtualizarr.json").to_str().unwrap(), &options).unwrap();
        let chunks = |store: &dyn Store| -> Vec<String> {
            let keys = keys_below(store, "").into_iter();
            keys.filter(|key| !key.contains(".z")).collect()
        };
        let expected = chunks(&*json);
        assert_eq!(expected.len(), 8, "{expected:?}");
        for writer in ["fastparquet", "pyarrow"] {
            let path = fixture().join(format!("{writer}.parq"));
            let store = open_url(path.to_str().unwrap(), &options).unwrap();
            assert_eq!(chunks(&*store), expected, "{writer}");
            for name in &expected {
                assert_eq!(
                    store.read(&key(name)).unwrap(),
                    json.read(&key(name)).unwrap(),
                    "{name}"
                );
                assert!(store.read(&key(name)).unwrap().is_some(), "{writer} {name}");
            }
            for none in [
                "rain/2.0",
                "rain/0.2",
                "rain/0",
                "rain/0.0.0",
                "rain/00.0",
                "rain/+0.0",
                "rain/0.18446744073709551616",
                "none/0.0",
                "rain/refs.0.parq",
                ".zmetadata",
            ] {
                assert_eq!(store.read(&key(none)).unwrap(), None, "{writer} {none}");
            }
            let entries = |prefix: &str| -> Vec<String> {
                let prefix = Prefix::new(prefix).unwrap();
                let entries = store.list_dir(&prefix).map(|entry| match entry.unwrap() {
                    DirEntry::Object(key) => key.to_string(),
                    DirEntry::Prefix(prefix) => format!("{prefix}/"),
                });
                entries.collect()
            };
            assert_eq!(entries(""), [".zattrs", ".zgroup", "plain/", "rain/", "station/", "time/"]);
            let rain =
                ["rain/.zarray", "rain/.zattrs", "rain/0.0", "rain/0.1", "rain/1.0", "rain/1.1"];
            assert_eq!(entries("rain"), rain);
            assert!(entries("rain/0.0").is_empty() && entries("none").is_empty());
            assert!(keys_below(&*store, "rain").into_iter().eq(rain));
            let rain = open_url(path.join("rain").to_str().unwrap(), &options).unwrap();
            assert!(rain.read(&key("1.1")).unwrap().is_some());
            let refused = [
                message(store.put(&key("rain/0.0"), b"")),
                message(store.delete(&key("rain/0.0"))),
            ];
            assert!(refused.iter().all(|error| error.contains("read only")), "{refused:?}");
        }
        assert_eq!(archive_of("x/refs.parq/rain", &options), None, "there is no such folder");
        let path = fixture().join("pyarrow.parq/rain");
        assert_eq!(archive_of(path.to_str().unwrap(), &options), path.parent().unwrap().to_str());
        assert!(Place::parse(path.to_str().unwrap(), &options).unwrap().folder().is_none());
    }

    /// Fewer chunks than a file has rows, no file at all, and rows that are not there.
    #[test]
    fn a_file_that_is_not_there_has_no_chunks_and_a_row_that_is_not_there_is_an_error() {
        let (_folder, home) = copy("fastparquet");
        fs::remove_file(home.join("rain/refs.1.parq")).unwrap();
        let store = ReferenceStore::open(&home, &StoreOptions::new()).unwrap();
        assert_eq!(store.read(&key("rain/1.1")).unwrap(), None);
        assert!(store.read(&key("rain/1.0")).unwrap().is_some());
        assert_eq!(keys_below(&store, "rain").len(), 5);
        let document = fs::read_to_string(home.join(".zmetadata")).unwrap();
        let larger = document.replace("\"record_size\":3", "\"record_size\":4");
        fs::write(home.join(".zmetadata"), larger).unwrap();
        let store = ReferenceStore::open(&home, &StoreOptions::new()).unwrap();
        let wrong = message(store.read(&key("rain/1.1")));
        assert!(wrong.contains("rain/refs.0.parq") && wrong.contains("it has 3 rows"), "{wrong}");
    }

    #[test]
    fn an_array_that_is_the_root_of_a_table_has_its_chunks() {
        let (_folder, home) = copy("pyarrow");
        let whole = ReferenceStore::open(&home, &StoreOptions::new()).unwrap();
        let document = fs::read_to_string(home.join(".zmetadata")).unwrap();
        for (array, chunk) in [("plain", "1.0"), ("rain", "1.1")] {
            let expected = whole.read(&key(&format!("{array}/{chunk}"))).unwrap();
            assert!(expected.is_some());
            let at_root = document.replace(r#"".zgroup":{"zarr_format":2},".zattrs":{},"#, "");
            let at_root = at_root.replace(&format!(r#""{array}\/.z"#), "\".z");
            let root = home.with_file_name(format!("{array}.parq"));
            fs::create_dir(&root).unwrap();
            fs::write(root.join(".zmetadata"), at_root).unwrap();
            for file in fs::read_dir(home.join(array)).unwrap() {
                let file = file.unwrap();
                fs::copy(file.path(), root.join(file.file_name())).unwrap();
            }
            let store = open_url(root.to_str().unwrap(), &options()).unwrap();
            assert_eq!(store.read(&key(chunk)).unwrap(), expected);
            assert_eq!(store.read(&key("9.9")).unwrap(), None);
            // The documents of other arrays are still there.
            let keys = keys_below(&*store, "");
            let own =
                keys.iter().filter(|key| !key.contains('/')).map(|key| format!("{array}/{key}"));
            assert!(own.eq(keys_below(&whole, array)) && keys.contains("time/.zarray"));
            let entries: Vec<_> = store.list_dir(&Prefix::root()).map(Result::unwrap).collect();
            assert!(entries.contains(&DirEntry::Object(key(chunk))), "{entries:?}");
        }
    }

    /// No program defines them: their chunks would read as fill values.
    #[test]
    fn arrays_of_version_3_in_tables_are_refused() {
        let (_folder, home) = copy("pyarrow");
        let document = fs::read_to_string(home.join(".zmetadata")).unwrap();
        let opened = |kind: &str| {
            let node = format!(r#"{{"metadata":{{"a/zarr.json":{{"node_type":"{kind}"}},"#);
            let changed = document.replace(r#"{"metadata":{"#, &node);
            fs::write(home.join(".zmetadata"), changed).unwrap();
            ReferenceStore::open(&home, &StoreOptions::new())
        };
        let wrong = message(opened("array"));
        let expected = "\"a/zarr.json\" is an array of version 3, and tables have chunks of arrays \
            of version 2 (\".zarray\") only";
        assert!(wrong.contains(expected) && wrong.contains("refs.parq"), "{wrong}");
        assert!(opened("group").unwrap().read(&key("a/zarr.json")).unwrap().is_some());
    }

    #[test]
    fn targets_of_tables_are_trusted_no_further_than_those_of_files() {
        let (_folder, home) = copy("pyarrow");
        fs::remove_file(home.parent().unwrap().join("february.nc")).unwrap();
        let store = ReferenceStore::open(&home, &StoreOptions::new()).unwrap();
        assert!(store.read(&key("rain/0.0")).unwrap().is_some());
        let gone = message(store.read(&key("rain/1.0")));
        assert!(gone.contains("february.nc") && gone.contains("not there"), "{gone}");
        #[cfg(unix)]
        {
            let elsewhere = tempfile::tempdir().unwrap();
            let secret = elsewhere.path().join("secret");
            fs::copy(fixture().join("february.nc"), &secret).unwrap();
            std::os::unix::fs::symlink(secret, home.parent().unwrap().join("february.nc")).unwrap();
            let store = ReferenceStore::open(&home, &StoreOptions::new()).unwrap();
            assert!(store.read(&key("rain/1.0")).is_err(), "a link out of the folder");
        }
    }

    #[test]
    fn documents_that_claim_too_much_are_refused() {
        let (_folder, home) = copy("fastparquet");
        let document = fs::read_to_string(home.join(".zmetadata")).unwrap();
        let opened = |from: &str, to: &str| {
            assert!(document.contains(from), "{from}");
            fs::write(home.join(".zmetadata"), document.replace(from, to)).unwrap();
            ReferenceStore::open(&home, &StoreOptions::new())
        };
        let store = opened(r"plain\/.zarray", r"plain\/\/.zarray").unwrap();
        assert_eq!(without_key(&store, ""), ["plain//.zarray"]);
        for (from, to, expected) in [
            ("{\"metadata\"", "[\"metadata\"", "not the document of a folder of references"),
            ("\"record_size\":3", "\"records\":3", "record_size"),
            (":3}", ":0}", "record_size is 0, expected 1 to 4194304"),
            (":3}", ":4194305}", "record_size is 4194305"),
            (":3}", ":-1}", "invalid value"),
            (":3}", ":1e30}", "invalid type"),
            ("\"chunks\":[31,20]", "\"chunks\":[31,0]", "\"plain/.zarray\": a chunk of length 0"),
            ("\"chunks\":[31,20]", "\"chunks\":[31]", "2 lengths and 1 of chunks"),
            ("\"chunks\":[31,20]", "\"chunks\":\"x\"", "plain/.zarray"),
            ("\".\"", "\"-\"", "dimension_separator is '-'"),
        ] {
            let wrong = message(opened(from, to));
            assert!(wrong.contains(expected) && wrong.contains("refs.parq"), "{to}: {wrong}");
        }
        // More rows than the document allows.
        let wrong = message(opened(":3}", ":2}").unwrap().read(&key("rain/0.0")));
        assert!(wrong.contains("it has 3 rows, and record_size is 2"), "{wrong}");
        // Any number of chunks costs nothing: only files that are there are listed.
        let from = "\"shape\":[62,20],\"chunks\":[31,10]";
        let huge = "\"shape\":[18446744073709551615,18446744073709551615],\"chunks\":[1,1]";
        let store = opened(from, huge).unwrap();
        assert_eq!(keys_below(&store, "rain").len(), 6);
        assert_eq!(store.read(&key("rain/5.5")).unwrap(), None);
        fs::remove_file(home.join(".zmetadata")).unwrap();
        let wrong = message(ReferenceStore::open(&home, &StoreOptions::new()));
        assert!(wrong.contains("it has no .zmetadata"), "{wrong}");
    }

    /// Bytes of every file changed and every length: an error or other references, never a panic,
    /// and no time or memory beyond what the file can hold. One place of three, unless
    /// `cargo xtask exhaustive` asks for all.
    #[test]
    fn damaged_files_are_errors() {
        for writer in ["fastparquet", "pyarrow"] {
            let (_folder, home) = copy(writer);
            let path = home.join("rain/refs.0.parq");
            let whole = fs::read(&path).unwrap();
            let read = |bytes: &[u8]| {
                fs::write(&path, bytes).unwrap();
                let store = ReferenceStore::open(&home, &StoreOptions::new()).unwrap();
                store.read(&key("rain/0.0"))
            };
            let expected = read(&whole).unwrap();
            assert!(expected.is_some());
            let mut errors = 0;
            let step = sampled(3);
            for at in (0..whole.len()).step_by(step) {
                errors += u32::from(read(&whole[..at]).is_err());
                for flip in [0x01, 0xff] {
                    let mut damaged = whole.clone();
                    damaged[at] ^= flip;
                    errors += u32::from(read(&damaged).is_err());
                }
            }
            assert!(errors > u32::try_from(whole.len() / step).unwrap(), "{writer}: {errors}");
            let wrong = message(read(b"PAR1PAR1"));
            assert!(wrong.contains("rain/refs.0.parq"), "{wrong}");
            // Bytes in the file itself.
            fs::copy(home.join("time/refs.0.parq"), &path).unwrap();
            let store = ReferenceStore::open(&home, &StoreOptions::new()).unwrap();
            let days: Vec<u8> = (0..62_i32).flat_map(i32::to_le_bytes).collect();
            assert_eq!(store.read(&key("rain/0.0")).unwrap(), Some(days));
            assert_eq!(store.read(&key("rain/0.1")).unwrap(), None);
        }
    }
}
