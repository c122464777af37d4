//! The arrays that are joined, and the checks that all joins make first.

pub(crate) mod tiles;

use std::ops::Range;

use zarr_array::store::Remedy;
use zarr_array::{Array, Selection};

use crate::error::JoinError;
use crate::member::Member;
use crate::members::tiles::Tiles;
use crate::values;
use crate::values::times::{Conversion, PIECE};
use crate::values::widened::common;

/// The arrangement of members in the joined array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arrangement {
    /// End to end along this axis.
    Along(usize),
    /// At one index each of a new axis, which is inserted before this one.
    NewAxis(usize),
    /// As a grid with this many tiles on each axis, members in C order.
    Tiles(Vec<u64>),
}

/// Arrays that fit together, with the place of each in the joined array.
///
/// They have the same data type, rank and dimension names, and neighbours have equal lengths on the
/// other axes. Chunks, codecs, fill values and attributes may differ.
#[derive(Clone, Debug)]
pub struct Members {
    members: Vec<Member>,
    arrangement: Arrangement,
    tiles: Tiles,
    /// For members with times in other units than the first member's.
    conversions: Vec<Option<Conversion>>,
}

impl Members {
    /// Checks the members, without reading any chunk.
    ///
    /// # Errors
    /// [`JoinError`] with the name of the first member that does not fit.
    pub fn new(members: Vec<Member>, arrangement: Arrangement) -> Result<Self, JoinError> {
        let first = members.first().ok_or(JoinError::NoMembers)?;
        let rank = first.array().shape().len();
        for member in &members {
            same_kind(member, first)?;
        }
        let count = members.len();
        let counts = match &arrangement {
            Arrangement::Along(axis) => {
                let mut counts = vec![1; rank];
                *counts.get_mut(*axis).ok_or(JoinError::Axis { axis: *axis, rank })? = count;
                counts
            }
            Arrangement::NewAxis(axis) => {
                if *axis > rank {
                    return Err(JoinError::Axis { axis: *axis, rank });
                }
                let mut counts = vec![1; rank];
                counts.insert(*axis, count);
                counts
            }
            Arrangement::Tiles(tiles) => {
                let narrow = |count: &u64| usize::try_from(*count).unwrap_or(usize::MAX);
                let counts: Vec<usize> = tiles.iter().map(narrow).collect();
                check_tiles(&counts, count, rank)?;
                counts
            }
        };
        let shapes: Vec<Vec<u64>> =
            members.iter().map(|member| placed_shape(member, &arrangement)).collect();
        let tiles = lay(&members, &shapes, &counts)?;
        let conversions = members.iter().map(|member| {
            let first = members.first()?;
            Conversion::between(member, first).filter(|conversion| !conversion.is_identity())
        });
        let conversions = conversions.collect();
        Ok(Self { members, arrangement, tiles, conversions })
    }

    /// How the times of a member are converted to the first member's units, if they differ.
    pub(crate) fn conversion(&self, member: usize) -> Option<&Conversion> {
        self.conversions.get(member)?.as_ref()
    }

    /// Refuses members with times that would have to be converted.
    pub(crate) fn refuse_conversions(&self) -> Result<(), JoinError> {
        match self.conversions.iter().flatten().next() {
            Some(conversion) => {
                Err(conversion
                    .refused_with("a virtual join converts no values", Remedy::JoinOfCopies))
            }
            None => Ok(()),
        }
    }

    /// Reads all times to convert, and refuses times that have no exact number.
    pub(crate) fn check_conversions(&self) -> Result<(), JoinError> {
        for (member, conversion) in self.members.iter().zip(&self.conversions) {
            let Some(conversion) = conversion else { continue };
            let failed = |cause| JoinError::member(member.name(), cause);
            let array = member.array();
            for piece in array.batches(Selection::whole(array.shape()), PIECE).map_err(failed)? {
                conversion.apply(&mut array.read(piece).map_err(failed)?)?;
            }
        }
        Ok(())
    }

    /// The members, in the order of the tiles.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Their arrangement.
    #[must_use]
    pub fn arrangement(&self) -> &Arrangement {
        &self.arrangement
    }

    /// The places of the members.
    #[must_use]
    pub fn tiles(&self) -> &Tiles {
        &self.tiles
    }

