//! A store that reports reads and writes of another store: for measurements and progress.

use std::fmt::Debug;
use std::io::{self, IoSlice, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_kit::array::store::{
    AsyncStore, GetInto, Key, Layer, ObjectMeta, PieceWriter, PutFrom, PutMode, PutOutcome,
    ReadRange, Rewrite, RewritePiece, Sharing, Store, StoreError,
};

/// Receives events, from any number of threads at once.
pub(crate) trait Watch: Debug + Send + Sync {
    /// So many bytes of an object have been read, or there is no such object.
    fn got(&self, _bytes: Option<u64>, _took: Duration) {}

    /// An object of so many bytes has been written.
    fn put(&self, _key: &Key, _bytes: u64) {}

    /// An object has been removed, or was not there.
    fn deleted(&self, _key: &Key) {}
}

/// The reported methods are here; all others pass through.
#[derive(Debug)]
pub(crate) struct WatchedStore {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) watch: Arc<dyn Watch>,
}

impl Layer for WatchedStore {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn around(&self, inner: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self { inner, watch: Arc::clone(&self.watch) }))
    }

    /// Reads that are watched block.
    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let begun = Instant::now();
        let found = self.inner().get(key, range, out)?;
        let bytes = u64::try_from(out.len()).unwrap_or(u64::MAX);
        self.watch.got(found.as_ref().map(|_| bytes), begun.elapsed());
        Ok(found)
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        let begun = Instant::now();
        let read = self.inner().get_into(key, out)?;
        let bytes = match read {
            GetInto::Unsupported => return Ok(read),
            GetInto::Missing => None,
            GetInto::Read(_) => Some(u64::try_from(out.len()).unwrap_or(u64::MAX)),
        };
        self.watch.got(bytes, begun.elapsed());
        Ok(read)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        let outcome = self.inner().put_opts(key, pieces, mode)?;
        let bytes = pieces.iter().map(|piece| u64::try_from(piece.len()).unwrap_or(u64::MAX)).sum();
        self.watch.put(key, bytes);
        Ok(outcome)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.inner().delete(key)?;
        self.watch.deleted(key);
        Ok(())
    }

    fn put_from(
        &self,
        key: &Key,
        from: &dyn Store,
        from_key: &Key,
        expected: &ObjectMeta,
        sharing: Sharing,
    ) -> Result<PutFrom, StoreError> {
        let done = self.inner().put_from(key, from, from_key, expected, sharing)?;
        if !matches!(done, PutFrom::Unsupported | PutFrom::Changed) {
            self.watch.put(key, expected.size);
        }
        Ok(done)
    }

    fn rewrite(
        &self,
        key: &Key,
        expected: &ObjectMeta,
        pieces: &[RewritePiece<'_>],
    ) -> Result<Rewrite, StoreError> {
        let done = self.inner().rewrite(key, expected, pieces)?;
        if done == Rewrite::Written {
            self.watch.put(key, pieces.iter().map(RewritePiece::len).sum());
        }
        Ok(done)
    }

    fn put_in_pieces(&self, key: &Key) -> Result<Option<Box<dyn PieceWriter + '_>>, StoreError> {
        let Some(pieces) = self.inner().put_in_pieces(key)? else { return Ok(None) };
        let (watch, key) = (&*self.watch, key.clone());
        Ok(Some(Box::new(WatchedPieces { watch, key, pieces, bytes: 0 })))
    }
}

/// An object in pieces, which is reported when it is put.
struct WatchedPieces<'s> {
    watch: &'s dyn Watch,
    key: Key,
    pieces: Box<dyn PieceWriter + 's>,
    bytes: u64,
}

impl Write for WatchedPieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.pieces.write(bytes)?;
        self.bytes = self.bytes.saturating_add(u64::try_from(written).unwrap_or(u64::MAX));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pieces.flush()
    }
}

impl PieceWriter for WatchedPieces<'_> {
    fn put(self: Box<Self>) -> Result<(), StoreError> {
        let Self { watch, key, pieces, bytes } = *self;
        pieces.put()?;
        watch.put(&key, bytes);
        Ok(())
    }
}
