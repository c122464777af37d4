//! Files that killed writers left in a local store.

use std::path::Path;

use zarr_array::ArrayError;
use zarr_array::unfinished::{MARKER, REARRANGE_MARKER};
use zarr_store::{Leftover, LeftoverKind, LocalStore, Prefix, StoreError};

use crate::finding::{Finding, LOCK, TEMPORARY, unexamined};

/// Reports the files that killed writers left in a local store. Files that a living process has
/// locked are not reported.
///
/// # Errors
/// An error of the store.
pub fn leftovers(store: &LocalStore, report: &mut dyn FnMut(Finding)) -> Result<(), ArrayError> {
    let mut found: Vec<Leftover> = Vec::new();
    let listed: Result<(), StoreError> =
        store.leftovers(&Prefix::root()).try_for_each(|leftover| {
            found.extend(Some(leftover?).filter(|leftover| !leftover.in_use));
            Ok(())
        });
    found.sort_by(|a, b| a.path.cmp(&b.path));
    for leftover in found {
        let path = leftover.path.strip_prefix(store.root()).unwrap_or(&leftover.path);
        let (rule, message) = match leftover.kind {
            LeftoverKind::Temporary => {
                (TEMPORARY, "a write that was never finished; may be removed")
            }
            LeftoverKind::Lock if is_of_unfinished(&leftover.path) => continue,
            LeftoverKind::Lock => (LOCK, "a lock without a holder; may be removed"),
            // A finding of the check itself.
            LeftoverKind::Foreign => continue,
        };
        let key = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        report(Finding::new(rule, message).with_key(key));
    }
    match listed {
        Err(error) if error.is_of_one_object() => {
            report(unexamined("/", format_args!("files that are not objects: {error}")));
            Ok(())
        }
        listed => listed.map_err(ArrayError::from),
    }
}

/// Whether this is the lock file of a marker that is there: the runs of unfinished work share it and
/// leave it, and the last one removes it with its marker.
fn is_of_unfinished(lock: &Path) -> bool {
    let name = lock.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of_lock =
        |marker: &&str| name.strip_suffix(*marker).is_some_and(|rest| rest.ends_with('.'));
    let marker = [MARKER, REARRANGE_MARKER].into_iter().find(of_lock);
    marker.is_some_and(|marker| lock.with_file_name(marker).is_file())
}
