//! Reads into and writes from memory of the caller that is not contiguous.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

use zarr_view::{CopyElement, CopyError, Output, View, copy};

use crate::array::Array;
use crate::array::read::Wanted;
use crate::counts::{PerAxis, narrow, wide};
use crate::error::ArrayError;
use crate::selection::AnySelection;
use crate::selection::Selection;
use crate::transfer::{Selected, Transfer, check_length};

/// The bytes of elements of a fixed size to write: any bytes in C order, or bytes with a view that
/// gives the position of each element. A view may contain an element many times: strides of 0 write
/// one value all along an axis.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, Selection};
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_view::View;
/// # let metadata = ArrayBuilder::new([2, 3], DataType::Uint8).chunk_shape([2, 2]).build()?;
/// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
///
/// // A matrix of three rows and two columns, transposed.
/// let (matrix, transposed) = ([1, 4, 2, 5, 3, 6], View::new(&[2, 3], &[1, 2], 0)?);
/// array.write([0..2, 0..3], (&transposed, &matrix[..]))?;
/// assert_eq!(array.read(Selection::whole(array.shape()))?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    content: Content<'a>,
}

/// Where the elements of an input are.
#[derive(Clone, Copy, Debug)]
pub(in crate::array) enum Content<'a> {
    /// All in memory.
    Bytes(&'a [u8]),
    View(&'a View, &'a [u8]),
    Boxes(&'a dyn Boxes),
}

/// Elements that a write requests a box at a time, one for each chunk. So computed elements, and
/// elements in memory that other threads write around, need no copy of the whole selection.
///
/// Lists of indices without a constant step, and [`Points`](crate::Points), request all elements at
/// once.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use std::ops::Range;
/// # use zarr_array::{Array, Selection};
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_array::{Boxes, Input};
///
/// #[derive(Debug)]
/// struct Squares;
///
/// impl Boxes for Squares {
///     fn shape(&self) -> &[usize] {
///         &[6]
///     }
///
///     fn copy(&self, ranges: &[Range<usize>], out: &mut [u8]) {
///         for (at, out) in ranges[0].clone().zip(out) {
///             *out = (at * at) as u8;
///         }
///     }
/// }
/// # let metadata = ArrayBuilder::new([6], DataType::Uint8).chunk_shape([4]).build()?;
/// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
///
/// array.write([0..6], Input::from_boxes(&Squares))?;
/// assert_eq!(array.read(Selection::whole(array.shape()))?, [0, 1, 4, 9, 16, 25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Boxes: Debug + Sync {
    /// The shape of all elements, which is the selection's.
    fn shape(&self) -> &[usize];

    /// Copies the elements at these indices, a range for each axis, to `out` in C order. `out` has
    /// exactly their length in bytes. Several threads call this at the same time.
    fn copy(&self, ranges: &[Range<usize>], out: &mut [u8]);
}

impl<'a> Input<'a> {
    /// The elements of a source that gives one box at a time.
    #[must_use]
    pub const fn from_boxes(boxes: &'a dyn Boxes) -> Self {
        Self { content: Content::Boxes(boxes) }
    }
}

impl<'a, B: AsRef<[u8]> + ?Sized> From<&'a B> for Input<'a> {
    fn from(bytes: &'a B) -> Self {
        Self { content: Content::Bytes(bytes.as_ref()) }
    }
}

impl<'a> From<(&'a View, &'a [u8])> for Input<'a> {
    fn from((view, bytes): (&'a View, &'a [u8])) -> Self {
        Self { content: Content::View(view, bytes) }
    }
}

impl Array {
    /// Reads into an output of the selection's shape.
    pub(in crate::array) fn read_to(
        &self,
        selection: &AnySelection,
        mut out: Output<'_>,
    ) -> Result<(), ArrayError> {
        let wanted = Wanted::new(self, selection)?;
        let (expected, found) = (self.element_size(), out.element_size());
        if expected != found {
            return Err(CopyError::ElementSize { expected, found }.into());
        }
        selection.check_shape(Some(out.view().shape()))?;
        if let Some(units) = self.through_cache(selection, wanted.length())
            && units.read_to(selection, out.lend()).is_ok()
        {
            return Ok(());
        }
        let selected = match wanted {
            Wanted::Product(selected) => selected,
            points @ Wanted::Points { .. } => {
                if let Some(out) = out.as_mut_slice() {
                    return self.read_past_cache(points, out);
                }
                let mut elements = points.zeroed()?;
                self.read_past_cache(points, &mut elements)?;
                return copied(&elements, out);
            }
        };
        let out = out.into_reshaped(&selected.shape)?.expect(AXES_OF_ONE);
        let threads = self.threads_for(selected.length);
        let Some(order) = selected.order() else {
            let transfer = Transfer::in_view(selected, out.view().clone())?;
            let out = transfer.in_order_of_chunks(out)?;
            return self.read_in_order_of_chunks(&transfer, out, threads);
        };
        let mut elements = selected.zeroed()?;
        self.read_and_order(selected, &order, &mut elements, threads)?;
        copied(&elements, out)
    }

