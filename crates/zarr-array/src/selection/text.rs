//! Parses selections in numpy's notation.

use zarr_grid::AxisSelection;

use crate::selection::Selection;

/// A text is no selection, or no selection of an array of this shape.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// More entries than the array has axes.
    #[error("selection has {found} {}, the array has {rank}", if *.found == 1 { "axis" } else { "axes" })]
    Rank {
        /// Entries given.
        found: usize,
        /// Axes of the array.
        rank: usize,
    },
    /// An index outside the array.
    #[error("axis {axis}: index {index} is outside the array's length {length}")]
    OutOfBounds {
        /// The axis.
        axis: usize,
        /// The index as it was written; negative numbers count from the end.
        index: i128,
        /// The array's length on that axis.
        length: u64,
    },
    /// A text is not an index, range or list.
    #[error(
        "axis {axis}: {found:?} is not a selection; an index such as 5 or -1, a range such as \
             0:10 or ::2, a list such as [0, 3, 5], or ... is allowed"
    )]
    Syntax {
        /// The axis.
        axis: usize,
        /// The text.
        found: String,
    },
    /// A number is too large for any index or step.
    #[error("axis {axis}: {found} is too large; numbers up to {limit} are allowed")]
    TooLarge {
        /// The axis.
        axis: usize,
        /// The number as it was written.
        found: String,
        /// The largest number allowed.
        limit: u64,
    },
    /// A step of 0.
    #[error("axis {axis}: a step of 0 is not allowed")]
    ZeroStep {
        /// The axis.
        axis: usize,
    },
}

crate::store::debug_as_text!(SelectionError);

impl Selection {
    /// Parses numpy's notation, without the brackets around it: `0:10, 5, ::2, [0, 3, 5]`.
    ///
    /// An entry is an index, a range with or without a step, or a list of indices in brackets.
    /// Ranges are clipped to the array, and negative numbers count from its end. `...` stands for
    /// all missing axes, whole; so does the end of the text. Several lists select the product of
    /// their indices.
    ///
    /// # Errors
    /// [`SelectionError`] names the axis and the text found there.
    ///
    /// # Examples
    /// ```
    /// use zarr_array::{AxisSelection, Selection};
    ///
    /// let selection = Selection::parse("10:20, 5, ::-2, [7, 0, -1]", &[100, 50, 8, 9])?;
    /// assert_eq!(selection.shape(), [10, 4, 3]); // without the axis of one index, as in numpy
    /// assert_eq!(selection.axes()[2].get(0), Some(7));
    /// assert_eq!(selection.axes()[3], AxisSelection::from([7, 0, 8]));
    /// # Ok::<(), zarr_array::SelectionError>(())
    /// ```
    pub fn parse(text: &str, shape: &[u64]) -> Result<Self, SelectionError> {
        let entries = entries(text);
        let ellipsis = entries.iter().position(|entry| *entry == "...");
        let (head, tail) = match ellipsis {
            Some(at) => (entries.get(..at), entries.get(at + 1..)),
            None => (entries.get(..), None),
        };
        let (head, tail) = (head.unwrap_or_default(), tail.unwrap_or_default());
        let found = head.len() + tail.len();
        let rank = shape.len();
        let Some(between) = rank.checked_sub(found) else {
            return Err(SelectionError::Rank { found, rank });
        };
        let texts = head
            .iter()
            .copied()
            .chain(std::iter::repeat_n(":", between))
            .chain(tail.iter().copied());
        texts
            .zip(shape)
            .enumerate()
            .map(|(axis, (text, &length))| Entry { axis, text, length }.read())
            .collect()
    }
}

/// The entries between commas outside brackets.
fn entries(text: &str) -> Vec<&str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut within = false;
    let outside = |c: char| {
        match c {
            '[' => within = true,
            ']' => within = false,
            _ => {}
        }
        c == ',' && !within
    };
    text.split(outside).map(str::trim).collect()
}

/// One entry of a text.
#[derive(Clone, Copy)]
struct Entry<'a> {
    axis: usize,
    text: &'a str,
    /// The length of the axis.
    length: u64,
}

impl Entry<'_> {
    fn read(self) -> Result<AxisSelection, SelectionError> {
        if let Some(list) = self.text.strip_prefix('[') {
            let list = list.strip_suffix(']').ok_or_else(|| self.syntax())?.trim();
            if list.is_empty() {
                return Ok(AxisSelection::Indices(Vec::new()));
            }
            return list
                .split(',')
                .map(|index| self.index(index))
                .collect::<Result<_, _>>()
                .map(AxisSelection::Indices);
        }
        let parts: Vec<&str> = self.text.split(':').collect();
        match parts.as_slice() {
            [index] => Ok(AxisSelection::Index(self.index(index)?)),
            [start, stop] => self.range(start, stop, ""),
            [start, stop, step] => self.range(start, stop, step),
            _ => Err(self.syntax()),
        }
    }

    fn syntax(self) -> SelectionError {
        SelectionError::Syntax { axis: self.axis, found: self.text.to_owned() }
    }

    /// Parses a number, or an empty text.
    fn number(self, text: &str, limit: u64) -> Result<Option<i128>, SelectionError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.syntax());
        }
        // It has only digits, so only a number of more than 128 bits fails.
        let number = text.parse::<i128>().ok().filter(|n| n.unsigned_abs() <= limit.into());
        let too_large =
            || SelectionError::TooLarge { axis: self.axis, found: text.to_owned(), limit };
        number.map(Some).ok_or_else(too_large)
    }

    /// Converts a negative number, which counts from the end.
    fn counted(self, number: i128) -> i128 {
        if number < 0 { number.saturating_add(self.length.into()) } else { number }
    }

    fn index(self, text: &str) -> Result<u64, SelectionError> {
        let index = self.number(text, u64::MAX)?.ok_or_else(|| self.syntax())?;
        let found = u64::try_from(self.counted(index)).ok().filter(|found| *found < self.length);
        let Self { axis, length, .. } = self;
        found.ok_or(SelectionError::OutOfBounds { axis, index, length })
    }

    /// As Python's `slice.indices`: forwards within 0..=length, backwards within -1..length.
    fn range(self, start: &str, stop: &str, step: &str) -> Result<AxisSelection, SelectionError> {
        let step = self.number(step, i64::MAX.unsigned_abs())?.unwrap_or(1);
        let step = i64::try_from(step).map_err(|_| self.syntax())?;
        if step == 0 {
            return Err(SelectionError::ZeroStep { axis: self.axis });
        }
        let length = i128::from(self.length);
        let end = |text: &str, default: i128| {
            Ok(self.number(text, u64::MAX)?.map_or(default, |number| self.counted(number)))
        };
        // The first index and the last, and one past either.
        let (low, high) = if step > 0 {
            (end(start, 0)?, end(stop, length)?)
        } else {
            (
                end(stop, -1)?.saturating_add(1),
                end(start, length.saturating_sub(1))?.saturating_add(1),
            )
        };
        let clip = |n: i128| u64::try_from(n.clamp(0, length)).unwrap_or(0);
        let range = clip(low)..clip(high);
        let range = if range.is_empty() { 0..0 } else { range };
        Ok(match step {
            1 => AxisSelection::Range(range),
            step => AxisSelection::Step { range, step },
        })
    }
}
