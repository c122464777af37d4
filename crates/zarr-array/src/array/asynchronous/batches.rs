//! Reading from a store that answers as fast as a thread can ask: asked and decoded in one go.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use zarr_view::OwnedGrid;

use super::{Free, interrupted};
use crate::array::worker::{ChunkBuffers, Worker};
use crate::array::{Array, decoders};
use crate::error::ArrayError;
use crate::selection::Selection;
use crate::transfer::{Selected, Transfer};

/// How long a thread goes on with one read before others have their turn: long beside what handing
/// it over takes, even where the executor is busy.
///
/// None at all in tests of the crate, where every chunk takes a turn of its own.
const TURN: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_millis(20) };

/// A read under way, as the threads see it.
struct Batches {
    array: Array,
    selection: Selection,
    length: usize,
    /// The first part that nobody has begun.
    next: AtomicU64,
    /// How many are begun at once.
    batch: u64,
    /// What turns took and had no time for.
    left_over: Mutex<Vec<Range<u64>>>,
    buffers: Free<ChunkBuffers>,
    given_up: AtomicBool,
}

impl Array {
    /// Reads on so many threads at once, each of which takes chunks until there are none.
    pub(super) async fn read_in_batches<M: AsMut<[u8]> + Send + 'static>(
        &self,
        selection: &Selection,
        transfer: &Transfer<'_>,
        memory: M,
    ) -> Result<M, ArrayError> {
        let length = transfer.selected.length;
        let places = transfer.cut_owned(memory)?;
        let threads = self.threads_for(length).min(decoders::count());
        let threads = self.in_flight.map_or(threads, |chunks| threads.min(chunks));
        let threads = u64::try_from(threads.get()).unwrap_or(1).min(transfer.parts());
        let batches = Arc::new(Batches {
            array: self.clone(),
            selection: selection.clone(),
            length,
            next: AtomicU64::new(0),
            // Few, so that threads end together; several, where there are very many.
            batch: transfer
                .parts()
                .checked_div(threads.saturating_mul(64))
                .unwrap_or(0)
                .clamp(1, 64),
            left_over: Mutex::default(),
            buffers: Free::default(),
            given_up: AtomicBool::new(false),
        });
        let end = GiveUp(&batches.given_up);
        try_join_all((0..threads).map(|_| batches.read(&places))).await?;
        drop(end);
        // Every part has been read, and each thread's share in the places dropped.
        places.into_inner().map_err(|_| interrupted("a chunk is still being decoded"))
    }
}

impl Batches {
    /// Reads on one thread at a time, turn after turn.
    async fn read<M: AsMut<[u8]> + Send + 'static>(
        self: &Arc<Self>,
        places: &OwnedGrid<M>,
    ) -> Result<(), ArrayError> {
        loop {
            let (batches, places) = (Arc::clone(self), places.clone());
            let turn = decoders::READERS.run(move || batches.turn(&places));
            if turn.await.map_err(interrupted)?? == Left::Nothing {
                return Ok(());
            }
        }
    }

    fn turn<M: AsMut<[u8]> + Send + 'static>(
        &self,
        places: &OwnedGrid<M>,
    ) -> Result<Left, ArrayError> {
        let transfer = Transfer::new(Selected::new(&self.array, &self.selection)?, self.length)?;
        let mut worker = Worker::with_buffers(&self.array, self.buffers.take());
        // What it took to begin is no part of the turn, or there might be no time left.
        let begun = Instant::now();
        let mut left = Left::Nothing;
        while let Some(parts) = self.take(transfer.parts()) {
            let (mut done, mut is_over) = (parts.start, false);
            let read = transfer.for_each_part(parts.clone(), |part| {
                // Never before the first, so that each turn reads something.
                is_over |= done > parts.start && begun.elapsed() > TURN;
                if is_over || self.given_up.load(Ordering::Relaxed) {
                    return Ok(());
                }
                done = done.saturating_add(1);
                let place = places.take(part.number);
                let mut place =
                    place.expect("each part is visited once, so that its place is there");
                self.array.read_part(part, &mut place.lend(), &mut worker)
            });
            // The others are told at once, not when the executor comes to it.
            read.inspect_err(|_| self.given_up.store(true, Ordering::Relaxed))?;
            if is_over {
                self.left_over().push(done..parts.end);
            }
            if is_over || begun.elapsed() > TURN {
                left = Left::Perhaps;
                break;
            }
        }
        self.buffers.give(worker.buffers);
        Ok(left)
    }

    /// Parts that nobody has begun, first those that a turn had no time for.
    fn take(&self, parts: u64) -> Option<Range<u64>> {
        if self.given_up.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(left_over) = self.left_over().pop() {
            return Some(left_over);
        }
        let start = self.next.fetch_add(self.batch, Ordering::Relaxed);
        (start < parts).then(|| start..start.saturating_add(self.batch).min(parts))
    }

    fn left_over(&self) -> MutexGuard<'_, Vec<Range<u64>>> {
        self.left_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(PartialEq, Eq)]
enum Left {
    Nothing,
    Perhaps,
}

/// Keeps the threads from beginning further chunks once the read has ended, however it did.
struct GiveUp<'a>(&'a AtomicBool);

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