    /// Writes elements from their bytes.
    pub(crate) fn write_input(
        &self,
        selection: &AnySelection,
        input: Input<'_>,
    ) -> Result<(), ArrayError> {
        match (selection, input.content) {
            (AnySelection::Product(selection), Content::Bytes(bytes)) => {
                self.write_selection(selection, bytes)
            }
            (AnySelection::Product(product), Content::View(view, bytes)) => {
                self.write_view(selection, product, view, bytes)
            }
            (AnySelection::Product(product), Content::Boxes(boxes)) => {
                self.write_boxes(selection, product, boxes)
            }
            (AnySelection::Points(points), Content::Bytes(bytes)) => {
                self.write_points(points, bytes)
            }
            (AnySelection::Points(points), Content::View(view, bytes)) => {
                self.check_input(selection, input)?;
                self.write_points(points, &self.gathered(view, bytes)?)
            }
            (AnySelection::Points(points), Content::Boxes(boxes)) => {
                self.check_input(selection, input)?;
                self.write_points(points, &self.all_of(boxes)?)
            }
        }
    }

    /// Refuses elements that are fewer or more than selected, or have another shape.
    pub(crate) fn check_input(
        &self,
        selection: &AnySelection,
        input: Input<'_>,
    ) -> Result<(), ArrayError> {
        self.fixed_chain()?;
        match input.content {
            Content::Bytes(bytes) => {
                let size = wide(self.element_size());
                let expected = selection.shape().into_iter().fold(size, u64::saturating_mul);
                check_length(bytes.len(), narrow(expected))
            }
            Content::View(view, bytes) => {
                selection.check_shape(Some(view.shape()))?;
                self.check_view(view, bytes)
            }
            Content::Boxes(boxes) => selection.check_shape(Some(boxes.shape())),
        }
    }

    fn write_boxes(
        &self,
        selection: &AnySelection,
        product: &Selection,
        boxes: &dyn Boxes,
    ) -> Result<(), ArrayError> {
        let selected = Selected::new(self, product)?;
        selection.check_shape(Some(boxes.shape()))?;
        let length = selected.length;
        let transfer = Transfer::new(selected, length)?;
        let all = || self.all_of(boxes);
        if transfer.has_lists() {
            return self.write_selection(product, &all()?);
        }
        let content = Content::Boxes(boxes);
        self.write_transfer(product, &transfer, content, || all().ok().map(Cow::Owned))
    }

    /// All elements of a source, in C order.
    fn all_of(&self, boxes: &dyn Boxes) -> Result<Vec<u8>, ArrayError> {
        let shape = boxes.shape();
        // The selection has this shape, and its elements fit into memory.
        let count = shape.iter().fold(self.element_size(), |n, size| n.saturating_mul(*size));
        let mut elements = zarr_view::zeroed(count)?;
        if count > 0 {
            let ranges: PerAxis<Range<usize>> = shape.iter().map(|size| 0..*size).collect();
            boxes.copy(&ranges, &mut elements);
        }
        Ok(elements)
    }

    fn write_view(
        &self,
        selection: &AnySelection,
        product: &Selection,
        view: &View,
        elements: &[u8],
    ) -> Result<(), ArrayError> {
        let selected = Selected::new(self, product)?;
        selection.check_shape(Some(view.shape()))?;
        // An axis of length 1 for each that the selection gives by one index.
        let view = view.reshape(&selected.shape).map_err(CopyError::from)?.expect(AXES_OF_ONE);
        self.check_view(&view, elements)?;
        let transfer = Transfer::in_view(selected, view.clone())?;
        let gathered = || self.gathered(&view, elements);
        if transfer.has_lists() {
            return self.write_selection(product, &gathered()?);
        }
        let content = Content::View(&view, elements);
        self.write_transfer(product, &transfer, content, || gathered().ok().map(Cow::Owned))
    }

    /// Refuses views that exceed the elements.
    fn check_view(&self, view: &View, elements: &[u8]) -> Result<(), ArrayError> {
        let needed = view.span().end.saturating_mul(self.element_size());
        if needed <= elements.len() {
            return Ok(());
        }
        let (found, expected) = (wide(elements.len()), wide(needed));
        Err(ArrayError::BufferLength { found, expected })
    }

    /// The elements of a view, in C order.
    fn gathered(&self, view: &View, elements: &[u8]) -> Result<Vec<u8>, ArrayError> {
        let contiguous = View::contiguous(view.shape()).map_err(CopyError::from)?;
        let mut out = zarr_view::zeroed(view.len().saturating_mul(self.element_size()))?;
        self.copy_elements(view, elements, &contiguous, &mut out)?;
        Ok(out)
    }

    /// Copies elements from the positions of one view to the positions of another.
    pub(in crate::array) fn copy_elements(
        &self,
        source: &View,
        elements: &[u8],
        target: &View,
        out: &mut [u8],
    ) -> Result<(), CopyError> {
        copy(source, elements, target, out, CopyElement::try_from(self.element_size())?, &[])
    }
}

/// Puts elements in C order at the positions of an output of their shape.
fn copied(elements: &[u8], mut out: Output<'_>) -> Result<(), ArrayError> {
    let contiguous = View::contiguous(out.view().shape()).map_err(CopyError::from)?;
    Ok(out.copy_from(&contiguous, elements, out.element(), &[])?)
}

const AXES_OF_ONE: &str = "axes of length 1 fit into every view";
