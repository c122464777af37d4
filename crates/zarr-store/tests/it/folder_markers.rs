//! Objects whose names end in "/", as the console of S3 makes them for folders.

use std::collections::BTreeSet;

use zarr_store::{DirEntry, Store as _};
use zarr_store_tests::Objects;
use zarr_store_tests::server::Server;
use zarr_store_tests::{key, keys_below, prefix, without_key};

#[test]
fn markers_of_folders_are_no_keys() {
    let server = Server::start();
    let all = [
        "base/",
        "base/rain/",
        "base/rain/c/",
        "base/rain/c/0",
        "base/rain/zarr.json",
        "base/wind",
        "base/wind/",
    ];
    server.set_objects(all.map(|name| (name.to_owned(), Vec::new())).into());
    let store = server.open();
    let keys = |below| keys_below(&*store, below).into_iter().collect::<Vec<_>>();
    assert_eq!(keys(""), ["rain/c/0", "rain/zarr.json", "wind"]);
    assert_eq!(keys("rain"), ["rain/c/0", "rain/zarr.json"]);
    assert_eq!(keys("wind"), Vec::<String>::new());
    let described = store.list_described(&prefix("rain")).unwrap();
    assert_eq!(
        described.map(|found| found.unwrap().0.to_string()).collect::<Vec<_>>(),
        keys("rain")
    );
    let entries: Vec<_> = store.list_dir(&prefix("rain")).map(Result::unwrap).collect();
    let expected = [DirEntry::Prefix(prefix("rain/c")), DirEntry::Object(key("rain/zarr.json"))];
    assert_eq!(entries, expected);
    assert_eq!(without_key(&*store, ""), Vec::<String>::new());

    let left = |objects: &Objects| objects.keys().cloned().collect::<BTreeSet<_>>();
    // An object beside the folder has the name of the folder.
    store.delete_prefix(&prefix("wind")).unwrap();
    assert_eq!(left(&server.objects()), all.map(str::to_owned).into());
    store.delete_prefix(&prefix("rain")).unwrap();
    let markers = ["base/", "base/rain/", "base/rain/c/", "base/wind", "base/wind/"];
    assert_eq!(left(&server.objects()), markers.map(str::to_owned).into());
}
