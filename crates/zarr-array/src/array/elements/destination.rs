//! Memory of the caller that elements are read into.

use std::any::TypeId;

use bytemuck::Pod;
use zarr_view::Output;

use crate::array::{Array, Element};
use crate::error::ArrayError;
use crate::selection::AnySelection;

/// Memory that [`Array::read_into`] fills.
///
/// | type | takes |
/// | --- | --- |
/// | `&mut [u8]` | the bytes of elements of any data type of a fixed size, in C order |
/// | `&mut [T]`, `T` an [`Element`] | elements that `T` matches, in C order |
/// | `&mut [T; N]`, `&mut Vec<T>` | the same; the length stays |
/// | [`Output`] | bytes at the positions of a view: columns of a matrix, axes in another order |
/// | `&mut` [`LimitedStrings`](crate::LimitedStrings) | strings and byte strings, up to a number of bytes |
/// | `&mut ndarray::ArrayBase` (feature `ndarray`) | elements in its shape, with any strides |
///
/// Every bit pattern must be a valid value of `T`, which excludes `bool`. The trait is sealed.
pub trait Destination: sealed::Destination {}

pub(in crate::array) mod sealed {
    use crate::array::Array;
    use crate::error::ArrayError;
    use crate::selection::AnySelection;

    pub trait Destination {
        fn read(self, array: &Array, selection: &AnySelection) -> Result<(), ArrayError>;
    }
}

impl<T: Element + Pod> Destination for &mut [T] {}

impl<T: Element + Pod> sealed::Destination for &mut [T] {
    fn read(self, array: &Array, selection: &AnySelection) -> Result<(), ArrayError> {
        if TypeId::of::<T>() == TypeId::of::<u8>() {
            return array.read_bytes(selection, bytemuck::cast_slice_mut(self));
        }
        array.check_type::<T>()?;
        array.read_elements(selection, self)
    }
}

impl<T: Element + Pod, const N: usize> Destination for &mut [T; N] {}

impl<T: Element + Pod, const N: usize> sealed::Destination for &mut [T; N] {
    fn read(self, array: &Array, selection: &AnySelection) -> Result<(), ArrayError> {
        self.as_mut_slice().read(array, selection)
    }
}

impl<T: Element + Pod> Destination for &mut Vec<T> {}

impl<T: Element + Pod> sealed::Destination for &mut Vec<T> {
    fn read(self, array: &Array, selection: &AnySelection) -> Result<(), ArrayError> {
        self.as_mut_slice().read(array, selection)
    }
}

impl Destination for Output<'_> {}

impl sealed::Destination for Output<'_> {
    fn read(self, array: &Array, selection: &AnySelection) -> Result<(), ArrayError> {
        array.read_to(selection, self)
    }
}

impl Array {
    /// Reads elements into memory of the caller: bytes, elements of a Rust type, or positions with
    /// any strides. [`Destination`] lists the types.
    ///
    /// Chunks are decoded directly to their positions; the bytes between elements are not changed. Lists
    /// of indices that go back and forth between chunks need a second buffer as large as the selection.
    ///
    /// # Errors
    /// As [`read`](Array::read); [`ArrayError::BufferLength`] unless a slice is as long as the
    /// selection; [`ArrayError::Shape`] if the destination has another shape than the selection;
    /// [`ArrayError::ElementType`] unless the data type matches. The memory may be partly written.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// use zarr_view::{Output, View};
    /// # let metadata = ArrayBuilder::new([2, 3], DataType::Uint16).chunk_shape([2, 2]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    ///
    /// array.write_as([0..2, 0..3], &[1_u16, 2, 3, 4, 5, 6])?;
    /// let mut row = [0_u16; 3];
    /// array.read_into((1, 0..3), &mut row)?;
    /// assert_eq!(row, [4, 5, 6]);
    ///
    /// // Into the second of two columns, the last row first.
    /// let mut matrix = [0; 8];
    /// let column = View::new(&[2], &[-2], 3)?;
    /// array.read_into((0..2, 2), Output::new(&mut matrix, &column, array.element_size())?)?;
    /// assert_eq!(matrix, [0, 0, 6, 0, 0, 0, 3, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_into(
        &self,
        selection: impl Into<AnySelection>,
        destination: impl Destination,
    ) -> Result<(), ArrayError> {
        destination.read(self, &selection.into())
    }
}
