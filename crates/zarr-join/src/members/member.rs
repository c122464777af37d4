//! One of the arrays that are joined.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::Store;

/// One array to join.
#[derive(Clone, Debug)]
pub struct Member {
    name: String,
    /// The path or URL of its store, if that is not its name.
    store: Option<Arc<str>>,
    array: Array,
    /// The coordinate that the values are bounds of, if they are.
    coordinate: Option<Array>,
}

impl Member {
    /// An open array, with the name that messages use for it: its path or URL, as the user gave it.
    #[must_use]
    pub fn new(name: impl Into<String>, array: Array) -> Self {
        Self { name: name.into(), store: None, array, coordinate: None }
    }

    /// The array at `path` in a member that is a group. The group's name is also the store's.
    #[must_use]
    pub fn in_group(group: &Arc<str>, path: &str, array: Array) -> Self {
        Self {
            name: format!("{group}/{path}"),
            store: Some(group.clone()),
            array,
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
