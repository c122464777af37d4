//! Units of `numpy.datetime64` and `numpy.timedelta64`.

use std::num::NonZeroU32;

use crate::error::rule::Rule;
use crate::error::{At, MetadataError};
use crate::extension::RawExtension;
use crate::json::Raw;

/// The unit of `numpy.datetime64` and `numpy.timedelta64`: their integers count multiples of it,
/// since 1970-01-01T00:00:00 or as a duration.
///
/// # Examples
/// ```
/// use zarr_metadata::{DataType, FillValue, TimeStep, TimeUnit};
///
/// let seconds = DataType::NumpyDatetime64(TimeStep::from(TimeUnit::Second));
/// assert_eq!(FillValue::parse(&seconds, "\"NaT\"")?.bytes(), Some(&i64::MIN.to_le_bytes()[..]));
/// let json = r#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}"#;
/// assert_eq!(seconds.to_json(), json);
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// zarr-extensions `data-types/numpy.datetime64` and `data-types/numpy.timedelta64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeStep {
    unit: TimeUnit,
    scale_factor: NonZeroU32,
}

/// The largest scale factor: numpy's.
const MAX_SCALE: u32 = i32::MAX.cast_unsigned();

impl TimeStep {
    /// Steps of `scale_factor` units; `None` unless the factor is from 1 to 2^31 - 1.
    #[must_use]
    pub fn new(unit: TimeUnit, scale_factor: u32) -> Option<Self> {
        let scale_factor = NonZeroU32::new(scale_factor).filter(|n| n.get() <= MAX_SCALE)?;
        Some(TimeStep { unit, scale_factor })
    }

    /// The unit of time.
    #[must_use]
    pub fn unit(&self) -> TimeUnit {
        self.unit
    }

    /// The number of units in one step.
    #[must_use]
    pub fn scale_factor(&self) -> u32 {
        self.scale_factor.get()
    }

    pub(super) fn read(extension: &RawExtension<'_>) -> Result<Self, MetadataError> {
        let mut members = extension.members()?;
        let mut read = || {
            const SCALE: &str = "an integer from 1 to 2147483647";
            members.check_known(&["unit", "scale_factor"])?;
            let unit = members.require("unit", TimeUnit::ALLOWED)?;
            let unit = TimeUnit::read(unit).member("unit")?;
            let raw = members.require("scale_factor", SCALE)?;
            let step = raw.natural().and_then(|n| TimeStep::new(unit, u32::try_from(n).ok()?));
            step.ok_or_else(|| raw.expected(SCALE)).member("scale_factor")
        };
        read().member("configuration").breaks(Rule::DATA_TYPE_CONFIGURATION)
    }
}

/// Steps of one unit.
impl From<TimeUnit> for TimeStep {
    fn from(unit: TimeUnit) -> Self {
        TimeStep { unit, scale_factor: NonZeroU32::MIN }
    }
}

macro_rules! units {
    ($($(#[$doc:meta])* $variant:ident $name:literal;)*) => {
        /// A unit of time of numpy.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum TimeUnit {
            $($(#[$doc])* $variant,)*
        }

        impl TimeUnit {
            /// Every unit.
            pub const ALL: &[TimeUnit] = &[$(TimeUnit::$variant),*];

            /// numpy's name, such as `"ms"`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(TimeUnit::$variant => $name,)*
                }
            }
        }
    };
}

units! {
    /// Calendar years.
    Year "Y";
    /// Calendar months.
    Month "M";
    /// Weeks.
    Week "W";
    /// Days of 24 hours.
    Day "D";
    /// Hours.
    Hour "h";
    /// Minutes.
    Minute "m";
    /// Seconds.
    Second "s";
    /// Milliseconds.
    Millisecond "ms";
    /// Microseconds; `"μs"` is read as well.
    Microsecond "us";
    /// Nanoseconds.
    Nanosecond "ns";
    /// Picoseconds.
    Picosecond "ps";
    /// Femtoseconds.
    Femtosecond "fs";
    /// Attoseconds.
    Attosecond "as";
    /// No unit.
    Generic "generic";
}

impl TimeUnit {
    const ALLOWED: &str = "\"Y\", \"M\", \"W\", \"D\", \"h\", \"m\", \"s\", \"ms\", \"us\", \
        \"ns\", \"ps\", \"fs\", \"as\" or \"generic\"";

    /// The unit with this name in numpy.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "μs" => Some(TimeUnit::Microsecond),
            name => TimeUnit::ALL.iter().copied().find(|unit| unit.name() == name),
        }
    }

    fn read(raw: Raw<'_>) -> Result<Self, MetadataError> {
        let name = raw.string(Self::ALLOWED)?;
        Self::from_name(&name).ok_or_else(|| raw.expected(Self::ALLOWED))
    }
}
