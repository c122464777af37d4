//! Comma-separated values, as spreadsheets and data frames read them.
//!
//! One line per row, without a line of names. An array of one dimension is one column. Elements
//! are as in text: times as ISO 8601, and characters that do not print are escaped.

use zarr_metadata::{DataType, MetadataError};

use super::element;

/// Writes rows of elements in sequence, in pieces that may end within a row.
pub struct Csv<'a> {
    data_type: &'a DataType,
    columns: u64,
    column: u64,
}

impl<'a> Csv<'a> {
    /// `None` unless an array of this shape is a table.
    pub fn new(data_type: &'a DataType, shape: &[u64]) -> Option<Self> {
        let columns = match shape {
            [_] => 1,
            [_, columns] => *columns,
            _ => return None,
        };
        Some(Self { data_type, columns, column: 0 })
    }

    /// The text of the next elements.
    pub fn format(&mut self, elements: &[u8]) -> Result<String, MetadataError> {
        let size = self.data_type.size().unwrap_or(1).max(1);
        let mut text = String::new();
        let mut field = String::new();
        for element in elements.chunks_exact(size) {
            field.clear();
            element::format(self.data_type, element, &mut field)?;
            // Text is the field itself, without additional quotes.
            let is_text = matches!(
                self.data_type,
                DataType::FixedLengthUtf32(_) | DataType::NullTerminatedBytes(_)
            );
            let plain = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
            let field = plain.filter(|_| is_text).unwrap_or(&field);
            let field = if is_text { field.replace("\\\"", "\"") } else { field.to_owned() };
            // A complex number is a pair, a record a tuple.
            match field.contains([',', '"']) {
                true => text.push_str(&format!("\"{}\"", field.replace('"', "\"\""))),
                false => text.push_str(&field),
            }
            self.column = self.column.saturating_add(1);
            if self.column == self.columns {
                self.column = 0;
                text.push('\n');
            } else {
                text.push(',');
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lines_wherever_pieces_end() {
        let mut csv = Csv::new(&DataType::Uint8, &[2, 3]).expect("a table");
        let pieces =
            [&[1, 2][..], &[3, 4], &[5, 6]].map(|piece| csv.format(piece).expect("formats"));
        assert_eq!(pieces.concat(), "1,2,3\n4,5,6\n");
    }

    #[test]
    fn one_dimension_is_a_column_and_others_no_table() {
        let mut csv = Csv::new(&DataType::Float32, &[3]).expect("a table");
        let elements: Vec<u8> =
            [1.5_f32, f32::NAN, f32::NEG_INFINITY].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(csv.format(&elements).expect("formats"), "1.5\nNaN\n-Infinity\n");
        assert!(Csv::new(&DataType::Uint8, &[]).is_none());
        assert!(Csv::new(&DataType::Uint8, &[1, 2, 3]).is_none());
    }

    #[test]
    fn text_has_quotes_only_where_it_needs_them() {
        let length = zarr_metadata::ByteLength::new(3).expect("a length");
        let data_type = DataType::NullTerminatedBytes(length);
        let mut csv = Csv::new(&data_type, &[3]).expect("a table");
        let text = csv.format(b"a\0\0b,cd\"\n").expect("formats");
        assert_eq!(text, "a\n\"b,c\"\n\"d\"\"\\n\"\n");
    }

    #[test]
    fn a_field_with_a_comma_is_quoted() {
        let mut csv = Csv::new(&DataType::Complex64, &[1, 2]).expect("a table");
        let elements: Vec<u8> =
            [1_f32, -2., 0., 0.5].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(csv.format(&elements).expect("formats"), "\"[1.0, -2.0]\",\"[0.0, 0.5]\"\n");
    }
}
