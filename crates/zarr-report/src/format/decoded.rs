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
/// whole steps are whole seconds, otherwise in nanoseconds.
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
            let is_whole = !stored.is_float() && times.has_whole_seconds();
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
                    bytes.extend(self.count(times, element, number)?.to_le_bytes());
                }
                Cow::Owned(bytes)
            }
        })
    }

    /// Seconds or nanoseconds since 1970 of an element, which is this number.
    fn count(&self, times: &CfTimes, element: &[u8], number: f64) -> Result<i64, ReportError> {
        if number.is_nan() {
            return Ok(i64::MIN); // NaT
        }
        let is_seconds = matches!(&self.data_type, DataType::NumpyDatetime64(step)
            if step.unit() == TimeUnit::Second);
        // Integers of 64 bits do not all have a number.
        let count = match (&self.stored, element.try_into()) {
            (DataType::Int64, Ok(bytes)) => {
                times.count_of_whole(i64::from_le_bytes(bytes), is_seconds)
            }
            _ => times.count(number, is_seconds),
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
