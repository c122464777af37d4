//! Elements as Rust's own types.

use std::any::Any;
use std::borrow::Cow;

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{CheckedBitPattern, NoUninit, Pod, checked};
use zarr_metadata::DataType;

use super::Array;
use crate::error::ArrayError;
use crate::selection::Selection;
use crate::transfer::Selected;

/// A Rust type for the elements of some data types.
///
/// Implemented for the integers, `f32`, `f64` and `bool`; `i8` and `u8` also for integers of
/// fewer than eight bits; `i64` also for times and durations, where `i64::MIN` is "NaT"
/// (with the feature `jiff`, `Array::read_timestamps` has them as times); `[u8; N]` for raw bits
/// and for bytes of fixed length; `[u32; N]` for the code points of strings of fixed length; `f16`
/// and `bf16` with the feature `half`, `Complex` with the feature `num-complex`.
///
/// Any other type with the memory layout of the elements can implement it too, with the derive
/// macros of the crate `bytemuck`: `Pod`, or `NoUninit` and `CheckedBitPattern` if not all bit
/// patterns are valid. Use this for records, whose fields lie without gaps. On a big-endian
/// machine, the bytes of each number (each component of a complex number, each field of a record)
/// are reversed first, according to the data type.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, Selection};
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::ArrayBuilder;
/// use zarr_array::Element;
/// use zarr_metadata::DataType;
///
/// #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Rgb {
///     red: u8,
///     green: u8,
///     blue: u8,
/// }
///
/// impl Element for Rgb {
///     const NAME: &'static str = "Rgb";
///
///     fn matches(data_type: &DataType) -> bool {
///         matches!(data_type, DataType::RawBits(raw) if raw.bytes() == 3)
///     }
/// }
///
/// let r24 = DataType::from_name("r24")?;
/// let metadata = ArrayBuilder::new([2], r24).chunk_shape([2]).build()?;
/// let image = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// let orange = Rgb { red: 255, green: 165, blue: 0 };
/// image.write_as(1..2, &[orange])?;
/// assert_eq!(image.read_as::<Rgb>(Selection::whole(&[2]))?[1], orange);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Element: NoUninit + CheckedBitPattern<Bits: Pod + Send> + Send + Sync + 'static {
    /// The Rust type's name, for messages.
    const NAME: &'static str;

    /// Whether this type has the in-memory form of elements of `data_type`. It is called only for
    /// types of the same size.
    fn matches(data_type: &DataType) -> bool;
}

