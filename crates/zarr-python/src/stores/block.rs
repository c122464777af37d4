//! `with` blocks of a node's store: all writes of a block take effect together.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_kit::array::store::{Operation, Session, StoreError};
use zarr_kit::{Prefix, Store};

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
    /// Within so many nested blocks, in a session if anything has been written. The nodes are those
    /// whose documents the session has put or deleted.
    Within(usize, Option<Session>, BTreeSet<Prefix>),
    /// As above, after an operation failed midway: the session was dropped.
    Failed(usize),
}

impl Block {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_within(&self) -> bool {
        !matches!(*self.state(), State::Outside)
    }

    /// Remembers nodes whose documents the block has put or deleted.
    pub(crate) fn changed(&self, nodes: BTreeSet<Prefix>) {
        if let State::Within(_, _, changed) = &mut *self.state() {
            changed.extend(nodes);
        }
    }

    pub(crate) fn enter(&self) {
        match &mut *self.state() {
            State::Within(depth, ..) | State::Failed(depth) => *depth = depth.saturating_add(1),
            outside => *outside = State::Within(1, None, BTreeSet::new()),
        }
    }

    /// Ends the innermost block, and commits if it was the outermost. `drops` says that an exception
    /// ends it, and nothing is to be stored. Returns the nodes whose documents it has changed, once
    /// they are committed.
    ///
    /// # Errors
    /// Unless it `drops`, why nothing is stored.
    pub(crate) fn exit(&self, drops: bool) -> Result<BTreeSet<Prefix>, StoreError> {
        let _counted = Counted;
        let mut state = self.state();
        if drops && let State::Within(depth, Some(_), _) = *state {
            *state = State::Failed(depth);
        }
        match &mut *state {
            State::Within(depth, ..) | State::Failed(depth) if *depth > 1 => {
                *depth -= 1;
                return Ok(BTreeSet::new());
            }
            _ => {}
        }
        let ended = std::mem::take(&mut *state);
        drop(state);
        match ended {
            State::Within(_, Some(session), changed) => session.commit().map(|()| changed),
            State::Failed(_) if !drops => Err(failed()),
            _ => Ok(BTreeSet::new()),
        }
    }

    /// The store of the block's session, for reads; none if the block has not written.
    pub(crate) fn store(&self) -> Option<Arc<dyn Store>> {
        match &*self.state() {
            State::Within(_, Some(session), _) => Some(Arc::clone(session.store())),
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
            State::Within(_, session, _) => {
                if session.is_none() {
                    *session = store.session()?;
                }
                Ok(session.as_ref().map(|session| Arc::clone(session.store())))
            }
        }
    }

    /// Drops the session.
    pub(crate) fn fail(&self) {
        let mut state = self.state();
        if let State::Within(depth, Some(_), _) = *state {
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
