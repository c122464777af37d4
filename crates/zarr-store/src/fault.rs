//! A store that fails on purpose.

use std::io::{self, IoSlice, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::buffer::assemble;
use super::{
    AsyncStore, GetInto, Key, KeyFilter, Layer, Links, Listing, ObjectMeta, Operation, PieceWriter,
    Prefix, PutMode, PutOutcome, ReadRange, Store, StoreError,
};
use crate::store::listing::{failed_listing, until_error};

/// A way in which an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It fails with an error of this kind, without reaching the store.
    Fail(io::ErrorKind),
    /// It succeeds, but takes this much longer.
    Delay(Duration),
    /// A read sees the object cut to at most this many bytes; a write stores no more than these and
    /// reports success. Other operations are not affected.
    Truncate(u64),
    /// It and every later operation fail without reaching the store: the process or the connection
    /// ended before it.
    DieBefore,
    /// It takes effect but fails, and every later operation fails without effect: the process or the
    /// connection ended before the response.
    DieAfter,
}

/// A store for tests: another store, with faults at chosen operations or keys.
///
/// Only for tests, also for tests of other crates that must survive failures. The operations of a
/// piece of work, and so their numbers, may differ between versions.
///
/// Operations that access storage are numbered from 0: calls of the methods of [`Store`], and each
/// delete of a `delete_prefix`. To test that a piece of work survives the end of the process at every step, run
/// it once to count its [`operations`](FaultStore::operations). Then run it for each of them with
/// [`Fault::DieBefore`] and with [`Fault::DieAfter`], and examine the inner store.
///
/// # Examples
/// ```
/// use zarr_store::{Fault, FaultStore, Key, KeyFilter, MemoryStore, StoreExt};
///
/// let inner = MemoryStore::new();
/// let store = FaultStore::new(inner.clone()).at(1, Fault::DieBefore);
/// let (a, b) = (Key::new("a")?, Key::new("b")?);
/// store.put(&a, b"1")?;
/// assert!(store.put(&b, b"2").is_err());
/// assert!(store.read(&a).is_err());
/// assert_eq!(inner.read(&a)?.as_deref(), Some(&b"1"[..]));
/// assert_eq!(inner.read(&b)?, None);
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct FaultStore<S> {
    inner: S,
    by_number: Vec<(u64, Fault)>,
    by_key: Vec<(Key, Fault)>,
    operations: AtomicU64,
    dead: AtomicBool,
}

impl<S: Store> FaultStore<S> {
    /// `inner`, without any faults yet.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            by_number: Vec::new(),
            by_key: Vec::new(),
            operations: AtomicU64::new(0),
            dead: AtomicBool::new(false),
        }
    }

    /// The same store with `fault` at operation `number`, counted from 0.
    #[must_use]
    pub fn at(mut self, number: u64, fault: Fault) -> Self {
        self.by_number.push((number, fault));
        self
    }

    /// The same store with `fault` at every operation on `key`, which does not depend on the order
    /// of threads.
    #[must_use]
    pub fn on(mut self, key: Key, fault: Fault) -> Self {
        self.by_key.push((key, fault));
        self
    }

    /// The number of operations so far.
    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::SeqCst)
    }

    /// Whether a fault has ended the store.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// The inner store.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Counts an operation and finds the faults that it meets.
    fn meet(&self, operation: Operation, name: &str) -> Result<Faults, StoreError> {
        let number = self.operations.fetch_add(1, Ordering::SeqCst);
        let fail = |kind: io::ErrorKind, what: &str| {
            let cause = io::Error::new(kind, format!("{what} at operation {number} on purpose"));
            StoreError::io(operation, name, cause)
        };
        let died = || fail(io::ErrorKind::BrokenPipe, "died");
        let by_number = self.by_number.iter().filter(|(at, _)| *at == number).map(|(_, f)| *f);
        let by_key = self.by_key.iter().filter(|(at, _)| at.as_str() == name).map(|(_, f)| *f);
        let mut most = u64::MAX;
        let mut die_after = false;
        for fault in by_number.chain(by_key) {
            match fault {
                Fault::Fail(kind) => return Err(fail(kind, "failed")),
                Fault::Delay(time) => thread::sleep(time),
                Fault::Truncate(len) => most = most.min(len),
                Fault::DieBefore => self.dead.store(true, Ordering::SeqCst),
                Fault::DieAfter => die_after = true,
            }
        }
        // Only the operation that dies now may still take effect.
        let was_dead = if die_after {
            self.dead.swap(true, Ordering::SeqCst)
        } else {
            self.dead.load(Ordering::SeqCst)
        };
        if was_dead {
            return Err(died());
        }
        Ok(Faults { most, after: die_after.then(died) })
    }

    /// Runs one operation with the faults that it meets; `run` is given how many bytes it may read
    /// or write.
    fn run<T>(
        &self,
        operation: Operation,
        name: &str,
        run: impl FnOnce(u64) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Faults { most, after } = self.meet(operation, name)?;
        let result = run(most);
        after.map_or(result, Err)
    }
}

