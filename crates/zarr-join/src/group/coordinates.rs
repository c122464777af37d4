//! Coordinates of members: their order along an axis, and the places that they give to tiles.

use std::cmp::Ordering;

use zarr_array::{Array, ArrayError, Selection};
use zarr_cf::{Numbers, TimeAxis, element_type, missing};
use zarr_metadata::DataType;

use super::tree::{GroupMember, GroupTree};
use crate::error::JoinError;
use crate::member::Member;
use crate::values::attributes;
use crate::values::times::{Conversion, PIECE, values_in_common_units};

/// A value of a coordinate, comparable with others of the same type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b),
            _ => None,
        }
    }

    /// In words; of a time, the time.
    fn words(self, axis: Option<&TimeAxis>) -> Box<str> {
        match (self, axis) {
            (Self::Integer(value), Some(axis)) => axis.shown_whole(value).into(),
            (Self::Float(value), Some(axis)) => axis.shown(value).into(),
            (Self::Integer(value), None) => value.to_string().into(),
            (Self::Float(value), None) => value.to_string().into(),
        }
    }
}

/// The numbers of elements that are not missing, NaN or "not a time".
struct Present {
    numbers: Numbers,
    missing: Vec<Vec<u8>>,
    is_time: bool,
}

impl Present {
    /// `None` for types that have no order.
    fn of(array: &Array) -> Option<Self> {
        let data_type = element_type(array.metadata());
        let is_time =
            matches!(data_type, DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_));
        let numbers = Numbers::of(&data_type).filter(|_| data_type != DataType::Bool)?;
        Some(Self { numbers, missing: missing(array.metadata()), is_time })
    }

    fn number(&self, element: &[u8]) -> Option<Number> {
        if self.missing.iter().any(|missing| missing == element) {
            return None;
        }
        if let Some(whole) = self.numbers.whole(element) {
            let is_none = self.is_time && whole == i128::from(i64::MIN);
            return (!is_none).then_some(Number::Integer(whole));
        }
        let mut list = Vec::new();
        self.numbers.list(element, &mut list);
        list.pop().filter(|number| !number.is_nan()).map(Number::Float)
    }
}

/// The values of a coordinate: the first, the least, the greatest, and how they go on. Missing ones are
/// none of them.
#[derive(Clone, Copy)]
struct Range {
    first: Number,
    low: Number,
    high: Number,
    last: Number,
    rises: bool,
    falls: bool,
}

impl Range {
    fn of(number: Number) -> Self {
        Self { first: number, low: number, high: number, last: number, rises: false, falls: false }
    }

    fn add(&mut self, number: Number) {
        let step = self.last.order(number);
        self.rises |= step == Some(Ordering::Less);
        self.falls |= step == Some(Ordering::Greater);
        if self.low.order(number) == Some(Ordering::Greater) {
            self.low = number;
        }
        if self.high.order(number) == Some(Ordering::Less) {
            self.high = number;
        }
        self.last = number;
    }

    /// The step from one value to the next; `None` of one value, and of values in no order.
    fn direction(&self) -> Option<Ordering> {
        match (self.rises, self.falls) {
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            _ => None,
        }
    }
}

