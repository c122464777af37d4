//! Whether the version of an object tells it from what is written later.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::array::Array;
use crate::store::{ObjectMeta, Store as _, Version};

/// How long after a write the clock of a file system may give another write the same time.
const TICK: Duration = Duration::from_millis(50);

/// The same, where all times are whole seconds, or every other second.
const LONG_TICK: Duration = Duration::from_millis(2050);

/// When a store was asked: its answer may come much later, and be old then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    at: SystemTime,
    /// Whether the store compares versions itself, on conditional puts.
    compares: bool,
}

impl Asked {
    /// Before a request to the array's store.
    pub(super) fn now(array: &Array) -> Self {
        // There is no clock on some targets: then nothing that has a time is settled.
        let has_clock = cfg!(not(all(target_family = "wasm", target_os = "unknown")));
        let at = if has_clock { SystemTime::now() } else { UNIX_EPOCH };
        Self { at, compares: array.store().capabilities().conditional_put }
    }

    /// Whether the clock had gone on since the object was written: what was written from then on has
    /// another time, and so another version. Nothing that is known of a younger object is kept for later
    /// reads. The tag of a store with conditional puts is another one for each put; that of a web server
    /// may be made from the time.
    pub(super) fn is_settled(self, meta: &ObjectMeta) -> bool {
        (self.compares && meta.version.as_ref().and_then(Version::tag).is_some())
            || meta.modified.is_none_or(|modified| {
                let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
                let tick = if since.subsec_nanos() == 0 { LONG_TICK } else { TICK };
                self.at.duration_since(modified).is_ok_and(|elapsed| elapsed >= tick)
            })
    }
}
