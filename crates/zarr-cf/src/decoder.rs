//! Elements as their attributes mean them.

use std::borrow::Cow;

use zarr_metadata::{ArrayMetadata, DataType, TimeUnit, Utf32Length};

use crate::calendar::{Calendar, REFORM};
use crate::duration::{Durations, attoseconds, whole};
use crate::error::CfError;
use crate::meaning::{Kind, Meaning};
use crate::moment::{DAY, SECOND, iso};
use crate::numbers::Numbers;
use crate::time_axis::TimeAxis;

/// The decoding of elements by the attributes of the CF conventions, with the values of Xarray.
///
/// | attributes | values |
/// | --- | --- |
/// | `scale_factor`, `add_offset` | `float64` |
/// | `_FillValue`, `missing_value` | floats stay; integers of up to 16 bits become `float32`, others `float64` |
/// | `_Unsigned` alone | integers of the other sign |
/// | `units` of a time | numpy's times: in seconds if all steps are whole seconds, otherwise finer |
/// | the same in a calendar that numpy lacks | text: `2000-02-30T12:00:00` |
/// | `dtype` of Xarray | truth values, durations |
///
/// Missing elements are NaN or NaT.
///
/// # Examples
/// ```
/// use zarr_cf::Decoder;
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let metadata = ArrayBuilder::new([2], DataType::Int8)
///     .attributes(r#"{"scale_factor": 0.5, "add_offset": 10, "_FillValue": -1}"#)
///     .build()?;
/// let decoder = Decoder::of(&metadata, None)?;
/// assert_eq!(decoder.data_type(), &DataType::Float64);
/// let values = decoder.values(&[4, 0xff])?;
/// assert_eq!(values[..8], 12.0_f64.to_le_bytes());
/// assert_eq!(values[8..], f64::NAN.to_le_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decoder {
    data_type: DataType,
    how: How,
    notes: Vec<String>,
}

/// What happens to elements.
enum How {
    /// They are the values, with the reason.
    Nothing(String),
    /// As [`How::Nothing`], in the other type of integers.
    Reinterpreted,
    Decoded(Box<Decoding>, Values),
}

/// The numbers of elements.
struct Decoding {
    numbers: Numbers,
    meaning: Meaning,
}

/// What numbers become.
#[derive(Clone, Copy)]
enum Values {
    Float16,
    Float32,
    Float64,
    Truth,
    Times(TimeAxis, TimeUnit),
    Texts(TimeAxis),
    Durations(Durations, TimeUnit),
}

/// The characters of a time in text: `-292277-01-27T08:29:52.000001` has 29.
const CHARACTERS: usize = 32;

