//! Appends elements at the end of an axis (SD-08).

use std::ops::Range;

use zarr_grid::{GridErrorKind, Run};

use super::document::{Extent, LockedDocument};
use super::resize::{Resize, grown};
use super::update_consolidated::{Scope, update_consolidated};
use crate::array::{Array, Input, Source, WriteAs};
use crate::error::{ArrayError, check_count};
use crate::hierarchy::node;
use crate::selection::AnySelection;

/// What [`Array::append`] adds to an axis: a number of indices, and the edges of the chunks that a
/// rectilinear axis then gets.
///
/// It is made from a number, `28`, which repeats the last edge, or from a number and edges,
/// `(28, [28])`. Edges are lengths, or a [`Run`] of equal ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    count: u64,
    edges: Vec<Run>,
}

impl From<u64> for Added {
    fn from(count: u64) -> Self {
        Self { count, edges: Vec::new() }
    }
}

impl<E: IntoIterator<Item: Into<Run>>> From<(u64, E)> for Added {
    fn from((count, edges): (u64, E)) -> Self {
        Self { count, edges: edges.into_iter().map(Into::into).collect() }
    }
}

impl Array {
    /// Appends indices to an axis: `28`, or `(28, [28])` with the [edges](Added) of the added
    /// chunks. `elements`, in C order, fill a region that is so long on that axis and covers all
    /// other axes. Returns the array with its new shape; this handle keeps the old shape.
    ///
    /// # Steps
    /// 1. The document is locked, and compared with this array's.
    /// 2. The new elements are written: into chunks past the end, and into the part of the
    ///    last chunks that lies past it. No reader sees them yet.
    /// 3. The document is written, and all of them become visible.
    ///
    /// After an interruption before step 3 the array is unchanged, with chunks past its end that
    /// `check` names. Appending again overwrites them, and a [`resize`](Array::resize) to the same
    /// shape removes them.
    ///
    /// # Without locks between processes
    /// On object storage, two appends would write the same chunks before either writes the
    /// document. There the array grows first, by a conditional put of the document, so that the second
    /// append is [`Stale`](ArrayError::Stale) before it writes a chunk. The document then ends with
    /// white space that differs between appends, so that two equal growths cannot be confused. Until
    /// they are written, the new elements read as the fill value; if writing them fails, the error is
    /// [`ArrayError::Grown`]. If the [policy](Array::with_update_policy) declares a single writer, the
    /// steps are as above.
    ///
    /// Existing elements can be [written](Array::write) at the same time and later, through this
    /// handle and others that know the old shape: such writes keep the elements past the end that
    /// they know.
    ///
    /// # Errors
    /// [`ArrayError::Stale`] if others have changed the array since it was opened;
    /// [`ArrayError::Grown`] as above; [`ArrayError::Grid`] if the edges do not fit; otherwise as
    /// [`write`](Array::write). Unless it has grown, the array is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([59], DataType::Uint8).chunks([[31, 28].into()]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    ///
    /// // January and February; now March too.
    /// let march = [3; 31];
    /// let array = array.append(0, (31, [31]), &march)?;
    /// assert_eq!(array.shape(), [90]);
    /// assert_eq!(array.read(57..61)?, [0, 0, 3, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Spec
    /// Zarr v3 core, "Resizing"; SD-08.
    pub fn append<'e>(
        &self,
        axis: usize,
        added: impl Into<Added>,
        elements: impl Into<Input<'e>>,
    ) -> Result<Self, ArrayError> {
        let elements = elements.into();
        let fits = |new: &AnySelection| self.check_input(new, elements);
        self.append_by(axis, added.into(), fits, |grown, new| grown.write_input(new, elements))
    }

    /// As [`append`](Array::append), from elements of a Rust type.
    ///
    /// # Errors
    /// [`ArrayError::ElementCount`] if there are fewer or more elements than appended; otherwise as
    /// [`append`](Array::append) and [`write_as`](Array::write_as).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([1], DataType::String).chunk_shape([2]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let array = array.append_as(0, 2, &["Bern", "Basel"])?;
    /// assert!(array.read_as::<String>(0..3)?.iter().eq(["", "Bern", "Basel"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_as<T: WriteAs>(
        &self,
        axis: usize,
        added: impl Into<Added>,
        elements: &(impl Source<T> + ?Sized),
    ) -> Result<Self, ArrayError> {
        let fits = |new: &AnySelection| {
            T::check(self)?;
            new.check_shape(elements.shape())?;
            elements.as_slice().map_or(Ok(()), |all| check_count(all.len(), &new.shape()))
        };
        self.append_by(axis, added.into(), fits, |grown, new| grown.write_as(new, elements))
    }

    /// Lets `write` fill the new part of the array with more indices on an axis, and then makes it
    /// visible. `fits` refuses elements before the array grows.
    fn append_by(
        &self,
        axis: usize,
        added: Added,
        fits: impl FnOnce(&AnySelection) -> Result<(), ArrayError>,
        write: impl FnOnce(&Self, &AnySelection) -> Result<(), ArrayError>,
    ) -> Result<Self, ArrayError> {
        let rank = self.shape().len();
        let mut shape = self.shape().to_vec();
        let mut ranges: Vec<Range<u64>> = shape.iter().map(|length| 0..*length).collect();
        let (Some(length), Some(range)) = (shape.get_mut(axis), ranges.get_mut(axis)) else {
            return Err(ArrayError::Axis { axis, rank });
        };
        let end = length.checked_add(added.count).ok_or_else(|| ArrayError::Grid {
            key: node::metadata_key(self.prefix()),
            cause: GridErrorKind::EdgeOverflow.into(),
        })?;
        *range = *length..end;
        *length = end;
        let to = Resize::to(shape).edges(axis, added.edges);
        let new = AnySelection::from(ranges.as_slice());
        fits(&new)?;
        let document = match LockedDocument::lock(self, Extent::Chunks) {
            Err(ArrayError::NoLock { path }) => {
                crate::store::reached!("append: grows before it writes");
                let grown = self.grow_alone(&to)?;
                let failed = |cause| ArrayError::Grown { path, cause: Box::new(cause) };
                return write(&grown, &new).map(|()| grown).map_err(failed);
            }
            document => document?,
        };
        let grown = grown(self, &document, &to)?;
        if !crate::store::step!("append: chunks before the document") {
            document.put(grown.metadata())?;
        }
        write(&grown, &new)?;
        document.put(grown.metadata())?;
        drop(document);
        update_consolidated(self.store(), self.prefix(), Scope::Node, self.update_policy());
        Ok(grown)
    }
}
