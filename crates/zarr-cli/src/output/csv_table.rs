//! Comma-separated values, as spreadsheets and data frames read them.
//!
//! One line per row, without a line of names unless it is given. An array of one dimension is one column. Text is the
//! field itself, so that a reader of CSV gets it back unchanged. Other elements are as in text.

use std::borrow::Cow;
use std::io;

use zarr_kit::metadata::{DataType, MetadataError, Printable, format_element, is_printable};
use zarr_kit::report::format::element;
use zarr_kit::report::format::quoted::quoted;

use crate::error::CliError;
use crate::output::print::Out;

/// The number of columns of a table of this shape; `None` if it is no table.
pub(crate) fn columns(shape: &[u64]) -> Option<u64> {
    match shape {
        // A single element is a table of one field.
        [] | [_] => Some(1),
        [_, columns] => Some(*columns),
        _ => None,
    }
}

/// Writes rows of elements in sequence.
pub(crate) struct Csv<'a> {
    data_type: &'a DataType,
    columns: u64,
    row: u64,
    column: u64,
    /// The cells before each row.
    labels: Vec<String>,
    writer: csv::Writer<Out>,
}

impl<'a> Csv<'a> {
    pub(crate) fn new(data_type: &'a DataType, columns: u64, out: Out) -> Self {
        let writer = csv::Writer::from_writer(out);
        Self { data_type, columns, row: 0, column: 0, labels: Vec::new(), writer }
    }

    /// Writes a line of names, and these labels before each row from now on.
    pub(crate) fn head(&mut self, names: &[String], labels: Vec<String>) -> Result<(), CliError> {
        for name in names {
            let written = self.writer.write_field(Printable(name).to_string());
            written.map_err(|error| self.failed(error))?;
        }
        self.labels = labels;
        self.writer.write_record(None::<&[u8]>).map_err(|error| self.failed(error))
    }

    /// Writes the next element.
    pub(crate) fn element(&mut self, element: &[u8]) -> Result<(), CliError> {
        let field = field(self.data_type, element)?;
        let refused = |what: &str| {
            let (row, column) = (self.row, self.column);
            let reason =
                format!("row {row}, column {column}: {what}; use lines or json, which escape it");
            Err(CliError::argument("--format", "csv", reason))
        };
        let Some(field) = field else { return refused("text that is not UTF-8") };
        // A reader of CSV would get them back, but a terminal would obey them.
        let is_written = |c: &char| is_printable(*c) || matches!(c, '\n' | '\t');
        if let Some(character) = field.chars().find(|c| !is_written(c)) {
            return refused(&format!("the character U+{:04X}", u32::from(character)));
        }
        if self.column == 0
            && let Some(label) = usize::try_from(self.row).ok().and_then(|row| self.labels.get(row))
        {
            let written = self.writer.write_field(Printable(label).to_string());
            written.map_err(|error| self.failed(error))?;
        }
        self.writer.write_field(field.as_ref()).map_err(|error| self.failed(error))?;
        self.column += 1;
        if self.column == self.columns {
            (self.row, self.column) = (self.row + 1, 0);
            self.writer.write_record(None::<&[u8]>).map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), CliError> {
        let out = self.writer.into_inner().map_err(|error| CliError::Output(error.into_error()))?;
        out.finish()
    }

    fn failed(&self, error: csv::Error) -> CliError {
        // As the error that it is: a pipe that is closed is none.
        let cause = match error.into_kind() {
            csv::ErrorKind::Io(cause) => cause,
            other => io::Error::other(format!("{other:?}")),
        };
        self.writer.get_ref().failed(cause)
    }
}

/// The text of an element; `None` if it should be text, but is not UTF-8.
fn field<'e>(
    data_type: &DataType,
    element: &'e [u8],
) -> Result<Option<Cow<'e, str>>, MetadataError> {
    let mut text = String::new();
    match data_type {
        DataType::String => return Ok(std::str::from_utf8(element).ok().map(Cow::Borrowed)),
        DataType::NullTerminatedBytes(_) => {
            let length = element.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let kept = element.get(..length).unwrap_or(element);
            return Ok(std::str::from_utf8(kept).ok().map(Cow::Borrowed));
        }
        DataType::FixedLengthUtf32(_) => format_element(data_type, element, &mut text)?,
        _ if data_type.is_variable_length() => text = quoted(data_type, element)?,
        _ => {
            element::format(data_type, element, &mut text)?;
            // The bits of any other NaN than the usual one: readers of CSV know one.
            if data_type.is_float() && text.starts_with("0x") {
                "NaN".clone_into(&mut text);
            }
        }
    }
    // The text of a JSON string, and the JSON of anything else.
    Ok(Some(Cow::Owned(serde_json::from_str(&text).unwrap_or(text))))
}

