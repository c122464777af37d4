//! Zip archives: what is read of ordinary and of hostile ones.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

use zarr_store::{
    DirEntry, Links, LockScope, MemoryStore, Place, Prefix, ReadRange, Remedy, Session, Store,
    StoreError, StoreExt as _, StoreOptions, archive_of, open_url,
};
use zarr_store_tests::{key, keys_below, without_key};
use zarr_zip::{ZipOpener, ZipStore};

use crate::sessions::session;

/// A folder, and the path of an archive in it.
pub(crate) fn temporary() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    (folder, path)
}

/// One entry of an archive made here, byte by byte, so that each field can lie.
pub(crate) struct Entry {
    name: &'static [u8],
    method: u16,
    flags: u16,
    bytes: Vec<u8>,
    size: u32,
    crc: u32,
    /// Extra field of the local header alone.
    extra: &'static [u8],
    /// Where the archive's directory says that the local header is, if not where it is.
    at: Option<u32>,
}

impl Entry {
    pub(crate) fn stored(name: &'static str, bytes: &[u8]) -> Self {
        Self {
            name: name.as_bytes(),
            method: 0,
            flags: 0,
            bytes: bytes.to_vec(),
            size: bytes.len() as u32,
            crc: crc32fast::hash(bytes),
            extra: &[],
            at: None,
        }
    }

    fn deflated(name: &'static str, bytes: &[u8]) -> Self {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        let deflated = encoder.finish().unwrap();
        Self { method: 8, bytes: deflated, ..Self::stored(name, bytes) }
    }
}

/// An archive as PKWARE's APPNOTE 6.3.10 lays it out: local headers (4.3.7), the directory
/// (4.3.12) and its end (4.3.16), on the disk with this number.
fn archive_on(disk: u16, entries: &[Entry]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let start = file.len() as u32;
        let mut common = Vec::new();
        for number in [20, entry.flags, entry.method, 0, 0x21] {
            common.extend_from_slice(&u16::to_le_bytes(number));
        }
        for number in [entry.crc, entry.bytes.len() as u32, entry.size] {
            common.extend_from_slice(&number.to_le_bytes());
        }
        common.extend_from_slice(&(entry.name.len() as u16).to_le_bytes());
        file.extend_from_slice(b"PK\x03\x04");
        file.extend_from_slice(&common);
        file.extend_from_slice(&(entry.extra.len() as u16).to_le_bytes());
        file.extend_from_slice(entry.name);
        file.extend_from_slice(entry.extra);
        file.extend_from_slice(&entry.bytes);
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&[0; 12]);
        directory.extend_from_slice(&entry.at.unwrap_or(start).to_le_bytes());
        directory.extend_from_slice(entry.name);
    }
    let (start, count) = (file.len() as u32, (entries.len() as u16).to_le_bytes());
    file.extend_from_slice(&directory);
    file.extend_from_slice(b"PK\x05\x06");
    file.extend_from_slice(&disk.to_le_bytes());
    file.extend_from_slice(&[0; 2]);
    file.extend_from_slice(&count);
    file.extend_from_slice(&count);
    file.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    file.extend_from_slice(&start.to_le_bytes());
    file.extend_from_slice(&[0; 2]);
    file
}

pub(crate) fn archive(entries: &[Entry]) -> Vec<u8> {
    archive_on(0, entries)
}

/// Options by which archives are opened by path.
fn options() -> StoreOptions {
    StoreOptions::new().openers(&[&ZipOpener])
}

/// The store of an archive that is an object in memory.
pub(crate) fn within(bytes: &[u8]) -> Result<ZipStore, StoreError> {
    let store = MemoryStore::new();
    store.put(&key("x.zip"), bytes).unwrap();
    ZipStore::within(Arc::new(store), key("x.zip"))
}

