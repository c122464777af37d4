//! Differences between the elements of two arrays of one shape and type.

use std::cell::LazyCell;

use zarr_kit::Array;
use zarr_kit::metadata::DataType;

use crate::error::CliError;
use crate::format::{element, quoted};
use crate::node_store::NodeStore;
use crate::number::Numbers;
use crate::progress::Bar;
use crate::sizes::PIECE;

/// What differs between the elements.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// The elements compared, and those that are not the same bit by bit.
    pub(super) elements: u64,
    pub(super) different: u64,
    pub(super) first: Option<Pair>,
    /// The pair with the largest difference, of types whose elements are numbers.
    pub(super) largest: Option<(f64, Pair)>,
}

/// Two elements at one index, as people read them.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) index: Vec<u64>,
    pub(super) one: String,
    pub(super) other: String,
}

/// One array, and where it was opened.
pub(super) struct OpenedArray<'a> {
    pub(super) place: &'a NodeStore,
    pub(super) array: Array,
}

/// Compares all elements, in pieces that end where the chunks of `one` end.
pub(super) fn compare(
    name: &str,
    one: &OpenedArray<'_>,
    other: &OpenedArray<'_>,
    bar: &Bar,
) -> Result<Values, CliError> {
    let mut values = Values::default();
    let (shape, data_type) = (one.array.shape(), one.array.data_type());
    // Only differences need numbers, of which some types have a long table.
    let numbers = LazyCell::new(|| Numbers::of(data_type));
    let whole = zarr_kit::Selection::whole(shape);
    let mut bytes = 0_u64;
    for piece in one.array.pieces(&whole, PIECE).map_err(|cause| one.place.failed(cause))? {
        let from_one = |cause| one.place.failed(cause);
        let from_other = |cause| other.place.failed(cause);
        if data_type.is_variable_length() {
            let ours = one.array.read_byte_strings(&piece).map_err(from_one)?;
            let theirs = other.array.read_byte_strings(&piece).map_err(from_other)?;
            let pairs = ours.iter().zip(theirs.iter());
            let text = |bytes: &[u8]| Ok(quoted::quoted(data_type, bytes)?);
            values.add(shape, pairs, None, &text)?;
        } else {
            let ours = one.array.read(&piece).map_err(from_one)?;
            let theirs = other.array.read(&piece).map_err(from_other)?;
            let size = one.array.element_size().max(1);
            bytes = bytes.saturating_add(u64::try_from(ours.len()).unwrap_or(u64::MAX));
            // Most pieces are alike; a comparison of memory finds that at once.
            if ours == theirs {
                values.elements += u64::try_from(ours.len() / size).unwrap_or(u64::MAX);
            } else {
                let pairs = ours.chunks_exact(size).zip(theirs.chunks_exact(size));
                let text = |bytes: &[u8]| formatted(data_type, bytes);
                values.add(shape, pairs, numbers.as_ref(), &text)?;
            }
        }
        bar.bytes(name, bytes, None);
    }
    Ok(values)
}

fn formatted(data_type: &DataType, bytes: &[u8]) -> Result<String, CliError> {
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
        text: &dyn Fn(&[u8]) -> Result<String, CliError>,
    ) -> Result<(), CliError> {
        let mut lists = (Vec::new(), Vec::new());
        for (one, other) in pairs {
            let at = self.elements;
            self.elements += 1;
            if one == other {
                continue;
            }
            self.different += 1;
            let pair = || -> Result<Pair, CliError> {
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
