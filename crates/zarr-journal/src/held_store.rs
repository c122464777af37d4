//! A store that only the run of a marker changes.

use std::io::IoSlice;
use std::sync::Arc;

use zarr_store::{
    AsyncStore, Key, Layer, Operation, PieceWriter, PutMode, PutOutcome, ReadRange, Store,
    StoreError, put_by,
};

use crate::hold::{Hold, Means};

/// How often an object is compared that others replace meanwhile.
const ATTEMPTS: u32 = 100;

/// Every put and every removal, in whatever way, is a change by the run.
#[derive(Debug)]
struct HeldStore {
    inner: Arc<dyn Store>,
    hold: Arc<Hold>,
    only_missing: bool,
}

impl Hold {
    /// The store with objects that only this run changes: `inner`, which may be the marker's store or
    /// another. A change fails with [`StoreError::Overtaken`] when the marker is no longer this run's.
    ///
    /// Where no other process can change it, this is `inner` itself.
    #[must_use]
    pub fn store(self: &Arc<Self>, inner: &Arc<dyn Store>) -> Arc<dyn Store> {
        self.around(inner, false)
    }

    /// As [`store`](Self::store), with objects that stay if they are there: a put of another object at
    /// the key, or a removal, does nothing.
    #[must_use]
    pub fn store_of_missing(self: &Arc<Self>, inner: &Arc<dyn Store>) -> Arc<dyn Store> {
        self.around(inner, true)
    }

    fn around(self: &Arc<Self>, inner: &Arc<dyn Store>, only_missing: bool) -> Arc<dyn Store> {
        match self.means == Means::Session && !only_missing {
            true => Arc::clone(inner),
            false => Arc::new(HeldStore::new(Arc::clone(inner), Arc::clone(self), only_missing)),
        }
    }
}

impl HeldStore {
    fn new(inner: Arc<dyn Store>, hold: Arc<Hold>, only_missing: bool) -> Self {
        Self { inner, hold, only_missing }
    }

    /// Puts an object if there is none. If there is one, another run put it, or an earlier run of the
    /// same work: as long as the marker is this run's, its bytes are the ones that count.
    fn put_on_condition(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
    ) -> Result<PutOutcome, StoreError> {
        for _ in 0..ATTEMPTS {
            if self.inner().put_opts(key, pieces, PutMode::Create)? == PutOutcome::Written {
                self.hold.look_sometimes(key.as_str())?;
                return Ok(PutOutcome::Written);
            }
            if zarr_store::step!("journal: look when a put is refused") {
                self.hold.check(key.as_str())?;
            }
            if self.only_missing {
                return Ok(PutOutcome::Written);
            }
            let mut there = Vec::new();
            let Some(meta) = self.inner().get(key, ReadRange::All, &mut there)? else { continue };
            if there.iter().eq(pieces.iter().flat_map(|piece| piece.iter())) {
                return Ok(PutOutcome::Written);
            }
            let Some(version) = &meta.version else { return Err(Hold::unwritten(key)) };
            if self.inner().put_opts(key, pieces, PutMode::Update(version))? == PutOutcome::Written
            {
                zarr_store::reached!("journal: an object of another run is replaced");
                return Ok(PutOutcome::Written);
            }
        }
        Err(Hold::contention(key, ATTEMPTS))
    }
}

