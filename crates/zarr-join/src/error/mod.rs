//! Errors of joins and rearrangements.

pub(crate) mod rearrange;

use std::fmt;

use zarr_array::ArrayError;
use zarr_array::store::{Key, Remedy};
use zarr_copy::TransferError;
use zarr_grid::GridError;
use zarr_metadata::{MetadataError, Printable};

/// The reason why arrays cannot be joined.
///
/// Messages are complete and name the member; `source` returns `None`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// There are no members.
    #[error("there is nothing to join")]
    NoMembers,
    /// Some members are arrays and others groups.
    #[error(
        "{} is an array, and {} a group: join either arrays or groups",
        Printable(array),
        Printable(group)
    )]
    Mixed {
        /// The name of the first array.
        array: Box<str>,
        /// The name of the first group.
        group: Box<str>,
    },
    /// There is no rule of this name for attributes.
    #[error(
        "{found:?} is no rule for attributes: they are override, drop_conflicts, no_conflicts, \
         identical and drop"
    )]
    Rule {
        /// The name.
        found: Box<str>,
    },
    /// A member cannot be opened or read.
    #[error("{}: {cause}", Printable(member))]
    Member {
        /// The member's name.
        member: Box<str>,
        /// The error.
        cause: Box<ArrayError>,
    },
    /// A member has another data type than the first one.
    #[error(
        "{}: data type: {}, but {} in {}{}",
        Printable(member),
        Printable(found),
        Printable(expected),
        Printable(first),
        reason.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default()
    )]
    DataType {
        /// The member's name.
        member: Box<str>,
        /// Its data type.
        found: Box<str>,
        /// The data type of the other member.
        expected: Box<str>,
        /// The name of the other member.
        first: Box<str>,
        /// The type that has the numbers of both, or why there is none; of types that are not both
        /// numbers, nothing.
        reason: Option<Box<str>>,
        /// What converts the numbers.
        remedy: Option<Remedy>,
    },
    /// A member has another length than its neighbours on an axis along which it is not joined to
    /// them.
    #[error(
        "{}: axis {axis} has length {found}, but {expected} in {}",
        Printable(member),
        Printable(first)
    )]
    Length {
        /// The member's name.
        member: Box<str>,
        /// The axis.
        axis: usize,
        /// The member's length.
        found: u64,
        /// The length of the other member.
        expected: u64,
        /// The name of the other member.
        first: Box<str>,
    },
    /// The members do not have the axis along which to join.
    #[error("axis {axis} is out of range: the members have {rank} axes")]
    Axis {
        /// The axis.
        axis: usize,
        /// The number of axes that the members have.
        rank: usize,
    },
    /// There is no axis of this number.
    #[error("along: {number}; the arrays have {rank} axes")]
    AxisNumber {
        /// The number.
        number: i64,
        /// The number of axes that the members have.
        rank: usize,
    },
    /// The named arrangement does not fit the members.
    #[error("{argument}: {found:?}; {reason}")]
    Argument {
        /// The member of [`NamedArrangement`](crate::NamedArrangement): `along` or `grid`.
        argument: &'static str,
        /// Its value.
        found: String,
        /// The reason why it does not fit.
        reason: String,
    },
    /// The product of the numbers of tiles is not the number of members, or there is not one number
    /// per axis.
    #[error("a grid of {tiles:?} tiles does not fit {members} members of {rank} axes")]
    TileCount {
        /// Tiles per axis.
        tiles: Vec<u64>,
        /// The number of members.
        members: usize,
        /// The number of axes that the members have.
        rank: usize,
    },
    /// The joined array would be longer than 2^64 - 1.
    #[error("{}: axis {axis} of the joined array would exceed {}", Printable(member), u64::MAX)]
    TooLong {
        /// The member at which it would be too long.
        member: Box<str>,
        /// The axis.
        axis: usize,
    },
    /// The times of a member cannot become times in the units of the first.
    #[error(
        "{}: the attribute units is {found:?}, but {expected:?} in {}: {reason}",
        Printable(member),
        Printable(first)
    )]
    Times {
        /// The member's name.
        member: Box<str>,
        /// Its units.
        found: Box<str>,
        /// The units of the other member.
        expected: Box<str>,
        /// The name of the other member.
        first: Box<str>,
        /// The reason.
        reason: Box<str>,
        /// What converts the times.
        remedy: Option<Remedy>,
    },
    /// A member has a node that another one does not have.
    #[error(
        "{}: there is no {} here, as there is in {}",
        Printable(member),
        Printable(node),
        Printable(other)
    )]
    Missing {
        /// The name of the member without it.
        member: Box<str>,
        /// The path of the node.
        node: Box<str>,
        /// The name of the other member.
        other: Box<str>,
    },
    /// A member does not fit the others, or a convention: a fill value, a codec, a dimension, an
    /// attribute or the elements of an array that is not joined.
    #[error("{}: {}", Printable(member), Printable(reason))]
    Unfit {
        /// The member's name, with the path of the array or group in it.
        member: Box<str>,
        /// The reason and the way out.
        reason: Box<str>,
    },
    /// No array has a dimension along which to join.
    #[error("no array has a dimension {}{}", Printable(dimensions), Known(known))]
    NothingAlong {
        /// The names of the dimensions.
        dimensions: Box<str>,
        /// The names of all dimensions, each once.
        known: Vec<String>,
    },
    /// Coordinates overlap or go back and forth from one member to the next.
    #[error(
        "{}: the coordinates of {} begin with {}, but {} ends with {}: they overlap or go \
         backwards",
        Printable(member),
        Printable(coordinates),
        Printable(found),
        Printable(previous),
        Printable(other)
    )]
    Coordinates {
        /// The member's name.
        member: Box<str>,
        /// The path of the array with them.
        coordinates: Box<str>,
        /// Their first value there.
        found: Box<str>,
        /// The name of the member before.
        previous: Box<str>,
        /// Their last value there.
        other: Box<str>,
    },
    /// A member whose chunks must all be written has too many that are not stored.
    #[error(
        "{}: {}: {absent} chunks that are not stored would be written, and {allowed} are allowed: give \
         the joined array larger chunks",
        Printable(member),
        reason
    )]
    TooManyChunks {
        /// The member's name.
        member: Box<str>,
        /// Why they are written.
        reason: &'static str,
        /// The number of the chunks.
        absent: u64,
        /// The number that is allowed.
        allowed: u64,
    },
    /// The codec chain refers to axes, and may not fit an array with one more axis.
    #[error(
        "a new axis does not fit into the codec chain of the members: join along an axis that they \
         have, or copy them with other codecs first"
    )]
    NewAxisChain,
    /// The document of the joined array would not be valid.
    #[error("the joined array: {0}")]
    Metadata(MetadataError),
    /// The chunks of the joined array do not fit its shape.
    #[error("the joined array: {0}")]
    Grid(GridError),
    /// The joined array cannot be made or written.
    #[error("the joined array: {0}")]
    Target(Box<ArrayError>),
    /// The target is refused.
    #[error(transparent)]
    Transfer(Box<TransferError>),
    /// A member has changed since the join was planned.
    #[error(
        "{}: {} has changed since the join was planned: plan it again",
        Printable(member),
        Printable(key)
    )]
    Changed {
        /// The member's name.
        member: Box<str>,
        /// The object that has changed or is missing.
        key: Box<str>,
    },
    /// A member has got or lost chunks since the join was planned.
    #[error(
        "{}: {planned} chunks were stored when the join was planned, and now {found}: plan it again",
        Printable(member)
    )]
    ChunksChanged {
        /// The member's name.
        member: Box<str>,
        /// The number of stored chunks then.
        planned: usize,
        /// The number of stored chunks now.
        found: usize,
    },
}