macro_rules! element {
    ($($(#[$feature:meta])? $type:ty: $name:literal, $($data_type:ident $(($any:tt))?)|+;)*) => {$(
        $(#[$feature])?
        impl Element for $type {
            const NAME: &'static str = $name;

            fn matches(data_type: &DataType) -> bool {
                matches!(data_type, $(DataType::$data_type $(($any))?)|+)
            }
        }
    )*};
}

element! {
    // Decoding refuses all bytes except 0 and 1 (SD-52).
    bool: "bool", Bool;
    i8: "i8", Int2 | Int4 | Int8;
    u8: "u8", Uint2 | Uint4 | Uint8;
    i16: "i16", Int16;
    u16: "u16", Uint16;
    i32: "i32", Int32;
    u32: "u32", Uint32;
    i64: "i64", Int64 | NumpyDatetime64(_) | NumpyTimedelta64(_);
    u64: "u64", Uint64;
    f32: "f32", Float32;
    f64: "f64", Float64;
    #[cfg(feature = "half")]
    half::f16: "f16", Float16;
    #[cfg(feature = "half")]
    half::bf16: "bf16", Bfloat16;
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f32>: "Complex<f32>", Complex64 | ComplexFloat32;
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f64>: "Complex<f64>", Complex128 | ComplexFloat64;
    #[cfg(all(feature = "half", feature = "num-complex"))]
    num_complex::Complex<half::f16>: "Complex<f16>", ComplexFloat16;
    #[cfg(all(feature = "half", feature = "num-complex"))]
    num_complex::Complex<half::bf16>: "Complex<bf16>", ComplexBfloat16;
}

impl<const N: usize> Element for [u8; N] {
    const NAME: &'static str = "[u8; N]";

    fn matches(data_type: &DataType) -> bool {
        match data_type {
            DataType::RawBits(raw) => raw.bytes() == N,
            DataType::RawBytes(length) | DataType::NullTerminatedBytes(length) => {
                length.bytes() == N
            }
            _ => false,
        }
    }
}

impl<const N: usize> Element for [u32; N] {
    const NAME: &'static str = "[u32; N]";

    fn matches(data_type: &DataType) -> bool {
        matches!(data_type, DataType::FixedLengthUtf32(length) if length.code_points() == N)
    }
}

impl Array {
    /// Reads a [`Selection`] as elements of a Rust type, in C order.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] if the array's data type does not match; otherwise as
    /// [`read`](Array::read).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Selection};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let builder = ArrayBuilder::new([3], DataType::Int16).chunk_shape([2]);
    /// # let metadata = builder.fill_value(-1).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write_as(1..2, &[500_i16])?;
    /// assert_eq!(array.read_as::<i16>(Selection::whole(&[3]))?, [-1, 500, -1]);
    /// assert!(array.read_as::<f32>(Selection::whole(&[3])).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_as<T: Element>(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<Vec<T>, ArrayError> {
        self.check_type::<T>()?;
        let selected = Selected::new(self, &selection.into())?;
        let mut bits = zeroed_bits::<T>(&selected)?;
        self.read_elements(selected, &mut bits)?;
        self.elements(bits)
    }

    /// As [`read_as`](Array::read_as), into the caller's elements. Every bit pattern must be a
    /// valid value of their type, which excludes `bool`.
    ///
    /// # Errors
    /// As [`read_as`](Array::read_as), and [`ArrayError::BufferLength`] unless `out` has the
    /// length of the selection. `out` may be partly written.
    pub fn read_as_into<T: Element + Pod>(
        &self,
        selection: impl Into<Selection>,
        out: &mut [T],
    ) -> Result<(), ArrayError> {
        self.check_type::<T>()?;
        self.read_elements(Selected::new(self, &selection.into())?, out)
    }

    /// Reads a selection into elements of the right size, in this machine's byte order.
    fn read_elements<T: Pod>(
        &self,
        selected: Selected<'_>,
        out: &mut [T],
    ) -> Result<(), ArrayError> {
        let bytes = bytemuck::cast_slice_mut(out);
        self.read_selected(selected, bytes, self.threads_for(bytes.len()))?;
        self.to_native(bytes);
        Ok(())
    }

    /// Converts elements from their little-endian form to this machine's byte order.
    pub(super) fn to_native(&self, bytes: &mut [u8]) {
        if cfg!(target_endian = "big") {
            self.data_type().swap_byte_order(bytes);
        }
    }

    /// The elements with these bit patterns.
    pub(super) fn elements<T: Element>(&self, bits: Vec<T::Bits>) -> Result<Vec<T>, ArrayError> {
        checked_elements(bits).ok_or_else(|| ArrayError::ElementValue {
            data_type: self.data_type().to_string(),
            requested: T::NAME,
        })
    }

    /// Writes a [`Selection`] from elements of a Rust type, in C order.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] if the array's data type does not match; otherwise as
    /// [`write`](Array::write).
    pub fn write_as<T: Element>(
        &self,
        selection: impl Into<Selection>,
        elements: &[T],
    ) -> Result<(), ArrayError> {
        self.write(selection, &self.bytes_of(elements)?)
    }

    /// The bytes of elements, if they have the array's type: borrowed from the caller if the
    /// machine is little-endian.
    pub(crate) fn bytes_of<'a, T: Element>(
        &self,
        elements: &'a [T],
    ) -> Result<Cow<'a, [u8]>, ArrayError> {
        self.check_type::<T>()?;
        let mut bytes = Cow::Borrowed(bytemuck::cast_slice(elements));
        if cfg!(target_endian = "big") && self.data_type().has_byte_order() {
            self.data_type().swap_byte_order(bytes.to_mut());
        }
        Ok(bytes)
    }

    pub(super) fn check_type<T: Element>(&self) -> Result<(), ArrayError> {
        if size_of::<T>() == self.element_size() && T::matches(self.data_type()) {
            return Ok(());
        }
        // Its error names the methods to use, which says more than the error below.
        self.chain()?;
        let data_type = self.data_type().to_string();
        Err(ArrayError::ElementType { data_type, requested: T::NAME })
    }
}

/// Memory for the bit patterns of a selection.
pub(super) fn zeroed_bits<T: Element>(selected: &Selected<'_>) -> Result<Vec<T::Bits>, ArrayError> {
    let count = selected.length.checked_div(size_of::<T>()).unwrap_or(0);
    let mut bits: Vec<T::Bits> = try_zeroed_vec(count).map_err(|()| selected.too_large())?;
    zarr_view::advise_huge_pages(bytemuck::cast_slice_mut(&mut bits));
    Ok(bits)
}

/// The elements with these bit patterns, in the same memory; `None` if one of them is not a valid
/// value.
fn checked_elements<T: Element>(bits: Vec<T::Bits>) -> Option<Vec<T>> {
    // Most types are their own bit patterns, and need no pass.
    let bits: Box<dyn Any> = Box::new(bits);
    match bits.downcast::<Vec<T>>() {
        Ok(elements) => Some(*elements),
        Err(bits) => {
            let bits = bits.downcast::<Vec<T::Bits>>().ok()?;
            // The standard library collects into the memory that it iterates over.
            bits.into_iter().map(|bits| checked::try_cast(bits).ok()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_take_over_the_memory_of_their_bits() {
        let bits = vec![0_u8, 1, 1];
        let place = bits.as_ptr();
        let bools = checked_elements::<bool>(bits).unwrap_or_default();
        assert_eq!(
            (bools.as_slice(), bools.as_ptr().cast()),
            ([false, true, true].as_slice(), place)
        );
        assert_eq!(checked_elements::<bool>(vec![0, 2]), None);
        let numbers = vec![0.5_f32, 1.5];
        let place = numbers.as_ptr();
        let same = checked_elements::<f32>(numbers).unwrap_or_default();
        assert_eq!((same.as_slice(), same.as_ptr()), ([0.5, 1.5].as_slice(), place));
    }
}
