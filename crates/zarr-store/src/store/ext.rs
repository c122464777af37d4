//! Shorthands for callers of a store.

use std::io::IoSlice;

use crate::{
    Key, Links, Listing, Prefix, PutMode, PutOutcome, ReadRange, Store, StoreError, Version,
};

/// Shorthands for callers of a [`Store`]. Every store has them, and none can override them.
pub trait StoreExt: Store {
    /// Reads the whole object, `None` if there is none.
    ///
    /// # Errors
    /// As for [`Store::get`].
    fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        let mut out = Vec::new();
        Ok(self.get(key, ReadRange::All, &mut out)?.map(|_| out))
    }

    /// Reads the whole object into `out`, replacing its contents. False and an empty `out` if there
    /// is no such object.
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

    /// The keys of [`list`](Store::list) with [`Links::Follow`], each with the size of its object if
    /// listings of the store tell it.
    fn list_sized(&self, prefix: &Prefix) -> Listing<'_, (Key, Option<u64>)> {
        match self.list_described(prefix) {
            Some(listed) => {
                Box::new(listed.map(|found| found.map(|(key, meta)| (key, Some(meta.size)))))
            }
            None => {
                let keys = self.list(prefix, Links::Follow);
                Box::new(keys.map(|key| key.map(|key| (key, None))))
            }
        }
    }

    /// Writes the whole object, replacing an existing one.
    ///
    /// # Errors
    /// As for [`Store::put_opts`].
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        self.put_vectored(key, &[IoSlice::new(bytes)])
    }

    /// Writes the whole object from pieces, one after another, replacing an existing one.
    ///
    /// # Errors
    /// As for [`Store::put_opts`].
    fn put_vectored(&self, key: &Key, pieces: &[IoSlice<'_>]) -> Result<(), StoreError> {
        match self.put_opts(key, pieces, PutMode::Overwrite)? {
            PutOutcome::Written => Ok(()),
            // There was no condition to fail; a faulty store that did not write must not pass.
            PutOutcome::Changed => {
                Err(StoreError::Contention { key: key.to_string(), attempts: 1 })
            }
        }
    }

    /// Writes the whole object if its version is still `expected`; `None` expects that there is no
    /// object.
    ///
    /// # Errors
    /// As for [`Store::put_opts`].
    fn put_if(
        &self,
        key: &Key,
        bytes: &[u8],
        expected: Option<&Version>,
    ) -> Result<PutOutcome, StoreError> {
        self.put_opts(key, &[IoSlice::new(bytes)], PutMode::expecting(expected))
    }
}

impl<S: Store + ?Sized> StoreExt for S {}
