//! Divides the chunks of an operation into turns: a thread requests and decodes or encodes chunks
//! for a while, then yields to other operations.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{join_all, try_join_all};

use crate::array::Array;
use crate::array::write::log::{Done, Log};
use crate::error::ArrayError;
use crate::threads;

/// How long a thread works on one operation before others get their turn. It is long compared
/// with the cost of passing an operation on, even if the executor is busy.
///
/// It is zero in the crate's own tests, where every chunk takes a separate turn.
const TURN: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_millis(20) };

/// An operation on the numbered chunk parts of a selection, shared by its threads.
pub(super) struct Turns<J> {
    array: Array,
    /// The work of a turn.
    job: J,
    shared: Shared,
}

struct Shared {
    parts: u64,
    /// The number of threads that work at once.
    threads: u64,
    /// The number of parts that are begun at once.
    batch: u64,
    /// The first part that has not been begun.
    next: AtomicU64,
    /// Parts that turns took but had no time for.
    left_over: Mutex<Vec<Range<u64>>>,
    given_up: AtomicBool,
    log: Log,
}

impl<J: Fn(&mut Turn<'_>) -> Result<(), ArrayError> + Send + Sync + 'static> Turns<J> {
    /// An operation on this many parts of chunks and bytes. `job` sets up its state, then
    /// processes the parts that the turn gives it.
    pub(super) fn new(array: &Array, parts: u64, bytes: usize, job: J) -> Self {
        let threads = array.threads_in_flight(array.threads_for(bytes));
        let threads = u64::try_from(threads.get()).unwrap_or(1).min(parts);
        // Few per batch, so that threads end together; several if there are very many.
        let batch = parts.checked_div(threads.saturating_mul(64)).unwrap_or(0).clamp(1, 64);
        let shared = Shared {
            parts,
            threads,
            batch,
            next: AtomicU64::new(0),
            left_over: Mutex::default(),
            given_up: AtomicBool::new(false),
            log: Log::default(),
        };
        Self { array: array.clone(), job, shared }
    }

    /// Works until nothing is left, or until the first error. Threads that are working on a chunk
    /// at that time may continue with it.
    pub(super) async fn run(self) -> Result<(), ArrayError> {
        let turns = Arc::new(self);
        let _end = GiveUp(Arc::clone(&turns));
        try_join_all((0..turns.shared.threads).map(|_| turns.thread())).await.map(drop)
    }

    /// As [`run`](Turns::run), but when it returns an error every thread has ended, and the log
    /// records which parts were done.
    pub(super) async fn run_to_end(self) -> Result<(), (ArrayError, Log)> {
        let turns = Arc::new(self);
        let end = GiveUp(Arc::clone(&turns));
        let ended = join_all((0..turns.shared.threads).map(|_| turns.thread())).await;
        drop(end);
        let Err(error) = ended.into_iter().collect::<Result<(), _>>() else { return Ok(()) };
        // Each thread has dropped its share.
        let log = Arc::into_inner(turns).map_or_else(Log::default, |turns| turns.shared.log);
        Err((error, log))
    }

    /// Works on one thread at a time, one turn after another.
    async fn thread(self: &Arc<Self>) -> Result<(), ArrayError> {
        loop {
            let turns = Arc::clone(self);
            let turn = threads::run_blocking(&**self.array.store(), move || turns.turn());
            if turn.await?? == Left::Nothing {
                return Ok(());
            }
        }
    }

    fn turn(&self) -> Result<Left, ArrayError> {
        let mut turn = Turn {
            shared: &self.shared,
            begun: Instant::now(),
            worked: false,
            is_over: false,
            range: 0..0,
            done: None,
        };
        let done = (self.job)(&mut turn);
        // The other threads see it at once, not when the executor gets to it.
        done.inspect_err(|_| self.shared.give_up())?;
        Ok(if turn.is_over { Left::Perhaps } else { Left::Nothing })
    }
}

impl Shared {
    /// Parts that have not begun; first the parts that a turn had no time for.
    fn take(&self) -> Option<Range<u64>> {
        if self.is_given_up() {
            return None;
        }
        if let Some(left_over) = self.left_over().pop() {
            return Some(left_over);
        }
        let start = self.next.fetch_add(self.batch, Ordering::Relaxed);
        (start < self.parts).then(|| start..start.saturating_add(self.batch).min(self.parts))
    }

    fn left_over(&self) -> MutexGuard<'_, Vec<Range<u64>>> {
        self.left_over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }
}

/// A thread's turn.
pub(super) struct Turn<'a> {
    shared: &'a Shared,
    begun: Instant,
    /// Whether it has processed any part.
    worked: bool,
    /// Whether its time is up.
    is_over: bool,
    /// The parts that it has taken and not processed.
    range: Range<u64>,
    done: Option<Done<'a>>,
}

impl Turn<'_> {
    /// Starts the clock. The setup does not count, since otherwise there might be no time left.
    pub(super) fn begin(&mut self) {
        self.begun = Instant::now();
    }

    /// The numbers of the parts to process next, each only while [`goes_on`](Turn::goes_on)
    /// returns true; `None` at the end of the turn.
    pub(super) fn next(&mut self) -> Option<Range<u64>> {
        self.done = None;
        if !self.range.is_empty() {
            self.shared.left_over().push(self.range.clone());
            self.range = 0..0;
        }
        if self.is_over || !self.goes_on() {
            return None;
        }
        let range = self.shared.take()?;
        self.done = Some(self.shared.log.start(range.start));
        self.range = range.clone();
        Some(range)
    }

    /// Whether to process one more part. Always true before the first one, so that each turn does
    /// something, unless the operation has been cancelled.
    pub(super) fn goes_on(&mut self) -> bool {
        self.is_over |= self.worked && self.begun.elapsed() > TURN;
        !self.is_over && !self.shared.is_given_up()
    }

    /// Records that a part is done.
    pub(super) fn one_more(&mut self) {
        self.worked = true;
        self.range.start += 1;
        if let Some(done) = &mut self.done {
            done.one_more();
        }
    }
}

#[derive(PartialEq, Eq)]
enum Left {
    Nothing,
    Perhaps,
}

/// Stops the threads from beginning further chunks once the operation has ended, however it
/// ended.
struct GiveUp<J>(Arc<Turns<J>>);

impl<J> Drop for GiveUp<J> {
    fn drop(&mut self) {
        self.0.shared.give_up();
    }
}
