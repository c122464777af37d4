//! Elements that may be missing.
//!
//! # Spec
//! zarrs, "The `optional` array to bytes codec".

use bytemuck::{Zeroable as _, checked};
use zarr_codec::ByteStrings;
use zarr_metadata::DataType;

use crate::array::elements::{ReadAs, WriteAs, sealed};
use crate::array::{Array, Element};
use crate::error::ArrayError;
use crate::selection::AnySelection;
#[cfg(feature = "async")]
use crate::selection::Selection;
#[cfg(feature = "async")]
use crate::threads::{self, ArrayFuture};

impl<T: Element> ReadAs for Option<T> {
    type Output = Vec<Self>;
}

impl<T: Element> sealed::Read<Vec<Self>> for Option<T> {
    fn read(array: &Array, selection: &AnySelection) -> Result<Vec<Self>, ArrayError> {
        let inner = array.check_optional::<T>()?;
        decoded(inner, &array.read_variable(selection)?)
    }

    #[cfg(feature = "async")]
    fn read_async(array: Array, selection: Selection) -> ArrayFuture<Vec<Self>> {
        Box::pin(async move {
            array.check_optional::<T>()?;
            let elements = array.read_variable_async(selection).await?;
            let read = move || decoded(array.check_optional::<T>()?, &elements);
            threads::DECODERS.run(read).await.map_err(threads::interrupted)?
        })
    }
}

impl<T: Element> WriteAs for Option<T> {}

impl<T: Element> sealed::Write for Option<T> {
    fn check(array: &Array) -> Result<(), ArrayError> {
        array.check_optional::<T>().map(drop)
    }

    fn write(array: &Array, selection: &AnySelection, elements: &[Self]) -> Result<(), ArrayError> {
        let encoded = encoded(array.check_optional::<T>()?, elements);
        let elements: Vec<&[u8]> = encoded.iter().collect();
        array.write_variable(selection, &elements)
    }

    #[cfg(feature = "async")]
    fn write_async(
        array: Array,
        selection: Selection,
        elements: impl AsRef<[Self]> + Send + Sync + 'static,
    ) -> ArrayFuture<()> {
        Box::pin(async move {
            let inner = array.check_optional::<T>()?.clone();
            let encoded = threads::DECODERS.run(move || encoded(&inner, elements.as_ref()));
            let encoded = encoded.await.map_err(threads::interrupted)?;
            array.write_variable_async(selection, encoded).await
        })
    }
}

/// The elements of byte strings: the byte 0, or the bytes of a value and then the byte 1.
fn decoded<T: Element>(
    inner: &DataType,
    elements: &ByteStrings,
) -> Result<Vec<Option<T>>, ArrayError> {
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

/// The byte strings of elements.
fn encoded<T: Element>(inner: &DataType, elements: &[Option<T>]) -> ByteStrings {
    let encode = |element: &Option<T>| {
        let mut bytes = Vec::new();
        if let Some(value) = element {
            bytes.extend_from_slice(bytemuck::bytes_of(value));
            if cfg!(target_endian = "big") {
                inner.swap_byte_order(&mut bytes);
            }
        }
        bytes.push(u8::from(element.is_some()));
        bytes
    };
    elements.iter().map(encode).collect()
}

impl Array {
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
