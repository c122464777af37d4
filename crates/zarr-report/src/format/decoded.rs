//! Elements as their attributes mean them: `scale_factor`, `add_offset`, missing values and times.

use std::borrow::Cow;

use zarr_metadata::cf::missing;
use zarr_metadata::{ArrayMetadata, DataType, TimeStep, TimeUnit};

use super::cf_times::CfTimes;
use crate::stats::Scale;
use crate::{Numbers, ReportError, words};

/// The decoding of elements by the attributes of the CF conventions. With `scale_factor` and
/// `add_offset` the values are numbers of 64 bits, and NaN if elements are missing. With `units` of
/// a time the values are numpy's times, and NaT if elements are missing. Times are in seconds if
/// all steps are whole seconds, otherwise in nanoseconds.
///
/// # Examples
/// ```
/// use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_report::format::decoded::Decoded;
///
/// let metadata = ArrayBuilder::new([2], DataType::Int8)
///     .attributes(r#"{"scale_factor": 0.5, "add_offset": 10, "_FillValue": -1}"#)
///     .build()?;
/// let decoded = Decoded::of(&metadata)?;
/// assert_eq!(decoded.data_type(), &DataType::Float64);
/// let values = decoded.values(&[4, 0xff])?;
/// assert_eq!(values[..8], 12.0_f64.to_le_bytes());
/// assert_eq!(values[8..], f64::NAN.to_le_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decoded {
    stored: DataType,
    data_type: DataType,
    meant: Meant,
}

/// The meaning of elements.
enum Meant {
    /// The elements themselves, with the reason.
    Themselves(String),
    Numbers(Scaled),
    Times(Scaled, CfTimes),
}

/// Numbers by scale, offset and missing values.
struct Scaled {
    numbers: Numbers,
    missing: Vec<Vec<u8>>,
    scale: Scale,
}

impl Decoded {
    /// The decoding by the attributes of this document.
    ///
    /// # Errors
    /// [`ReportError::NotNumbers`]; [`ReportError::Times`] if the units are of a time that numpy
    /// does not have.
    pub fn of(metadata: &ArrayMetadata) -> Result<Self, ReportError> {
        let stored = metadata.data_type().clone();
        let plain = |why| {
            let (data_type, stored) = (stored.clone(), stored.clone());
            Ok(Self { stored, data_type, meant: Meant::Themselves(why) })
        };
        if stored.is_variable_length()
            || matches!(stored, DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_))
        {
            return plain(format!("elements of type {stored} need no decoding"));
        }
        let numbers = Numbers::of(&stored);
        let numbers = numbers
            .ok_or_else(|| ReportError::NotNumbers { data_type: words::data_type(&stored) })?;
        let scaled = Scaled { numbers, missing: missing(metadata), scale: Scale::of(metadata) };
        let times = CfTimes::of(metadata).map_err(|reason| ReportError::Times { reason })?;
        if let Some(times) = times {
            // Whole steps of a second and more need no fractions.
            let is_whole =
                !stored.is_float() && scaled.scale.is_whole() && times.has_whole_seconds();
            let unit = if is_whole { TimeUnit::Second } else { TimeUnit::Nanosecond };
            let data_type =
                TimeStep::new(unit, 1).map_or(DataType::Int64, DataType::NumpyDatetime64);
            return Ok(Self { stored, data_type, meant: Meant::Times(scaled, times) });
        }
        if scaled.scale.is_one() && scaled.missing.is_empty() {
            let why = "the attributes have no scale_factor, add_offset, missing value or time";
            return plain(why.to_owned());
        }
        Ok(Self { stored, data_type: DataType::Float64, meant: Meant::Numbers(scaled) })
    }

    /// The elements as they are stored.
    #[must_use]
    pub fn stored(data_type: DataType) -> Self {
        let meant = Meant::Themselves(String::new());
        Self { stored: data_type.clone(), data_type, meant }
    }

    /// The reason why the values are the elements themselves, if they are.
    #[must_use]
    pub fn why_plain(&self) -> Option<&str> {
        match &self.meant {
            Meant::Themselves(why) => Some(why),
            _ => None,
        }
    }

    /// The type of the values.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The values of these elements, little-endian as they are.
    ///
    /// # Errors
    /// [`ReportError::Times`] if a time is out of the range of numpy's.
    pub fn values<'e>(&self, elements: &'e [u8]) -> Result<Cow<'e, [u8]>, ReportError> {
        Ok(match &self.meant {
            Meant::Themselves(_) => Cow::Borrowed(elements),
            Meant::Numbers(scaled) => {
                let numbers = scaled.numbers(elements);
                Cow::Owned(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
            }
            Meant::Times(scaled, times) => {
                let size = scaled.numbers.size();
                let numbers = scaled.numbers(elements);
                let mut bytes = Vec::new();
                for (element, number) in elements.chunks_exact(size).zip(numbers) {
                    let count = self.count(times, &scaled.scale, element, number)?;
                    bytes.extend(count.to_le_bytes());
                }
                Cow::Owned(bytes)
            }
        })
    }

    /// Seconds or nanoseconds since 1970 of an element, which is this number when it is scaled.
    fn count(
        &self,
        times: &CfTimes,
        scale: &Scale,
        element: &[u8],
        number: f64,
    ) -> Result<i64, ReportError> {
        if number.is_nan() {
            return Ok(i64::MIN); // NaT
        }
        let is_seconds = matches!(&self.data_type, DataType::NumpyDatetime64(step)
            if step.unit() == TimeUnit::Second);
        // Integers of 64 bits do not all have a number.
        let whole = match (&self.stored, element.try_into()) {
            (DataType::Int64, Ok(bytes)) => Some(i64::from_le_bytes(bytes).into()),
            (DataType::Uint64, Ok(bytes)) => Some(u64::from_le_bytes(bytes).into()),
            _ => None,
        };
        let count = match whole.filter(|_| scale.is_one()) {
            Some(whole) => times.count_of_whole(whole, is_seconds),
            None => times.count(number, is_seconds),
        };
        count.ok_or_else(|| ReportError::Times {
            reason: format!(
                "the time of {} is out of the range of numpy's",
                format!("{number:?}").trim_end_matches(".0")
            ),
        })
    }
}

