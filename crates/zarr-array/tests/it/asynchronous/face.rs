//! A store with an asynchronous face whose answers come when and in the order that a test wants.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;
use zarr_array::store::{
    AsyncStore, Capabilities, Key, Object, ObjectMeta, ReadRange, Store, StoreError, StoreFuture,
};
use zarr_store_tests::hand_on;

type Answer = Result<Option<Object>, StoreError>;
type Waiting = (oneshot::Sender<Answer>, Answer);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It answers when the test says so.
    Held,
    /// It answers at once.
    Ready,
    /// It has no such face, but asks for many requests all the same.
    Blocking,
}

#[derive(Debug, Clone)]
pub(crate) struct Faced {
    inner: Arc<dyn Store>,
    manner: Manner,
    waiting: Arc<Mutex<Vec<Waiting>>>,
}

impl Faced {
    pub(crate) fn new(inner: Arc<dyn Store>, manner: Manner) -> Self {
        Self { inner, manner, waiting: Arc::default() }
    }

    /// How many reads wait for their answers.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.lock().expect("nobody panics").len()
    }

    /// How many of them nobody waits for any more.
    pub(crate) fn given_up(&self) -> usize {
        let waiting = self.waiting.lock().expect("nobody panics");
        waiting.iter().filter(|(sender, _)| sender.is_closed()).count()
    }

    /// Answers the waiting read of this number, if there is one.
    pub(crate) fn answer(&self, number: usize) -> bool {
        let mut waiting = self.waiting.lock().expect("nobody panics");
        if number >= waiting.len() {
            return false;
        }
        let (sender, answer) = waiting.swap_remove(number);
        // Whoever has given up does not want it.
        let _ = sender.send(answer);
        true
    }

    fn wait(
        &self,
        mut bytes: Vec<u8>,
        read: impl FnOnce(&mut Vec<u8>) -> Result<Option<ObjectMeta>, StoreError>,
    ) -> StoreFuture<Option<Object>> {
        let found = read(&mut bytes);
        let answer = found.map(|meta| meta.map(|meta| Object { bytes, meta }));
        if self.manner == Manner::Ready {
            return Box::pin(std::future::ready(answer));
        }
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().expect("nobody panics").push((sender, answer));
        Box::pin(async { receiver.await.expect("answered before it is dropped") })
    }
}

impl AsyncStore for Faced {
    fn get(&self, key: &Key, range: ReadRange<'_>, buffer: Vec<u8>) -> StoreFuture<Option<Object>> {
        self.wait(buffer, |bytes| self.inner.get(key, range, bytes))
    }
}

impl Store for Faced {
    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        (self.manner != Manner::Blocking).then(|| -> Arc<dyn AsyncStore> { Arc::new(self.clone()) })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new().requests_in_flight(NonZeroUsize::MIN.saturating_add(999))
    }

    hand_on!(inner: get put_opts delete list list_dir lock);
}