#[test]
fn stored_and_deflated_entries_are_read_whole_and_by_range() {
    let bytes: Vec<u8> = (0..5000_u32).map(|n| (n * n % 251) as u8).collect();
    let long: &[u8] = &[7; 300];
    let entries = [
        Entry::stored("a/c/0", &bytes),
        Entry::deflated("a/c/1", &bytes),
        // Longer than what is read along with the local header.
        Entry { extra: long, ..Entry::stored("b", &bytes) },
        Entry { extra: long, ..Entry::deflated("d", &bytes) },
        Entry::stored("empty", b""),
    ];
    let file = archive(&entries);
    let (_folder, path) = temporary();
    fs::write(&path, &file).unwrap();
    for store in [within(&file).unwrap(), ZipStore::open(&path).unwrap()] {
        let mut out = Vec::new();
        for name in ["a/c/0", "a/c/1", "b", "d"] {
            // Before and after the place of the bytes is known.
            for _ in 0..2 {
                assert_eq!(store.read(&key(name)).unwrap().as_ref(), Some(&bytes), "{name}");
                store.get(&key(name), ReadRange::Suffix(10), &mut out).unwrap();
                assert_eq!(out, bytes[4990..]);
                store
                    .get(&key(name), ReadRange::Ranges(&[7..9, 0..3, 4999..5000]), &mut out)
                    .unwrap();
                assert_eq!(out, [&bytes[7..9], &bytes[..3], &bytes[4999..]].concat());
            }
            let beyond =
                store.get(&key(name), ReadRange::Ranges(from_ref(&(4999..5001))), &mut out);
            assert!(matches!(beyond, Err(StoreError::Range { size: 5000, .. })));
            let beyond = store.get(&key(name), ReadRange::Suffix(5001), &mut out);
            assert!(matches!(beyond, Err(StoreError::Suffix { size: 5000, .. })));
            let (all, head) =
                (store.get(&key(name), ReadRange::All, &mut out), store.head(&key(name)));
            assert_eq!(all.unwrap(), head.unwrap());
        }
        assert_eq!(store.read(&key("empty")).unwrap().as_deref(), Some(&b""[..]));
        assert_eq!(store.read(&key("a")).unwrap(), None);
        assert_eq!(store.read(&key("a/c/2")).unwrap(), None);
        let below = keys_below(&store, "a");
        assert_eq!(below.into_iter().collect::<Vec<_>>(), ["a/c/0", "a/c/1"]);
        let top: Vec<_> = store.list_dir(&Prefix::root()).map(Result::unwrap).collect();
        assert_eq!(top.len(), 4);
        assert!(top.contains(&DirEntry::Prefix(Prefix::new("a").unwrap())));
    }
}

/// A range of a deflated entry first, when nothing about the entry is known yet.
#[test]
fn a_range_may_be_the_first_read() {
    let bytes = vec![5; 70_000];
    let file = archive(&[Entry::stored("a", &bytes), Entry::deflated("b", &bytes)]);
    for name in ["a", "b"] {
        let mut out = Vec::new();
        within(&file)
            .unwrap()
            .get(&key(name), ReadRange::Ranges(from_ref(&(3..8))), &mut out)
            .unwrap();
        assert_eq!(out, [5; 5]);
    }
}

#[test]
fn names_that_are_no_keys_are_not_objects() {
    let names: [&[u8]; 9] =
        [b"../a", b"/etc/passwd", b"a\\b", b"a/../b", b"a//b", b"a/", b"nul\0", b"", b"a/./b"];
    let mut entries: Vec<Entry> =
        names.iter().map(|name| Entry { name, ..Entry::stored("", b"x") }).collect();
    entries.push(Entry::stored("a/c", b"first"));
    entries.push(Entry::stored("a/c", b"last"));
    entries.push(Entry::stored("\u{1b}[2J", b"control"));
    let store = within(&archive(&entries)).unwrap();
    let keys: Vec<String> = keys_below(&store, "").into_iter().collect();
    assert_eq!(keys, ["\u{1b}[2J", "a/c"]);
    // They are told, except for the folder.
    let told = without_key(&store, "");
    assert_eq!(told, ["", "../a", "/etc/passwd", "a/../b", "a/./b", "a//b", "a\\b", "nul\0"]);
    assert_eq!(without_key(&store, "a"), ["a/../b", "a/./b", "a//b"]);
    // As zarr-python reads what its own overwriting has written.
    assert_eq!(store.read(&key("a/c")).unwrap().as_deref(), Some(&b"last"[..]));
}

/// Every lie of an archive's directory is an error, and none leads to other bytes.
#[test]
fn what_the_directory_says_is_not_believed() {
    let text = b"text that is not long".as_slice();
    let cases = [
        ("encrypted", Entry { flags: 1, ..Entry::stored("a", text) }),
        ("bzip2", Entry { method: 12, ..Entry::stored("a", text) }),
        ("unknown method", Entry { method: 777, ..Entry::stored("a", text) }),
        ("other size", Entry { size: 5, ..Entry::stored("a", text) }),
        ("other checksum", Entry { crc: 5, ..Entry::stored("a", text) }),
        ("other bytes", Entry { crc: 5, ..Entry::deflated("a", text) }),
        ("longer", Entry { size: 5, ..Entry::deflated("a", text) }),
        ("shorter", Entry { size: 50, ..Entry::deflated("a", text) }),
        ("bomb", Entry { size: u32::MAX - 1, ..Entry::deflated("a", text) }),
        ("not deflated", Entry { method: 8, ..Entry::stored("a", text) }),
    ];
    let mut messages = String::new();
    for (name, entry) in cases {
        let store = within(&archive(&[entry, Entry::stored("b", text)])).unwrap();
        assert_eq!(store.read(&key("b")).unwrap().as_deref(), Some(text));
        let error = store.read(&key("a")).unwrap_err();
        let is_told = matches!(error, StoreError::Container { .. } | StoreError::Damaged { .. });
        assert!(is_told, "{name}: {error:?}");
        messages.push_str(&format!("{name}: {error}\n"));
    }
    let mut damaged = archive(&[Entry::stored("a", text)]);
    damaged[0] = 0;
    let error = within(&damaged).unwrap().read(&key("a")).unwrap_err();
    messages.push_str(&format!("no local header: {error}\n"));
    insta::assert_snapshot!(messages);
}

