//! Differences between the elements of two arrays of one shape and type.

use std::cell::LazyCell;
use std::ops::ControlFlow;

use zarr_array::{Array, ArrayError, Selection};
use zarr_metadata::DataType;

use super::node::{DiffError, DiffNode};
use crate::format::{element, quoted};
use crate::{Numbers, PIECE, ReportError};

/// The differences between the elements of two arrays.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Values {
    /// Elements compared.
    pub elements: u64,
    /// Pairs of elements that are not the same bit by bit.
    pub different: u64,
    /// The first such pair in C order.
    pub first: Option<Pair>,
    /// The pair with the largest difference, if elements are numbers.
    pub largest: Option<(f64, Pair)>,
}

/// Two elements at one index, as text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pair {
    /// The index in the arrays.
    pub index: Vec<u64>,
    /// The element of the first array.
    pub one: String,
    /// The element of the second array.
    pub other: String,
}

/// Compares all elements of two arrays of one shape and type, in pieces that end where the chunks of
/// `one` end. `progress` is called with the bytes compared so far.
pub(super) fn compare(
    (one, ours): (&DiffNode<'_>, &Array),
    (other, theirs): (&DiffNode<'_>, &Array),
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<ControlFlow<(), Values>, DiffError> {
    let mut values = Values::default();
    let (shape, data_type) = (ours.shape(), ours.data_type());
    // Only differences need numbers, for which some types have a long table.
    let numbers = LazyCell::new(|| Numbers::of(data_type));
    let whole = Selection::whole(shape);
    let mut bytes = 0_u64;
    let from_one = |cause: ArrayError| one.failed(cause);
    let from_other = |cause: ArrayError| other.failed(cause);
    let of_element = |cause: ReportError| one.failed(cause);
    for piece in ours.batches(&whole, PIECE).map_err(from_one)? {
        if data_type.is_variable_length() {
            let ours = ours.read_as::<Vec<u8>>(&piece).map_err(from_one)?;
            let theirs = theirs.read_as::<Vec<u8>>(&piece).map_err(from_other)?;
            let pairs = ours.iter().zip(theirs.iter());
            let text = |bytes: &[u8]| Ok(quoted::quoted(data_type, bytes)?);
            values.add(shape, pairs, None, &text).map_err(of_element)?;
        } else {
            let size = ours.element_size().max(1);
            let ours = ours.read(&piece).map_err(from_one)?;
            let theirs = theirs.read(&piece).map_err(from_other)?;
            bytes = bytes.saturating_add(u64::try_from(ours.len()).unwrap_or(u64::MAX));
            // Most pieces are alike; a comparison of memory finds that at once.
            if ours == theirs {
                values.elements += u64::try_from(ours.len() / size).unwrap_or(u64::MAX);
            } else {
                let pairs = ours.chunks_exact(size).zip(theirs.chunks_exact(size));
                let text = |bytes: &[u8]| formatted(data_type, bytes);
                values.add(shape, pairs, numbers.as_ref(), &text).map_err(of_element)?;
            }
        }
        if progress(bytes).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(values))
}

fn formatted(data_type: &DataType, bytes: &[u8]) -> Result<String, ReportError> {
    let mut text = String::new();
    element::format(data_type, bytes, &mut text)?;
    Ok(text)
}

impl Values {
    fn add<'e>(
        &mut self,
        shape: &[u64],
        pairs: impl Iterator<Item = (&'e [u8], &'e [u8])>,
        numbers: Option<&Numbers>,
        text: &dyn Fn(&[u8]) -> Result<String, ReportError>,
    ) -> Result<(), ReportError> {
        let mut lists = (Vec::new(), Vec::new());
        for (one, other) in pairs {
            let at = self.elements;
            self.elements += 1;
            if one == other {
                continue;
            }
            self.different += 1;
            let pair = || -> Result<Pair, ReportError> {
                Ok(Pair { index: index(shape, at), one: text(one)?, other: text(other)? })
            };
            if self.first.is_none() {
                self.first = Some(pair()?);
            }
            let Some(numbers) = numbers else { continue };
            numbers.list(one, &mut lists.0);
            numbers.list(other, &mut lists.1);
            let (Some(a), Some(b)) = (lists.0.first(), lists.1.first()) else { continue };
            let difference = (a - b).abs();
            let largest = self.largest.as_ref().map_or(f64::NEG_INFINITY, |largest| largest.0);
            if difference > largest {
                self.largest = Some((difference, pair()?));
            }
        }
        Ok(())
    }
}

/// The index of the element at a position in C order.
fn index(shape: &[u64], mut position: u64) -> Vec<u64> {
    let mut index: Vec<u64> = shape
        .iter()
        .rev()
        .map(|length| {
            let at = position % (*length).max(1);
            position /= (*length).max(1);
            at
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::index;

    #[test]
    fn positions_are_in_c_order() {
        assert_eq!(index(&[2, 3, 4], 0), [0, 0, 0]);
        assert_eq!(index(&[2, 3, 4], 23), [1, 2, 3]);
        assert_eq!(index(&[2, 3, 4], 13), [1, 0, 1]);
        assert_eq!(index(&[], 0), Vec::<u64>::new());
    }
}
