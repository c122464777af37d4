//! Stores that stand before another store and pass on all that it can do.

use std::error::Error;
use std::fmt;
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{
    AsyncStore, Capabilities, DirEntry, GetInto, Key, KeyFilter, Links, Listing, Location,
    LockGuard, ObjectFile, ObjectMeta, ObjectSource, Operation, PieceWriter, Prefix, PutFrom,
    PutMode, PutOutcome, ReadRange, Rewrite, RewritePiece, Session, Sharing, Store, StoreError,
    put_by,
};

/// A store that wraps another store, its inner store, and passes on every operation. It can count,
/// watch, delay or stop operations.
///
/// Each `Layer` is a [`Store`]. Every operation that a layer does not override goes through
/// [`pass`](Layer::pass) or [`pass_listing`](Layer::pass_listing). So a layer that overrides these two
/// methods sees all operations.
/// Sessions, verifying stores and asynchronous reads of the inner store are passed on with a layer
/// [around](Layer::around) them, or not at all.
///
/// A store that hides a part of the inner store implements [`Store`] instead.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use zarr_store::{
///     AsyncStore, Key, Layer, Listing, MemoryStore, Operation, Prefix, Store, StoreError, StoreExt,
/// };
///
/// /// Counts operations.
/// #[derive(Debug)]
/// struct Counting {
///     inner: Arc<dyn Store>,
///     operations: Arc<AtomicU64>,
/// }
///
/// impl Layer for Counting {
///     type Inner = dyn Store;
///
///     fn inner(&self) -> &Self::Inner {
///         &*self.inner
///     }
///
///     fn pass<T>(
///         &self,
///         _: Operation,
///         _: &str,
///         work: impl FnOnce() -> Result<T, StoreError>,
///     ) -> Result<T, StoreError> {
///         self.operations.fetch_add(1, Ordering::Relaxed);
///         work()
///     }
///
///     fn pass_listing<'s, T: Send + 's>(
///         &'s self,
///         _: &Prefix,
///         list: impl FnOnce() -> Listing<'s, T>,
///     ) -> Listing<'s, T> {
///         self.operations.fetch_add(1, Ordering::Relaxed);
///         list()
///     }
///
///     fn around(&self, inner: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
///         Some(Arc::new(Self { inner, operations: Arc::clone(&self.operations) }))
///     }
///
///     // They would not be counted, and so are not handed on: the store is read on threads.
///     fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
///         None
///     }
/// }
///
/// let operations = Arc::new(AtomicU64::new(0));
/// let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let store = Counting { inner, operations: Arc::clone(&operations) };
/// store.put(&Key::new("c/0")?, b"chunk")?;
/// assert_eq!(store.size(&Key::new("c/0")?)?, Some(5));
/// assert_eq!(operations.load(Ordering::Relaxed), 2);
/// # Ok::<(), StoreError>(())
/// ```
#[expect(clippy::missing_errors_doc, reason = "those of the methods of a store")]
pub trait Layer: fmt::Debug + Send + Sync {
    /// The type of the inner store.
    type Inner: Store + ?Sized;

    /// The store that performs the operations.
    fn inner(&self) -> &Self::Inner;

    /// The same layer around `store`: a session of the inner store, or the inner store with
    /// verified puts. `None` if the layer has neither.
    fn around(&self, store: Arc<dyn Store>) -> Option<Arc<dyn Store>>;

    /// The same layer around the asynchronous reads of the inner store. `None` if the layer is to
    /// be read on threads that may block.
    fn around_reads(&self, reads: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>>;

    /// Every operation passes here, with the key, prefix or path that it concerns; `work` lets the inner
    /// store do it.
    ///
    /// # Errors
    /// The errors of `work`, or the layer's own.
    fn pass<T>(
        &self,
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let _ = (operation, name);
        work()
    }

    /// Every listing passes here; `list` begins the inner store's.
    ///
    /// # Errors
    /// As the last item, the errors of `list`, or the layer's own.
    fn pass_listing<'s, T: Send + 's>(
        &'s self,
        prefix: &Prefix,
        list: impl FnOnce() -> Listing<'s, T>,
    ) -> Listing<'s, T> {
        let _ = prefix;
        list()
    }

