//! OME-Zarr in one file, by RFC 9 of OME-NGFF.

use std::fs::File;

use zarr_store::{Key, Store as _, StoreExt as _, StoreOptions, archive_of};
use zarr_zip::{ZipOpener, ZipStore};
use zip::ZipArchive;

#[test]
fn documents_come_first_and_the_comment_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let root =
        r#"{"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"version": "0.5"}}}"#;
    let write = |name: &str, objects: &[(&str, &str)]| {
        let path = folder.path().join(name);
        let session = ZipStore::create(&path).expect("opens").session().expect("begins");
        let session = session.expect("has sessions");
        for (key, text) in objects {
            session.store().put(&Key::new(key).expect("a key"), text.as_bytes()).expect("puts");
        }
        session.commit().expect("commits");
        let file = ZipArchive::new(File::open(&path).expect("opens")).expect("an archive");
        let names: Vec<String> = (0..file.len())
            .map(|at| file.name_for_index(at).expect("an entry").expect("a name").into_owned())
            .collect();
        (names, String::from_utf8(file.comment().to_vec()).expect("text"))
    };
    // As a copy puts them: each document after what is below it.
    let objects =
        [("0/c/0/0", "chunk"), ("0/zarr.json", "{}"), ("a/b/zarr.json", "{}"), ("zarr.json", root)];
    let comment = r#"{"ome":{"version":"0.5","zipFile":{"centralDirectory":{"jsonFirst":true}}}}"#;
    let ordered = ["zarr.json", "0/zarr.json", "a/b/zarr.json", "0/c/0/0"];
    let (names, found) = write("x.ozx", &objects);
    assert_eq!((names, found.as_str()), (ordered.map(str::to_owned).to_vec(), comment));
    // What is added later finds its place too.
    let (names, found) = write("x.ozx", &[("0/c/0/1", "more"), ("1/zarr.json", "{}")]);
    let later = ["zarr.json", "0/zarr.json", "1/zarr.json", "a/b/zarr.json", "0/c/0/0", "0/c/0/1"];
    assert_eq!((names, found.as_str()), (later.map(str::to_owned).to_vec(), comment));
    let store = ZipStore::open(folder.path().join("x.ozx")).expect("opens");
    for (key, text) in objects.iter().chain(&[("0/c/0/1", "more")]) {
        let bytes = store.read(&Key::new(key).expect("a key")).expect("reads");
        assert_eq!(bytes.as_deref(), Some(text.as_bytes()), "{key}");
    }
    // Other groups have no such comment, and other archives their own order.
    assert_eq!(write("plain.ozx", &[("c/0", "chunk"), ("zarr.json", "{}")]).1, "");
    let (names, found) = write("x.zip", &objects);
    assert_eq!((names[0].as_str(), found.as_str()), ("0/c/0/0", ""));

    let options = StoreOptions::new().openers(&[&ZipOpener]);
    let place = format!("{}/x.ozx/0", folder.path().display());
    assert!(archive_of(&place, &options).is_some_and(|archive| archive.ends_with("/x.ozx")));
}
