//! The goals by which chains are compared.

/// The measure by which chains are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Goal {
    /// The time to store and to read once.
    #[default]
    Both,
    /// The time to read.
    Read,
    /// The time to write.
    Write,
    /// The stored bytes; slow chains are tried as well.
    Size,
}
