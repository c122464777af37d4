//! One of the arrays that are joined.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::Store;
use zarr_metadata::ArrayMetadata;

/// One array to join.
#[derive(Clone, Debug)]
pub struct Member {
    name: String,
    /// The path or URL of its store, if that is not its name.
    store: Option<Arc<str>>,
    array: Array,
    /// The stored document, if `array` is a view with a wider type.
    stored: Option<Box<ArrayMetadata>>,
    /// The coordinate that the values are bounds of, if they are.
    coordinate: Option<Array>,
}

impl Member {
    /// An open array, with the name that messages use for it: its path or URL, as the user gave it.
    #[must_use]
    pub fn new(name: impl Into<String>, array: Array) -> Self {
        Self { name: name.into(), store: None, array, stored: None, coordinate: None }
    }

    /// The array at `path` in a member that is a group. The group's name is also the store's.
    #[must_use]
    pub fn in_group(group: &Arc<str>, path: &str, array: Array) -> Self {
        Self {
            name: format!("{group}/{path}"),
            store: Some(group.clone()),
            array,
            stored: None,
            coordinate: None,
        }
    }

    /// The same member as the bounds of this coordinate: bounds have its units (CF conventions,
    /// 7.1).
    pub(crate) fn bounds_of(mut self, coordinate: Option<Array>) -> Self {
        self.coordinate = coordinate;
        self
    }

    pub(crate) fn coordinate(&self) -> Option<&Array> {
        self.coordinate.as_ref()
    }

    /// The same member, read through another store with the same objects.
    pub(crate) fn with_store(mut self, store: &Arc<dyn Store>) -> Self {
        self.array = self.array.with_store(Arc::clone(store));
        self.coordinate = self.coordinate.map(|array| array.with_store(Arc::clone(store)));
        self
    }

    /// The same member, whose numbers this array shows in a wider type.
    pub(crate) fn seen_as(self, array: Array) -> Self {
        let stored = self.stored.or_else(|| Some(Box::new(self.array.metadata().clone())));
        Self { array, stored, ..self }
    }

    /// The same member, whose array is such a view of this stored document.
    pub(crate) fn stored_as(mut self, document: Option<&ArrayMetadata>) -> Self {
        self.stored = document.cloned().map(Box::new);
        self
    }

    /// The document that is stored.
    pub(crate) fn stored(&self) -> &ArrayMetadata {
        self.stored.as_deref().unwrap_or_else(|| self.array.metadata())
    }

    pub(crate) fn is_widened(&self) -> bool {
        self.stored.is_some()
    }

    /// The path or URL of its store.
    #[must_use]
    pub fn store(&self) -> &str {
        self.store.as_deref().unwrap_or(&self.name)
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The array.
    #[must_use]
    pub fn array(&self) -> &Array {
        &self.array
    }
}
