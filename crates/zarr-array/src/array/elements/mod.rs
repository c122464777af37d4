//! Elements of reads and writes: their Rust types, and the memory for them.

pub(in crate::array) mod destination;
#[cfg(feature = "ndarray")]
mod ndarray;
mod optional;
pub(crate) mod strided;
#[cfg(feature = "jiff")]
mod times;
pub(crate) mod typed;

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use crate::array::Array;
use crate::error::ArrayError;
use crate::selection::AnySelection;

pub use destination::Destination;
pub use strided::{Boxes, Input};
pub use typed::Element;

/// A Rust type as which elements are read: the argument of [`Array::read_as`].
///
/// | type | data types | [gives](Self::Output) |
/// | --- | --- | --- |
/// | an [`Element`](crate::Element), as `f32` | types of a fixed size that it matches | `Vec<f32>` |
/// | `String` | `string` | [`Strings`](crate::Strings) |
/// | `Vec<u8>` | `bytes`, `string` and `zarrs.optional` | [`ByteStrings`](crate::ByteStrings) |
/// | `Option` of an `Element` | `zarrs.optional` of such a type | a `Vec` of it |
/// | `Option<jiff::Timestamp>` (feature `jiff`) | `numpy.datetime64` | a `Vec` of it |
/// | `Option<jiff::SignedDuration>` (feature `jiff`) | `numpy.timedelta64` | a `Vec` of it |
/// | `ndarray::Array<T, D>` (feature `ndarray`) | the types of `T` | itself |
///
/// The byte string of a `string` is its UTF-8. The byte string of an optional element is the byte
/// 0, or the bytes of the value and then the byte 1. "NaT" is `None`.
///
/// The trait is sealed: types of your own implement [`Element`](crate::Element).
pub trait ReadAs: sealed::Read<<Self as ReadAs>::Output> {
    /// The elements of a selection, in C order, or in the order of the points.
    type Output: Send + 'static;
}

/// A Rust type from which elements are written: the types of [`ReadAs`], for `string` also other
/// types of text (`&str`, `Cow<str>`, `Box<str>`, `Arc<str>`), and for `bytes` also other types of
/// bytes.
///
/// The trait is sealed: types of your own implement [`Element`](crate::Element).
pub trait WriteAs: sealed::Write {}

pub(crate) mod sealed {
    use crate::array::Array;
    use crate::error::ArrayError;
    use crate::selection::AnySelection;
    #[cfg(feature = "async")]
    use crate::selection::Selection;
    #[cfg(feature = "async")]
    use crate::threads::ArrayFuture;

    /// Reads elements as a type.
    pub trait Read<Output>: 'static {
        fn read(array: &Array, selection: &AnySelection) -> Result<Output, ArrayError>;

        #[cfg(feature = "async")]
        fn read_async(array: Array, selection: Selection) -> ArrayFuture<Output>;
    }

    /// Writes elements of a type.
    pub trait Write: Clone {
        /// Refuses arrays of data types that do not match.
        fn check(array: &Array) -> Result<(), ArrayError>;

        fn write(
            array: &Array,
            selection: &AnySelection,
            elements: &[Self],
        ) -> Result<(), ArrayError>;

        #[cfg(feature = "async")]
        fn write_async(
            array: Array,
            selection: Selection,
            elements: impl AsRef<[Self]> + Send + Sync + 'static,
        ) -> ArrayFuture<()>
        where
            Self: 'static;
    }
}

/// Elements to write: a slice, an array, a vector, or anything that points to one of them. With the
/// feature `ndarray`, also an array of that crate with any strides.
pub trait Source<T> {
    /// The elements, if they lie in memory in C order.
    fn as_slice(&self) -> Option<&[T]>;

    /// The elements in C order, if they do not lie so in memory.
    fn to_vec(&self) -> Vec<T>
    where
        T: Clone,
    {
        self.as_slice().map(<[T]>::to_vec).unwrap_or_default()
    }

    /// Their shape, which must be the selection's; `None` if they are a list.
    fn shape(&self) -> Option<&[usize]> {
        None
    }
}

impl<T> Source<T> for [T] {
    fn as_slice(&self) -> Option<&[T]> {
        Some(self)
    }
}

impl<T, const N: usize> Source<T> for [T; N] {
    fn as_slice(&self) -> Option<&[T]> {
        Some(self)
    }
}

impl<T> Source<T> for Vec<T> {
    fn as_slice(&self) -> Option<&[T]> {
        Some(self)
    }
}

macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<T, S: Source<T> + ?Sized> Source<T> for $pointer {
            fn as_slice(&self) -> Option<&[T]> {
                (**self).as_slice()
            }

            fn to_vec(&self) -> Vec<T>
            where
                T: Clone,
            {
                (**self).to_vec()
            }

            fn shape(&self) -> Option<&[usize]> {
                (**self).shape()
            }
        }
    )*};
}

pointers! { &S, Box<S>, Arc<S>, Rc<S> }

impl<T: Clone> Source<T> for Cow<'_, [T]> {
    fn as_slice(&self) -> Option<&[T]> {
        Some(self)
    }
}

impl Array {
    /// Reads elements as a Rust type, in C order of a [`Selection`](crate::Selection) or in the order
    /// of [`Points`](crate::Points). [`ReadAs`] lists the types.
    ///
    /// Elements of a fixed size are decoded directly into the vector. Chunks of elements of variable
    /// length are read whole, once: only the chunk itself tells where its elements are.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] if the array's data type does not match; [`ArrayError::Time`] for a
    /// time that the Rust type does not have; otherwise as [`read`](Array::read).
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
    ///
    /// let metadata = ArrayBuilder::new([5], DataType::String).fill_value("?").build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write_as(1..4, &["Genève", "", "Zürich"])?;
    /// let names = array.read_as::<String>(0..4)?;
    /// assert_eq!((names.len(), &names[3]), (4, "Zürich"));
    /// assert!(names.iter().eq(["?", "Genève", "", "Zürich"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_as<T: ReadAs>(
        &self,
        selection: impl Into<AnySelection>,
    ) -> Result<T::Output, ArrayError> {
        T::read(self, &selection.into())
    }

    /// Writes elements of a Rust type, in C order of a [`Selection`](crate::Selection) or in the order
    /// of [`Points`](crate::Points). [`WriteAs`] lists the types, [`Source`] the containers.
    ///
    /// # Errors
    /// [`ArrayError::ElementType`] if the array's data type does not match; [`ArrayError::Shape`] if
    /// the elements have a shape and it is not the selection's; [`ArrayError::ElementCount`] if there
    /// are fewer or more strings than selected; [`ArrayError::Time`] for a time that is no whole number
    /// of the array's steps, or out of their range, before anything is written; otherwise as
    /// [`write`](Array::write).
    pub fn write_as<T: WriteAs>(
        &self,
        selection: impl Into<AnySelection>,
        elements: &(impl Source<T> + ?Sized),
    ) -> Result<(), ArrayError> {
        let selection = selection.into();
        selection.check_shape(elements.shape())?;
        match elements.as_slice() {
            Some(elements) => T::write(self, &selection, elements),
            None => T::write(self, &selection, &elements.to_vec()),
        }
    }
}
