//! The place of an intermediate, beside the chunks of the target or where the options say.

use std::sync::Arc;

use zarr_store::{Prefix, Store, StoreError, StoreExt as _};

use crate::content::hash_of;
use crate::{CopyOptions, Place};

pub use zarr_array::unfinished::INTERMEDIATE;

/// The place of an intermediate.
pub(crate) struct IntermediatePlace {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) prefix: Prefix,
}

impl IntermediatePlace {
    /// The place of the intermediate of a copy to this target; `None` if there is none.
    pub(crate) fn of(
        store: &Arc<dyn Store>,
        prefix: &Prefix,
        options: &CopyOptions,
    ) -> Option<Self> {
        let Some(Place(other)) = &options.intermediates else {
            let is_kept = !store.capabilities().uncommitted;
            let prefix = prefix.join(INTERMEDIATE).ok()?;
            return is_kept.then(|| Self { store: Arc::clone(store), prefix });
        };
        let place = store.location(prefix);
        let place = place.map_or_else(|| prefix.as_str().as_bytes().to_vec(), |at| at.bytes());
        let name = format!("{INTERMEDIATE}-{:016x}", hash_of(&[&place]));
        Some(Self { store: Arc::clone(other), prefix: Prefix::new(&name).ok()? })
    }

    /// Bytes that are free there, if the system tells.
    pub(crate) fn free_space(&self) -> Option<u64> {
        self.store.location(&self.prefix)?.free_space()
    }

    /// Bytes of the objects there, of an interrupted copy.
    pub(crate) fn stored(&self) -> Result<u64, StoreError> {
        let mut bytes = 0_u64;
        for listed in self.store.list_sized(&self.prefix) {
            let (key, size) = listed?;
            let size = size.map_or_else(|| self.store.size(&key), |size| Ok(Some(size)))?;
            bytes = bytes.saturating_add(size.unwrap_or(0));
        }
        Ok(bytes)
    }
}
