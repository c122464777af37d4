//! Formats an element for people.

use std::fmt::Write as _;

use zarr_metadata::{DataType, MetadataError, Printable, Struct, format_element};

use super::time;

/// Appends an element. Times are ISO 8601, strings and null-terminated bytes are in quotes, other
/// bytes are hex, records are tuples. All others are as in JSON, without its quotes. Characters
/// that do not print are escaped, so none moves the cursor.
pub fn format(data_type: &DataType, bytes: &[u8], out: &mut String) -> Result<(), MetadataError> {
    match (data_type, <[u8; 8]>::try_from(bytes)) {
        (DataType::NumpyDatetime64(step), Ok(count)) => {
            time::format(*step, i64::from_le_bytes(count), out);
            Ok(())
        }
        (DataType::FixedLengthUtf32(_), _) => {
            let mut json = String::new();
            format_element(data_type, bytes, &mut json)?;
            let _infallible = write!(out, "{}", Printable(json));
            Ok(())
        }
        (DataType::NullTerminatedBytes(_), _) => {
            let last = bytes.iter().rposition(|byte| *byte != 0);
            let kept = bytes.get(..last.map_or(0, |last| last + 1)).unwrap_or(bytes);
            let _infallible = write!(out, "\"{}\"", kept.escape_ascii());
            Ok(())
        }
        (DataType::RawBytes(_), _) => {
            out.push_str("0x");
            bytes.iter().for_each(|byte| {
                let _infallible = write!(out, "{byte:02x}");
            });
            Ok(())
        }
        (DataType::Struct(record), _) => tuple(record, bytes, out),
        _ => {
            let mut json = String::new();
            format_element(data_type, bytes, &mut json)?;
            // NaN, NaT and bits are strings in JSON; none has a quote in it.
            out.extend(json.chars().filter(|c| *c != '"'));
            Ok(())
        }
    }
}

fn tuple(record: &Struct, bytes: &[u8], out: &mut String) -> Result<(), MetadataError> {
    for (index, field) in record.fields().iter().enumerate() {
        out.push_str(if index == 0 { "(" } else { ", " });
        format(field.data_type(), field.bytes_of(bytes), out)?;
    }
    out.push(')');
    Ok(())
}

#[cfg(test)]
mod tests {
    use zarr_metadata::parse_element;

    use super::*;

    fn text(data_type: &DataType, json: &str) -> String {
        let mut bytes = Vec::new();
        parse_element(data_type, json, &mut bytes).expect("an element");
        let mut text = String::new();
        format(data_type, &bytes, &mut text).expect("formats");
        text
    }

    fn configured(name: &str, configuration: &str) -> DataType {
        let json = format!(r#"{{"name": "{name}", "configuration": {configuration}}}"#);
        DataType::from_json(json.as_bytes()).expect("a type")
    }

    #[test]
    fn elements_are_shown_as_people_read_them() {
        let day = r#"{"unit": "D", "scale_factor": 1}"#;
        let datetime = configured("numpy.datetime64", day);
        assert_eq!(text(&datetime, "15340"), "2012-01-01");
        assert_eq!(text(&datetime, "\"NaT\""), "NaT");
        let duration = configured("numpy.timedelta64", day);
        assert_eq!(text(&duration, "-3"), "-3");
        assert_eq!(text(&duration, "\"NaT\""), "NaT");
        let name = configured("fixed_length_utf32", r#"{"length_bytes": 40}"#);
        assert_eq!(text(&name, "\"né\""), "\"né\"");
        assert_eq!(text(&name, r#""a\u001b[2J\"\n\u202e""#), r#""a\u001b[2J\"\n\u{202e}""#);
        let bytes = configured("null_terminated_bytes", r#"{"length_bytes": 6}"#);
        assert_eq!(text(&bytes, "\"YRv/Ig==\""), r#""a\x1b\xff\"""#);
        let raw = configured("raw_bytes", r#"{"length_bytes": 3}"#);
        assert_eq!(text(&raw, "\"AAH/\""), "0x0001ff");
        let record = configured(
            "struct",
            r#"{"fields": [{"name": "at", "data_type": {"name": "struct", "configuration":
                {"fields": [{"name": "x", "data_type": "float32"}]}}},
                {"name": "ok", "data_type": "bool"}]}"#,
        );
        assert_eq!(text(&record, r#"{"at": {"x": "NaN"}, "ok": true}"#), "((NaN), true)");
        assert_eq!(text(&DataType::Complex64, "[1, \"-Infinity\"]"), "[1.0, -Infinity]");
    }
}
