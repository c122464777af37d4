//! Elements as Rust's own types.

use std::any::Any;
use std::borrow::Cow;

use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{CheckedBitPattern, NoUninit, Pod, checked};
use zarr_metadata::DataType;

use crate::array::Array;
use crate::array::elements::strided::Input;
use crate::array::elements::{ReadAs, WriteAs, sealed};
use crate::array::read::Wanted;
use crate::error::ArrayError;
use crate::selection::AnySelection;
#[cfg(feature = "async")]
use crate::selection::Selection;
#[cfg(feature = "async")]
use crate::threads::ArrayFuture;

/// A Rust type for the elements of some data types.
///
/// Implemented for the integers, `f32`, `f64` and `bool`; with the feature `half` for `f16` and
/// `bf16`, and with the feature `num-complex` for `Complex`. `i8` and `u8` also match integers of
/// fewer than eight bits. `i64` also matches times and durations, with `i64::MIN` as "NaT" (with
/// the feature `jiff`, `Option<jiff::Timestamp>` gives times). `[u8; N]` matches raw bits and bytes
/// of fixed length, and `[u32; N]` the code points of strings of fixed length.
///
/// Any other type with the memory layout of the elements can implement it too, with the derive
/// macros of the crate `bytemuck`: `Pod`, or `NoUninit` and `CheckedBitPattern` if not all bit
/// patterns are valid. Use this for records; their fields lie without gaps. On a big-endian
/// machine, the bytes of each number are reversed first, according to the data type: each component
/// of a complex number, each field of a record.
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

impl<T: Element> ReadAs for T {
    type Output = Vec<T>;
}

impl<T: Element> sealed::Read<Vec<T>> for T {
    fn read(array: &Array, selection: &AnySelection) -> Result<Vec<T>, ArrayError> {
        array.check_type::<T>()?;
        let wanted = Wanted::new(array, selection)?;
        let mut bits = zeroed_bits::<T>(wanted.length()).ok_or_else(|| wanted.too_large())?;
        array.read_wanted(selection, wanted, bytemuck::cast_slice_mut(&mut bits))?;
        array.elements(bits)
    }

    #[cfg(feature = "async")]
    fn read_async(array: Array, selection: Selection) -> ArrayFuture<Vec<T>> {
        Box::pin(async move { array.read_elements_async(&selection).await })
    }
}

impl<T: Element> WriteAs for T {}

impl<T: Element> sealed::Write for T {
    fn check(array: &Array) -> Result<(), ArrayError> {
        array.check_type::<T>()
    }

    fn write(array: &Array, selection: &AnySelection, elements: &[T]) -> Result<(), ArrayError> {
        array.write_input(selection, Input::from(&*array.bytes_of(elements)?))
    }

    #[cfg(feature = "async")]
    fn write_async(
        array: Array,
        selection: Selection,
        elements: impl AsRef<[T]> + Send + Sync + 'static,
    ) -> ArrayFuture<()> {
        Box::pin(async move { array.write_elements_async(selection, elements).await })
    }
}

impl Array {
    /// Reads into elements of the right size, in this machine's byte order.
    pub(in crate::array) fn read_elements<T: Pod>(
        &self,
        selection: &AnySelection,
        out: &mut [T],
    ) -> Result<(), ArrayError> {
        let bytes = bytemuck::cast_slice_mut(out);
        self.read_bytes(selection, bytes)?;
        self.to_native(bytes);
        Ok(())
    }

    /// Converts elements from their little-endian form to this machine's byte order.
    fn to_native(&self, bytes: &mut [u8]) {
        if cfg!(target_endian = "big") {
            self.data_type().swap_byte_order(bytes);
        }
    }

    /// The elements with these bit patterns, which are in their little-endian form.
    pub(in crate::array) fn elements<T: Element>(
        &self,
        mut bits: Vec<T::Bits>,
    ) -> Result<Vec<T>, ArrayError> {
        self.to_native(bytemuck::cast_slice_mut(&mut bits));
        checked_elements(bits).ok_or_else(|| ArrayError::ElementValue {
            data_type: self.data_type().to_string(),
            requested: T::NAME,
        })
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

    pub(in crate::array) fn check_type<T: Element>(&self) -> Result<(), ArrayError> {
        if size_of::<T>() == self.element_size() && T::matches(self.data_type()) {
            return Ok(());
        }
        // Its error names the methods to use, which says more than the error below.
        self.fixed_chain()?;
        let data_type = self.data_type().to_string();
        Err(ArrayError::ElementType { data_type, requested: T::NAME })
    }
}

/// Memory for the bit patterns of elements that take this many bytes; `None` if there is not enough.
pub(in crate::array) fn zeroed_bits<T: Element>(length: usize) -> Option<Vec<T::Bits>> {
    let count = length.checked_div(size_of::<T>()).unwrap_or(0);
    let mut bits: Vec<T::Bits> = try_zeroed_vec(count).ok()?;
    zarr_view::advise_huge_pages(bytemuck::cast_slice_mut(&mut bits));
    Some(bits)
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
