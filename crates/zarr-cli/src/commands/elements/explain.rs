//! Says on standard error which chunks a read takes, and how long it took to fetch them.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zarr_kit::report::words;
use zarr_kit::{Array, Selection};

use crate::error::CliError;
use crate::output::print::note;
use crate::stores::node_store::NodeStore;
use crate::stores::watched_store::Watch;

/// The most chunks that are listed.
const SHOWN: usize = 12;

pub(super) fn explain(
    place: &NodeStore,
    array: &Array,
    region: &Selection,
) -> Result<(), CliError> {
    let names = words::axis_names(array.metadata());
    note(format_args!("{}: {}", place.shown, array.data_type()));
    for (name, axis) in names.iter().zip(array.grid().axes()) {
        note(format_args!("  {name}: {}", words::axis(axis)));
    }
    note(format_args!("  codecs: {}", words::codecs(array.metadata().codecs(), array.data_type())));
    let outside = |cause| place.failed(zarr_kit::ArrayError::Selection { cause });
    let selected = array.grid().select(region.axes()).map_err(outside)?;
    let mut chunks = selected.parts();
    let total = chunks.len();
    note(format_args!("  reads from {}:", words::counted(total, "chunk")));
    let mut shown = 0;
    while let Some(part) = chunks.next_part() {
        if shown == SHOWN {
            note("    ...");
            break;
        }
        shown += 1;
        let key = array.layout().key(part.chunk()).map_err(|cause| place.failed(cause))?;
        let mut parts = Vec::new();
        for (axis, name) in part.axes().iter().zip(&names) {
            let (Range { start, end }, edge) = (axis.in_chunk(), axis.edge);
            parts.push(match (start, end) {
                (0, end) if end == edge => format!("{name} all {edge}"),
                _ => format!("{name} {start}:{end} of {edge}"),
            });
        }
        let codec = array.chunk_codec(part.chunk_shape()).map_err(|cause| place.failed(cause))?;
        note(format_args!("    {key}  {}; {}", parts.join(", "), words::transform(&codec)));
    }
    Ok(())
}

/// What a read has fetched.
#[derive(Debug, Default)]
pub(super) struct Fetched(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    begun: Option<Instant>,
    requests: u64,
    /// Requests for objects that are not there.
    missing: u64,
    bytes: u64,
    /// Added up over all threads.
    time: Duration,
}

impl Fetched {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts from now on.
    pub(super) fn begin(&self) {
        *self.counts() = Counts { begun: Some(Instant::now()), ..Counts::default() };
    }

    /// Reports what was fetched since it began.
    pub(super) fn note(&self) {
        let Counts { begun: Some(begun), requests, missing, bytes, time } = *self.counts() else {
            return;
        };
        let missing = match missing {
            0 => String::new(),
            missing => format!(", {} for objects that are not stored", words::count(missing)),
        };
        note(format_args!(
            "  fetched {} by {}{missing} in {} (all threads together); the read took {}",
            words::bytes(bytes.into()),
            words::counted(requests, "request"),
            milliseconds(time),
            milliseconds(begun.elapsed())
        ));
    }
}

impl Watch for Fetched {
    fn got(&self, bytes: Option<u64>, took: Duration) {
        let mut counts = self.counts();
        counts.requests += 1;
        counts.time += took;
        match bytes {
            Some(bytes) => counts.bytes += bytes,
            None => counts.missing += 1,
        }
    }
}

fn milliseconds(time: Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        ms if ms < 9.995 => format!("{ms:.2} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms => format!("{:.2} s", ms / 1e3),
    }
}
