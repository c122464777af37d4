use crate::CopyError;

/// The elements of a copy: how many bytes each has, and how they are swapped on the way.
///
/// The unit of a byte swap is apart from the element: a big-endian `complex128` has 16 bytes and
/// swaps units of 8.
///
/// # Examples
/// ```
/// use zarr_view::Element;
///
/// let float64 = Element::new(8);
/// let big_endian_float64 = Element::swapped(8);
/// let big_endian_complex128 = Element::swapped_in_units(16, 8)?;
/// assert_eq!(big_endian_complex128.size(), 16);
/// # let _ = (float64, big_endian_float64);
/// # Ok::<(), zarr_view::CopyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Element {
    size: usize,
    unit: usize,
}

impl Element {
    /// Elements of `size` bytes, moved as they are. A size of 0 is refused by every copy.
    #[must_use]
    pub const fn new(size: usize) -> Self {
        Self { size, unit: 1 }
    }

    /// Elements of `size` bytes, whose bytes are reversed on the way.
    #[must_use]
    pub const fn swapped(size: usize) -> Self {
        Self { size, unit: size }
    }

    /// Elements of `size` bytes, in which the bytes of each `unit` are reversed on the way. Units
    /// of 1 swap nothing.
    ///
    /// # Errors
    /// [`CopyError::Element`] unless `unit` divides `size`.
    pub const fn swapped_in_units(size: usize, unit: usize) -> Result<Self, CopyError> {
        if size == 0 || unit == 0 || !size.is_multiple_of(unit) {
            return Err(CopyError::Element { size, unit });
        }
        Ok(Self { size, unit })
    }

    /// Bytes an element.
    #[must_use]
    pub const fn size(self) -> usize {
        self.size
    }

    /// Bytes in a unit of the swap; 1 if there is none.
    #[must_use]
    pub const fn unit(self) -> usize {
        self.unit
    }

    /// The same size without a swap.
    #[must_use]
    pub const fn unswapped(self) -> Self {
        Self::new(self.size)
    }

    pub(super) const fn check(self) -> Result<(), CopyError> {
        if self.size == 0 {
            return Err(CopyError::Element { size: self.size, unit: self.unit });
        }
        Ok(())
    }
}
