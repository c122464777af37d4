//! Errors of joins.

use zarr_array::ArrayError;
use zarr_metadata::Printable;

/// Why arrays cannot be joined.
///
/// Messages are complete and name the member; `source` returns nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// There are no members.
    #[error("there is nothing to join")]
    NoMembers,
    /// A member cannot be opened or read.
    #[error("{}: {cause}", Printable(member))]
    Member {
        /// The member's name.
        member: String,
        /// Why.
        cause: ArrayError,
    },
    /// A property differs between a member and the first one.
    #[error(
        "{}: {what}: {}, but {} in {}",
        Printable(member),
        Printable(found),
        Printable(expected),
        Printable(first)
    )]
    Differs {
        /// The member's name.
        member: String,
        /// The property, such as "data type".
        what: &'static str,
        /// What the member has.
        found: Box<str>,
        /// What the other member has.
        expected: Box<str>,
        /// The name of the other member.
        first: String,
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
        member: String,
        /// The axis.
        axis: usize,
        /// The member's length.
        found: u64,
        /// The length of the other member.
        expected: u64,
        /// The name of the other member.
        first: String,
    },
    /// The axis along which to join is not one of the members'.
    #[error("axis {axis} is out of range: the members have {rank} axes")]
    Axis {
        /// The axis.
        axis: usize,
        /// The number of axes that the members have.
        rank: usize,
    },
    /// The numbers of tiles do not multiply to the number of members, or are not one per axis.
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
        /// The member with which it would.
        member: String,
        /// The axis.
        axis: usize,
    },
}