zarr_array::store::debug_as_text!(JoinError);

impl JoinError {
    pub(crate) fn member(name: &str, cause: impl Into<ArrayError>) -> Self {
        Self::Member { member: name.into(), cause: Box::new(cause.into()) }
    }

    pub(crate) fn unfit(member: impl Into<Box<str>>, reason: impl Into<Box<str>>) -> Self {
        Self::Unfit { member: member.into(), reason: reason.into() }
    }

    /// A property of a member that differs from another one's.
    pub(crate) fn differs(
        member: &str,
        what: impl fmt::Display,
        [found, expected]: [&str; 2],
        first: &str,
    ) -> Self {
        Self::unfit(member, format!("{what}: {found}, but {expected} in {first}"))
    }

    /// Two dimensions have one name, which then names neither.
    pub(crate) fn dimension_twice(place: &str, dimension: &str) -> Self {
        Self::unfit(place, format!("two dimensions have the name {dimension}"))
    }

    pub(crate) fn target(cause: impl Into<ArrayError>) -> Self {
        match TransferError::from(cause.into()) {
            TransferError::Target(cause) => Self::Target(Box::new(cause)),
            overtaken => Self::Transfer(Box::new(overtaken)),
        }
    }

    pub(crate) fn argument(
        argument: &'static str,
        found: String,
        reason: impl Into<String>,
    ) -> Self {
        Self::Argument { argument, found, reason: reason.into() }
    }

    pub(crate) fn changed(member: &str, key: &Key) -> Self {
        Self::Changed { member: member.into(), key: key.as_str().into() }
    }

    /// What would allow the join, if the caller can.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::DataType { remedy, .. } | Self::Times { remedy, .. } => *remedy,
            Self::Member { cause, .. } | Self::Target(cause) => cause.remedy(),
            Self::Transfer(cause) => cause.remedy(),
            _ => None,
        }
    }

    /// Whether a store failed, which may work again later.
    pub(crate) fn is_of_store(&self) -> bool {
        match self {
            Self::Member { cause, .. } | Self::Target(cause) => cause.is_of_store(),
            Self::Transfer(_) => true,
            _ => false,
        }
    }
}

/// The names that there are.
pub(crate) struct Known<'a>(pub(crate) &'a [String]);

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("; axes without names have numbers: 0, or -1 for the last"),
            names => write!(f, "; they have {}", Printable(&names.join(", "))),
        }
    }
}
