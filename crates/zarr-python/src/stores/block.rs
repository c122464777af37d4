//! `with` blocks of a node's store: all writes of a block take effect together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_kit::Store;
use zarr_kit::array::Changes;
use zarr_kit::array::store::{Operation, StoreError};

use crate::process::writes::Counted;

/// The `with` block of a store, if there is one. All nodes that were opened by the same handle share
/// it.
#[derive(Default)]
pub(crate) struct Block {
    state: Mutex<State>,
}

#[derive(Default)]
enum State {
    #[default]
    Outside,
    /// Within so many nested blocks, in a session if anything has been written.
    Within(usize, Option<Changes>),
    /// As above, after an operation failed midway: the session was dropped.
    Failed(usize),
}

impl Block {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(&self) {
        match &mut *self.state() {
            State::Within(depth, ..) | State::Failed(depth) => *depth = depth.saturating_add(1),
            outside => *outside = State::Within(1, None),
        }
    }

    /// Ends the innermost block, and commits if it was the outermost. `drops` says that an exception
    /// ends it, and nothing is to be stored. Returns why consolidated metadata could not follow.
    ///
    /// # Errors
    /// Unless it `drops`, why nothing is stored.
    pub(crate) fn exit(&self, drops: bool) -> Result<Option<String>, StoreError> {
        let _counted = Counted;
        let mut state = self.state();
        if drops && let State::Within(depth, Some(_)) = *state {
            *state = State::Failed(depth);
        }
        match &mut *state {
            State::Within(depth, ..) | State::Failed(depth) if *depth > 1 => {
                *depth -= 1;
                return Ok(None);
            }
            _ => {}
        }
        let ended = std::mem::take(&mut *state);
        drop(state);
        match ended {
            State::Within(_, Some(changes)) => changes.commit(),
            State::Failed(_) if !drops => Err(failed()),
            _ => Ok(None),
        }
    }

    /// The store of the block's session, for reads; none if the block has not written.
    pub(crate) fn store(&self) -> Option<Arc<dyn Store>> {
        match &*self.state() {
            State::Within(_, Some(changes)) => Some(Arc::clone(changes.store())),
            _ => None,
        }
    }

    /// The store of the block's session, for writes; none outside of blocks, and in stores without
    /// sessions.
    pub(crate) fn store_to_change(
        &self,
        store: &Arc<dyn Store>,
    ) -> Result<Option<Arc<dyn Store>>, StoreError> {
        match &mut *self.state() {
            State::Outside => Ok(None),
            State::Failed(_) => Err(failed()),
            State::Within(_, changes) => {
                if changes.is_none() {
                    *changes = store.session()?.map(Changes::of);
                }
                Ok(changes.as_ref().map(|changes| Arc::clone(changes.store())))
            }
        }
    }

    /// Drops the session.
    pub(crate) fn fail(&self) {
        let mut state = self.state();
        if let State::Within(depth, Some(_)) = *state {
            *state = State::Failed(depth);
        }
    }
}

fn failed() -> StoreError {
    StoreError::container(
        Operation::Put,
        "",
        "an operation in this `with` block failed after it had written a part; nothing of the \
         block is stored",
    )
}
