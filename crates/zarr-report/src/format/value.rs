//! An element as JSON: in the form of a fill value, except times, which are ISO 8601.

use zarr_metadata::{DataType, MetadataError, TimeUnit, format_element, parse_element};

use super::time;

/// Appends an element.
pub fn write(data_type: &DataType, element: &[u8], out: &mut String) -> Result<(), MetadataError> {
    match (data_type, <[u8; 8]>::try_from(element)) {
        // Without a unit there is no date.
        (DataType::NumpyDatetime64(step), Ok(count)) if step.unit() != TimeUnit::Generic => {
            out.push('"');
            time::format(*step, i64::from_le_bytes(count), out);
            out.push('"');
            Ok(())
        }
        _ => format_element(data_type, element, out),
    }
}

/// Appends the bytes of an element from its text in this form, or from its fill value in JSON.
pub fn read(data_type: &DataType, json: &str, out: &mut Vec<u8>) -> Result<(), MetadataError> {
    if let Ok(text) = serde_json::from_str::<String>(json)
        && let Some(count) = count_of_time(data_type, &text)
    {
        out.extend(count.to_le_bytes());
        return Ok(());
    }
    parse_element(data_type, json, out)
}

/// The integer of a time in the form that [`write()`] shows; `None` for any other text.
pub fn count_of_time(data_type: &DataType, text: &str) -> Option<i64> {
    match data_type {
        DataType::NumpyDatetime64(step) => time::parse(*step, text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_form_for_people_and_one_for_documents() {
        let json = br#"{"name": "numpy.datetime64", "configuration":
            {"unit": "D", "scale_factor": 1}}"#;
        let data_type = DataType::from_json(json).expect("a type");
        for (json, count, shown) in [
            ("\"2012-01-01\"", 15_340, "\"2012-01-01\""),
            ("15340", 15_340, "\"2012-01-01\""),
            ("\"NaT\"", i64::MIN, "\"NaT\""),
        ] {
            let mut element = Vec::new();
            read(&data_type, json, &mut element).expect("a time");
            assert_eq!(element, count.to_le_bytes());
            let mut text = String::new();
            write(&data_type, &element, &mut text).expect("a time");
            assert_eq!(text, shown);
        }
        assert!(read(&data_type, "\"2012-01\"", &mut Vec::new()).is_err());
    }
}
