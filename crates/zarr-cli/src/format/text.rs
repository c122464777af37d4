//! Nested lists, aligned: what numpy prints.

use zarr_kit::metadata::{DataType, MetadataError, format_element};

/// Elements above which `--elide` leaves some out, and how many it keeps at each end of an axis:
/// numpy's numbers.
const FEW: u64 = 1000;
const EDGE: u64 = 3;

/// Characters of a line before it is broken.
const WIDTH: usize = 80;

/// Formats the elements of a region of this shape.
pub(crate) fn format(
    data_type: &DataType,
    shape: &[u64],
    elements: &[u8],
    elide: bool,
) -> Result<String, MetadataError> {
    let total = shape.iter().fold(1_u64, |product, size| product.saturating_mul(*size));
    let mut layout = Layout {
        data_type,
        elements,
        size: data_type.size().unwrap_or(1),
        elide: elide && total > FEW,
        width: 0,
        out: String::new(),
    };
    layout.measure(shape, 0)?;
    layout.print(shape, 0, 0)?;
    Ok(layout.out)
}

struct Layout<'a> {
    data_type: &'a DataType,
    elements: &'a [u8],
    size: usize,
    elide: bool,
    /// Characters of the longest element.
    width: usize,
    out: String,
}

impl Layout<'_> {
    /// The indices of an axis that are shown; `None` stands for those left out.
    fn shown(&self, size: u64) -> impl Iterator<Item = Option<u64>> + use<> {
        let cut = self.elide && size > 2 * EDGE;
        let (head, tail) = if cut { (EDGE, size - EDGE) } else { (size, size) };
        (0..head).map(Some).chain(cut.then_some(None)).chain((tail..size).map(Some))
    }

    fn measure(&mut self, shape: &[u64], position: u64) -> Result<(), MetadataError> {
        let Some((&size, inner)) = shape.split_first() else {
            let mut text = String::new();
            self.element(position, &mut text)?;
            self.width = self.width.max(text.chars().count());
            return Ok(());
        };
        for index in self.shown(size).flatten() {
            self.measure(inner, inside(position, size, index))?;
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
        for (at, index) in self.shown(size).enumerate() {
            let Some(index) = index else {
                if inner.is_empty() {
                    self.out.push_str(" ...");
                    column += 4;
                } else {
                    self.new_line(depth + 1);
                    self.out.push_str("...");
                }
                continue;
            };
            if inner.is_empty() {
                // Brackets and commas are not worth a line of their own.
                if at > 0 && column + 1 + self.width >= WIDTH {
                    self.new_line(depth + 1);
                    column = depth + 1;
                } else if at > 0 {
                    self.out.push(' ');
                    column += 1;
                }
                column += self.width;
            } else if at > 0 {
                // An empty line for each axis above the last two, as numpy does.
                self.out.extend(std::iter::repeat_n('\n', inner.len() - 1));
                self.new_line(depth + 1);
            }
            self.print(inner, inside(position, size, index), depth + 1)?;
        }
        self.out.push(']');
        Ok(())
    }

    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn element(&self, position: u64, out: &mut String) -> Result<(), MetadataError> {
        let start = usize::try_from(position).unwrap_or(usize::MAX).saturating_mul(self.size);
        let bytes = self.elements.get(start..start.saturating_add(self.size)).unwrap_or_default();
        let mut json = String::new();
        format_element(self.data_type, bytes, &mut json)?;
        out.extend(json.chars().filter(|c| *c != '"'));
        Ok(())
    }
}

/// The position of an index of the next axis. What is formatted is in memory, so this fits.
fn inside(position: u64, size: u64, index: u64) -> u64 {
    position.saturating_mul(size).saturating_add(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(data_type: DataType, shape: &[u64], elements: &[u8], elide: bool) -> String {
        format(&data_type, shape, elements, elide).expect("formats")
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
            text(DataType::Uint8, &[2000], &[1; 2000], true),
            text(DataType::Uint8, &[50, 40], &[1; 2000], true),
        ];
        insta::assert_snapshot!(shown.join("\n\n"));
    }
}
