//! How virtual joins are opened.

use zarr_array::store::StoreOptions;
use zarr_codec::Options;

/// The members that a document may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllowedMembers {
    /// Members in the document's own folder and below: so a document of another author cannot lead
    /// elsewhere. Symbolic links out of the folder are not followed, unless
    /// [`StoreOptions::outside_links`] allows them.
    #[default]
    Below,
    /// Members at any path or URL. Those on servers are read without credentials, unless
    /// [`StoreOptions::target`] names them or they are in the document's bucket.
    Anywhere,
}

/// Options for opening stores and virtual joins.
///
/// # Examples
/// ```
/// use zarr_virtual_join::{OpenOptions, AllowedMembers};
///
/// let options = OpenOptions::new().allowed_members(AllowedMembers::Anywhere);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct OpenOptions {
    pub(crate) store: StoreOptions,
    pub(crate) members: AllowedMembers,
    pub(crate) codecs: Options,
}

impl OpenOptions {
    /// Members below the document's folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options of the document's store and of all members' stores.
    pub fn store(mut self, options: StoreOptions) -> Self {
        self.store = options;
        self
    }

    /// Sets the members that a document may name.
    pub fn allowed_members(mut self, members: AllowedMembers) -> Self {
        self.members = members;
        self
    }

    /// Sets the options with which members are opened, such as third-party codecs.
    pub fn codecs(mut self, options: Options) -> Self {
        self.codecs = options;
        self
    }
}
