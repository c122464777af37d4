//! What a store holds that is no object.

use crate::{Prefix, StoreError};

/// What [`Store::cleaning`](crate::Store::cleaning) gives: access to what is in the storage and is no
/// object, so that no listing shows it.
///
/// Callers find both methods in [`StoreExt`](crate::StoreExt), for any store.
pub trait Cleaning {
    /// Removes what dead writers left below `prefix` and is not an object: unfinished files and
    /// locks. Calls `removed` with the name of each in the store.
    ///
    /// Keeps what a living process is seen to hold. A living writer that cannot be seen, on another
    /// host that shares no locks with this one, is delayed and loses nothing.
    ///
    /// By default does nothing: writers leave nothing behind.
    ///
    /// # Errors
    /// Whatever keeps the store from looking or removing; some files may then be gone.
    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let _ = (prefix, removed);
        Ok(())
    }

    /// Calls `found` with the name of everything below `prefix` that readers of the storage see and
    /// that is no object, because no key can have its name, or because it is no regular file: what
    /// no listing has, so that copies and checks have to tell of it. Of a folder with such a name,
    /// only the folder. Links are followed as for [`Links::Follow`](crate::Links::Follow). What
    /// [`clean`](Cleaning::clean) removes is left out.
    ///
    /// # Errors
    /// As for [`list`](crate::Store::list).
    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError>;
}
