//! Times that another type does not have.

/// The reason why a time cannot be converted without changing it: the cause of
/// [`ArrayError::Time`](super::ArrayError::Time).
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    /// An element is before or after all times of the Rust type.
    #[error("is outside of the range of the Rust type")]
    Range,
    /// An element is no whole number of nanoseconds.
    #[error("is no whole number of nanoseconds")]
    Nanoseconds,
    /// A time is no whole number of the array's steps.
    #[error("is no whole number of the array's steps")]
    Steps,
    /// A time is out of the range of the array's elements.
    #[error("is outside of the range of the array's steps")]
    RangeOfSteps,
}

crate::store::debug_as_text!(TimeError);
