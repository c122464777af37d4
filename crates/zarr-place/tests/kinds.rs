//! Each kind of local place is opened in one line.

#![cfg(all(feature = "virtual-join", feature = "zip"))]

use std::path::Path;

use zarr_array::store::{Prefix, StoreOptions};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
use zarr_place::{Opened, PlaceError, PlaceOptions, open};

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

/// A group with an array, at a new place.
fn group(path: &Path) {
    let place = Opened::create(&text(path), &PlaceOptions::new()).expect("creates");
    let changes = place.change().expect("begins");
    let store = changes.store().clone();
    let group = zarr_array::Group::create(store, &Prefix::root(), GroupMetadata::new());
    let metadata = ArrayBuilder::new([3], DataType::Int8).dimension_names(["time"]).build();
    let metadata = metadata.expect("valid");
    for name in ["rain", "time"] {
        group.as_ref().expect("creates").create_array(name, metadata.clone()).expect("creates");
    }
    assert_eq!(changes.commit().expect("commits"), None);
}

#[test]
fn folders_archives_and_virtual_joins_are_opened_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| text(&folder.path().join(name));
    for kind in ["weather.zarr", "weather.zip"] {
        group(&folder.path().join(kind));
        for end in ["", "/", "/zarr.json"] {
            let rain = open(&at(&format!("{kind}/rain{end}"))).expect(kind);
            assert_eq!(rain.array().expect(kind).shape(), [3]);
            assert_eq!((rain.name(), rain.is_in_file()), ("rain", kind.ends_with("zip")));
            assert!(rain.neighbour("time").is_some() && rain.neighbour("wind").is_none());
        }
        assert_eq!(
            open(&at(kind)).expect(kind).group().expect(kind).children().expect(kind).len(),
            2
        );
    }
    let rain = at("weather.zarr/rain");
    let members = [(); 2].map(|()| {
        let array = open(&rain).expect("opens").array().expect("an array");
        zarr_join::Member::new(rain.as_str(), array)
    });
    let joined = at("both.zjoin");
    let join = zarr_join::Join::new(members.into(), zarr_join::Arrangement::Along(0));
    zarr_virtual_join::Document::of_join(join, &joined, zarr_virtual_join::Missing::Error)
        .and_then(|document| document.write(&joined, &StoreOptions::new()))
        .expect("writes");
    let both = open(&joined).expect("opens");
    assert_eq!((both.array().expect("opens").shape(), both.folder()), (&[6][..], None));
    assert!(both.is_virtual_join() && !both.is_quick());
}

#[test]
fn what_is_missing_is_said_and_folders_of_a_failure_are_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| text(&folder.path().join(name));
    for name in ["none.zarr", "none.zip", "none.zjoin"] {
        let error = open(&at(name)).expect_err(name);
        assert!(matches!(&error, PlaceError::NotFound { place } if *place == at(name)), "{error}");
    }
    let place = Opened::create(&at("a/b.zarr"), &PlaceOptions::new()).expect("creates");
    assert!(place.folder().is_some_and(Path::is_dir));
    place.abandon();
    assert!(!folder.path().join("a").exists());
    let secret = open("https://me:secret@host.invalid/data.zarr").map(|place| place.to_string());
    let shown = secret.unwrap_or_else(|error| error.to_string());
    assert!(!shown.contains("secret"), "{shown}");
}