/// A few bytes stand for a long document, which readers would hold whole. How long a chunk is, the
/// metadata says, and stored entries are as long as the archive.
#[test]
fn deflated_documents_have_a_limit() {
    let long = vec![b' '; 10_000];
    let entries = [
        Entry::deflated("zarr.json", &long),
        Entry::deflated("a/.zmetadata", &long),
        Entry::deflated("a/c/0", &long),
        Entry::stored("b/zarr.json", &long),
    ];
    let (_folder, path) = temporary();
    fs::write(&path, archive(&entries)).unwrap();
    let url = path.to_str().unwrap();
    let open = |most: u64| open_url(url, &options().max_document(most)).unwrap();
    for name in ["zarr.json", "a/.zmetadata", "a/c/0", "b/zarr.json"] {
        assert_eq!(open(10_000).read(&key(name)).unwrap().as_deref(), Some(&long[..]), "{name}");
    }
    let store = open(9_999);
    for name in ["a/c/0", "b/zarr.json"] {
        assert_eq!(store.size(&key(name)).unwrap(), Some(10_000), "{name}");
        assert!(store.read(&key(name)).unwrap().is_some(), "{name}");
    }
    for name in ["zarr.json", "a/.zmetadata"] {
        let mut out = Vec::new();
        for range in [ReadRange::All, ReadRange::Suffix(1), ReadRange::Ranges(from_ref(&(0..1)))] {
            let error = store.get(&key(name), range, &mut out).unwrap_err();
            assert_eq!(error.remedy(), Some(Remedy::LongerDocuments), "{error}");
            let text = error.to_string();
            assert!(text.contains("it has 10000 bytes, and a document may have 9999"), "{text}");
        }
    }
    // By default, a document of 256 MiB: what is over that is refused before it is inflated.
    for (size, said) in [((256 << 20) + 1, "may have 268435456"), (256 << 20, "corrupt")] {
        let entry = Entry { bytes: vec![0xff; 300_000], size, ..Entry::deflated("zarr.json", b"") };
        let error = within(&archive(&[entry])).unwrap().read(&key("zarr.json")).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// Also by a part of an archive, which is a store, and in a session.
#[test]
fn an_entry_that_inflates_too_far_is_refused_wherever_it_is_found() {
    let (_folder, path) = temporary();
    fs::write(&path, archive(&[Entry::deflated("a/c/0", &vec![b' '; 100_000])])).unwrap();
    let url = path.to_str().unwrap();
    let refuses = |store: &dyn Store, name: &str| {
        let error = store.refuse_inflated(&key(name), 10).unwrap_err().to_string();
        assert!(error.contains("bytes stand for 100000"), "{error}");
        store.refuse_inflated(&key(name), 100_000).unwrap();
    };
    refuses(&*open_url(url, &options()).unwrap(), "a/c/0");
    refuses(&**session(&path).store(), "a/c/0");
    let part = open_url(&format!("{url}/a"), &options()).unwrap();
    refuses(&*part, "c/0");
    refuses(&**Session::begin(&part).unwrap().store(), "c/0");
}

#[test]
fn what_is_no_archive_is_refused() {
    let good = archive(&[Entry::stored("a", b"123"), Entry::stored("b", b"45")]);
    let cases = [
        ("empty", Vec::new()),
        ("text", b"no archive".to_vec()),
        ("truncated", good[..good.len() - 10].to_vec()),
        ("second disk", archive_on(1, &[Entry::stored("a", b"123")])),
        (
            "overlap",
            archive(&[
                Entry::stored("a", b"123"),
                Entry { at: Some(0), ..Entry::stored("b", b"123") },
            ]),
        ),
        ("beyond the directory", archive(&[Entry { at: Some(900), ..Entry::stored("a", b"123") }])),
    ];
    let mut messages = String::new();
    for (name, bytes) in cases {
        messages.push_str(&format!("{name}: {}\n", within(&bytes).unwrap_err()));
    }
    let none = ZipStore::within(Arc::new(MemoryStore::new()), key("x.zip")).unwrap_err();
    messages.push_str(&format!("missing: {none}\n"));
    insta::assert_snapshot!(messages);
}

/// A flipped or a missing byte anywhere is an error or other names, never a crash, and no object
/// read whole has other bytes.
#[test]
fn damage_anywhere_is_never_other_bytes() {
    let (a, b) = (b"stored bytes".as_slice(), [9; 400]);
    let good = archive(&[Entry::stored("a", a), Entry::deflated("b", &b)]);
    let mut unharmed = 0;
    for at in 0..good.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] ^= change;
            let Ok(store) = within(&bytes) else { continue };
            for (name, expected) in [("a", a), ("b", b.as_slice())] {
                if let Ok(Some(read)) = store.read(&key(name)) {
                    assert_eq!(read, expected, "byte {at}");
                    unharmed += 1;
                }
            }
        }
        assert!(within(&good[..at]).is_err(), "{at} bytes");
    }
    assert!(unharmed > good.len());
}

