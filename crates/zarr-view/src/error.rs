use crate::InstructionSet;

/// Why a view could not be made or changed.
///
/// # Examples
/// ```
/// use zarr_view::{View, ViewError};
///
/// let error = View::contiguous(&[2, 3])?.permute(&[0, 0]).unwrap_err();
/// assert_eq!(error, ViewError::RepeatedAxis { axis: 0 });
/// assert_eq!(error.to_string(), "axis 0 occurs twice, a permutation names each axis once");
/// # Ok::<(), ViewError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The length of a list differs from the number of dimensions of the view.
    #[error("expected one entry for each of {expected} dimensions, found {found}")]
    Rank {
        /// The rank of the view.
        expected: usize,
        /// The length of the list.
        found: usize,
    },
    /// The view has no such axis.
    #[error("axis {axis} is out of range, the view has {rank} dimensions")]
    Axis {
        /// The requested axis.
        axis: usize,
        /// The rank of the view.
        rank: usize,
    },
    /// An axis occurs twice in a permutation.
    #[error("axis {axis} occurs twice, a permutation names each axis once")]
    RepeatedAxis {
        /// The axis that occurs twice.
        axis: usize,
    },
    /// The product of the sizes exceeds `isize::MAX`, where a size of zero counts as one.
    #[error("the sizes from axis {axis} on multiply to more than {}", isize::MAX)]
    TooLarge {
        /// The first axis, from the innermost outwards, at which the product is too large.
        axis: usize,
    },
    /// A valid index would lie at a negative position, or past `isize::MAX`.
    #[error("valid positions reach beyond 0 to {}", isize::MAX)]
    Position,
    /// A stride times an index, or the offset, cannot be represented.
    #[error("the offset of the result does not fit an isize")]
    Offset,
    /// Views or shapes hold different numbers of elements.
    #[error("expected a shape of {expected} elements, found {found}")]
    Elements {
        /// The number of elements that the view holds.
        expected: usize,
        /// The number of elements of the other shape.
        found: usize,
    },
    /// A range ends before it starts, or past the size of its axis.
    #[error("axis {axis}: range {start}..{end} is not within 0..{size}")]
    Range {
        /// The axis.
        axis: usize,
        /// First index of the range.
        start: usize,
        /// One past the last index of the range.
        end: usize,
        /// Size of the axis.
        size: usize,
    },
    /// A slice touches an index outside its axis, or counts more than `isize::MAX` indices.
    #[error("axis {axis}: {count} indices from {start} by {step} are not within 0..{size}")]
    Slice {
        /// The axis.
        axis: usize,
        /// First index.
        start: usize,
        /// Distance between indices.
        step: isize,
        /// Number of indices.
        count: usize,
        /// Size of the axis.
        size: usize,
    },
    /// Only an axis of size 1 can be expanded.
    #[error("axis {axis}: size {size} cannot be expanded to {wanted}, only size 1 can")]
    Expand {
        /// The axis.
        axis: usize,
        /// Its size.
        size: usize,
        /// The requested size.
        wanted: usize,
    },
    /// The outer view of a composition reads past the elements of the inner view.
    #[error("the outer view reaches position {position}, the inner view has {elements} elements")]
    Outer {
        /// The highest position of the outer view.
        position: usize,
        /// The number of elements of the inner view.
        elements: usize,
    },
}

/// As the text.
impl core::fmt::Debug for ViewError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(self, f)
    }
}

/// Why a copy was refused. Then nothing has been written.
///
/// # Examples
/// ```
/// use zarr_view::{CopyElement, CopyError, View, copy};
///
/// let (from, to) = (View::contiguous(&[4])?, View::contiguous(&[4])?);
/// let bytes = CopyElement::swapped_in_units(1, 1)?;
/// let error = copy(&from, &[1, 2, 3], &to, &mut [0; 4], bytes, &[]).unwrap_err();
/// assert_eq!(error, CopyError::Source { needed: 4, found: 3 });
/// # Ok::<(), CopyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// The two sides of a copy have different shapes.
    #[error("axis {axis}: the source has size {src}, the destination {dst}")]
    Shape {
        /// The first axis that differs.
        axis: usize,
        /// Size in the source, 0 if it has no such axis.
        src: usize,
        /// Size in the destination, 0 if it has no such axis.
        dst: usize,
    },
    /// The source buffer ends before the last position of its view.
    #[error("the source view needs {needed} bytes, its buffer has {found}")]
    Source {
        /// Bytes needed; `usize::MAX` if more than can be addressed.
        needed: usize,
        /// Bytes given.
        found: usize,
    },
    /// The destination buffer ends before the last position of its view.
    #[error("the destination view needs {needed} bytes, its buffer has {found}")]
    Destination {
        /// Bytes needed; `usize::MAX` if more than can be addressed.
        needed: usize,
        /// Bytes given.
        found: usize,
    },
    /// A fill value is one element long; a masked source needs one.
    #[error("expected a fill value of {expected} bytes, found {found}")]
    Fill {
        /// The size of an element in bytes.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// An element or a unit of zero bytes, or a unit that does not divide the element.
    #[error(
        "element of {size} bytes in units of {unit}: sizes above 0 are allowed, and units that divide them"
    )]
    Element {
        /// The size of an element in bytes.
        size: usize,
        /// The unit of the byte swap in bytes.
        unit: usize,
    },
    /// The element sizes of a copy and its output differ.
    #[error("expected elements of {expected} bytes, found {found}")]
    ElementSize {
        /// The element size of the output.
        expected: usize,
        /// The element size of the copy.
        found: usize,
    },
    /// Two indices of an output view could share a position.
    #[error(
        "the output view may overlap itself: stride {stride} is below the {span} positions inside it"
    )]
    Overlap {
        /// The stride that is too small.
        stride: usize,
        /// The number of positions spanned by the dimensions of smaller stride.
        span: usize,
    },
    /// Cuts of an output grid must increase and lie strictly within the axis.
    #[error("axis {axis}: cut {cut} does not increase within 0..{size}")]
    Cut {
        /// The axis.
        axis: usize,
        /// The offending cut.
        cut: usize,
        /// Size of the axis.
        size: usize,
    },
    /// A plan was run on an output with a different view.
    #[error("the plan was made for a destination of another shape, strides or mask")]
    Plan,
    /// This processor does not have these instructions.
    #[error("instruction set {set:?} is not available on this processor")]
    InstructionSet {
        /// The requested instruction set.
        set: InstructionSet,
    },
    /// A box or a reshape is invalid.
    #[error(transparent)]
    View(#[from] ViewError),
    /// Not enough memory.
    #[error("out of memory for {bytes} bytes")]
    Memory {
        /// Requested bytes.
        bytes: usize,
    },
}

/// As the text.
impl core::fmt::Debug for CopyError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(self, f)
    }
}
