//! Every operation that locks, beside members and documents in one store with one lock for all
//! documents: where another lock was taken within, it would wait for itself.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use zarr_array::store::{
    Key, LocalStore, Opener, Prefix, Store, StoreError, StoreOptions, UpdatePolicy,
};
use zarr_array::{Array, Group, Hierarchy};
use zarr_check::{CheckOptions, Finding, check};
use zarr_copy::{CopyOptions, Endpoint, copy_tree};
use zarr_join::rearrange::Span;
use zarr_join::{Arrangement, GroupArrangement, GroupMember, Join, JoinGroups, Member, NodeMember};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType, GroupMetadata};
use zarr_store_tests::{FewLocks, prefix};
use zarr_virtual_join::{
    AxisOf, Document, Missing, OpenOptions, StoredDocument, VirtualJoinError, open_store,
};

const SOLE: UpdatePolicy = UpdatePolicy::RequireExclusion;

/// Folders whose names end in `.few` are stores with few locks, each of which is the same at every
/// opening.
#[derive(Debug)]
struct Few;

impl Few {
    fn at(path: &Path) -> Arc<FewLocks> {
        static STORES: LazyLock<Mutex<HashMap<PathBuf, Arc<FewLocks>>>> =
            LazyLock::new(Mutex::default);
        let mut stores = STORES.lock().expect("no test panicked with the lock");
        let new = || Arc::new(FewLocks::new(Arc::new(LocalStore::create(path).expect("creates"))));
        Arc::clone(stores.entry(path.to_owned()).or_insert_with(new))
    }
}

impl Opener for Few {
    fn recognises(&self, name: &str) -> bool {
        name.ends_with(".few")
    }

    fn is_at(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn open_local(&self, path: &Path, _: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Self::at(path))
    }

    fn open_within(
        &self,
        _: Arc<dyn Store>,
        _: &str,
        _: &Key,
        _: &StoreOptions,
    ) -> Result<Option<Arc<dyn Store>>, StoreError> {
        Ok(None)
    }
}

/// A folder with a store that has few locks.
struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
    few: Arc<FewLocks>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("all.few");
        let few = Few::at(&path);
        Self { _folder: folder, path, few }
    }

    fn store(&self) -> Arc<dyn Store> {
        self.few.clone()
    }

    fn url(&self, name: &str) -> String {
        self.path.join(name).to_str().expect("UTF-8").to_owned()
    }

    fn options() -> StoreOptions {
        StoreOptions::new().openers(&[&Few])
    }

    fn document(&self, name: &str) -> StoredDocument {
        let options = OpenOptions::new().store(Self::options());
        StoredDocument::open(&self.url(name), &options).expect("is there")
    }

    /// What a document is opened as.
    fn joined(&self, name: &str) -> Hierarchy {
        let options = OpenOptions::new().store(Self::options());
        open_store(&self.url(name), &options).expect("a valid document")
    }

    /// Nothing was refused since the last call, and so many locks of documents and of chunks were
    /// taken.
    fn assert_taken(&self, documents: u64, chunks: u64, what: &str) {
        assert!(self.few.refused().is_empty(), "{what}: {:#?}", self.few.refused());
        assert_eq!(self.few.taken(), [documents, chunks], "{what}");
    }
}

/// A group with an array of these elements along `time`, in chunks of two.
fn member(store: &Arc<dyn Store>, name: &str, elements: &[u8]) -> Group {
    let group = Group::create(store.clone(), &prefix(name), GroupMetadata::new()).expect("new");
    let length = u64::try_from(elements.len()).expect("fits");
    let metadata = ArrayBuilder::new([length], DataType::Uint8).chunk_shape([2]);
    let metadata = metadata.dimension_names(["time"]).build().expect("valid");
    let array = group.create_array("rain", metadata).expect("new");
    array.write(0..length, elements).expect("writes");
    group
}

