//! Files in the storage that are not objects.

use crate::{Prefix, StoreError};

/// Access to the files in the storage that are not objects, so that no listing shows them; returned
/// by [`Store::cleaning`](crate::Store::cleaning).
///
/// Callers find both methods in [`StoreExt`](crate::StoreExt), for any store.
pub trait Cleaning {
    /// Removes the unfinished files and locks of dead writers below `prefix`. Calls `removed` with the
    /// name of each in the store.
    ///
    /// Keeps files that a living process has locked. The locks of a living writer on another host
    /// may be invisible, and its files are then removed: the writer is delayed, and loses nothing.
    ///
    /// By default does nothing: writers leave no files behind.
    ///
    /// # Errors
    /// Any failure of listing or removing; some files may then be gone.
    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let _ = (prefix, removed);
        Ok(())
    }

    /// Calls `found` with the name of each file or folder below `prefix` that cannot be an object:
    /// no key can have its name, or it is not a regular file. Listings do not contain it, so copies
    /// and checks must report it. A folder with such a name is reported without its contents. Links
    /// are followed as for [`Links::Follow`](crate::Links::Follow). Files that
    /// [`clean`](Cleaning::clean) removes are left out.
    ///
    /// # Errors
    /// As for [`list`](crate::Store::list).
    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError>;
}