/// The values of the coordinates at a path, all of which are read. `None` if there are none, or if their
/// values have no order. Times are in the units of the first member.
fn range(tree: &GroupTree, first: &GroupTree, path: &str) -> Result<Option<Range>, JoinError> {
    let array = tree.arrays.get(path).filter(|array| is_coordinate(path, array));
    let Some((array, present)) = array.and_then(|array| Some((array, Present::of(array)?))) else {
        return Ok(None);
    };
    let members = tree.member(path).zip(first.member(path));
    let conversion = members.and_then(|(member, first)| Conversion::between(&member, &first));
    let failed = |cause: ArrayError| JoinError::member(&tree.name, cause);
    let mut range: Option<Range> = None;
    let mut add = |part: Selection| {
        for piece in array.batches(part, PIECE).map_err(failed)? {
            let mut elements = array.read(piece).map_err(failed)?;
            if let Some(conversion) = &conversion {
                conversion.apply(&mut elements)?;
            }
            let elements = elements.chunks_exact(present.numbers.size());
            for number in elements.filter_map(|element| present.number(element)) {
                match &mut range {
                    Some(range) => range.add(number),
                    None => range = Some(Range::of(number)),
                }
            }
        }
        Ok::<(), JoinError>(())
    };
    // Chunks that are not stored have one value: the time follows the stored ones.
    let axis = array.grid().axes().first();
    let mut stored = Vec::new();
    for chunk in array.stored_chunks() {
        let index = chunk.map_err(failed)?.index;
        let within = axis.zip(index.first()).and_then(|(axis, chunk)| axis.clipped(*chunk));
        stored.extend(within.filter(|within| !within.is_empty()));
    }
    stored.sort_unstable_by_key(|within| within.start);
    let length = array.shape().first().copied().unwrap_or(0);
    stored.push(length..length);
    let mut next = 0;
    for within in stored {
        if next < within.start {
            add((next..next + 1).into())?;
        }
        next = within.end;
        add(within.into())?;
    }
    Ok(range)
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
/// their only dimension, in the groups or in groups below. All stored ones are read. Missing ones, NaN
/// and NaT are in no order, and members whose coordinates are unsorted may follow each other if none
/// reaches into another. Times are compared in the units of the first, and numbers of different types in
/// the type that a join [promotes](crate::Join::promote) them to.
///
/// # Errors
/// [`JoinError::Coordinates`]; otherwise errors of opening and reading the groups, and of attributes
/// that give values other meanings.
pub fn check_order(members: &[GroupMember], dimension: &str) -> Result<(), JoinError> {
    let mut trees = members.iter().map(GroupTree::of).collect::<Result<Vec<_>, _>>()?;
    let paths = trees.first().map(|first| coordinates(first, dimension)).unwrap_or_default();
    let paths: Vec<String> = paths.into_iter().map(str::to_owned).collect();
    GroupTree::promote(&mut trees, &paths)?;
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
    let axis = first_tree.arrays.get(path).and_then(|array| match array.data_type() {
        DataType::NumpyDatetime64(step) => TimeAxis::numpy(*step),
        _ => TimeAxis::of(array.metadata(), None).ok().flatten(),
    });
    let mut before: Option<(&GroupTree, Range)> = None;
    let mut direction: Option<Ordering> = None;
    for tree in trees {
        let Some(range) = range(tree, first_tree, path)? else { continue };
        let within = range.direction();
        if let Some((previous, last)) = before {
            let known = direction.or(within);
            let (rises, falls) = (
                last.high.order(range.low) == Some(Ordering::Less),
                last.low.order(range.high) == Some(Ordering::Greater),
            );
            let step = match (rises, falls) {
                (true, _) => Some(Ordering::Less),
                (_, true) => Some(Ordering::Greater),
                _ => None,
            };
            let turns = direction.zip(within).is_some_and(|(known, within)| known != within);
            if turns || step.is_none() || known.is_some_and(|known| Some(known) != step) {
                // The ends that would have to follow each other.
                let (found, other) = match known {
                    Some(Ordering::Greater) => (range.high, last.low),
                    _ => (range.low, last.high),
                };
                return Err(JoinError::Coordinates {
                    member: tree.name.as_ref().into(),
                    coordinates: path.into(),
                    found: if turns { range.first } else { found }.words(axis.as_ref()),
                    previous: previous.name.as_ref().into(),
                    other: if turns { last.last } else { other }.words(axis.as_ref()),
                });
            }
            direction = step;
        }
        direction = direction.or(within);
        before = Some((tree, range));
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
            let range = range(tree, first, path)?.ok_or_else(|| {
                let reason = format!(
                    "there are no coordinates of {dimension}: an array of that name, with numbers or times"
                );
                JoinError::unfit(&*tree.name, reason)
            })?;
            increase |= range.direction() == Some(Ordering::Less);
            decrease |= range.direction() == Some(Ordering::Greater);
            firsts.push(range.first);
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