#[test]
fn joins_of_arrays_beside_their_members_keep_the_rule() {
    let place = Place::new();
    let store = place.store();
    let [a, b, c] = [("a", &[1, 2, 3][..]), ("b", &[4, 5]), ("c", &[6])]
        .map(|(name, elements)| member(&store, name, elements).array("rain").expect("opens"));
    let [a, b, c] = [a, b, c].map(|array| Member::new(place.url(""), array));
    let join = Join::new(vec![a, c], Arrangement::Along(0));
    let [documents, chunks] = place.few.taken();
    let url = place.url("all.zjoin");
    let document = Document::of_join(join, &url, Missing::Error).expect("joins");
    document.write(&url, &Place::options()).expect("writes");
    let again = document.write(&url, &Place::options());
    assert!(matches!(again, Err(VirtualJoinError::Exists { .. })), "{again:?}");
    place.assert_taken(documents + 2, chunks, "a document is written once");

    let read = || {
        let array = Array::open(place.joined("all.zjoin"), &Prefix::root()).expect("opens");
        array.read(0..array.shape()[0]).expect("reads")
    };
    assert_eq!(read(), [1, 2, 3, 6]);
    let document = place.document("all.zjoin");
    let spans = [Span::Kept(3..4), Span::Inserted(NodeMember::Array(b)), Span::Kept(0..3)];
    let plan = document.rearrange(AxisOf::Number(0), &spans, false).expect("fits");
    plan.write(SOLE).expect("writes");
    let late = plan.write(SOLE);
    assert!(matches!(late, Err(VirtualJoinError::Changed { .. })), "{late:?}");
    assert_eq!(read(), [6, 4, 5, 1, 2, 3]);
    place.assert_taken(documents + 4, chunks, "it is rearranged once, and reading locks nothing");

    // The joined array cannot be written, and its members can be.
    let joined = Array::open(place.joined("all.zjoin"), &Prefix::root()).expect("opens");
    joined.write(0..6, &[0; 6]).expect_err("a virtual join is read only");
    joined.update_attributes(&[("a", Some("1"))]).expect_err("a virtual join is read only");
    place.assert_taken(documents + 4, chunks, "what cannot be written is not locked");
}

#[test]
fn joins_of_groups_that_are_copied_and_checked_keep_the_rule() {
    let place = Place::new();
    let store = place.store();
    let members = [("a", &[1, 2, 3][..]), ("b", &[4, 5])]
        .map(|(name, elements)| GroupMember::new(place.url(""), member(&store, name, elements)));
    let join = JoinGroups::new(members.to_vec(), GroupArrangement::Along("time".into()));
    let url = place.url("all.zjoin");
    let document = Document::of_groups(&join, &url, Missing::Error).expect("joins");
    document.write(&url, &Place::options()).expect("writes");
    let document = place.document("all.zjoin");
    let group = NodeMember::Group(GroupMember::new(place.url(""), member(&store, "c", &[6])));
    let spans = [Span::Kept(3..5), Span::Inserted(group), Span::Kept(0..3)];
    let plan = document.rearrange(AxisOf::Named("time"), &spans, false).expect("fits");
    plan.write(SOLE).expect("writes");

    let joined = place.joined("all.zjoin");
    let (root, target) = (Prefix::root(), prefix("copy"));
    let same = &mut |_: &Prefix, metadata: &ArrayMetadata| Ok(metadata.clone());
    let copied = copy_tree(
        Endpoint::in_hierarchy(&joined, &root),
        Endpoint::new(&store, &target),
        same,
        &CopyOptions::new().verify(true),
        &mut |_, _| {},
    );
    copied.expect("copies");
    let copy = Group::open(store.clone(), &target).expect("opens");
    let rain = copy.array("rain").expect("opens");
    assert_eq!(rain.read(0..6).expect("reads"), [4, 5, 6, 1, 2, 3]);
    let mut found = Vec::new();
    let report = &mut |finding: Finding| found.push(finding.message().to_owned());
    check(joined, &root, &CheckOptions::new().data(true), report).expect("checks");
    assert!(found.is_empty(), "{found:?}");
    assert!(place.few.refused().is_empty(), "{:#?}", place.few.refused());
}
