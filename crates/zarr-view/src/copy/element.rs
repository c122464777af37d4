use core::num::NonZeroUsize;

use crate::CopyError;

/// The elements of a copy: how many bytes each has, and how they are swapped on the way.
///
/// The unit of a byte swap is apart from the element: a big-endian `complex128` has 16 bytes and
/// swaps units of 8.
///
/// # Examples
/// ```
/// use core::num::NonZeroUsize;
/// use zarr_view::Element;
///
/// const EIGHT: NonZeroUsize = NonZeroUsize::new(8).unwrap();
/// let float64 = Element::new(EIGHT);
/// let big_endian_float64 = Element::swapped(EIGHT);
/// let big_endian_complex128 = Element::swapped_in_units(16, 8)?;
/// assert_eq!(big_endian_complex128.size(), 16);
/// // From a size that is only known at run time.
/// assert_eq!(Element::try_from(8)?, float64);
/// assert!(Element::try_from(0).is_err());
/// # let _ = big_endian_float64;
/// # Ok::<(), zarr_view::CopyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Element {
    size: NonZeroUsize,
    unit: NonZeroUsize,
}

impl Element {
    /// Elements of `size` bytes, moved as they are.
    #[must_use]
    pub const fn new(size: NonZeroUsize) -> Self {
        Self { size, unit: NonZeroUsize::MIN }
    }

    /// Elements of `size` bytes, whose bytes are reversed on the way.
    #[must_use]
    pub const fn swapped(size: NonZeroUsize) -> Self {
        Self { size, unit: size }
    }

    /// Elements of `size` bytes, in which the bytes of each `unit` are reversed on the way. Units
    /// of 1 swap nothing.
    ///
    /// # Errors
    /// [`CopyError::Element`] if either is 0, or `unit` does not divide `size`.
    pub const fn swapped_in_units(size: usize, unit: usize) -> Result<Self, CopyError> {
        match (NonZeroUsize::new(size), NonZeroUsize::new(unit)) {
            (Some(size), Some(unit)) if size.get().is_multiple_of(unit.get()) => {
                Ok(Self { size, unit })
            }
            _ => Err(CopyError::Element { size, unit }),
        }
    }

    /// Bytes an element.
    #[must_use]
    pub const fn size(self) -> usize {
        self.size.get()
    }

    /// Bytes in a unit of the swap; 1 if there is none.
    #[must_use]
    pub const fn unit(self) -> usize {
        self.unit.get()
    }

    /// The same size without a swap.
    #[must_use]
    pub const fn unswapped(self) -> Self {
        Self::new(self.size)
    }
}

/// Elements of so many bytes, moved as they are.
impl TryFrom<usize> for Element {
    type Error = CopyError;

    /// # Errors
    /// [`CopyError::Element`] for a size of 0.
    fn try_from(size: usize) -> Result<Self, CopyError> {
        Self::swapped_in_units(size, 1)
    }
}