    /// See [`Store::get`].
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>> {
        self.pass(Operation::Get, key.as_str(), || self.inner().get(key, range, out))
    }

    /// See [`Store::put_opts`].
    fn put_opts(&self, key: &Key, pieces: &[IoSlice<'_>], mode: PutMode<'_>) -> Result<PutOutcome> {
        self.pass(Operation::Put, key.as_str(), || self.inner().put_opts(key, pieces, mode))
    }

    /// See [`Store::delete`].
    fn delete(&self, key: &Key) -> Result<()> {
        self.pass(Operation::Delete, key.as_str(), || self.inner().delete(key))
    }

    /// See [`Store::list`].
    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        self.pass_listing(prefix, || self.inner().list(prefix, links))
    }

    /// See [`Store::list_dir`].
    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        self.pass_listing(prefix, || self.inner().list_dir(prefix))
    }

    /// See [`Store::lock`].
    fn lock(&self, key: &Key) -> Result<LockGuard> {
        self.pass(Operation::Lock, key.as_str(), || self.inner().lock(key))
    }

    /// See [`Store::lock_all`]. Each key passes, and the inner store locks with the last.
    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard> {
        let Some((last, others)) = keys.split_last() else { return self.inner().lock_all(keys) };
        for key in others {
            self.pass(Operation::Lock, key.as_str(), || Ok(()))?;
        }
        self.pass(Operation::Lock, last.as_str(), || self.inner().lock_all(keys))
    }

    /// See [`Store::lock_shared`].
    fn lock_shared(&self, key: &Key) -> Result<Option<LockGuard>> {
        self.pass(Operation::Lock, key.as_str(), || self.inner().lock_shared(key))
    }

    /// See [`Store::head`].
    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>> {
        self.pass(Operation::Head, key.as_str(), || self.inner().head(key))
    }

    /// See [`Store::get_into`].
    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto> {
        self.pass(Operation::Get, key.as_str(), || self.inner().get_into(key, out))
    }

    /// See [`Store::refuse_inflated`].
    fn refuse_inflated(&self, key: &Key, most: u64) -> Result<()> {
        self.inner().refuse_inflated(key, most)
    }

    /// See [`Store::list_described`].
    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        let listed = self.inner().list_described(prefix)?;
        Some(self.pass_listing(prefix, || listed))
    }

    /// See [`Store::delete_where`].
    fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<()> {
        self.pass(Operation::Delete, prefix.as_str(), || self.inner().delete_where(prefix, which))
    }

    /// See [`Store::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }

    /// See [`Store::outer_stores`]. What is done there does not pass here.
    fn outer_stores(&self) -> Vec<(Arc<dyn Store>, Prefix)> {
        self.inner().outer_stores()
    }

    /// See [`Store::out_of_date`].
    fn out_of_date(&self, cause: &(dyn Error + 'static)) {
        self.inner().out_of_date(cause);
    }

    /// See [`Store::put_from`].
    fn put_from(
        &self,
        key: &Key,
        from: &dyn Store,
        from_key: &Key,
        expected: &ObjectMeta,
        sharing: Sharing,
    ) -> Result<PutFrom> {
        self.pass(Operation::Put, key.as_str(), || {
            self.inner().put_from(key, from, from_key, expected, sharing)
        })
    }

    /// See [`Store::rewrite`].
    fn rewrite(
        &self,
        key: &Key,
        expected: &ObjectMeta,
        pieces: &[RewritePiece<'_>],
    ) -> Result<Rewrite> {
        self.pass(Operation::Put, key.as_str(), || self.inner().rewrite(key, expected, pieces))
    }

    /// See [`Store::put_in_pieces`]. What passes is the [put](PieceWriter::put).
    fn put_in_pieces(&self, key: &Key) -> Result<Option<Box<dyn PieceWriter + '_>>>
    where
        Self: Sized,
    {
        let Some(pieces) = self.inner().put_in_pieces(key)? else { return Ok(None) };
        let key = key.clone();
        let put = move |pieces: Box<dyn PieceWriter + '_>| {
            self.pass(Operation::Put, key.as_str(), || pieces.put())
        };
        Ok(Some(put_by(pieces, put)))
    }

    /// See [`Store::without_key`].
    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<()> {
        self.pass(Operation::List, prefix.as_str(), || self.inner().without_key(prefix, found))
    }
}

