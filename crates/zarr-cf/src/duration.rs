//! Durations as Xarray writes them: numbers with units, and the type in the attribute `dtype`.

use zarr_metadata::TimeUnit;

use crate::moment::SECOND;

/// Durations as numbers: `units` such as `days`, and `dtype` such as `timedelta64[s]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Durations {
    /// Attoseconds of one unit.
    pub(crate) unit: i128,
    /// The unit of numpy's durations that all whole numbers have.
    pub(crate) step: TimeUnit,
}

/// From the coarsest to the finest.
const STEPS: [TimeUnit; 4] =
    [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];

impl Durations {
    pub(crate) fn of(units: &str, dtype: &str) -> Option<Self> {
        let name = dtype.strip_prefix("timedelta64[")?.strip_suffix(']')?;
        // numpy's units from seconds to nanoseconds; coarser ones become seconds, finer ones
        // nanoseconds.
        let asked = match name {
            "ms" => 1,
            "us" => 2,
            "ns" | "ps" | "fs" | "as" => 3,
            "s" | "m" | "h" | "D" | "W" => 0,
            _ => return None,
        };
        let (unit, needed) = match units {
            "days" => (86_400 * SECOND, 0),
            "hours" => (3600 * SECOND, 0),
            "minutes" => (60 * SECOND, 0),
            "seconds" => (SECOND, 0),
            "milliseconds" => (SECOND / 1000, 1),
            "microseconds" => (SECOND / 1_000_000, 2),
            "nanoseconds" => (SECOND / 1_000_000_000, 3),
            _ => return None,
        };
        Some(Self { unit, step: *STEPS.get(asked.max(needed))? })
    }

    /// The count of a whole number, in steps.
    pub(crate) fn count_of_whole(self, number: i128) -> Option<i64> {
        let count = number.checked_mul(self.unit / attoseconds(self.step))?;
        i64::try_from(count).ok().filter(|count| *count != i64::MIN)
    }

    /// The nanoseconds of a number, cut off as Xarray does, which looks for the unit in which all
    /// numbers are whole.
    #[expect(clippy::cast_precision_loss, reason = "a unit of few digits")]
    pub(crate) fn nanoseconds(self, number: f64) -> Option<i64> {
        let nano = SECOND / 1_000_000_000;
        let seconds = self.unit / SECOND;
        let product = match seconds {
            0 => number * (self.unit / nano) as f64,
            _ => number * seconds as f64 * 1e3 * 1e3 * 1e3,
        };
        whole(product)
    }
}

/// Attoseconds of a unit from seconds to nanoseconds.
pub(crate) fn attoseconds(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => SECOND,
        TimeUnit::Millisecond => SECOND / 1000,
        TimeUnit::Microsecond => SECOND / 1_000_000,
        _ => SECOND / 1_000_000_000,
    }
}

/// The whole part of a number, if it has 64 bits.
pub(crate) fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "checked")]
    (number.abs() < 9_223_372_036_854_775_807.0).then_some(number as i64)
}
