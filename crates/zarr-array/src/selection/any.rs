//! The selections of reads and writes: products of axes, or points.

use crate::counts::wide;
use crate::error::ArrayError;
use crate::selection::Points;
use crate::selection::Selection;

/// The elements of a read or a write: a [`Selection`] (a product of axes) or [`Points`] (single
/// elements). Anything that converts to one of them converts to this.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AnySelection {
    /// The product of one selection per axis.
    Product(Selection),
    /// Single elements, in the order of the points.
    Points(Points),
}

impl AnySelection {
    /// The shape of the elements: the [selection's](Selection::shape), or the number of points.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        match self {
            Self::Product(selection) => selection.shape(),
            Self::Points(points) => vec![wide(points.len())],
        }
    }

    /// Refuses elements that have a shape which differs.
    pub(crate) fn check_shape(&self, found: Option<&[usize]>) -> Result<(), ArrayError> {
        let Some(found) = found else { return Ok(()) };
        let expected = self.shape();
        match expected.iter().copied().eq(found.iter().map(|length| wide(*length))) {
            true => Ok(()),
            false => Err(ArrayError::Shape { found: found.to_vec(), expected }),
        }
    }
}

impl<S: Into<Selection>> From<S> for AnySelection {
    fn from(selection: S) -> Self {
        Self::Product(selection.into())
    }
}

impl From<Points> for AnySelection {
    fn from(points: Points) -> Self {
        Self::Points(points)
    }
}

impl From<&Points> for AnySelection {
    fn from(points: &Points) -> Self {
        Self::Points(points.clone())
    }
}

impl From<&AnySelection> for AnySelection {
    fn from(selection: &AnySelection) -> Self {
        selection.clone()
    }
}
