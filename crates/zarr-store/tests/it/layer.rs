//! Nothing gets past a layer.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use zarr_store::{
    AsyncStore, DirEntry, Layer, Links, Listing, LocalStore, MemoryStore, Operation, Prefix,
    ReadRange, Rewrite, RewritePiece, Session, Sharing, Store, StoreError, StoreExt as _,
};
use zarr_store_tests::{key, prefix};

use crate::required::Required;

/// Counts what passes, and stops all of it once told to.
#[derive(Clone, Debug)]
struct Barrier {
    inner: Arc<dyn Store>,
    passed: Arc<AtomicU64>,
    closed: Arc<AtomicBool>,
}

impl Barrier {
    fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, passed: Arc::default(), closed: Arc::default() }
    }

    fn check(&self, operation: Operation, name: &str) -> Result<(), StoreError> {
        self.passed.fetch_add(1, Ordering::Relaxed);
        match self.closed.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(StoreError::io(operation, name, io::ErrorKind::Interrupted.into())),
        }
    }
}

impl Layer for Barrier {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn around(&self, inner: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self { inner, ..self.clone() }))
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn pass<T>(
        &self,
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.check(operation, name)?;
        work()
    }

    fn pass_listing<'s, T: Send + 's>(
        &'s self,
        prefix: &Prefix,
        list: impl FnOnce() -> Listing<'s, T>,
    ) -> Listing<'s, T> {
        match self.check(Operation::List, prefix.as_str()) {
            Ok(()) => list(),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }
}

/// Each operation of a store, by name, and whether it succeeded.
fn all_operations(store: &dyn Store, from: &LocalStore) -> Vec<(&'static str, bool)> {
    let (a, b, root) = (key("d/a"), key("d/b"), Prefix::root());
    let meta = from.head(&a).unwrap().unwrap();
    let mut done = vec![
        ("put", store.put(&b, b"2").is_ok()),
        ("get", store.get(&b, ReadRange::All, &mut Vec::new()).is_ok()),
        ("get_into", store.get_into(&b, &mut [0]).is_ok()),
        ("head", store.head(&b).is_ok()),
        ("list", store.list(&root, Links::Follow).all(|key| key.is_ok())),
        ("list_dir", store.list_dir(&root).all(|entry: Result<DirEntry, _>| entry.is_ok())),
        ("lock", store.lock(&b).map(drop).is_ok()),
        ("lock_all", store.lock_all(std::slice::from_ref(&b)).map(drop).is_ok()),
        ("file", store.file(&b).map(drop).is_ok()),
        ("file_path", store.file_path(&b).is_ok()),
        ("put_from", store.put_from(&b, from, &a, &meta, Sharing::Never).is_ok()),
        ("clean", store.clean(&root, &mut |_| ()).is_ok()),
        ("without_key", store.without_key(&root, &mut |_| ()).is_ok()),
        ("delete", store.delete(&b).is_ok()),
        ("delete_prefix", store.delete_prefix(&prefix("e")).is_ok()),
    ];
    if let Some(mut listed) = store.list_described(&root) {
        done.push(("list_described", listed.all(|found| found.is_ok())));
    }
    done
}

#[test]
fn every_operation_passes_a_layer() {
    let folder = tempfile::tempdir().unwrap();
    let local = LocalStore::open(folder.path()).unwrap();
    local.put(&key("d/a"), b"1").unwrap();
    // A pointer to a layer is one, too.
    let barrier = Barrier::new(Arc::new(Box::new(local.clone())));
    let store: Arc<dyn Store> = Arc::new(Box::new(barrier.clone()));
    let done = all_operations(&*store, &local);
    assert!(done.iter().all(|(_, done)| *done), "{done:?}");
    assert_eq!(barrier.passed.load(Ordering::Relaxed), done.len() as u64);
    barrier.closed.store(true, Ordering::Relaxed);
    let stopped = all_operations(&*store, &local);
    assert!(stopped.iter().all(|(_, done)| !*done), "{stopped:?}");
    assert_eq!(local.list(&Prefix::root(), Links::Follow).count(), 1);
    // Where objects are is no access.
    assert_eq!(store.location(&Prefix::root()), local.location(&Prefix::root()));
    assert!(store.session().unwrap().is_none() && store.checked().is_none());
}

/// A layer around a store that has reads, puts, deletions and locks alone.
#[derive(Debug)]
struct Plain(Required<MemoryStore>);

impl Layer for Plain {
    type Inner = Required<MemoryStore>;

    fn inner(&self) -> &Self::Inner {
        &self.0
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        unreachable!("the inner store has no other one")
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        unreachable!("the inner store has none")
    }
}

#[test]
fn a_layer_has_no_more_than_its_inner_store() {
    let store = Plain(Required(MemoryStore::new()));
    let root = Prefix::root();
    assert!(Store::location(&store, &root).is_none());
    assert!(Store::file(&store, &key("a")).unwrap().is_none());
    assert!(Store::source(&store, &key("a")).unwrap().is_none());
    assert!(store.asynchronous().is_none() && store.checked().is_none());
    assert!(store.session().unwrap().is_none());
}

#[test]
fn a_layer_has_what_its_inner_store_has() {
    let folder = tempfile::tempdir().unwrap();
    let local = LocalStore::open(folder.path()).unwrap();
    let (a, root) = (key("a"), Prefix::root());
    local.put(&a, b"12").unwrap();
    let store: Arc<dyn Store> = Arc::new(Barrier::new(Arc::new(local.clone())));
    assert!(store.file(&a).unwrap().is_some());
    assert_eq!(store.file_path(&a).unwrap(), local.file_path(&a).unwrap());
    assert!(store.file_path(&a).unwrap().is_some());
    assert!(store.source(&a).unwrap().is_some());
    assert!(store.location(&root).is_some());
    let meta = Store::head(&store, &a).unwrap().unwrap();
    let pieces = [RewritePiece::New(b"3"), RewritePiece::Old(0..1)];
    assert_eq!(Store::rewrite(&store, &a, &meta, &pieces).unwrap(), Rewrite::Written);
    assert_eq!(local.read(&a).unwrap().unwrap(), b"31");
}

#[test]
fn sessions_have_the_layer_around_them() {
    let folder = tempfile::tempdir().unwrap();
    let zip = zarr_zip::ZipStore::create(folder.path().join("x.zip")).unwrap();
    let barrier = Barrier::new(Arc::new(zip.clone()));
    let store: Arc<dyn Store> = Arc::new(barrier.clone());
    let session = Session::begin(&store).unwrap();
    session.store().put(&key("a"), b"1").unwrap();
    assert_eq!(barrier.passed.load(Ordering::Relaxed), 1);
    barrier.closed.store(true, Ordering::Relaxed);
    assert!(session.store().put(&key("b"), b"2").is_err());
    session.commit().unwrap();
    assert_eq!(zip.read(&key("a")).unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(zip.read(&key("b")).unwrap(), None);
}
