//! How places are opened.

use std::fmt;
use std::sync::Arc;

use zarr_array::store::StoreOptions;
#[cfg(feature = "virtual-join")]
use zarr_virtual_join::{AllowedMembers, OpenOptions};

use crate::OPENERS;

/// Options for opening places.
///
/// # Examples
/// ```
/// use zarr_array::store::StoreOptions;
/// use zarr_place::{Opened, PlaceOptions};
///
/// let options = PlaceOptions::new().store(StoreOptions::new().setting("region", "us-west-2"));
/// assert!(Opened::open("none/data.zarr", &options).is_err());
/// ```
#[derive(Clone)]
#[must_use]
pub struct PlaceOptions {
    pub(crate) store: StoreOptions,
    #[cfg(feature = "virtual-join")]
    members: AllowedMembers,
    on_unlisted: Arc<dyn Fn() + Send + Sync>,
}

impl Default for PlaceOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl PlaceOptions {
    /// All [kinds](OPENERS) of stores in files, with the default options of stores.
    pub fn new() -> Self {
        Self {
            store: StoreOptions::new().openers(OPENERS),
            #[cfg(feature = "virtual-join")]
            members: AllowedMembers::default(),
            on_unlisted: Arc::new(|| ()),
        }
    }

    /// Sets the options of stores, except for the kinds of stores in files.
    pub fn store(mut self, options: StoreOptions) -> Self {
        self.store = options.openers(OPENERS);
        self
    }

    /// Sets the members that the document of a virtual join may name.
    #[cfg(feature = "virtual-join")]
    #[cfg_attr(docsrs, doc(cfg(feature = "virtual-join")))]
    pub fn allowed_members(mut self, members: AllowedMembers) -> Self {
        self.members = members;
        self
    }

    /// Calls `told` when a server of HTTP does not list: nodes then come from the consolidated
    /// metadata.
    pub fn on_unlisted(mut self, told: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_unlisted = Arc::new(told);
        self
    }

    pub(crate) fn tells_unlisted(&self) -> impl Fn() + Send + Sync + 'static {
        let told = Arc::clone(&self.on_unlisted);
        move || told()
    }

    /// The options of virtual joins and their members.
    #[cfg(feature = "virtual-join")]
    #[cfg_attr(docsrs, doc(cfg(feature = "virtual-join")))]
    pub fn of_joins(&self) -> OpenOptions {
        OpenOptions::new().store(self.store.clone()).allowed_members(self.members)
    }
}

impl fmt::Debug for PlaceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlaceOptions").field("store", &self.store).finish_non_exhaustive()
    }
}