impl Decoder {
    /// The decoding by the attributes of this document. If the array has the bounds of a
    /// `coordinate`, times have its units.
    ///
    /// # Errors
    /// [`CfError::NotNumbers`]; [`CfError::Units`] if the units are of a time and not understood.
    pub fn of(
        metadata: &ArrayMetadata,
        coordinate: Option<&ArrayMetadata>,
    ) -> Result<Self, CfError> {
        let stored = metadata.data_type();
        if stored.is_variable_length()
            || matches!(stored, DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_))
        {
            let why = format!("elements of type {stored} need no decoding");
            return Ok(Self::nothing(stored.clone(), why));
        }
        let meaning = Meaning::of(metadata, coordinate)?;
        let numbers = Numbers::of(&meaning.data_type)
            .ok_or_else(|| CfError::NotNumbers { data_type: meaning.data_type.clone() })?;
        let values = match meaning.kind {
            Kind::Truth => Some(Values::Truth),
            Kind::Times(axis) if !meaning.has_numpys_dates() => Some(Values::Texts(axis)),
            Kind::Times(axis) => Some(Values::Times(axis, unit_of(&meaning, &numbers, axis))),
            Kind::Durations(durations) => {
                let is_whole = numbers.are_whole() && meaning.packing.is_whole();
                let unit = if is_whole { durations.step } else { TimeUnit::Nanosecond };
                Some(Values::Durations(durations, unit))
            }
            Kind::Numbers if meaning.packing.is_given() => Some(Values::Float64),
            Kind::Numbers if !meaning.missing.is_empty() => Some(floats(&meaning, &numbers)),
            Kind::Numbers => None,
        };
        let notes = meaning.notes.clone();
        let Some(values) = values else {
            if meaning.data_type != *stored {
                return Ok(Self { data_type: meaning.data_type, how: How::Reinterpreted, notes });
            }
            let why = "the attributes have no scale_factor, add_offset, missing value or time";
            return Ok(Self { notes, ..Self::nothing(stored.clone(), why.to_owned()) });
        };
        let data_type = values.data_type();
        let how = How::Decoded(Box::new(Decoding { numbers, meaning }), values);
        Ok(Self { data_type, how, notes })
    }

    fn nothing(data_type: DataType, why: String) -> Self {
        Self { data_type, how: How::Nothing(why), notes: Vec::new() }
    }

    /// No decoding: the values are the elements as they are stored.
    #[must_use]
    pub fn stored(data_type: DataType) -> Self {
        Self::nothing(data_type, String::new())
    }

    /// The same decoding with times in microseconds, which reach 292,000 years, if they are in
    /// nanoseconds, which reach 292.
    #[must_use]
    pub fn with_microseconds(mut self) -> Self {
        if let How::Decoded(_, values @ Values::Times(..)) = &mut self.how
            && let Values::Times(_, unit @ TimeUnit::Nanosecond) = values
        {
            *unit = TimeUnit::Microsecond;
            self.data_type = values.data_type();
        }
        self
    }

    /// The reason why the values are the elements themselves, if they are.
    #[must_use]
    pub fn why_plain(&self) -> Option<&str> {
        match &self.how {
            How::Nothing(why) => Some(why),
            _ => None,
        }
    }

    /// What the attributes say and the values do not have, in words.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The type of the values.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The values of these elements, little-endian as they are.
    ///
    /// # Errors
    /// [`CfError::Range`] if a time is out of the range of numpy's.
    pub fn values<'e>(&self, elements: &'e [u8]) -> Result<Cow<'e, [u8]>, CfError> {
        let How::Decoded(decoding, values) = &self.how else { return Ok(Cow::Borrowed(elements)) };
        decoding.values(*values, elements).map(Cow::Owned)
    }
}

impl Decoding {
    fn values(&self, values: Values, elements: &[u8]) -> Result<Vec<u8>, CfError> {
        let mut numbers = Vec::new();
        self.numbers.list(elements, &mut numbers);
        let packing = &self.meaning.packing;
        let mut bytes = Vec::new();
        for (element, number) in elements.chunks_exact(self.numbers.size()).zip(numbers) {
            let is_missing = self.meaning.missing.iter().any(|missing| missing == element);
            // Integers of 64 bits do not all have a float, and times are exact.
            let exact = packing.is_identity().then(|| self.numbers.whole(element)).flatten();
            let number = if is_missing { f64::NAN } else { packing.unpacked(number) };
            let exact = exact.filter(|_| !is_missing);
            let range = || CfError::Range {
                number: format!("{number:?}").trim_end_matches(".0").to_owned(),
            };
            match values {
                Values::Float64 => bytes.extend(number.to_le_bytes()),
                #[expect(clippy::cast_possible_truncation, reason = "exact, of these types")]
                Values::Float32 => bytes.extend((number as f32).to_le_bytes()),
                Values::Float16 if is_missing => bytes.extend(0x7e00_u16.to_le_bytes()),
                Values::Float16 => bytes.extend(element),
                Values::Truth => bytes.push(u8::from(number != 0.0)),
                Values::Times(..) | Values::Durations(..) if number.is_nan() => {
                    bytes.extend(i64::MIN.to_le_bytes());
                }
                Values::Times(axis, unit) => {
                    let count = count(&axis, unit, number, exact).ok_or_else(range)?;
                    bytes.extend(count.to_le_bytes());
                }
                Values::Durations(durations, unit) => {
                    let count = match exact.filter(|_| unit == durations.step) {
                        Some(exact) => durations.count_of_whole(exact),
                        None if unit == TimeUnit::Nanosecond => durations.nanoseconds(number),
                        None => whole(number).and_then(|n| durations.count_of_whole(n.into())),
                    };
                    bytes.extend(count.ok_or_else(range)?.to_le_bytes());
                }
                Values::Texts(axis) => {
                    let text = match number.is_nan() {
                        true => Some("NaT".to_owned()),
                        false => text_of(&axis, number, exact),
                    };
                    let text = text.filter(|text| text.len() <= CHARACTERS).ok_or_else(range)?;
                    let padded = text.chars().chain(std::iter::repeat('\0')).take(CHARACTERS);
                    bytes.extend(padded.flat_map(|character| u32::from(character).to_le_bytes()));
                }
            }
        }
        Ok(bytes)
    }
}

