//! Elements that are given as text: lines, JSON, comma-separated values.

use std::str;

use serde_json::Value;
use serde_json::value::RawValue;
use zarr_kit::DataType;
use zarr_kit::metadata::Loss;
use zarr_kit::report::format::{json, value};
use zarr_kit::report::words;

use crate::args::InputFormat;

/// Whether bytes are text: UTF-8 without control characters. `is_all` says that no more bytes follow,
/// which could complete the last character.
pub(super) fn is_text(bytes: &[u8], is_all: bool) -> bool {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() && !is_all => {
            str::from_utf8(bytes.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_written = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    !text.is_empty() && text.chars().all(is_written)
}

/// What is known of the elements before they are read.
pub(super) struct Wanted<'a> {
    pub(super) data_type: &'a DataType,
    /// The length of each axis, `None` of the one that grows.
    pub(super) shape: Vec<Option<u64>>,
    pub(super) loss: Loss,
}

/// Reads the elements of a text, and returns the shape that it gives them: none for lines.
///
/// Without a format, the text is JSON if all of it is one list, lines if each is JSON, and else CSV.
pub(super) fn elements(
    text: &str,
    format: Option<InputFormat>,
    wanted: &Wanted<'_>,
    take: &mut dyn FnMut(&[u8]),
) -> Result<Option<Vec<u64>>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Wanted { data_type, loss, .. } = *wanted;
    match format.unwrap_or_else(|| recognised(text, wanted)) {
        InputFormat::Json => {
            let rank = match data_type {
                // An element may be a list itself.
                DataType::ZarrsOptional(_) => wanted.shape.len(),
                _ => json::rank(text, data_type),
            };
            json::nested(text, rank, data_type, loss, take).map(Some)
        }
        InputFormat::Csv => csv(text, wanted, take).map(Some),
        _ => json::lines(text, data_type, loss, take).map(|()| None),
    }
}

fn recognised(text: &str, wanted: &Wanted<'_>) -> InputFormat {
    let is_json = |text: &str| serde_json::from_str::<&RawValue>(text).is_ok();
    let rank = wanted.shape.len();
    let is_text = matches!(wanted.data_type, DataType::String | DataType::FixedLengthUtf32(_));
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let is_list = match wanted.data_type {
        DataType::ZarrsOptional(_) => is_nested(text, rank),
        // A line may be a list itself, such as a complex number. A damaged list has errors of its own.
        data_type => {
            text.trim_start().starts_with('[')
                && json::rank(text, data_type) > 0
                && (is_json(text) || !is_text && !lines().take(1).all(is_json))
        }
    };
    // A field of CSV with a comma, such as a complex number.
    let is_quoted = |line: &str| line.starts_with('"') && line.contains(',');
    if is_list {
        InputFormat::Json
    } else if lines().all(|line| is_json(line) && (is_text || !is_quoted(line))) {
        InputFormat::Lines
    } else {
        InputFormat::Csv
    }
}

/// Whether a text is one JSON document of arrays of so many levels, with elements that are `null`
/// or an array each.
fn is_nested(text: &str, rank: usize) -> bool {
    fn fits(value: &Value, rank: usize) -> bool {
        match (value, rank) {
            (Value::Array(members), 1..) => members.iter().all(|member| fits(member, rank - 1)),
            (value, rank) => rank == 0 && (value.is_null() || value.is_array()),
        }
    }
    serde_json::from_str(text).is_ok_and(|document| fits(&document, rank))
}

/// Reads a table as `read --format csv` writes it, and returns the shape of its elements.
fn csv(text: &str, wanted: &Wanted<'_>, take: &mut dyn FnMut(&[u8])) -> Result<Vec<u64>, String> {
    let (rows, columns) = match *wanted.shape {
        [] => (Some(1), Some(1)),
        [rows] => (rows, Some(1)),
        [rows, columns] => (rows, columns),
        _ => {
            return Err(format!(
                "CSV is a table of at most two axes, and the region has {}",
                wanted.shape.len()
            ));
        }
    };
    let reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let records = reader.into_records().collect::<Result<Vec<_>, _>>();
    let records = records.map_err(|error| error.to_string())?;
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let (height, width) = (wide(records.len()), records.first().map_or(0, |row| wide(row.len())));
    let one_more =
        |known: Option<u64>, found: u64| known.is_some_and(|n| n.checked_add(1) == Some(found));
    let has_labels = match columns {
        Some(_) => one_more(columns, width),
        None => one_more(rows, height),
    };
    let has_names = has_labels || one_more(rows, height) && columns == Some(width);
    let mut element = Vec::new();
    let mut found_rows = 0_u64;
    let skipped = usize::from(has_labels);
    for (number, record) in records.iter().enumerate().skip(usize::from(has_names)) {
        if wide(record.len()) != width {
            return Err(format!(
                "row {}: {}, but the first row has {width}",
                number + 1,
                words::counted(wide(record.len()), "field")
            ));
        }
        for (column, field) in record.iter().enumerate().skip(skipped) {
            element.clear();
            field_value(wanted, field, &mut element)
                .map_err(|error| format!("row {}, column {}{error}", number + 1, column + 1))?;
            take(&element);
        }
        found_rows += 1;
    }
    let found_columns = width.saturating_sub(wide(skipped));
    Ok(match wanted.shape.len() {
        0 if (found_rows, found_columns) == (1, 1) => Vec::new(),
        1 if found_columns == 1 => vec![found_rows],
        _ => vec![found_rows, found_columns],
    })
}

