//! Shows progress on a terminal, and nothing in a pipe.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use zarr_kit::array::store::Key;
use zarr_kit::grid::{Growth, Run};
use zarr_kit::metadata::Printable;
use zarr_kit::report::words;
use zarr_kit::{Array, Selection};

use crate::stores::access;
use crate::stores::watched_store::{Watch, WatchedStore};

/// A bar with rate and remaining time on standard error, if that is a terminal. Clones share the
/// bar.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let target = match access::is_quiet() {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(5),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let bar = Self { bar };
        // The first setting would be drawn at once, without the next settings.
        bar.style("");
        bar
    }

    /// A bar that is not shown, and counts.
    pub(crate) fn hidden() -> Self {
        Self { bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()) }
    }

    fn style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    /// Whether it is visible.
    pub(crate) fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Runs code that may write to the same terminal. The code must not use the bar.
    pub(crate) fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        // A bar that has not been shown yet would be drawn empty.
        if self.bar.length().is_none() { write() } else { self.bar.suspend(write) }
    }

    /// Reports that `done` of `total` chunks are done, with this many bytes.
    pub(crate) fn chunks(&self, name: &str, done: u64, total: u64, bytes: u64) {
        let name = &Printable(name).to_string();
        if self.bar.prefix() != *name {
            self.bar.set_message("");
            self.bar.set_length(total);
            self.bar.set_prefix(name.to_owned());
            self.style("{prefix} {wide_bar} {human_pos}/{human_len} chunks{msg}, {eta} left");
            self.bar.set_position(0);
            self.bar.reset_eta();
        }
        // Several threads report, not always in order.
        if done > self.bar.position() {
            self.bar.set_message(format!(", {}", words::bytes(bytes.into())));
            self.bar.set_position(done);
        }
    }

    /// How much is done, such as `3 of 12 chunks`; `None` before the first report.
    pub(crate) fn said(&self) -> Option<String> {
        let (done, total) = (self.bar.position(), self.bar.length());
        let bytes = |count: u64| words::bytes(count.into());
        match (total, self.bar.prefix().is_empty()) {
            (None, _) if done == 0 => None,
            (None, _) => Some(bytes(done)),
            // The single chunks are not counted without a terminal.
            (Some(total), false) if done == 0 && !self.is_shown() => {
                Some(format!("some of {}", words::counted(total, "chunk")))
            }
            (Some(total), false) => {
                Some(format!("{} of {}", words::count(done), words::counted(total, "chunk")))
            }
            (Some(total), true) => Some(format!("{} of {}", bytes(done), bytes(total))),
        }
    }

    /// Reports that this many bytes are done, of a total that may be unknown.
    pub(crate) fn bytes(&self, name: &str, done: u64, total: Option<u64>) {
        let name = &Printable(name).to_string();
        if self.bar.message() != *name {
            self.bar.set_message(name.to_owned());
        }
        if self.bar.length() != total || self.bar.position() == 0 {
            match total {
                Some(total) => self.bar.set_length(total),
                None => self.bar.unset_length(),
            }
            self.style(match total {
                Some(_) => {
                    "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}"
                }
                None => "{msg} {spinner} {binary_bytes} {binary_bytes_per_sec}",
            });
        }
        self.bar.set_position(done);
    }

    /// Removes the bar from the terminal for good.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Shows how far a command is that moves all elements at once.
#[derive(Debug)]
pub(crate) struct Moved {
    bar: Bar,
    work: Work,
    /// Objects that were written or removed.
    objects: AtomicU64,
    /// Bytes that were read or written.
    bytes: AtomicU64,
}

/// The state that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Bytes that are read. How many there will be is not known.
    Reading,
    /// Chunks that are written, of so many.
    Writing { chunks: u64 },
}

impl Work {
    /// Writing a region of an array.
    pub(crate) fn writing(array: &Array, region: &Selection) -> Self {
        // A region that is not of the array is refused before anything is written.
        let chunks = array.grid().select(region.axes()).map_or(0, |chunks| chunks.len());
        Self::Writing { chunks }
    }

    /// Appending so many indices to an axis, in chunks of these edges.
    pub(crate) fn appending(array: &Array, axis: usize, count: u64, edges: &[Run]) -> Self {
        let growth = match edges {
            [] => Growth::RepeatLast,
            edges => Growth::Edges(edges),
        };
        let chunks = array.grid().axes().iter().enumerate().map(|(at, old)| {
            if at != axis {
                return Some(old.occupied());
            }
            // Edges that do not fit are refused before anything is written.
            let new = old.resized(old.extent().checked_add(count)?, growth).ok()?;
            let chunks = new.chunks_in(old.extent()..new.extent()).ok()?;
            Some(chunks.end - chunks.start)
        });
        let chunks = chunks.map(|chunks| chunks.unwrap_or(0)).fold(1, u64::saturating_mul);
        Self::Writing { chunks }
    }
}

