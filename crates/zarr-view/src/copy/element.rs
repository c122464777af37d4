use core::num::NonZeroUsize;

use crate::CopyError;

/// The elements of a copy: the size of each in bytes, and whether the copy reverses their bytes.
///
/// The unit of the byte swap is separate from the size: a big-endian `complex128` has 16 bytes
/// and swaps units of 8.
///
/// # Examples
/// ```
/// use core::num::NonZeroUsize;
/// use zarr_view::CopyElement;
///
/// const EIGHT: NonZeroUsize = NonZeroUsize::new(8).unwrap();
/// let float64 = CopyElement::new(EIGHT);
/// let big_endian_float64 = CopyElement::swapped_in_units(8, 8)?;
/// let big_endian_complex128 = CopyElement::swapped_in_units(16, 8)?;
/// assert_eq!(big_endian_complex128.size(), 16);
/// // From a size that is only known at run time.
/// assert_eq!(CopyElement::try_from(8)?, float64);
/// assert!(CopyElement::try_from(0).is_err());
/// # let _ = big_endian_float64;
/// # Ok::<(), zarr_view::CopyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CopyElement {
    size: NonZeroUsize,
    unit: NonZeroUsize,
}

impl CopyElement {
    /// Elements of `size` bytes, moved unchanged.
    #[must_use]
    pub const fn new(size: NonZeroUsize) -> Self {
        Self { size, unit: NonZeroUsize::MIN }
    }

    /// Elements of `size` bytes, in which the bytes of each `unit` are reversed. Units of 1 byte
    /// swap nothing.
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

    /// Bytes per element.
    #[must_use]
    pub const fn size(self) -> usize {
        self.size.get()
    }

    /// Bytes per unit of the swap; 1 if there is no swap.
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

/// Elements of this many bytes, moved unchanged.
impl TryFrom<usize> for CopyElement {
    type Error = CopyError;

    /// # Errors
    /// [`CopyError::Element`] for a size of 0.
    fn try_from(size: usize) -> Result<Self, CopyError> {
        Self::swapped_in_units(size, 1)
    }
}
