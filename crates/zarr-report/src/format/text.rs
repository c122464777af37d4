//! Nested lists, aligned as numpy prints them.

use std::ops::Range;

use zarr_array::{AxisSelection, ByteStrings, Selection};
use zarr_metadata::{DataType, MetadataError};

use super::element;
use super::quoted::quoted;

/// The number of elements above which `--elide` omits some, and the number that it keeps at each
/// end of an axis. Both are numpy's numbers.
const FEW: u64 = 1000;
const EDGE: u64 = 3;

/// The length at which a line is broken.
const WIDTH: usize = 80;

/// The shown elements of an array: all, or only elements at the ends of long axes.
pub struct Shown {
    shape: Vec<u64>,
    elide: bool,
}

impl Shown {
    /// All elements of an array of this shape, or with `elide` only elements at the ends of long
    /// axes.
    #[must_use]
    pub fn new(shape: &[u64], elide: bool) -> Self {
        let total = shape.iter().fold(1_u64, |product, size| product.saturating_mul(*size));
        Self { shape: shape.to_vec(), elide: elide && total > FEW }
    }

    /// The part of a region of this shape that is shown.
    #[must_use]
    pub fn part_of(&self, region: &Selection) -> Selection {
        let kept = region.axes().iter().map(|axis| match self.blocks(axis.len()).as_slice() {
            [_] => axis.clone(),
            blocks => {
                let shown = blocks.iter().cloned().flatten().filter_map(|at| axis.get(at));
                AxisSelection::from(shown.collect::<Vec<_>>())
            }
        });
        kept.collect()
    }

    /// The shown indices of an axis of this size, in one block or two.
    fn blocks(&self, size: u64) -> Vec<Range<u64>> {
        if self.elide && size > 2 * EDGE {
            return vec![0..EDGE, size - EDGE..size];
        }
        vec![0..size; 1]
    }

    /// The number of shown indices of an axis.
    fn kept(&self, size: u64) -> u64 {
        if self.elide { size.min(2 * EDGE) } else { size }
    }

    /// The number of shown elements, `None` above 64 bits.
    pub fn elements(&self) -> Option<u64> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        self.shape.iter().try_fold(1_u64, |product, size| product.checked_mul(self.kept(*size)))
    }
}

/// Formats the shown elements, which are given in C order.
pub fn format(
    data_type: &DataType,
    shown: &Shown,
    elements: &[u8],
) -> Result<String, MetadataError> {
    let size = data_type.size().unwrap_or(1);
    laid_out(shown, &|position, text| {
        let start = position * size;
        element::format(data_type, &elements[start..start + size], text)
    })
}

/// As [`format()`], for elements of variable length: each in quotes.
pub fn format_variable(
    data_type: &DataType,
    shown: &Shown,
    elements: &ByteStrings,
) -> Result<String, MetadataError> {
    laid_out(shown, &|position, text| {
        text.push_str(&quoted(
            data_type,
            elements.get(position).expect("as many elements as are shown"),
        )?);
        Ok(())
    })
}

fn laid_out(shown: &Shown, element: &Element<'_>) -> Result<String, MetadataError> {
    let mut columns = Columns { shown, element, width: 0, out: String::new() };
    columns.measure()?;
    columns.print(&shown.shape, 0, 0)?;
    Ok(columns.out)
}

/// Appends the element at a position among the shown ones.
type Element<'a> = dyn Fn(usize, &mut String) -> Result<(), MetadataError> + 'a;

struct Columns<'a> {
    shown: &'a Shown,
    element: &'a Element<'a>,
    /// Characters of the longest element.
    width: usize,
    out: String,
}

impl Columns<'_> {
    /// The indices of an axis among the shown ones; `None` is an omitted part.
    fn indices(&self, size: u64) -> impl Iterator<Item = Option<u64>> + use<> {
        let kept = self.shown.kept(size);
        let head = if kept < size { EDGE } else { kept };
        let gap = (kept < size).then_some(None);
        (0..head).map(Some).chain(gap).chain((head..kept).map(Some))
    }

    fn measure(&mut self) -> Result<(), MetadataError> {
        let mut text = String::new();
        for element in 0..self.shown.elements().unwrap_or(0) {
            text.clear();
            self.element(element, &mut text)?;
            self.width = self.width.max(text.chars().count());
        }
        Ok(())
    }

    fn print(&mut self, shape: &[u64], position: u64, depth: usize) -> Result<(), MetadataError> {
        let Some((&size, inner)) = shape.split_first() else {
            let mut text = String::new();
            self.element(position, &mut text)?;
            let padding = self.width.saturating_sub(text.chars().count());
            self.out.extend(std::iter::repeat_n(' ', padding));
            self.out.push_str(&text);
            return Ok(());
        };
        self.out.push('[');
        let mut column = depth + 1;
        let kept = self.shown.kept(size);
        for (at, index) in self.indices(size).enumerate() {
            let Some(index) = index else {
                if inner.is_empty() {
                    self.out.push_str(" ...");
                    column += 4;
                } else {
                    self.out.extend(std::iter::repeat_n('\n', inner.len() - 1));
                    self.new_line(depth + 1);
                    self.out.push_str("...");
                }
                continue;
            };
            if inner.is_empty() {
                // Brackets and commas alone do not start a new line.
                if at > 0 && column + 1 + self.width >= WIDTH {
                    self.new_line(depth + 1);
                    column = depth + 1;
                } else if at > 0 {
                    self.out.push(' ');
                    column += 1;
                }
                column += self.width;
            } else if at > 0 {
                // One empty line per axis above the last two, as in numpy.
                self.out.extend(std::iter::repeat_n('\n', inner.len() - 1));
                self.new_line(depth + 1);
            }
            self.print(inner, inside(position, kept, index), depth + 1)?;
        }
        self.out.push(']');
        Ok(())
    }

    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn element(&self, position: u64, out: &mut String) -> Result<(), MetadataError> {
        (self.element)(usize::try_from(position).unwrap_or(usize::MAX), out)
    }
}

/// The position of an index of the next axis. The formatted elements are in memory, so this fits.
fn inside(position: u64, size: u64, index: u64) -> u64 {
    position * size + index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(data_type: DataType, shape: &[u64], elements: &[u8], elide: bool) -> String {
        format(&data_type, &Shown::new(shape, elide), elements).expect("formats")
    }

    #[test]
    fn text_looks_like_numpy() {
        let bytes: Vec<u8> = (0..24).collect();
        let shown = [
            text(DataType::Uint8, &[], &[7], false),
            text(DataType::Uint8, &[0], &[], false),
            text(DataType::Uint8, &[5], &[1, 20, 3, 255, 0], false),
            text(DataType::Int8, &[2, 3], &[1, 255, 3, 4, 128, 6], false),
            text(DataType::Uint8, &[2, 3, 4], &bytes, false),
            text(DataType::Uint8, &[2, 0], &[], false),
            text(DataType::Bool, &[3], &[1, 0, 1], false),
            text(DataType::Float32, &[2], &[0, 0, 192, 127, 0, 0, 128, 255], false),
            text(DataType::ComplexFloat16, &[1], &[0, 60, 0, 188], false),
            text(DataType::Uint8, &[40], &[200; 40], false),
            text(DataType::Uint8, &[2000], &[1; 6], true),
            text(DataType::Uint8, &[50, 40], &[1; 36], true),
            text(DataType::Uint8, &[300, 2, 2], &[1; 24], true),
        ];
        insta::assert_snapshot!(shown.join("\n\n"));
    }
}
