//! Elements as Rust's own types.

use zarr_metadata::DataType;

use super::Array;
use crate::error::ArrayError;
use crate::region::Region;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type for the elements of some data types.
///
/// Sealed: implemented for the integers, `f32`, `f64` and `bool`. `i8` and `u8` also take types of
/// fewer than eight bits.
pub trait Element: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The Rust type's name, for messages.
    const NAME: &'static str;

    /// Whether this type can hold elements of `data_type` without loss.
    fn matches(data_type: &DataType) -> bool;

    /// The elements of `bytes`, which are whole elements in in-memory form.
    #[doc(hidden)]
    fn from_bytes(bytes: &[u8]) -> Vec<Self>;

    /// Appends elements in in-memory form to `out`.
    #[doc(hidden)]
    fn extend_bytes(elements: &[Self], out: &mut Vec<u8>);
}

macro_rules! number {
    ($($type:ident: $($data_type:ident)|+;)*) => {$(
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const NAME: &'static str = stringify!($type);

            fn matches(data_type: &DataType) -> bool {
                matches!(data_type, $(DataType::$data_type)|+)
            }

            fn from_bytes(bytes: &[u8]) -> Vec<Self> {
                let (elements, _) = bytes.as_chunks();
                elements.iter().map(|element| Self::from_le_bytes(*element)).collect()
            }

            fn extend_bytes(elements: &[Self], out: &mut Vec<u8>) {
                out.extend(elements.iter().flat_map(|element| element.to_le_bytes()));
            }
        }
    )*};
}

number! {
    i8: Int2 | Int4 | Int8;
    u8: Uint2 | Uint4 | Uint8;
    i16: Int16;
    u16: Uint16;
    i32: Int32;
    u32: Uint32;
    i64: Int64;
    u64: Uint64;
    f32: Float32;
    f64: Float64;
}

impl sealed::Sealed for bool {}

impl Element for bool {
    const NAME: &'static str = "bool";

    fn matches(data_type: &DataType) -> bool {
        matches!(data_type, DataType::Bool)
    }

    fn from_bytes(bytes: &[u8]) -> Vec<Self> {
        // Decoding has refused all bytes but 0 and 1 (SD-52).
        bytes.iter().map(|byte| *byte != 0).collect()
    }

    fn extend_bytes(elements: &[Self], out: &mut Vec<u8>) {
        out.extend(elements.iter().map(|element| u8::from(*element)));
    }
}

impl Array {
    /// Reads a region as elements of a Rust type, in C order.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] if the array's data type is another; otherwise as
    /// [`read`](Array::read).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Region};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let builder = ArrayBuilder::new([3], DataType::Int16).chunk_shape([2]);
    /// # let metadata = builder.fill_value(-1).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write_as(&Region::from(1..2), &[500_i16])?;
    /// assert_eq!(array.read_as::<i16>(&Region::whole(&[3]))?, [-1, 500, -1]);
    /// assert!(array.read_as::<f32>(&Region::whole(&[3])).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_as<T: Element>(&self, region: &Region) -> Result<Vec<T>, ArrayError> {
        self.check_type::<T>()?;
        Ok(T::from_bytes(&self.read(region)?))
    }

    /// Writes a region from elements of a Rust type, in C order.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] if the array's data type is another; otherwise as
    /// [`write`](Array::write).
    pub fn write_as<T: Element>(&self, region: &Region, elements: &[T]) -> Result<(), ArrayError> {
        self.write(region, &self.bytes_of(elements)?)
    }

    /// The bytes of elements, if they have the array's type.
    pub(crate) fn bytes_of<T: Element>(&self, elements: &[T]) -> Result<Vec<u8>, ArrayError> {
        self.check_type::<T>()?;
        let mut bytes = Vec::new();
        T::extend_bytes(elements, &mut bytes);
        Ok(bytes)
    }

    fn check_type<T: Element>(&self) -> Result<(), ArrayError> {
        if T::matches(self.data_type()) {
            return Ok(());
        }
        let data_type = self.data_type().name();
        Err(ArrayError::ElementType { data_type, requested: T::NAME })
    }
}
