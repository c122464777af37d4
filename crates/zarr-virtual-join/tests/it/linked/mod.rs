//! Virtual joins: documents that open as arrays.

mod documents;
mod faults;
mod groups;
mod locations;
mod locks;
mod meanwhile;
mod newer;
mod oracle;
mod rearrange;
mod remote;

use std::path::Path;
use std::sync::Arc;

use zarr_array::store::{Key, LocalStore, Prefix, StoreExt as _, StoreOptions};
use zarr_array::{Array, ArrayError};
use zarr_join::{Arrangement, Join, Member};
use zarr_store_tests::objects;
use zarr_virtual_join::{
    AllowedMembers, Document, Missing, OpenOptions, VirtualJoinError, open_store,
};

/// The members as stores of their own in `folder`, named by their numbers.
pub(crate) fn on_disk(members: &[Member], folder: &Path) -> Vec<Member> {
    let place = |(number, member): (usize, &Member)| {
        let path = folder.join(format!("{number}.zarr"));
        std::fs::create_dir_all(&path).expect("creates");
        let store = Arc::new(LocalStore::open(&path).expect("opens"));
        for (key, object) in objects(&**member.array().store()) {
            store.put(&Key::new(key).expect("a key"), &object).expect("puts");
        }
        let array = Array::open(store, member.array().prefix()).expect("opens");
        Member::new(path.to_str().expect("UTF-8"), array)
    };
    members.iter().enumerate().map(place).collect()
}

/// Writes the document of a join.
pub(crate) fn link(
    members: Vec<Member>,
    arrangement: Arrangement,
    place: &Path,
) -> Result<Document, VirtualJoinError> {
    let place = place.to_str().expect("UTF-8");
    let document = Document::of_join(Join::new(members, arrangement), place, Missing::Error)?;
    document.write(place, &StoreOptions::new())?;
    Ok(document)
}

/// The text of a document without the times at which its members were joined.
pub(crate) fn without_times(text: &str) -> String {
    let document = Document::from_json("a.zjoin", text.as_bytes()).expect("valid");
    document.chunks_may_change().to_json()
}

pub(crate) fn open(place: &Path) -> Result<Array, ArrayError> {
    let store = open_store(place.to_str().expect("UTF-8"), &OpenOptions::new());
    Array::open(store.expect("a valid document"), &Prefix::root())
}

/// As [`open`], for documents whose members are elsewhere.
pub(crate) fn open_anywhere(place: &Path) -> Result<Array, ArrayError> {
    let options = OpenOptions::new().allowed_members(AllowedMembers::Anywhere);
    let store = open_store(place.to_str().expect("UTF-8"), &options);
    Array::open(store.expect("a valid document"), &Prefix::root())
}
