//! Elements as arrays of the crate `ndarray`.

use bytemuck::Pod;
use ndarray::{ArrayBase, ArrayD, Data, DataMut, Dimension, IxDyn};

use crate::array::elements::destination::{self, Destination};
use crate::array::elements::{ReadAs, Source, sealed};
use crate::array::{Array, Element};
use crate::counts::narrow;
use crate::error::ArrayError;
use crate::selection::AnySelection;
#[cfg(feature = "async")]
use crate::selection::Selection;
#[cfg(feature = "async")]
use crate::threads::ArrayFuture;

/// An array of the selection's shape, with as many axes as the type says: `Array2` for two, `ArrayD`
/// for any number. Another number is [`ArrayError::Axes`].
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, Selection};
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// # let builder = ArrayBuilder::new([2, 3], DataType::Float32).chunk_shape([2, 2]);
/// # let metadata = builder.fill_value(0.5).build()?;
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// use ndarray::{Array1, Array2, arr1, arr2};
///
/// array.write_as([0..2, 1..2], &arr2(&[[1.0_f32], [2.0]]))?;
/// let mut whole = array.read_as::<Array2<f32>>(Selection::whole(array.shape()))?;
/// assert_eq!(whole, arr2(&[[0.5, 1.0, 0.5], [0.5, 2.0, 0.5]]));
/// assert_eq!(array.read_as::<Array1<f32>>((1, 0..2))?, arr1(&[0.5, 2.0]));
///
/// // Of any layout, such as columns from the right to the left.
/// array.write_as([0..2, 0..2], &whole.slice(ndarray::s![.., 1..;-1]))?;
/// array.read_into([0..2, 0..2], &mut whole.slice_mut(ndarray::s![.., 1..]))?;
/// assert_eq!(whole, arr2(&[[0.5, 0.5, 1.0], [0.5, 0.5, 2.0]]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<T: ReadAs<Output = Vec<T>>, D: Dimension + 'static> ReadAs for ndarray::Array<T, D>
where
    Self: Send,
{
    type Output = Self;
}

impl<T: ReadAs<Output = Vec<T>>, D: Dimension + 'static> sealed::Read<Self> for ndarray::Array<T, D>
where
    Self: Send,
{
    fn read(array: &Array, selection: &AnySelection) -> Result<Self, ArrayError> {
        let shape = shape::<D>(selection)?;
        shaped(array, &shape, T::read(array, selection)?)
    }

    #[cfg(feature = "async")]
    fn read_async(array: Array, selection: Selection) -> ArrayFuture<Self> {
        Box::pin(async move {
            let shape = shape::<D>(&AnySelection::from(&selection))?;
            let elements = T::read_async(array.clone(), selection).await?;
            shaped(&array, &shape, elements)
        })
    }
}

/// The shape of a selection, which has as many axes as the type.
fn shape<D: Dimension>(selection: &AnySelection) -> Result<Vec<usize>, ArrayError> {
    let shape = selection.shape();
    match D::NDIM {
        Some(requested) if requested != shape.len() => {
            Err(ArrayError::Axes { axes: shape.len(), requested })
        }
        _ => Ok(shape.into_iter().map(narrow).collect()),
    }
}

fn shaped<T, D: Dimension>(
    array: &Array,
    shape: &[usize],
    elements: Vec<T>,
) -> Result<ndarray::Array<T, D>, ArrayError> {
    let count = elements.len();
    ArrayD::from_shape_vec(IxDyn(shape), elements)
        .and_then(ndarray::ArrayBase::into_dimensionality)
        .map_err(|_| ArrayError::SelectionTooLarge {
            elements: crate::counts::wide(count).into(),
            element_size: array.element_size(),
        })
}

impl<T, S: Data<Elem = T>, D: Dimension> Source<T> for ArrayBase<S, D> {
    fn as_slice(&self) -> Option<&[T]> {
        self.view().to_slice()
    }

    fn to_vec(&self) -> Vec<T>
    where
        T: Clone,
    {
        self.iter().cloned().collect()
    }

    fn shape(&self) -> Option<&[usize]> {
        Some(self.shape())
    }
}

impl<T: Element + Pod, S: DataMut<Elem = T>, D: Dimension> Destination for &mut ArrayBase<S, D> {}

impl<T: Element + Pod, S: DataMut<Elem = T>, D: Dimension> destination::sealed::Destination
    for &mut ArrayBase<S, D>
{
    fn read(self, array: &Array, selection: &AnySelection) -> Result<(), ArrayError> {
        array.check_type::<T>()?;
        selection.check_shape(Some(self.shape()))?;
        if let Some(elements) = self.as_slice_mut() {
            return array.read_elements(selection, elements);
        }
        let elements = array.read_as::<T>(selection)?;
        self.iter_mut().zip(elements).for_each(|(to, element)| *to = element);
        Ok(())
    }
}