impl Scaled {
    /// The decoded numbers; NaN where elements are missing.
    fn numbers(&self, elements: &[u8]) -> Vec<f64> {
        let mut numbers = Vec::new();
        self.numbers.list(elements, &mut numbers);
        let elements = elements.chunks_exact(self.numbers.size());
        for (number, element) in numbers.iter_mut().zip(elements) {
            *number = match self.missing.iter().any(|missing| missing == element) {
                true => f64::NAN,
                false => self.scale.of_number(*number),
            };
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use zarr_metadata::ArrayBuilder;

    use super::*;
    use crate::format::value;

    /// The decoded values, as they are printed.
    fn shown(data_type: DataType, attributes: &str, elements: &[u8]) -> Vec<String> {
        let metadata = ArrayBuilder::new([1], data_type).attributes(attributes).build();
        let decoded = Decoded::of(&metadata.expect("valid")).expect("is decoded");
        let values = decoded.values(elements).expect("values");
        let text = |value: &[u8]| {
            let mut text = String::new();
            value::write(decoded.data_type(), value, &mut text).expect("a value");
            text.trim_matches('"').to_owned()
        };
        values.chunks_exact(8).map(text).collect()
    }

    #[test]
    fn times_are_scaled_in_every_type() {
        let quarters = r#"{"units": "seconds since 2000-01-01", "scale_factor": 0.25}"#;
        let expected = ["2000-01-01T00:00:00.250000000", "2000-01-01T00:00:00.500000000"];
        let (int32, int64) = ([1_i32, 2].map(i32::to_le_bytes), [1_i64, 2].map(i64::to_le_bytes));
        assert_eq!(shown(DataType::Int32, quarters, &int32.concat()), expected);
        assert_eq!(shown(DataType::Int64, quarters, &int64.concat()), expected);
        let minutes = r#"{"units": "seconds since 2000-01-01", "scale_factor": 60}"#;
        let expected = ["2000-01-01T00:01:00", "2000-01-01T00:02:00"];
        assert_eq!(shown(DataType::Int64, minutes, &int64.concat()), expected);
    }

    #[test]
    fn times_of_64_bits_are_exact() {
        let units = r#"{"units": "nanoseconds since 1970-01-01"}"#;
        let count = 1_500_000_000_000_000_001_u64.to_le_bytes();
        for data_type in [DataType::Int64, DataType::Uint64] {
            assert_eq!(shown(data_type, units, &count), ["2017-07-14T02:40:00.000000001"]);
        }
    }

    #[test]
    fn a_scale_may_be_a_list_of_one_number() {
        let attributes = r#"{"scale_factor": [ 0.5 ], "add_offset": [10]}"#;
        assert_eq!(shown(DataType::Int8, attributes, &[4]), ["12.0"]);
    }
}