/// The faults of an operation that does not fail before it begins.
struct Faults {
    /// The number of bytes it may read or write.
    most: u64,
    /// The error to report once it is done.
    after: Option<StoreError>,
}

impl<S: Store> Layer for FaultStore<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.inner
    }

    /// Sessions would have their own numbers.
    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
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
        self.run(operation, name, |_| work())
    }

    /// A whole listing is one operation, numbered when it is requested.
    fn pass_listing<'s, T: Send + 's>(
        &'s self,
        prefix: &Prefix,
        list: impl FnOnce() -> Listing<'s, T>,
    ) -> Listing<'s, T> {
        match self.meet(Operation::List, prefix.as_str()) {
            Ok(Faults { after: None, .. }) => list(),
            Ok(Faults { after, .. }) => Box::new(until_error(list().chain(after.map(Err)))),
            Err(error) => failed_listing(error),
        }
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        self.run(Operation::Get, key.as_str(), |most| {
            if most == u64::MAX {
                return self.inner.get(key, range, out);
            }
            // A shorter object has its last bytes elsewhere.
            out.clear();
            let mut whole = Vec::new();
            let meta = self.inner.get(key, ReadRange::All, &mut whole)?;
            if meta.is_some() {
                range.copy(key, start(&whole, most), out)?;
            }
            Ok(meta.map(|meta| cut(meta, most)))
        })
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.run(Operation::Head, key.as_str(), |most| {
            Ok(self.inner.head(key)?.map(|meta| cut(meta, most)))
        })
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        self.run(Operation::Put, key.as_str(), |most| match most {
            u64::MAX => self.inner.put_opts(key, pieces, mode),
            _ => {
                let bytes = assemble(key, pieces)?;
                self.inner.put_opts(key, &[IoSlice::new(start(&bytes, most))], mode)
            }
        })
    }

    /// Each write is an operation, and the put of what was written.
    fn put_in_pieces(&self, key: &Key) -> Result<Option<Box<dyn PieceWriter + '_>>, StoreError> {
        let Some(pieces) = self.inner.put_in_pieces(key)? else { return Ok(None) };
        Ok(Some(Box::new(FaultyPieces { store: self, key: key.clone(), pieces })))
    }

    /// It would read past a fault that cuts the object.
    fn get_into(&self, _: &Key, _: &mut [u8]) -> Result<GetInto, StoreError> {
        Ok(GetInto::Unsupported)
    }

    /// The sizes of objects that are cut would be missed.
    fn list_described(&self, _: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        None
    }

    /// Each delete is an operation.
    fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<(), StoreError> {
        Layer::list(self, prefix, Links::AsObjects).try_for_each(|key| {
            let key = key?;
            if which(&key) { Layer::delete(self, &key) } else { Ok(()) }
        })
    }
}

/// An object in pieces, with faults.
struct FaultyPieces<'s, S> {
    store: &'s FaultStore<S>,
    key: Key,
    pieces: Box<dyn PieceWriter + 's>,
}

impl<S: Store> Write for FaultyPieces<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { store, key, pieces } = self;
        let fail = |cause| StoreError::io(Operation::Put, &*key, cause);
        let write = |most| pieces.write_all(start(bytes, most)).map_err(fail);
        let written = store.run(Operation::Put, key.as_str(), write);
        written.map(|()| bytes.len()).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pieces.flush()
    }
}

impl<S: Store> PieceWriter for FaultyPieces<'_, S> {
    fn put(self: Box<Self>) -> Result<(), StoreError> {
        let Self { store, key, pieces } = *self;
        store.run(Operation::Put, key.as_str(), |_| pieces.put())
    }
}

fn cut(meta: ObjectMeta, most: u64) -> ObjectMeta {
    ObjectMeta { size: meta.size.min(most), ..meta }
}

fn start(bytes: &[u8], most: u64) -> &[u8] {
    usize::try_from(most).ok().and_then(|most| bytes.get(..most)).unwrap_or(bytes)
}