#[test]
fn paths_lead_into_archives() {
    let (folder, path) = temporary();
    let text = path.to_str().unwrap();
    let (none, create) = (options(), options().create(true));
    let missing = open_url(text, &none).unwrap_err();
    assert!(matches!(missing, StoreError::Io { .. }), "{missing}");
    let session = Session::begin(&open_url(&format!("{text}/group/a"), &create).unwrap()).unwrap();
    session.store().put(&key("c/0"), b"chunk").unwrap();
    assert!(!path.exists());
    session.commit().unwrap();
    let whole = open_url(text, &none).unwrap();
    assert_eq!(whole.read(&key("group/a/c/0")).unwrap().as_deref(), Some(&b"chunk"[..]));
    let group = open_url(&format!("file://{text}/group"), &none).unwrap();
    assert_eq!(group.read(&key("a/c/0")).unwrap().as_deref(), Some(&b"chunk"[..]));
    assert_eq!(keys_below(&*group, "a").into_iter().collect::<Vec<_>>(), ["a/c/0"]);
    let listed: Vec<_> = group.list_dir(&Prefix::root()).map(Result::unwrap).collect();
    assert_eq!(listed, [DirEntry::Prefix(Prefix::new("a").unwrap())]);
    // Copies from a part of it into the whole are noticed.
    let place = |store: &dyn Store| store.location(&Prefix::root()).unwrap();
    assert!(place(&*whole).contains(&place(&*group)));
    let around = open_url(folder.path().to_str().unwrap(), &none).unwrap();
    assert!(place(&*around).contains(&place(&*whole)));
    assert_eq!(archive_of(&format!("{text}/group"), &none), Some(text));
    assert!(Place::parse(&format!("{text}/group"), &none).unwrap().folder().is_none());
    // Folders of such a name are folders.
    let plain = folder.path().join("folder.zip");
    fs::create_dir(&plain).unwrap();
    assert_eq!(archive_of(plain.to_str().unwrap(), &none), None);
    open_url(plain.to_str().unwrap(), &none).unwrap().put(&key("a"), b"1").unwrap();
    assert!(Path::new(&plain.join("a")).is_file());
}

/// Writers without zip64 count modulo 2^16: the rest would read as absent.
#[test]
fn entries_that_are_not_counted_are_not_absent() {
    let text = b"text".as_slice();
    let names = ["a", "b", "c"].map(|name| Entry::stored(name, text));
    let good = archive(&names);
    assert_eq!(keys_below(&within(&good).unwrap(), "").len(), 3);
    let end = good.len() - 22;
    for (count, prefix) in [(0_u16, 0), (1, 0), (2, 0), (2, 1000)] {
        let mut archive = good.clone();
        for at in [end + 8, end + 10] {
            archive[at..at + 2].copy_from_slice(&count.to_le_bytes());
        }
        // Bytes before the archive, as of programs that unpack themselves.
        archive.splice(0..0, vec![0; prefix]);
        let Err(error) = within(&archive) else { panic!("{count}, {prefix}") };
        assert!(error.to_string().contains("its directory goes on after"), "{count}: {error}");
    }
}

/// More entries than the directory of a plain zip can count: zip64.
#[test]
fn more_entries_than_16_bits_count() {
    let (_folder, path) = temporary();
    let session = session(&path);
    for n in 0..70_000_u32 {
        session.store().put(&key(&format!("a/c/{n}")), &n.to_le_bytes()).unwrap();
    }
    session.commit().unwrap();
    let store = ZipStore::open(&path).unwrap();
    assert_eq!(store.list(&Prefix::root(), Links::Follow).count(), 70_000);
    for n in [0, 65_535, 65_536, 69_999_u32] {
        let read = store.read(&key(&format!("a/c/{n}"))).unwrap();
        assert_eq!(read.as_deref(), Some(&n.to_le_bytes()[..]));
    }
    assert_eq!(store.lock(&key("a")).unwrap().scope(), LockScope::Process);
}
