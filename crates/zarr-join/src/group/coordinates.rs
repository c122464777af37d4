//! Coordinates of members: their order along an axis, and the places that they give to tiles.

use std::cmp::Ordering;

use zarr_array::Array;
use zarr_metadata::{DataType, ElementLayout};

use super::tree::{GroupMember, GroupTree};
use crate::error::JoinError;
use crate::members::member::Member;
use crate::values::attributes;
use crate::values::times::{Conversion, values_in_common_units};

/// A value of a coordinate, comparable with others of the same type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// The value of an element in its form in memory; `None` for types that have no order, and for
    /// values that are no number or no time.
    fn of(data_type: &DataType, bytes: &[u8]) -> Option<Self> {
        let size = bytes.len();
        let mut wide = [0_u8; 8];
        wide.get_mut(..size)?.copy_from_slice(bytes);
        let unsigned = u64::from_le_bytes(wide);
        let spare = 64_u32.checked_sub(u32::try_from(size).ok()?.checked_mul(8)?)?;
        let signed = unsigned.checked_shl(spare)?.cast_signed().checked_shr(spare)?;
        match data_type {
            DataType::Uint8 | DataType::Uint16 | DataType::Uint32 | DataType::Uint64 => {
                Some(Self::Integer(unsigned.into()))
            }
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                Some(Self::Integer(signed.into()))
            }
            DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_) => {
                // The lowest number is "not a time".
                (signed != i64::MIN).then_some(Self::Integer(signed.into()))
            }
            DataType::Float32 => {
                let float = f32::from_le_bytes(bytes.try_into().ok()?);
                (!float.is_nan()).then_some(Self::Float(float.into()))
            }
            DataType::Float64 => {
                let float = f64::from_le_bytes(bytes.try_into().ok()?);
                (!float.is_nan()).then_some(Self::Float(float))
            }
            _ => None,
        }
    }

    fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b),
            _ => None,
        }
    }

    fn words(self) -> Box<str> {
        match self {
            Self::Integer(value) => value.to_string().into(),
            Self::Float(value) => value.to_string().into(),
        }
    }
}

/// The first and last value of the coordinates at a path. `None` if there are none, or if their values
/// have no order. Times are in the units of the first member.
fn ends(
    tree: &GroupTree,
    first: &GroupTree,
    path: &str,
) -> Result<Option<(Number, Number)>, JoinError> {
    let array = tree.arrays.get(path).filter(|array| is_coordinate(path, array));
    let Some(array) = array else { return Ok(None) };
    let members = tree.member(path).zip(first.member(path));
    let conversion = members.and_then(|(member, first)| Conversion::between(&member, &first));
    let Some(last) = array.shape().first().and_then(|length| length.checked_sub(1)) else {
        return Ok(None);
    };
    if array
        .data_type()
        .element_layout()
        .as_ref()
        .is_none_or(|layout: &ElementLayout| layout.size() > 8)
    {
        return Ok(None);
    }
    let read = |at: u64| {
        let read = array.read(at..at.saturating_add(1));
        let mut value = read.map_err(|cause| JoinError::member(&tree.name, cause))?;
        if let Some(conversion) = &conversion {
            conversion.apply(&mut value)?;
        }
        Ok::<_, JoinError>(Number::of(array.data_type(), &value))
    };
    Ok(read(0)?.zip(read(last)?))
}

/// The paths of the arrays with coordinates of a dimension: each group can have its own, as in
/// Xarray's `DataTree`. Those nearest the root come first, and then it is the order of the paths.
fn coordinates<'a>(tree: &'a GroupTree, dimension: &str) -> Vec<&'a str> {
    let all = tree.arrays.iter().filter(|(path, array)| is_coordinate(path, array));
    let mut paths: Vec<&str> = all.map(|(path, _)| path.as_str()).collect();
    paths.retain(|path| name_of(path) == dimension);
    paths.sort_by_key(|path| path.matches('/').count());
    paths
}

/// Whether the array at this path holds the coordinates of the dimension of its name.
pub(super) fn is_coordinate(path: &str, array: &Array) -> bool {
    let Some([Some(only)]) = array.metadata().dimension_names() else { return false };
    only == name_of(path)
}

fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Refuses groups with coordinates that overlap or go back and forth in the groups' order along a
/// dimension, such as a month that is to be appended again. Coordinates are arrays with the name of
/// their only dimension, in the groups or in groups below. Only the ends of each are read. Times are
/// compared in the units of the first.
///
/// # Errors
/// [`JoinError::Coordinates`]; otherwise errors of opening and reading the groups, and of attributes
/// that give values other meanings.
pub fn check_order(members: &[GroupMember], dimension: &str) -> Result<(), JoinError> {
    let trees = members.iter().map(GroupTree::of).collect::<Result<Vec<_>, _>>()?;
    check_order_of(&trees.iter().collect::<Vec<_>>(), dimension)
}

/// As [`check_order`], of groups that were looked at.
pub(super) fn check_order_of(trees: &[&GroupTree], dimension: &str) -> Result<(), JoinError> {
    let Some(first) = trees.first() else { return Ok(()) };
    let mut paths = coordinates(first, dimension).into_iter();
    paths.try_for_each(|path| check_order_at(trees, first, path))
}

/// As [`check_order_of`], of the coordinates at one path.
fn check_order_at(
    trees: &[&GroupTree],
    first_tree: &GroupTree,
    path: &str,
) -> Result<(), JoinError> {
    // Numbers of different units have no order.
    let members: Vec<Member> = trees.iter().filter_map(|tree| tree.member(path)).collect();
    attributes::check_values(&values_in_common_units(&members, |_| true))?;
    let mut before: Option<(&GroupTree, Number)> = None;
    let mut direction: Option<Ordering> = None;
    for tree in trees {
        let Some((first, last)) = ends(tree, first_tree, path)? else { continue };
        let error = |found: Number, previous: &GroupTree, other: Number| JoinError::Coordinates {
            member: tree.name.as_ref().into(),
            coordinates: path.into(),
            found: found.words(),
            previous: previous.name.as_ref().into(),
            other: other.words(),
        };
        let within = first.order(last).filter(|order| order.is_ne());
        if let (Some((previous, other)), Some(within), Some(direction)) =
            (before, within, direction)
            && within != direction
        {
            return Err(error(first, previous, other));
        }
        if let Some((previous, other)) = before {
            let step = other.order(first);
            let known = direction.or(within);
            let ahead = step.is_some_and(|step| step.is_ne() && known.is_none_or(|k| k == step));
            if !ahead {
                return Err(error(first, previous, other));
            }
            direction = step;
        }
        direction = direction.or(within);
        before = Some((tree, last));
    }
    Ok(())
}

/// The number of tiles on each dimension and the place of each member, by the first values of the
/// members' coordinates nearest the root: in decreasing order if the coordinates of members decrease
/// and those of none increase, otherwise in increasing order.
pub(super) fn places(
    trees: &[GroupTree],
    dimensions: &[String],
) -> Result<(Vec<usize>, Vec<Vec<usize>>), JoinError> {
    let Some(first) = trees.first() else { return Ok((Vec::new(), Vec::new())) };
    let mut counts = Vec::new();
    let mut places = vec![Vec::new(); trees.len()];
    for dimension in dimensions {
        let path = coordinates(first, dimension).first().copied().unwrap_or(dimension);
        let mut firsts = Vec::with_capacity(trees.len());
        let (mut increase, mut decrease) = (false, false);
        for tree in trees {
            let ends = ends(tree, first, path)?;
            let (first, last) = ends.ok_or_else(|| JoinError::NoCoordinate {
                member: tree.name.as_ref().into(),
                dimension: dimension.as_str().into(),
            })?;
            let step = first.order(last);
            increase |= step == Some(Ordering::Less);
            decrease |= step == Some(Ordering::Greater);
            firsts.push(first);
        }
        let mut sorted = firsts.clone();
        sorted.sort_by(|a, b| a.order(*b).unwrap_or(Ordering::Equal));
        sorted.dedup();
        if decrease && !increase {
            sorted.reverse();
        }
        counts.push(sorted.len());
        for (place, first) in places.iter_mut().zip(&firsts) {
            place.push(sorted.iter().position(|value| value == first).unwrap_or(0));
        }
    }
    Ok((counts, places))
}
