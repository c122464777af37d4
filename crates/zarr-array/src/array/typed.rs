//! Elements as Rust's own types.

use std::any::Any;
use std::borrow::Cow;

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{CheckedBitPattern, NoUninit, Pod, checked};
use zarr_metadata::DataType;

use super::Array;
use crate::error::ArrayError;
use crate::region::Region;
use crate::transfer::{narrow, region_len, too_large};

/// A Rust type for the elements of some data types.
///
/// The integers, `f32`, `f64` and `bool`; `i8` and `u8` also for integers of fewer than eight bits;
/// `[u8; N]` for raw bits; `f16` and `bf16` with the feature `half`, `Complex` with the feature
/// `num-complex`.
///
/// Any other type whose memory is that of the elements can have it too, by the derive macros of the
/// crate `bytemuck`: `Pod`, or `NoUninit` and `CheckedBitPattern` if not all bit patterns are
/// values of it. On a big-endian machine the bytes of each number (each component of a complex
/// one) are reversed first, as the data type says.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, Region};
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
/// image.write_as(&Region::from(1..2), &[orange])?;
/// assert_eq!(image.read_as::<Rgb>(&Region::whole(&[2]))?[1], orange);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Element: NoUninit + CheckedBitPattern<Bits: Pod> + Send + Sync + 'static {
    /// The Rust type's name, for messages.
    const NAME: &'static str;

    /// Whether this type holds elements of `data_type`, as they are in memory. Types of another
    /// size are refused without asking.
    fn matches(data_type: &DataType) -> bool;
}

macro_rules! element {
    ($($(#[$feature:meta])? $type:ty: $name:literal, $($data_type:ident)|+;)*) => {$(
        $(#[$feature])?
        impl Element for $type {
            const NAME: &'static str = $name;

            fn matches(data_type: &DataType) -> bool {
                matches!(data_type, $(DataType::$data_type)|+)
            }
        }
    )*};
}

element! {
    // Decoding refuses all bytes but 0 and 1 (SD-52).
    bool: "bool", Bool;
    i8: "i8", Int2 | Int4 | Int8;
    u8: "u8", Uint2 | Uint4 | Uint8;
    i16: "i16", Int16;
    u16: "u16", Uint16;
    i32: "i32", Int32;
    u32: "u32", Uint32;
    i64: "i64", Int64;
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
        matches!(data_type, DataType::RawBits(raw) if raw.bytes() == N)
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
        region.check(self.shape())?;
        region_len(region, self.element_size())?;
        let count = region.elements().map_or(usize::MAX, narrow);
        let mut elements: Vec<T::Bits> =
            try_zeroed_vec(count).map_err(|()| too_large(region, self.element_size()))?;
        zarr_view::advise_huge_pages(bytemuck::cast_slice_mut(&mut elements));
        self.read_elements(region, &mut elements)?;
        checked_elements(elements).ok_or_else(|| ArrayError::ElementValue {
            data_type: self.data_type().name(),
            requested: T::NAME,
        })
    }

    /// As [`read_as`](Array::read_as), into the caller's elements. Their type is one of which all
    /// bit patterns are values: not `bool`.
    ///
    /// # Errors
    /// As [`read_as`](Array::read_as), and [`ArrayError::BufferLength`] unless `out` is as long as
    /// the region. `out` may be partly written.
    pub fn read_as_into<T: Element + Pod>(
        &self,
        region: &Region,
        out: &mut [T],
    ) -> Result<(), ArrayError> {
        self.check_type::<T>()?;
        self.read_elements(region, out)
    }

    /// Reads a region into memory of the elements' size, in this machine's byte order.
    fn read_elements<T: Pod>(&self, region: &Region, out: &mut [T]) -> Result<(), ArrayError> {
        let bytes = bytemuck::cast_slice_mut(out);
        self.read_into(region, bytes)?;
        if cfg!(target_endian = "big") {
            reverse_units(bytes, self.swap_unit());
        }
        Ok(())
    }

    /// Writes a region from elements of a Rust type, in C order.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] if the array's data type is another; otherwise as
    /// [`write`](Array::write).
    pub fn write_as<T: Element>(&self, region: &Region, elements: &[T]) -> Result<(), ArrayError> {
        self.write(region, &self.bytes_of(elements)?)
    }

    /// The bytes of elements, if they have the array's type: the caller's own where the machine is
    /// little-endian.
    pub(crate) fn bytes_of<'a, T: Element>(
        &self,
        elements: &'a [T],
    ) -> Result<Cow<'a, [u8]>, ArrayError> {
        self.check_type::<T>()?;
        let mut bytes = Cow::Borrowed(bytemuck::cast_slice(elements));
        let unit = self.swap_unit();
        if cfg!(target_endian = "big") && unit > 1 {
            reverse_units(bytes.to_mut(), unit);
        }
        Ok(bytes)
    }

    /// Bytes that a change of byte order reverses at a time.
    fn swap_unit(&self) -> usize {
        self.data_type().layout().map_or(1, |layout| layout.swap_unit)
    }

    fn check_type<T: Element>(&self) -> Result<(), ArrayError> {
        if size_of::<T>() == self.element_size() && T::matches(self.data_type()) {
            return Ok(());
        }
        let data_type = self.data_type().name();
        Err(ArrayError::ElementType { data_type, requested: T::NAME })
    }
}

/// Changes the byte order of elements, between little-endian and big-endian.
fn reverse_units(bytes: &mut [u8], unit: usize) {
    if unit > 1 {
        bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
    }
}

/// The elements with these bit patterns, in the same memory; `None` if one of them is no value.
fn checked_elements<T: Element>(bits: Vec<T::Bits>) -> Option<Vec<T>> {
    // Most types are their own bit patterns, which need no pass.
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
    fn units_are_reversed_as_the_other_byte_order_has_them() {
        let numbers = [0x0102_0304_u32, 0xa0b0_c0d0];
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let big: Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
        reverse_units(&mut bytes, 4);
        assert_eq!(bytes, big);
        // The components of complex numbers stay where they are.
        let mut complex = [1, 2, 3, 4, 5, 6, 7, 8];
        reverse_units(&mut complex, 2);
        assert_eq!(complex, [2, 1, 4, 3, 6, 5, 8, 7]);
        // Raw bits and bytes have no order.
        reverse_units(&mut complex, 1);
        assert_eq!(complex, [2, 1, 4, 3, 6, 5, 8, 7]);
    }

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