impl Layer for HeldStore {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn around(&self, inner: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self { inner, hold: Arc::clone(&self.hold), ..*self }))
    }

    fn around_reads(&self, reads: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        Some(reads)
    }

    fn pass<T>(
        &self,
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match operation {
            Operation::Put | Operation::Delete => self.hold.change(name, work),
            _ => work(),
        }
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        if self.hold.means == Means::Conditions
            && mode == PutMode::Overwrite
            && zarr_store::step!("journal: put only where there is no object")
        {
            return self.put_on_condition(key, pieces);
        }
        self.pass(Operation::Put, key.as_str(), || {
            match self.only_missing && self.inner().head(key)?.is_some() {
                true => Ok(PutOutcome::Written),
                false => self.inner().put_opts(key, pieces, mode),
            }
        })
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        // A chunk of fill values is removed in case it is there. Where a look is a request, most need
        // no look at the marker then.
        if self.only_missing
            || (self.hold.means == Means::Conditions && self.inner().head(key)?.is_none())
        {
            return Ok(());
        }
        self.pass(Operation::Delete, key.as_str(), || self.inner().delete(key))
    }

    fn put_from(
        &self,
        key: &Key,
        from: &dyn Store,
        from_key: &Key,
        expected: &zarr_store::ObjectMeta,
        sharing: zarr_store::Sharing,
    ) -> Result<zarr_store::PutFrom, StoreError> {
        if self.only_missing && self.inner().head(key)?.is_some() {
            return Ok(zarr_store::PutFrom::Copied);
        }
        // No server copies on a condition.
        let put = || self.inner().put_from(key, from, from_key, expected, sharing);
        self.pass(Operation::Put, key.as_str(), put)
    }

    fn rewrite(
        &self,
        key: &Key,
        expected: &zarr_store::ObjectMeta,
        pieces: &[zarr_store::RewritePiece<'_>],
    ) -> Result<zarr_store::Rewrite, StoreError> {
        match self.hold.means {
            // What is there stays.
            _ if self.only_missing => Ok(zarr_store::Rewrite::Written),
            // By a put on a condition.
            Means::Conditions => Ok(zarr_store::Rewrite::Unsupported),
            _ => self
                .pass(Operation::Put, key.as_str(), || self.inner().rewrite(key, expected, pieces)),
        }
    }

    fn put_in_pieces(&self, key: &Key) -> Result<Option<Box<dyn PieceWriter + '_>>, StoreError> {
        if self.hold.means == Means::Conditions {
            // By a put on a condition.
            return Ok(None);
        }
        let Some(pieces) = self.inner().put_in_pieces(key)? else { return Ok(None) };
        let key = key.clone();
        // Others may lock the marker while the pieces are written.
        let put = move |pieces: Box<dyn PieceWriter + '_>| {
            self.pass(Operation::Put, key.as_str(), || {
                match self.only_missing && self.inner().head(&key)?.is_some() {
                    true => Ok(()),
                    false => pieces.put(),
                }
            })
        };
        Ok(Some(put_by(pieces, put)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_store::{MemoryStore, StoreExt as _};

    /// A store with conditions, as a run sees it whose marker another has replaced.
    fn overtaken() -> (Arc<dyn Store>, Arc<dyn Store>) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let marker = Key::new("marker").expect("a key");
        store.put(&marker, b"run 1").expect("memory");
        let hold = Hold::new(&store, marker.clone(), vec![b"run 1".to_vec()]).expect("memory");
        assert_eq!(hold.means, Means::Conditions);
        let held = hold.store(&store);
        held.put(&Key::new("c").expect("a key"), b"1").expect("its own");
        store.put(&marker, b"run 2").expect("memory");
        (store, held)
    }

    /// Where a put needs a condition, no object is put piece by piece; under locks it is, by the run alone.
    #[test]
    fn pieces_are_put_under_the_marker_alone() {
        let key = Key::new("c").expect("a key");
        let put = |store: &Arc<dyn Store>, bytes: &'static [u8]| {
            let Some(mut pieces) = Store::put_in_pieces(store, &key)? else { return Ok(false) };
            pieces.write_all(bytes).expect("writes");
            pieces.put().map(|()| true)
        };
        let (store, held) = overtaken();
        assert!(!put(&held, b"2").expect("nothing is put"));
        assert_eq!(store.read(&key).expect("memory").as_deref(), Some(&b"1"[..]));

        let folder = tempfile::tempdir().expect("a folder");
        let local = zarr_store::LocalStore::open(folder.path()).expect("opens");
        let store: Arc<dyn Store> = Arc::new(local);
        let marker = Key::new("marker").expect("a key");
        store.put(&marker, b"run 1").expect("puts");
        let hold = Hold::new(&store, marker.clone(), vec![b"run 1".to_vec()]).expect("locks");
        assert!(put(&hold.store(&store), b"1").expect("its own"));
        assert!(put(&hold.store_of_missing(&store), b"2").expect("stays"));
        assert_eq!(store.read(&key).expect("reads").as_deref(), Some(&b"1"[..]));
        store.put(&marker, b"run 2").expect("puts");
        let late = put(&hold.store(&store), b"3");
        assert!(matches!(late, Err(StoreError::Overtaken { .. })), "{late:?}");
        assert_eq!(store.read(&key).expect("reads").as_deref(), Some(&b"1"[..]));
    }

    /// Another run may take over while pieces are written, with and without locks: nothing is put then.
    #[test]
    fn a_run_that_is_overtaken_within_an_object_does_not_put_it() {
        for has_locks in [true, false] {
            let folder = tempfile::tempdir().expect("a folder");
            let local = zarr_store::LocalStore::open(folder.path()).expect("opens");
            let store: Arc<dyn Store> = Arc::new(local);
            let (key, marker) = (Key::new("c").expect("a key"), Key::new("marker").expect("a key"));
            store.put(&marker, b"run 1").expect("puts");
            let texts = vec![b"run 1".to_vec()];
            let mut hold = Hold::new(&store, marker.clone(), texts).expect("locks");
            assert_eq!(hold.means, Means::Lock);
            if !has_locks {
                Arc::get_mut(&mut hold).expect("alone").means = Means::Look;
            }
            let (held, missing) = (hold.store(&store), hold.store_of_missing(&store));
            let begin = |held| Store::put_in_pieces(held, &key).expect("begins").expect("pieces");
            let (mut late, mut kept) = (begin(&*held), begin(&*missing));
            late.write_all(b"late").expect("writes");
            kept.write_all(b"late").expect("writes");
            drop(Store::lock(&store, &marker).expect("nobody holds it"));
            store.put(&key, b"other").expect("puts");
            kept.put().expect("what is there stays");
            store.put(&marker, b"run 2").expect("puts");
            let late = late.put();
            assert!(matches!(late, Err(StoreError::Overtaken { .. })), "{late:?}");
            assert_eq!(store.read(&key).expect("reads").as_deref(), Some(&b"other"[..]));
        }
    }

    #[test]
    fn an_object_of_another_run_stays() {
        let (store, held) = overtaken();
        let key = Key::new("c").expect("a key");
        for bytes in [&b"2"[..], b"1"] {
            let late = held.put(&key, bytes);
            assert!(matches!(late, Err(StoreError::Overtaken { .. })), "{late:?}");
            assert_eq!(store.read(&key).expect("memory").as_deref(), Some(&b"1"[..]));
        }
        let late = Store::delete(&*held, &key);
        assert!(matches!(late, Err(StoreError::Overtaken { .. })), "{late:?}");
    }

    #[test]
    fn new_objects_are_noticed_after_a_while() {
        let (_, held) = overtaken();
        let late = (0..100).find_map(|number| {
            held.put(&Key::new(format!("n/{number}")).expect("a key"), b"1").err()
        });
        assert!(matches!(late, Some(StoreError::Overtaken { .. })), "{late:?}");
    }
}
