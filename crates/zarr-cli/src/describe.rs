//! The output of `info` and `draw` for an array that is already open.

use zarr_kit::{Array, ArrayError, Selection};

use crate::commands::{draw, info};

/// The output of `zarr-kit info` for an array.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// Lines of a name and a value, aligned, without the array's place.
    pub text: String,
    /// The document that `info --json` prints.
    pub json: String,
}

impl Description {
    /// Describes an array and lists its stored chunks. With `quick`, which says that the store knows
    /// the sizes of objects without one request per object, as a folder does, their sizes are added
    /// up.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_kit::{Array, ArrayBuilder, DataType, MemoryStore, Prefix};
    /// let metadata = ArrayBuilder::new([3], DataType::Uint8).chunk_shape([2]).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let description = zarr_cli::Description::of(&array, true);
    /// assert!(description.text.lines().any(|line| line.starts_with("size ") && line.ends_with("3 B")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of(array: &Array, quick: bool) -> Self {
        let layout = Some(array.layout().clone());
        let info = info::ArrayInfo::new(
            array.store(),
            array.metadata().clone(),
            Ok(array.clone()),
            layout,
            quick,
        );
        Self {
            text: info.table().text(),
            json: serde_json::to_string(&info.json()).unwrap_or_default(),
        }
    }

    /// The picture that `zarr-kit draw` makes of an array: its chunks, which of them are stored, and
    /// a marked region. `title` says where the array is.
    ///
    /// # Errors
    /// The store's error while the stored chunks are listed.
    pub fn picture(
        array: &Array,
        title: &str,
        region: Option<&Selection>,
    ) -> Result<String, ArrayError> {
        draw::svg(title, array, region)
    }
}
