//! A kind of store that this crate does not know: files of objects one after another, as in tar.

use std::path::Path;
use std::sync::Arc;

use zarr_store::{
    Key, MemoryStore, Opener, Operation, Place, PlaceKind, Store, StoreError, StoreExt as _,
    StoreOptions, conformance, open_url,
};
use zarr_store_tests::{key, objects};

/// The kind: all that is needed of it is this, and its row in the options.
#[derive(Debug)]
struct TapeOpener;

/// Lines of a key and its bytes.
fn unpacked(tape: &[u8]) -> Result<Arc<dyn Store>, StoreError> {
    let store = MemoryStore::new();
    for line in String::from_utf8_lossy(tape).lines() {
        let (name, bytes) = line.split_once(' ').unwrap();
        store.put(&Key::new(name)?, bytes.as_bytes())?;
    }
    Ok(Arc::new(store))
}

impl Opener for TapeOpener {
    fn recognises(&self, name: &str) -> bool {
        Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("tape"))
    }

    fn is_at(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn open_local(&self, path: &Path, _: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
        let tape = std::fs::read(path);
        unpacked(&tape.map_err(|cause| StoreError::io(Operation::Open, path.display(), cause))?)
    }

    fn open_within(
        &self,
        store: Arc<dyn Store>,
        _: &str,
        key: &Key,
        _: &StoreOptions,
    ) -> Result<Option<Arc<dyn Store>>, StoreError> {
        store.read(key)?.map(|tape| unpacked(&tape)).transpose()
    }
}

fn options() -> StoreOptions {
    StoreOptions::new().openers(&[&TapeOpener])
}

#[test]
fn a_kind_of_another_crate_is_a_module_and_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("JAN uary.TAPE");
    std::fs::write(&path, "zarr.json {}\na/zarr.json {1}\na/c/0 chunk\n").unwrap();
    let text = path.to_str().unwrap();
    let url = format!("file://{}", text.replace(' ', "%20").replace(".TAPE", "%2ETAPE"));
    for text in [text, &url] {
        let place = Place::parse(text, &options()).unwrap();
        assert!(place.is_in_file() && place.folder().is_none(), "{place}");
        assert_eq!(objects(&*place.open(&options()).unwrap()).len(), 3, "{place}");
        let within = open_url(&format!("{text}/a/"), &options()).unwrap();
        assert_eq!(within.read(&key("c/0")).unwrap().as_deref(), Some(&b"chunk"[..]));
        assert_eq!(objects(&*within).len(), 2);
    }
    // Without the row, it is a file and no folder.
    let place = Place::parse(text, &StoreOptions::new()).unwrap();
    assert!(place.folder() == Some(&path) && place.open(&StoreOptions::new()).is_err());
}

#[test]
fn a_part_of_a_file_is_a_store_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tape");
    std::fs::write(&path, "").unwrap();
    let text = path.to_str().unwrap();
    conformance::all(&open_url(&format!("{text}/part/of"), &options()).unwrap());
}

#[test]
fn a_place_shows_no_secrets() {
    let place = "https://me:SECRET@host/x.tape/a?SECRET";
    let place = Place::parse(place, &options()).unwrap();
    assert_eq!(place.to_string(), "https://host/x.tape/a");
    assert_eq!(format!("{place:?}"), r#"Place("https://host/x.tape/a")"#);
    assert!(place.is_in_file() && *place.kind() == PlaceKind::Remote);
    let error = Place::parse("file://me:SECRET@host/a", &options()).unwrap_err().to_string();
    assert!(!error.contains("SECRET"), "{error}");
}