    /// The shape of the joined array.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.tiles.shape()
    }

    /// The region of member number `member` in the joined array.
    #[must_use]
    pub fn region(&self, member: usize) -> Vec<Range<u64>> {
        self.tiles.region(member)
    }

    /// The axis of the joined array that the members do not have.
    #[must_use]
    pub fn new_axis(&self) -> Option<usize> {
        match self.arrangement {
            Arrangement::NewAxis(axis) => Some(axis),
            Arrangement::Along(_) | Arrangement::Tiles(_) => None,
        }
    }

    /// The axis of the members that becomes axis `axis` of the joined array; `None` for the new
    /// axis.
    #[must_use]
    pub fn member_axis(&self, axis: usize) -> Option<usize> {
        match self.new_axis() {
            Some(new) if axis == new => None,
            Some(new) if axis > new => axis.checked_sub(1),
            _ => Some(axis),
        }
    }
}

/// Refuses numbers of tiles that do not make up the members, or are not one per axis.
pub(crate) fn check_tiles(counts: &[usize], members: usize, rank: usize) -> Result<(), JoinError> {
    let product = counts.iter().try_fold(1_usize, |all, count| all.checked_mul(*count));
    if product == Some(members) && counts.len() == rank {
        return Ok(());
    }
    let tiles = counts.iter().map(|count| u64::try_from(*count).unwrap_or(u64::MAX)).collect();
    Err(JoinError::TileCount { tiles, members, rank })
}

/// Refuses a member of another rank, data type or other dimension names.
pub(crate) fn same_kind(member: &Member, first: &Member) -> Result<(), JoinError> {
    let differs = |what: &str, found: String, expected: String| {
        JoinError::differs(member.name(), what, [&found, &expected], first.name())
    };
    let (array, other) = (member.array(), first.array());
    if array.shape().len() != other.shape().len() {
        let (found, expected) = (array.shape().len(), other.shape().len());
        return Err(differs("number of axes", found.to_string(), expected.to_string()));
    }
    if array.data_type() != other.data_type() {
        return Err(match common([array.metadata(), other.metadata()]) {
            Ok(common) => {
                let reason = format!("{common} has the numbers of both");
                values::widened::differs(member, first, &*reason, Remedy::Promote)
            }
            Err(reason) => values::widened::differs(member, first, reason, None),
        });
    }
    let names = |array: &Array| match array.metadata().dimension_names() {
        Some(names) => {
            let names = names.iter().map(|name| name.as_deref().unwrap_or("-"));
            names.collect::<Vec<_>>().join(", ")
        }
        None => "absent".to_owned(),
    };
    // No list, and a list without a name, say the same.
    let named = |array: &Array| {
        let names = array.metadata().dimension_names().unwrap_or_default();
        names.iter().any(Option::is_some).then(|| names.to_vec())
    };
    if named(array) != named(other) {
        return Err(differs("dimension names", names(array), names(other)));
    }
    Ok(())
}

/// The shape of a member with the axis that joining adds.
fn placed_shape(member: &Member, arrangement: &Arrangement) -> Vec<u64> {
    let mut shape = member.array().shape().to_vec();
    if let Arrangement::NewAxis(axis) = arrangement {
        shape.insert((*axis).min(shape.len()), 1);
    }
    shape
}

/// The tiles of members with these shapes, which must agree with their neighbours.
fn lay(members: &[Member], shapes: &[Vec<u64>], counts: &[usize]) -> Result<Tiles, JoinError> {
    // Lengths do not matter for the numbering.
    let ones: Vec<Vec<u64>> = counts.iter().map(|count| vec![1; *count]).collect();
    let name = |tile: usize| members.get(tile).map_or("", Member::name);
    let numbering = Tiles::new(&ones).map_err(|error| JoinError::TooLong {
        member: name(error.tile).into(),
        axis: error.axis,
    })?;
    // The length of each tile on each axis, and the member that it is from.
    let mut lengths: Vec<Vec<Option<(u64, usize)>>> =
        counts.iter().map(|count| vec![None; *count]).collect();
    for (tile, shape) in shapes.iter().enumerate() {
        let axes = lengths.iter_mut().zip(numbering.place(tile)).zip(shape).enumerate();
        for (axis, ((lengths, at), found)) in axes {
            let (expected, from) = *lengths[at].get_or_insert((*found, tile));
            if expected != *found {
                let (member, first) = (name(tile).into(), name(from).into());
                return Err(JoinError::Length { member, axis, found: *found, expected, first });
            }
        }
    }
    let lengths: Vec<Vec<u64>> = lengths
        .into_iter()
        .map(|axis| axis.into_iter().flatten().map(|(length, _)| length).collect())
        .collect();
    let first_of = |error: crate::members::tiles::TooLong| {
        let mut place = vec![0; counts.len()];
        place[error.axis] = error.tile;
        name(numbering.tile(&place)).into()
    };
    Tiles::new(&lengths)
        .map_err(|error| JoinError::TooLong { member: first_of(error), axis: error.axis })
}
