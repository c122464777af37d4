//! Entries of a store that are no objects, so that no listing shows them.

use crate::store::{Prefix, Store, StoreError};

/// Calls `found` with each such name below a prefix: see [`Store::without_key`]. Nothing is known of a
/// store that cannot list.
pub(crate) fn each(
    store: &dyn Store,
    prefix: &Prefix,
    found: &mut dyn FnMut(&str),
) -> Result<(), StoreError> {
    match store.list_dir(prefix).next() {
        Some(Err(error)) if error.cannot_list() => Ok(()),
        _ => store.without_key(prefix, found),
    }
}

/// The names of all of them, sorted.
///
/// # Errors
/// Errors of listing.
pub fn names(store: &dyn Store, prefix: &Prefix) -> Result<Vec<String>, StoreError> {
    let mut names = Vec::new();
    each(store, prefix, &mut |name| names.push(name.to_owned()))?;
    names.sort();
    Ok(names)
}