type Result<T> = std::result::Result<T, StoreError>;

/// Methods of a store that a layer does in its own way, or passes.
macro_rules! of_layer {
    ($($method:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {$(
        fn $method(&self, $($argument: $type),*) -> $result {
            Layer::$method(self, $($argument),*)
        }
    )+};
}

impl<L: Layer> Store for L {
    of_layer! {
        get(key: &Key, range: ReadRange<'_>, out: &mut Vec<u8>) -> Result<Option<ObjectMeta>>;
        put_opts(key: &Key, pieces: &[IoSlice<'_>], mode: PutMode<'_>) -> Result<PutOutcome>;
        delete(key: &Key) -> Result<()>;
        list(prefix: &Prefix, links: Links) -> Listing<'_, Key>;
        list_dir(prefix: &Prefix) -> Listing<'_, DirEntry>;
        lock(key: &Key) -> Result<LockGuard>;
        lock_all(keys: &[Key]) -> Result<LockGuard>;
        lock_shared(key: &Key) -> Result<Option<LockGuard>>;
        head(key: &Key) -> Result<Option<ObjectMeta>>;
        get_into(key: &Key, out: &mut [u8]) -> Result<GetInto>;
        refuse_inflated(key: &Key, most: u64) -> Result<()>;
        list_described(prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>>;
        delete_where(prefix: &Prefix, which: &KeyFilter) -> Result<()>;
        put_from(
            key: &Key, from: &dyn Store, from_key: &Key, expected: &ObjectMeta, sharing: Sharing
        ) -> Result<PutFrom>;
        rewrite(key: &Key, expected: &ObjectMeta, pieces: &[RewritePiece<'_>]) -> Result<Rewrite>;
        put_in_pieces(key: &Key) -> Result<Option<Box<dyn PieceWriter + '_>>>;
        without_key(prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<()>;
        out_of_date(cause: &(dyn Error + 'static)) -> ();
        capabilities() -> Capabilities;
        outer_stores() -> Vec<(Arc<dyn Store>, Prefix)>;
    }

    fn lacks(&self) -> &'static str {
        self.inner().lacks()
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        self.inner().location(prefix)
    }

    fn reads_from(&self, prefix: &Prefix, place: &Location) -> Result<bool> {
        self.inner().reads_from(prefix, place)
    }

    fn file(&self, key: &Key) -> Result<Option<ObjectFile>> {
        self.pass(Operation::Get, key.as_str(), || self.inner().file(key))
    }

    fn file_path(&self, key: &Key) -> Result<Option<PathBuf>> {
        self.pass(Operation::Get, key.as_str(), || self.inner().file_path(key))
    }

    fn source(&self, key: &Key) -> Result<Option<ObjectSource>> {
        self.pass(Operation::Get, key.as_str(), || self.inner().source(key))
    }

    fn check_absent_chunks(&self, prefix: &Prefix) -> Result<()> {
        self.pass(Operation::Get, prefix.as_str(), || self.inner().check_absent_chunks(prefix))
    }

    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<()> {
        self.pass(Operation::Delete, prefix.as_str(), || self.inner().clean(prefix, removed))
    }

    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        self.around_reads(self.inner().asynchronous()?)
    }

    fn session(&self) -> Result<Option<Session>> {
        Ok(self.inner().session()?.and_then(|session| session.wrapped(|store| self.around(store))))
    }

    fn checked(&self) -> Option<Arc<dyn Store>> {
        self.around(self.inner().checked()?)
    }
}

macro_rules! pointer {
    ($pointer:ty) => {
        impl<S: Store + ?Sized> Layer for $pointer {
            type Inner = S;

            fn inner(&self) -> &S {
                self
            }

            fn around(&self, store: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
                Some(store)
            }

            fn around_reads(&self, reads: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
                Some(reads)
            }
        }
    };
}

pointer!(&S);
pointer!(Arc<S>);
pointer!(Box<S>);
