//! Times that another type does not have.

use std::fmt;

/// Why a time cannot be converted without changing it: the fault in
/// [`ArrayError::Time`](super::ArrayError::Time).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeFault {
    /// An element is before or after all times of the Rust type.
    Range,
    /// An element is no whole number of nanoseconds.
    Nanoseconds,
    /// A time is no whole number of the array's steps.
    Steps,
    /// A time is so far away that the array's elements have no number for it.
    RangeOfSteps,
}

impl fmt::Display for TimeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Range => "is outside of the range of the Rust type",
            Self::Nanoseconds => "is no whole number of nanoseconds",
            Self::Steps => "is no whole number of the array's steps",
            Self::RangeOfSteps => "is outside of the range of the array's steps",
        })
    }
}