impl Moved {
    /// The same array, with operations that the bar shows.
    pub(crate) fn show(array: &Array, work: Work, bar: &Bar) -> Array {
        // Before several threads report.
        if let Work::Writing { chunks } = work {
            bar.chunks("writing", 0, chunks, 0);
        }
        match bar.is_shown() {
            true => Self::on(array, work, bar.clone()),
            // The store does more than its watched form forwards.
            false => array.clone(),
        }
    }

    fn on(array: &Array, work: Work, bar: Bar) -> Array {
        let (objects, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        let watch = Arc::new(Self { bar, work, objects, bytes });
        let store = WatchedStore { inner: Arc::clone(array.store()), watch };
        array.clone().with_store(Arc::new(store))
    }

    /// An object has its new content.
    fn changed(&self, key: &Key, bytes: u64) {
        let Work::Writing { chunks } = self.work else { return };
        // Documents are no chunks.
        if key.name() == "zarr.json" {
            return;
        }
        let objects = self.objects.fetch_add(1, Ordering::Relaxed) + 1;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.bar.chunks("writing", objects.min(chunks), chunks, bytes);
    }
}

impl Watch for Moved {
    fn got(&self, bytes: Option<u64>, _took: Duration) {
        if self.work == Work::Reading {
            let bytes = bytes.unwrap_or(0);
            let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            self.bar.bytes("reading: stored", bytes, None);
        }
    }

    fn put(&self, key: &Key, bytes: u64) {
        self.changed(key, bytes);
    }

    fn deleted(&self, key: &Key) {
        self.changed(key, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarr_kit::array::Resize;
    use zarr_kit::grid::Run;
    use zarr_kit::{Array, ArrayBuilder, Codec, DataType, MemoryStore, Prefix, Selection};

    use super::{Bar, Moved, Work};

    /// 3 rows of 4, in 2 by 2 chunks.
    fn array() -> Array {
        let metadata = ArrayBuilder::new([3, 4], DataType::Uint8)
            .chunks([[2, 1].into(), [3, 1].into()])
            .codecs([Codec::array_to_bytes(&DataType::Uint8)])
            .build()
            .expect("a document");
        let store = Arc::new(MemoryStore::new());
        Array::create(store, &Prefix::root(), metadata).expect("an array")
    }

    /// A bar of which nothing is done yet.
    fn started(work: Work) -> Bar {
        let bar = Bar { bar: indicatif::ProgressBar::hidden() };
        assert_eq!(bar.said(), None);
        let Work::Writing { chunks } = work else { panic!("{work:?}") };
        bar.chunks("writing", 0, chunks, 0);
        assert!(bar.said().is_some_and(|said| said.starts_with("some of ")));
        bar
    }

    /// How much is done, and the total.
    fn shown(bar: &Bar) -> (u64, Option<u64>) {
        (bar.bar.position(), bar.bar.length())
    }

    #[test]
    fn appending_ends_with_all_chunks() {
        let array = array();
        let edges = [Run { edge: 2, count: 2 }];
        let work = Work::appending(&array, 0, 4, &edges);
        assert_eq!(work, Work::Writing { chunks: 2 * 2 });
        let bar = started(work);
        let watched = Moved::on(&array, work, bar.clone());
        // The first two of the added chunks hold only the fill value: they are removed.
        let rows: Vec<u8> = (0..16).map(|at| u8::from(at >= 8)).collect();
        let longer = watched.append(0, (4, edges), &rows).expect("appends");
        assert_eq!(shown(&bar), (4, Some(4)));

        // Within a chunk that the array's end cuts, and past it, by the last edge.
        let within = Array::open(Arc::clone(array.store()), &Prefix::root()).expect("opens");
        assert_eq!(within.shape(), longer.shape());
        let work = Work::appending(&within, 1, 3, &[Run { edge: 3, count: 1 }]);
        assert_eq!(work, Work::Writing { chunks: 4 });
        let shorter = within.resize(Resize::to([6, 4]).keep(true)).expect("cuts");
        let work = Work::appending(&shorter, 0, 3, &[]);
        assert_eq!(work, Work::Writing { chunks: 2 * 2 });
        let bar = started(work);
        let watched = Moved::on(&shorter, work, bar.clone());
        watched.append(0, 3, &[1; 12]).expect("appends");
        assert_eq!(shown(&bar), (4, Some(4)));
    }

    #[test]
    fn writing_ends_with_the_chunks_of_the_region() {
        let array = array();
        let region = Selection::parse("1:3,0:2", array.shape()).expect("a region");
        let work = Work::writing(&array, &region);
        assert_eq!(work, Work::Writing { chunks: 2 });
        let bar = started(work);
        Moved::on(&array, work, bar.clone()).write(&region, &[1, 2, 3, 4]).expect("writes");
        assert_eq!(shown(&bar), (2, Some(2)));
    }

    #[test]
    fn what_does_not_fit_has_no_chunks() {
        let array = array();
        let wrong = Work::appending(&array, 0, u64::MAX, &[]);
        assert_eq!(wrong, Work::Writing { chunks: 0 });
        assert_eq!(Work::appending(&array, 0, 0, &[]), Work::Writing { chunks: 0 });
    }
}
