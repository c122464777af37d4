//! The ways of the elements from the source to the target.

use std::fmt;

/// The route of an array's elements from the source to the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// In one pass, which decodes chunks of the source less than twice on average.
    #[default]
    Direct,
    /// Chunks, or inner chunks of shards, move as they are stored, also damaged ones, and none is
    /// decoded except to be verified: source and target store the same chunks, in other objects.
    Moved,
    /// Only tasks with stored chunks are done, of an array that has few of them.
    Sparse,
    /// In two passes, through an intermediate array: both passes read and write its chunks whole,
    /// so each chunk of the source is decoded once.
    Intermediate {
        /// Bytes that the intermediate takes.
        bytes: u64,
        /// Its chunks.
        chunks: u64,
    },
    /// In one pass, which decodes chunks of the source many times, with the reason.
    Repeated(Why),
}

impl Route {
    /// The bytes and the chunks of the intermediate.
    #[must_use]
    pub fn intermediate(self) -> Option<(u64, u64)> {
        let Self::Intermediate { bytes, chunks } = self else { return None };
        Some((bytes, chunks))
    }

    /// `direct`, `moved`, `sparse`, `intermediate` or `repeated`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Moved => "moved",
            Self::Sparse => "sparse",
            Self::Intermediate { .. } => "intermediate",
            Self::Repeated(_) => "repeated",
        }
    }
}

/// The reason why a copy that reads its source many times has no intermediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// It would take as long, or does not fit in the memory either.
    Cost,
    /// There is less room for it than it needs.
    Room {
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// Nothing can be removed from an archive that is being written.
    Archive,
    /// The copy is in parts, and each part reads its own chunks.
    Part,
    /// Elements have different lengths.
    Variable,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cost => "an intermediate would take as long",
            Self::Room { .. } => "there is no room for an intermediate",
            Self::Archive => "an archive has no place for an intermediate",
            Self::Part => "a part has no intermediate",
            Self::Variable => "elements of variable length have no intermediate",
        })
    }
}
