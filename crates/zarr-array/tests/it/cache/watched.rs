//! A codec and a store that count, for arrays with a cache.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use zarr_array::store::{
    AsyncStore, Capabilities, Key, Layer, ObjectMeta, Operation, ReadRange, Store, StoreError,
    StoreExt as _,
};
use zarr_codec::{BytesCodec, CodecError, Codecs, DecodedLength, Options};
use zarr_metadata::{Codec, Extension};

/// Bytes as they are; counts what is decoded.
struct Decodes(Arc<AtomicU64>);

impl BytesCodec for Decodes {
    fn encode(&self, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        Ok(decoded.to_vec())
    }

    fn decode(&self, encoded: &[u8], _: DecodedLength) -> Result<Vec<u8>, CodecError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(encoded.to_vec())
    }
}

pub(super) fn counted(decodes: &Arc<AtomicU64>) -> (Codec, Options) {
    let (name, decodes) = ("acme.counted", Arc::clone(decodes));
    let codecs = Codecs::new().with_bytes_codec(name, move |_| Ok(Decodes(decodes.clone())));
    let codec = Codec::Unknown(Extension::new(name, None).expect("a name"));
    (codec, Options::new().codecs(codecs))
}

/// What a store says of its objects.
pub(super) type Tells = fn(ObjectMeta) -> ObjectMeta;

/// What it says in answer to heads alone.
pub(super) type HeadsTell = fn(ObjectMeta) -> Result<ObjectMeta, StoreError>;

/// A store that counts, says what it is told to of its objects, and lets others write before a get.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) inner: Arc<dyn Store>,
    heads: AtomicU64,
    gets: AtomicU64,
    tells: Mutex<Option<Tells>>,
    heads_tell: Mutex<Option<HeadsTell>>,
    pub(super) before_get: Mutex<Option<(Key, Vec<u8>)>>,
    /// Whether it takes many requests at once, as a server does.
    is_far: AtomicBool,
}

impl Watched {
    pub(super) fn new(inner: impl Store + 'static) -> Arc<Self> {
        let (heads, gets) = (AtomicU64::new(0), AtomicU64::new(0));
        let (tells, heads_tell) = (Mutex::default(), Mutex::default());
        let (before_get, is_far) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(Self {
            inner: Arc::new(inner),
            heads,
            gets,
            tells,
            heads_tell,
            before_get,
            is_far,
        })
    }

    pub(super) fn set_far(&self) {
        self.is_far.store(true, Ordering::Relaxed);
    }

    /// The heads and gets since the last call.
    pub(super) fn asked(&self) -> (u64, u64) {
        (self.heads.swap(0, Ordering::Relaxed), self.gets.swap(0, Ordering::Relaxed))
    }

    pub(super) fn tell(&self, tells: Tells) {
        *self.tells.lock().unwrap() = Some(tells);
    }

    pub(super) fn tell_heads(&self, tells: Option<HeadsTell>) {
        *self.heads_tell.lock().unwrap() = tells;
    }

    fn told(&self, found: Option<ObjectMeta>) -> Option<ObjectMeta> {
        match *self.tells.lock().unwrap() {
            Some(tells) => found.map(tells),
            None => found,
        }
    }
}

impl Layer for Watched {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        self.gets.fetch_add(1, Ordering::Relaxed);
        let first = self.before_get.lock().unwrap().take();
        if let Some((key, bytes)) = first {
            self.inner.put(&key, &bytes)?;
        }
        Ok(self.told(Store::get(&*self.inner, key, range, out)?))
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.heads.fetch_add(1, Ordering::Relaxed);
        let found = self.told(Store::head(&*self.inner, key)?);
        match *self.heads_tell.lock().unwrap() {
            Some(tells) => found.map(tells).transpose(),
            None => Ok(found),
        }
    }

    fn capabilities(&self) -> Capabilities {
        let inner = Store::capabilities(&*self.inner);
        match self.is_far.load(Ordering::Relaxed) {
            true => inner.requests_in_flight(NonZeroUsize::MIN.saturating_add(999)),
            false => inner,
        }
    }

    fn pass<T>(
        &self,
        operation: Operation,
        _: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if operation == Operation::Get {
            self.gets.fetch_add(1, Ordering::Relaxed);
        }
        work()
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}
