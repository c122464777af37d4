//! Virtual joins of groups.

use zarr_array::store::Prefix;
use zarr_join::JoinGroups;

use crate::document::{Document, Missing};
use crate::error::VirtualJoinError;
use crate::one_state::OneState;

impl Document {
    /// The document of a virtual join, in place of a group: see [`of_join`](Document::of_join).
    /// The names of the members must be the paths or URLs of their stores.
    ///
    /// If an array is equal in all members, the document names only the first. There is no
    /// consolidated metadata, since the document has the metadata of all nodes.
    ///
    /// # Errors
    /// [`VirtualJoinError`] with the name of the first member that does not fit, cannot be looked up,
    /// or changes meanwhile.
    pub fn of_groups(
        groups: &JoinGroups,
        place: &str,
        missing: Missing,
    ) -> Result<Self, VirtualJoinError> {
        let mut arrays = Vec::new();
        let mut state = OneState::new();
        let groups = state.of_groups(groups.clone());
        let checked = groups.check_documents().map_err(VirtualJoinError::from);
        let groups = state.checked(checked.and_then(|()| {
            groups.each(|path, join| {
                let array = Self::of_state(join, place, missing, state.since)?;
                arrays.push((path.to_owned(), array));
                Ok::<(), VirtualJoinError>(())
            })
        }))?;
        let path = |path: &str| Prefix::new(path).map_err(zarr_array::store::StoreError::from);
        let mut document = Self::of_group(groups.get("").cloned().unwrap_or_default());
        // Parents before children.
        for (name, group) in groups.into_iter().filter(|(name, _)| !name.is_empty()) {
            document = document.with_group(&path(&name)?, group)?;
        }
        arrays
            .into_iter()
            .try_fold(document, |document, (name, array)| document.with_array(&path(&name)?, array))
    }
}
