//! Whether the version of an object tells it from what is written later.

use std::time::{Duration, UNIX_EPOCH};

use crate::store::ObjectMeta;

/// How long after a write the clock of a file system may give another write the same time.
const TICK: Duration = Duration::from_millis(50);

/// The same, where all times are whole seconds, or every other second.
const LONG_TICK: Duration = Duration::from_millis(2050);

/// Whether the clock has gone on since the object was written: what is written from now on has another
/// time, and so another version. Nothing that is known of a younger object is kept for later reads.
pub(super) fn is_settled(meta: &ObjectMeta) -> bool {
    meta.modified.is_none_or(|modified| {
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        let tick = if since.subsec_nanos() == 0 { LONG_TICK } else { TICK };
        modified.elapsed().is_ok_and(|elapsed| elapsed >= tick)
    })
}