#[cfg(test)]
mod tests {
    use zarr_kit::metadata::{ByteLength, Utf32Length};

    use super::*;

    fn table(data_type: &DataType, columns: u64, elements: &[&[u8]]) -> Result<String, CliError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        let mut csv = Csv::new(data_type, columns, Out::to(Some(&path))?);
        elements.iter().try_for_each(|element| csv.element(element))?;
        csv.finish()?;
        Ok(std::fs::read_to_string(path).expect("text"))
    }

    #[test]
    fn one_dimension_is_a_column_and_two_are_rows() {
        assert_eq!(
            [&[7][..], &[2, 3], &[], &[1, 2, 3]].map(columns),
            [Some(1), Some(3), Some(1), None]
        );
        let bytes: Vec<[u8; 1]> = (1..7).map(|n| [n]).collect();
        let bytes: Vec<&[u8]> = bytes.iter().map(|byte| &byte[..]).collect();
        assert_eq!(table(&DataType::Uint8, 3, &bytes).expect("writes"), "1,2,3\n4,5,6\n");
        let payload = f32::from_bits(0xffc0_0001);
        let numbers = [1.5_f32, f32::NAN, f32::NEG_INFINITY, payload].map(f32::to_le_bytes);
        let numbers = numbers.each_ref().map(|number| &number[..]);
        assert_eq!(
            table(&DataType::Float32, 1, &numbers).expect("writes"),
            "1.5\nNaN\n-Infinity\nNaN\n"
        );
        assert_eq!(table(&DataType::Float32, 1, &[]).expect("writes"), "");
    }

    /// RFC 4180: quotes around commas, quotes and line ends, and quotes doubled; nothing else is
    /// changed. An empty line would be no record, so that an empty text alone has quotes.
    #[test]
    fn text_is_the_field_itself_for_every_type_of_text() {
        let texts = ["a", "", "b,c", "d\"", "\\", "\\\"", "\\n", "e\nf", " g ", "é", "\"h\""];
        let expected =
            "a\n\"\"\n\"b,c\"\n\"d\"\"\"\n\\\n\"\\\"\"\"\n\\n\n\"e\nf\"\n g \né\n\"\"\"h\"\"\"\n";
        let strings = texts.map(str::as_bytes);
        assert_eq!(table(&DataType::String, 1, &strings).expect("writes"), expected);
        let length = ByteLength::new(4).expect("a length");
        let padded = texts.map(|text| [text.as_bytes(), &[0; 4]].concat()[..4].to_vec());
        let padded = padded.each_ref().map(Vec::as_slice);
        let bytes = DataType::NullTerminatedBytes(length);
        assert_eq!(table(&bytes, 1, &padded).expect("writes"), expected);
        let wide = texts.map(|text| {
            let mut units: Vec<u8> =
                text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
            units.resize(16, 0);
            units
        });
        let wide = wide.each_ref().map(Vec::as_slice);
        let utf32 = DataType::FixedLengthUtf32(Utf32Length::new(4).expect("a length"));
        assert_eq!(table(&utf32, 1, &wide).expect("writes"), expected);
        let pair = table(&DataType::String, 2, &[b"", b"", b"a", b""]).expect("writes");
        assert_eq!(pair, ",\na,\n");
    }

    #[test]
    fn what_is_no_text_looks_as_in_text() {
        let pairs = [[1_f32, -2.], [0., 0.5]].map(|pair| pair.map(f32::to_le_bytes).concat());
        let pairs = pairs.each_ref().map(Vec::as_slice);
        let found = table(&DataType::Complex64, 2, &pairs).expect("writes");
        assert_eq!(found, "\"[1.0, -2.0]\",\"[0.0, 0.5]\"\n");
        assert_eq!(table(&DataType::Bytes, 1, &[b"foo", b""]).expect("writes"), "Zm9v\n\"\"\n");
    }

    #[test]
    fn what_a_terminal_would_obey_is_refused() {
        let refused = |element: &[u8]| {
            table(&DataType::String, 2, &[b"a", b"b", b"c", element])
                .expect_err("refused")
                .to_string()
        };
        for text in ["\u{1b}[31m", "a\rb", "\u{202e}", "\0"] {
            assert!(
                refused(text.as_bytes()).contains("row 1, column 1: the character U+"),
                "{text:?}"
            );
        }
        let bytes = DataType::NullTerminatedBytes(ByteLength::new(1).expect("a length"));
        let error = table(&bytes, 1, &[b"\xff"]).expect_err("refused").to_string();
        assert!(error.contains("row 0, column 0: text that is not UTF-8"), "{error}");
    }
}
