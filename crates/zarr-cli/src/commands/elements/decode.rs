//! `read --decode`: elements as the attributes of the CF conventions mean them.

use std::borrow::Cow;

use zarr_kit::metadata::{TimeStep, TimeUnit};
use zarr_kit::report::format::decoded::Decoded;
use zarr_kit::{ArrayMetadata, DataType};

use crate::error::CliError;
use crate::notation::labels::CfTimes;
use crate::output::print::note;
use crate::stores::node_store::NodeStore;

/// How the elements of an array are shown: as they are, or decoded.
pub(super) enum Decoding {
    Plain(DataType),
    Numbers(Decoded),
    Times { times: CfTimes, decoded: Decoded, stored: DataType, shown: DataType },
}

impl Decoding {
    pub(super) fn of(
        place: &NodeStore,
        metadata: &ArrayMetadata,
        is_asked: bool,
    ) -> Result<Self, CliError> {
        let stored = metadata.data_type().clone();
        if !is_asked {
            return Ok(Self::Plain(stored));
        }
        let is_plain_type = stored.is_variable_length()
            || matches!(stored, DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_));
        if is_plain_type {
            note(format_args!("{}: elements of type {stored} need no decoding", place.shown));
            return Ok(Self::Plain(stored));
        }
        let decoded = Decoded::of(metadata).map_err(|cause| place.not_reported(cause))?;
        let times = CfTimes::of(metadata)
            .map_err(|reason| CliError::argument("--decode", &place.shown, reason))?;
        if let Some(times) = times {
            // Whole steps of a second and more need no fractions.
            let is_whole = !stored.is_float() && times.has_whole_seconds();
            let unit = if is_whole { TimeUnit::Second } else { TimeUnit::Nanosecond };
            let shown = TimeStep::new(unit, 1).map_or(DataType::Int64, DataType::NumpyDatetime64);
            return Ok(Self::Times { times, decoded, stored, shown });
        }
        if decoded.is_plain() {
            note(format_args!(
                "{}: the attributes have no scale_factor, add_offset, missing value or time",
                place.shown
            ));
            return Ok(Self::Plain(stored));
        }
        Ok(Self::Numbers(decoded))
    }

    /// The type of what is shown.
    pub(super) fn data_type(&self) -> &DataType {
        match self {
            Self::Plain(data_type) | Self::Times { shown: data_type, .. } => data_type,
            Self::Numbers(_) => &DataType::Float64,
        }
    }

    /// The elements that are shown.
    pub(super) fn decode<'e>(&self, elements: &'e [u8]) -> Result<Cow<'e, [u8]>, CliError> {
        match self {
            Self::Plain(_) => Ok(Cow::Borrowed(elements)),
            Self::Numbers(decoded) => {
                let numbers = decoded.numbers(elements);
                Ok(Cow::Owned(numbers.iter().flat_map(|number| number.to_le_bytes()).collect()))
            }
            Self::Times { times, decoded, stored, shown } => {
                let size = stored.size().unwrap_or(1).max(1);
                let numbers = decoded.numbers(elements);
                let is_seconds = matches!(shown, DataType::NumpyDatetime64(step)
                    if step.unit() == TimeUnit::Second);
                let counts = elements.chunks_exact(size).zip(&numbers).map(|(element, number)| {
                    if number.is_nan() {
                        return Ok(i64::MIN); // NaT
                    }
                    // Integers of 64 bits do not all have a number.
                    let count = match (stored, element.try_into()) {
                        (DataType::Int64, Ok(bytes)) => {
                            times.count_of_whole(i64::from_le_bytes(bytes), is_seconds)
                        }
                        _ => times.count(*number, is_seconds),
                    };
                    count.ok_or_else(|| {
                        let reason = format!("the time of {number} is out of the range of numpy's");
                        CliError::argument("--decode", "times", reason)
                    })
                });
                let mut bytes = Vec::new();
                for count in counts {
                    bytes.extend(count?.to_le_bytes());
                }
                Ok(Cow::Owned(bytes))
            }
        }
    }
}
