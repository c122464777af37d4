//! Files that killed writers left in a local store.

use zarr_array::ArrayError;
use zarr_store::{Leftover, LeftoverKind, LocalStore, Prefix};

use crate::finding::{Finding, LOCK, TEMPORARY, is_of_one_object, unexamined};

/// Reports the files that killed writers left in a local store. Files that a living process has
/// locked are not reported.
///
/// # Errors
/// An error of the store.
pub fn leftovers(store: &LocalStore, report: &mut dyn FnMut(Finding)) -> Result<(), ArrayError> {
    let mut found: Vec<Leftover> = Vec::new();
    let listed = store.leftovers(&Prefix::root()).try_for_each(|leftover| {
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
            LeftoverKind::Lock => (LOCK, "a lock without a holder; may be removed"),
            // A finding of the check itself.
            LeftoverKind::Foreign => continue,
        };
        report(Finding::new(rule, message).with_key(path.display().to_string()));
    }
    match listed {
        Err(error) if is_of_one_object(&error) => {
            report(unexamined("/", format_args!("files that are not objects: {error}")));
            Ok(())
        }
        listed => listed.map_err(ArrayError::from),
    }
}
