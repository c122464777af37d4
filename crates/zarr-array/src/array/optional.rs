//! Arrays whose elements may be missing.

use bytemuck::{Zeroable as _, checked};
use zarr_metadata::DataType;

use super::{Array, Element};
use crate::error::ArrayError;
use crate::selection::Selection;

impl Array {
    /// Reads a [`Selection`] in C order, with `None` for the elements that are missing. Chunks that
    /// are not stored read as the fill value.
    ///
    /// Each chunk that the selection touches is read whole. If the elements are themselves strings,
    /// or may be missing twice, use [`read_byte_strings`](Array::read_byte_strings): an element is the
    /// byte 0, or the bytes of its value and then the byte 1.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] unless the data type is `zarrs.optional` of a type that `T`
    /// matches; otherwise as for [`read`](Array::read).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// use zarr_metadata::{ArrayBuilder, DataType, Optional};
    ///
    /// let data_type = DataType::ZarrsOptional(Optional::new(DataType::Int16)?);
    /// let metadata = ArrayBuilder::new([4], data_type).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write_optional(1..3, &[Some(-5_i16), None])?;
    /// assert_eq!(array.read_optional::<i16>(0..3)?, [None, Some(-5), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Spec
    /// zarrs, "The `optional` array to bytes codec".
    pub fn read_optional<T: Element>(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<Vec<Option<T>>, ArrayError> {
        let inner = self.check_optional::<T>()?;
        let elements = self.read_variable(&selection.into())?;
        let mut read = Vec::with_capacity(elements.len());
        for element in elements.iter() {
            let Some((1, value)) = element.split_last() else {
                read.push(None);
                continue;
            };
            let mut bits = T::Bits::zeroed();
            let bytes = bytemuck::bytes_of_mut(&mut bits);
            bytes.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
            if cfg!(target_endian = "big") {
                inner.swap_byte_order(bytes);
            }
            read.push(Some(checked::try_cast(bits).map_err(|_| ArrayError::ElementValue {
                data_type: inner.to_string(),
                requested: T::NAME,
            })?));
        }
        Ok(read)
    }

    /// Writes a [`Selection`] from its elements in C order; `None` for those that are missing.
    ///
    /// # Errors
    /// As for [`read_optional`](Array::read_optional), and as for
    /// [`write_strings`](Array::write_strings).
    pub fn write_optional<T: Element>(
        &self,
        selection: impl Into<Selection>,
        elements: &[Option<T>],
    ) -> Result<(), ArrayError> {
        let inner = self.check_optional::<T>()?;
        let encoded: Vec<Vec<u8>> = elements
            .iter()
            .map(|element| {
                let mut bytes = Vec::new();
                if let Some(value) = element {
                    bytes.extend_from_slice(bytemuck::bytes_of(value));
                    if cfg!(target_endian = "big") {
                        inner.swap_byte_order(&mut bytes);
                    }
                }
                bytes.push(u8::from(element.is_some()));
                bytes
            })
            .collect();
        let elements: Vec<&[u8]> = encoded.iter().map(Vec::as_slice).collect();
        self.write_variable(&selection.into(), elements.as_slice())
    }

    /// The type of the elements that are not missing, if `T` matches it.
    fn check_optional<T: Element>(&self) -> Result<&DataType, ArrayError> {
        match self.data_type() {
            DataType::ZarrsOptional(optional)
                if optional.inner().size() == Some(size_of::<T>())
                    && T::matches(optional.inner()) =>
            {
                Ok(optional.inner())
            }
            data_type => Err(ArrayError::ElementType {
                data_type: data_type.to_string(),
                requested: T::NAME,
            }),
        }
    }
}
