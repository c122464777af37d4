//! Regions as arrays of the crate `ndarray`.

use ndarray::{ArrayD, ArrayViewD, IxDyn};

use super::{Array, Element};
use crate::error::ArrayError;
use crate::region::Region;
use crate::transfer::too_large;

impl Array {
    /// Reads a region as an array of its shape.
    ///
    /// # Errors
    /// As [`read_as`](Array::read_as).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Region};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let builder = ArrayBuilder::new([2, 3], DataType::Float32).chunk_shape([2, 2]);
    /// # let metadata = builder.fill_value(0.5).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let ones = ndarray::arr2(&[[1.0_f32], [2.0]]).into_dyn();
    /// array.write_ndarray(&Region::from([0..2, 1..2]), ones.view())?;
    /// let whole = array.read_ndarray::<f32>(&Region::whole(array.shape()))?;
    /// assert_eq!(whole, ndarray::arr2(&[[0.5, 1.0, 0.5], [0.5, 2.0, 0.5]]).into_dyn());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_ndarray<T: Element>(&self, region: &Region) -> Result<ArrayD<T>, ArrayError> {
        let elements = self.read_as(region)?;
        let shape = dimensions(region).ok_or_else(|| too_large(region, self.element_size()))?;
        ArrayD::from_shape_vec(shape, elements).map_err(|_| too_large(region, self.element_size()))
    }

    /// Writes a region from an array of its shape, of any strides.
    ///
    /// # Errors
    /// [`ArrayError::Shape`] if the shapes differ; otherwise as [`write_as`](Array::write_as).
    pub fn write_ndarray<T: Element>(
        &self,
        region: &Region,
        elements: ArrayViewD<'_, T>,
    ) -> Result<(), ArrayError> {
        if dimensions(region).as_ref() != Some(&elements.raw_dim()) {
            return Err(ArrayError::Shape {
                found: elements.shape().to_vec(),
                expected: region.shape(),
            });
        }
        match elements.as_slice() {
            Some(elements) => self.write_as(region, elements),
            None => self.write_as(region, &elements.iter().copied().collect::<Vec<T>>()),
        }
    }
}

fn dimensions(region: &Region) -> Option<IxDyn> {
    let sizes: Option<Vec<usize>> =
        region.shape().into_iter().map(|size| usize::try_from(size).ok()).collect();
    Some(IxDyn(&sizes?))
}