impl Values {
    fn data_type(self) -> DataType {
        match self {
            Self::Float16 => DataType::Float16,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::Truth => DataType::Bool,
            Self::Times(_, unit) => DataType::NumpyDatetime64(unit.into()),
            Self::Durations(_, unit) => DataType::NumpyTimedelta64(unit.into()),
            Self::Texts(_) => match Utf32Length::new(CHARACTERS) {
                Some(length) => DataType::FixedLengthUtf32(length),
                None => DataType::String,
            },
        }
    }
}

/// The floats of numbers of which some are missing: Xarray's.
fn floats(meaning: &Meaning, numbers: &Numbers) -> Values {
    match &meaning.data_type {
        DataType::Float16 => Values::Float16,
        DataType::Float32 => Values::Float32,
        _ if numbers.size() <= 2 => Values::Float32,
        _ => Values::Float64,
    }
}

/// The unit of numpy's times: seconds if all whole numbers are whole seconds. Floats have parts, which
/// Xarray counts in nanoseconds, or cftime in microseconds if the reference time has none.
fn unit_of(meaning: &Meaning, numbers: &Numbers, axis: TimeAxis) -> TimeUnit {
    let epoch = epoch(&axis);
    let zero = axis.time_of(0).map(|zero| zero - epoch);
    let is_whole = numbers.are_whole() && meaning.packing.is_whole();
    let has_seconds = zero
        .zip(axis.fixed())
        .is_some_and(|(zero, (unit, _))| zero % SECOND == 0 && unit % SECOND == 0);
    let nanoseconds = zero.map(|zero| zero / attoseconds(TimeUnit::Nanosecond));
    match nanoseconds.map(i64::try_from) {
        _ if is_whole && has_seconds => TimeUnit::Second,
        Some(Ok(_)) => TimeUnit::Nanosecond,
        _ => TimeUnit::Microsecond,
    }
}

/// The time 1970-01-01 of numpy, on an axis with numpy's dates.
fn epoch(axis: &TimeAxis) -> i128 {
    axis.calendar.day((1970, 1, 1)) * DAY
}

/// The count of units since 1970.
fn count(axis: &TimeAxis, unit: TimeUnit, number: f64, exact: Option<i128>) -> Option<i64> {
    let step = attoseconds(unit);
    let time = match exact {
        Some(exact) => axis.time_of(exact)?,
        None if unit == TimeUnit::Nanosecond => {
            // As Xarray, which multiplies floats and cuts off what is less than a nanosecond.
            let (length, reference) = axis.fixed()?;
            #[expect(clippy::cast_precision_loss, reason = "a unit of few digits")]
            let product = number * (length / step) as f64;
            reference + i128::from(whole(product)?) * step
        }
        None => axis.rounded(number, attoseconds(TimeUnit::Microsecond))?,
    };
    // Before its reform the standard calendar has other dates than numpy.
    if axis.calendar == Calendar::Mixed && time < axis.calendar.day(REFORM) * DAY {
        return None;
    }
    let count = (time - epoch(axis)).div_euclid(step);
    i64::try_from(count).ok().filter(|count| *count != i64::MIN)
}

/// The date and time in text.
fn text_of(axis: &TimeAxis, number: f64, exact: Option<i128>) -> Option<String> {
    let time = match exact {
        Some(exact) => axis.time_of(exact)?,
        None => axis.rounded(number, attoseconds(TimeUnit::Microsecond))?,
    };
    Some(iso(axis.calendar, time))
}