/// Appends the bytes of the element in a field: text as it is, and anything else as JSON, of which
/// words such as NaN and times have no quotes here.
fn field_value(wanted: &Wanted<'_>, field: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let Wanted { data_type, loss, .. } = *wanted;
    let quoted = || Value::from(field).to_string();
    match data_type {
        DataType::NullTerminatedBytes(length) => {
            if field.len() > length.bytes() {
                return Err(format!(
                    ": {} bytes, and {data_type} has {}",
                    field.len(),
                    length.bytes()
                ));
            }
            out.extend_from_slice(field.as_bytes());
            out.resize(length.bytes(), 0);
            Ok(())
        }
        DataType::String | DataType::FixedLengthUtf32(_) => {
            value::read(data_type, &quoted(), loss, out)
        }
        _ => {
            let is_json = serde_json::from_str::<&RawValue>(field).is_ok();
            let text = if is_json { field.to_owned() } else { quoted() };
            value::read(data_type, &text, loss, out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        text: &str,
        format: Option<InputFormat>,
        data_type: &DataType,
        shape: &[Option<u64>],
    ) -> Result<(Option<Vec<u64>>, Vec<u8>), String> {
        let wanted = Wanted { data_type, shape: shape.to_vec(), loss: Loss::Refuse };
        let mut bytes = Vec::new();
        let found =
            elements(text, format, &wanted, &mut |element| bytes.extend_from_slice(element));
        found.map(|shape| (shape, bytes))
    }

    #[test]
    fn text_is_told_from_bytes() {
        for (bytes, is_all, expected) in [
            (&b"1\n2\n"[..], true, true),
            (b"\xc3\xa9", true, true),
            (b"a\xc3", false, true),
            (b"a\xc3", true, false),
            (b"7\0", true, false),
            (b"\xff7", false, false),
            (b"", true, false),
            (b"\x1b[31m", true, false),
        ] {
            assert_eq!(is_text(bytes, is_all), expected, "{bytes:?}");
        }
    }

    #[test]
    fn each_format_is_recognised_by_its_content() {
        let bytes = || vec![1, 2, 3, 4];
        let (two, four) = ([Some(2), Some(2)], [Some(4)]);
        for (text, shape, found) in [
            ("[[1, 2], [3, 4]]", &two[..], Some(vec![2, 2])),
            ("[[1, 2],\n [3, 4]]\n", &two, Some(vec![2, 2])),
            ("1\n2\n\n3\n4\n", &two, None),
            ("1,2\n3,4\n", &two, Some(vec![2, 2])),
            ("x,a,b\n0,1,2\n1,3,4\n", &two, Some(vec![2, 2])),
            ("a,b\n1,2\n3,4\n", &two, Some(vec![2, 2])),
            ("t,v\n2001-01-01,1\n2001-01-02,2\n2001-01-03,3\n2001-01-04,4\n", &four, Some(vec![4])),
            ("v\n1\n2\n3\n4\n", &four, Some(vec![4])),
            ("\u{feff}1\r\n2\r\n3\r\n4", &four, None),
        ] {
            assert_eq!(read(text, None, &DataType::Uint8, shape), Ok((found, bytes())), "{text}");
        }
        // The lengths of a table whose rows or columns are not known.
        let appended = read("x,a,b\n0,1,2\n1,3,4\n", None, &DataType::Uint8, &[None, Some(2)]);
        assert_eq!(appended, Ok((Some(vec![2, 2]), bytes())));
        let columns = read("1,2\n3,4\n", None, &DataType::Uint8, &[Some(2), None]);
        assert_eq!(columns, Ok((Some(vec![2, 2]), bytes())));
    }

    #[test]
    fn fields_are_those_that_are_written() {
        let floats = read("1.5\nNaN\n-Infinity\n", None, &DataType::Float32, &[Some(3)]);
        let expected = [1.5, f32::NAN, f32::NEG_INFINITY].map(f32::to_le_bytes).concat();
        assert_eq!(floats, Ok((Some(vec![3]), expected)));
        let pairs = "\"[1.0, -2.0]\",\"[0.0, 0.5]\"\n";
        let complex =
            read(pairs, Some(InputFormat::Csv), &DataType::Complex64, &[Some(1), Some(2)]);
        let expected = [1_f32, -2., 0., 0.5].map(f32::to_le_bytes).concat();
        assert_eq!(complex, Ok((Some(vec![1, 2]), expected)));
        let lines = read("[1.0, -2.0]\n", None, &DataType::Complex64, &[Some(1)]);
        assert_eq!(lines, Ok((None, [1_f32, -2.].map(f32::to_le_bytes).concat())));
        let texts = read("a\n\"b,\"\"c\"\n12\n", None, &DataType::String, &[Some(3)]);
        assert_eq!(texts, Ok((Some(vec![3]), b"ab,\"c12".to_vec())));
    }

    #[test]
    fn errors_name_the_place() {
        let error = |text: &str, shape: &[Option<u64>]| {
            read(text, None, &DataType::Uint8, shape).expect_err(text)
        };
        let messages = [
            error("1,2\n3,x\n", &[Some(2), Some(2)]),
            error("1,2\n3\n", &[Some(2), Some(2)]),
            error("hello\n", &[Some(1)]),
            error("1,2\n", &[Some(1), Some(1), Some(2)]),
            error("[1,\n2", &[Some(2)]),
            error("1\n256\n", &[Some(2)]),
        ];
        insta::assert_snapshot!(messages.join("\n"), @r#"
        row 2, column 2: found "x", expected an integer from 0 to 255, a value of type uint8
        row 2: 1 field, but the first row has 2
        row 1, column 1: found "hello", expected an integer from 0 to 255, a value of type uint8
        CSV is a table of at most two axes, and the region has 3
        $: EOF while parsing a list at line 2 column 1
        line 2: found 256, expected an integer from 0 to 255, a value of type uint8
        "#);
    }
}
