//! An element as JSON: in the form of a fill value, except times, which are ISO 8601.

use zarr_metadata::{DataType, Loss, MetadataError, TimeUnit, format_element, parse_value};

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

/// Appends the bytes of an element from its text in this form, or from its fill value in JSON. By the
/// rule of [`Loss`], no number becomes another one.
///
/// # Errors
/// The place in the element and what is wrong there: `.x: found 1.5, expected an integer ..`
pub fn read(data_type: &DataType, json: &str, loss: Loss, out: &mut Vec<u8>) -> Result<(), String> {
    let text = serde_json::from_str::<String>(json).ok();
    if let Some(count) = text.as_deref().and_then(|text| count_of_time(data_type, text)) {
        out.extend(count.to_le_bytes());
        return Ok(());
    }
    parse_value(data_type, json, loss, out).map_err(|error| {
        let form = text.and_then(|_| form_of_time(data_type)).unwrap_or_default();
        format!("{}: {}{form}", error.path().trim_start_matches('$'), error.reason())
    })
}

/// The integer of a time in the form that [`write()`] shows; `None` for any other text.
pub fn count_of_time(data_type: &DataType, text: &str) -> Option<i64> {
    match data_type {
        DataType::NumpyDatetime64(step) => time::parse(*step, text),
        _ => None,
    }
}

/// What errors say of that form, to follow what else is allowed; `None` for types without it.
pub fn form_of_time(data_type: &DataType) -> Option<String> {
    match data_type {
        DataType::NumpyDatetime64(step) if step.unit() != TimeUnit::Generic => {
            let mut form = ", or a text such as ".to_owned();
            write(data_type, &[0; 8], &mut form).ok()?;
            Some(form)
        }
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
            read(&data_type, json, Loss::Refuse, &mut element).expect("a time");
            assert_eq!(element, count.to_le_bytes());
            let mut text = String::new();
            write(&data_type, &element, &mut text).expect("a time");
            assert_eq!(text, shown);
        }
        let error =
            read(&data_type, "\"2012-01\"", Loss::Refuse, &mut Vec::new()).expect_err("a month");
        insta::assert_snapshot!(
            error,
            @r#": found "2012-01", expected an integer from -9223372036854775808 to 9223372036854775807 or "NaT", a value of type numpy.datetime64[D], or a text such as "1970-01-01""#
        );
    }
}
