//! What every store can do by the methods that it has.

use super::{Key, ReadRange, Store, StoreError};

/// Shorthands for callers of a [`Store`], which every store has and none can change.
pub trait StoreExt: Store {
    /// Reads the whole object, `None` if there is none.
    ///
    /// # Errors
    /// As for [`Store::get`].
    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        let mut out = Vec::new();
        Ok(self.get(key, ReadRange::All, &mut out)?.map(|_| out))
    }

    /// Reads the whole object into `out`, in place of what it held. False and an empty `out` if
    /// there is no such object.
    ///
    /// # Errors
    /// As for [`Store::get`].
    fn read_into(&self, key: &Key, out: &mut Vec<u8>) -> Result<bool, StoreError> {
        Ok(self.get(key, ReadRange::All, out)?.is_some())
    }

    /// Size of the object in bytes, `None` if there is none.
    ///
    /// # Errors
    /// As for [`Store::head`].
    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        Ok(self.head(key)?.map(|meta| meta.size))
    }
}

impl<S: Store + ?Sized> StoreExt for S {}
