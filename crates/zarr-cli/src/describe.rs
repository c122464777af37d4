//! The output of `info`, `draw`, `stats` and `diff` for nodes that are already open.

use std::sync::Arc;

use zarr_kit::{Array, ArrayError, Prefix, Selection, Store};

use crate::commands::{diff, draw, info, stats};
use crate::error::CliError;
use crate::node_store::NodeStore;

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

    /// The picture that `zarr-kit draw --values` makes of the values of a selection, as PNG, and
    /// what is to be said of it, such as the range of the colours.
    ///
    /// # Errors
    /// [`DescribeError`] if it is no plane of numbers, or cannot be read.
    pub fn values(
        array: &Array,
        title: &str,
        region: &Selection,
    ) -> Result<(Vec<u8>, Vec<String>), DescribeError> {
        let place = NodeStore::of(Arc::clone(array.store()), title);
        Ok(draw::values::png(&place, array, region)?)
    }

    /// The document that `zarr-kit stats --json` prints of a selection.
    ///
    /// # Errors
    /// [`DescribeError`] if its elements are not numbers, or cannot be read.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_kit::{Array, ArrayBuilder, DataType, MemoryStore, Prefix, Selection};
    /// let metadata = ArrayBuilder::new([3], DataType::Uint8).chunk_shape([2]).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write(0..2, &[3, 5])?;
    /// let json = zarr_cli::Description::stats(&array, "a", &Selection::whole(&[3])).unwrap();
    /// assert!(json.contains(r#""max":5"#) && json.contains(r#""fill":1"#), "{json}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(array: &Array, title: &str, region: &Selection) -> Result<String, DescribeError> {
        let place = NodeStore::of(Arc::clone(array.store()), title);
        Ok(stats::json_of(&place, array, region)?.to_string())
    }

    /// The document that `zarr-kit diff --json` prints of two nodes, each given by its store, its
    /// place in that, and what messages call it.
    ///
    /// # Errors
    /// [`DescribeError`] if they cannot be read.
    pub fn differences(
        one: (&Arc<dyn Store>, &Prefix, &str),
        other: (&Arc<dyn Store>, &Prefix, &str),
        metadata_only: bool,
    ) -> Result<String, DescribeError> {
        let places = [one, other].map(|(store, _, shown)| NodeStore::of(Arc::clone(store), shown));
        let [ours, theirs] = &places;
        let ours = diff::Root { place: ours, prefix: one.1.clone() };
        let theirs = diff::Root { place: theirs, prefix: other.1.clone() };
        Ok(diff::json_of(&ours, &theirs, metadata_only)?.to_string())
    }
}

/// Why values were not drawn, summarised or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DescribeError {
    /// Something cannot be read.
    #[error("{0}")]
    Array(ArrayError),
    /// The elements are not numbers.
    #[error("{0}")]
    NotNumbers(String),
    /// What was asked for cannot be done, for the reason given.
    #[error("{0}")]
    Refused(String),
}

impl From<CliError> for DescribeError {
    fn from(error: CliError) -> Self {
        match error {
            CliError::Node { cause, .. } => Self::Array(cause),
            CliError::Plane { axes, .. } => Self::Refused(format!(
                "values are drawn of two axes, and the selection has {axes}: give one index of \
                 the others"
            )),
            error @ CliError::NotNumbers { .. } => Self::NotNumbers(error.to_string()),
            error => Self::Refused(error.to_string()),
        }
    }
}
