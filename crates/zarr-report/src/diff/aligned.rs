//! What two arrays of unequal length have in common along their coordinates.

use std::collections::HashMap;

use zarr_array::{Array, AxisSelection, Selection};

use super::documents::Change;
use super::node::{DiffError, DiffNode};
use crate::ReportError;
use crate::labels::{Label, LabelKind, Labels};

/// The most labels that are compared.
const MOST: u64 = 1 << 24;

/// The most ranges of labels that a difference names.
const SHOWN: usize = 8;

/// A label that labels of other arrays equal, in whatever type and unit.
#[derive(PartialEq, Eq, Hash)]
enum Value {
    Whole(i128),
    Real(u64),
    Time(i128),
    Text(String),
}

/// The axes of one of the arrays.
pub(super) struct Axes<'a> {
    pub(super) node: &'a DiffNode<'a>,
    pub(super) path: &'a str,
    pub(super) array: &'a Array,
    /// The selected indices: ranges, steps or lists.
    pub(super) selected: Vec<AxisSelection>,
}

impl Axes<'_> {
    fn name(&self, axis: usize) -> Option<&str> {
        self.array.metadata().dimension_names()?.get(axis)?.as_deref()
    }

    /// The labels of an axis. An array with the name of its single axis labels itself.
    fn labels(&self, axis: usize) -> Option<Labels> {
        let coordinate = self.node.coordinate(self.path, self.name(axis)?)?;
        Labels::of(coordinate, self.array.shape().get(axis).copied()?).ok()
    }
}

/// Restricts axes of unequal length to the indices whose labels both have, in the order of the first,
/// and returns the labels that only one has. `None` if an axis has no labels to compare.
pub(super) fn align(
    one: &mut Axes<'_>,
    other: &mut Axes<'_>,
) -> Result<Option<Vec<Change>>, DiffError> {
    let mut changes = Vec::new();
    if one.selected.len() != other.selected.len() {
        return Ok(None);
    }
    for axis in 0..one.selected.len() {
        let (Some(mine), Some(theirs)) = (one.selected.get(axis), other.selected.get(axis)) else {
            continue;
        };
        if mine.len() == theirs.len() {
            continue;
        }
        let name = one.name(axis).filter(|name| other.name(axis) == Some(*name));
        let labels = one.labels(axis).zip(other.labels(axis));
        let (Some(name), Some((ours, others))) = (name.map(str::to_owned), labels) else {
            return Ok(None);
        };
        if calendars(&ours, &others).is_none() {
            return Ok(None);
        }
        let values = |of: &Axes<'_>, labels: &Labels, selected: &AxisSelection| {
            values(labels, selected, &name).map_err(|cause| of.node.failed(cause))
        };
        let our_values = values(one, &ours, mine)?;
        let their_values = values(other, &others, theirs)?;
        let places = places(&their_values, &name).map_err(|cause| other.node.failed(cause))?;
        // Only to find labels that are there twice.
        self::places(&our_values, &name).map_err(|cause| one.node.failed(cause))?;
        let (mut kept, mut found) = (Vec::new(), Vec::new());
        let mut missing = [Vec::new(), (0..theirs.len()).collect::<Vec<u64>>()];
        for (at, value) in (0_u64..).zip(&our_values) {
            match value.as_ref().and_then(|value| places.get(value)) {
                Some(place) => {
                    kept.extend(mine.get(at));
                    found.push(*place);
                }
                None => missing[0].push(at),
            }
        }
        let mut common = found.clone();
        common.sort_unstable();
        missing[1].retain(|place| common.binary_search(place).is_err());
        let [only_ours, only_theirs] = missing;
        let only_ours = in_words(&ours, mine, &only_ours);
        let only_theirs = in_words(&others, theirs, &only_theirs);
        if only_ours.is_some() || only_theirs.is_some() {
            let none = || "none".to_owned();
            let (one, other) = (only_ours.unwrap_or_else(none), only_theirs.unwrap_or_else(none));
            changes.push(Change::content(
                format!("labels of {name:?} that only one has"),
                one,
                other,
            ));
        }
        let found = found.iter().filter_map(|place| theirs.get(*place)).collect();
        if let (Some(one), Some(other)) = (one.selected.get_mut(axis), other.selected.get_mut(axis))
        {
            (*one, *other) = (selection(kept), selection(found));
        }
    }
    Ok(Some(changes))
}

/// `None` of times in different calendars, which are no common labels.
fn calendars(one: &Labels, other: &Labels) -> Option<()> {
    let calendar = |labels: &Labels| match labels.kind() {
        LabelKind::Whole { time } | LabelKind::Real { time, .. } => time.map(|time| time.calendar),
        LabelKind::Text => None,
    };
    (calendar(one) == calendar(other)).then_some(())
}

/// The labels of the selected indices; none of those that are missing or NaN.
fn values(
    labels: &Labels,
    selected: &AxisSelection,
    name: &str,
) -> Result<Vec<Option<Value>>, ReportError> {
    if selected.len() > MOST {
        let reason = format!("{} labels of {name:?} are too many to compare", selected.len());
        return Err(ReportError::Labels(reason));
    }
    let time = match labels.kind() {
        LabelKind::Text => {
            let texts = labels.texts(selected)?;
            return Ok(texts.into_iter().map(|text| Some(Value::Text(text))).collect());
        }
        LabelKind::Whole { time } | LabelKind::Real { time, .. } => *time,
    };
    let value = |label| match (label, time) {
        (Label::Missing, _) => None,
        (Label::Whole(number), Some(time)) => time.time_of(number).map(Value::Time),
        (Label::Real(number), Some(time)) => time.time_of_real(number).map(Value::Time),
        (Label::Whole(number), None) => Some(Value::Whole(number)),
        (Label::Real(number), None) => real(number),
    };
    let labels = labels.read(Selection::new(vec![selected.clone()]))?;
    Ok(labels.into_iter().map(value).collect())
}

/// A real number, which may be equal to an integer.
fn real(number: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
        return Some(Value::Whole(number as i128));
    }
    (!number.is_nan()).then(|| Value::Real(number.to_bits()))
}

/// The position of each label.
fn places<'v>(
    values: &'v [Option<Value>],
    name: &str,
) -> Result<HashMap<&'v Value, u64>, ReportError> {
    let mut places = HashMap::new();
    for (place, value) in (0_u64..).zip(values) {
        if let Some(value) = value
            && let Some(first) = places.insert(value, place)
        {
            return Err(ReportError::Labels(format!(
                "two labels of {name:?} are equal, those of the selected {first} and {place}, so that \
                 labels do not tell which elements of arrays of unequal length are the same; select as \
                 many indices of both"
            )));
        }
    }
    Ok(places)
}

/// The labels at some positions of a selection, ascending, as entries of a region.
fn in_words(labels: &Labels, selected: &AxisSelection, positions: &[u64]) -> Option<String> {
    let indices: Vec<u64> = positions.iter().filter_map(|at| selected.get(*at)).collect();
    let runs: Vec<&[u64]> =
        indices.chunk_by(|one, next| one.checked_add(1) == Some(*next)).collect();
    let entry = |run: &&[u64]| {
        let range = *run.first()?..run.last()? + 1;
        labels.entry(&range)
    };
    let mut texts: Vec<String> = runs.iter().take(SHOWN).filter_map(entry).collect();
    if runs.len() > SHOWN {
        texts.push(format!("and {} more", runs.len() - SHOWN));
    }
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// A range, if the indices are neighbours.
fn selection(indices: Vec<u64>) -> AxisSelection {
    let is_range = indices.windows(2).all(|pair| match pair {
        [one, next] => one.checked_add(1) == Some(*next),
        _ => false,
    });
    match (indices.first(), indices.last()) {
        (Some(first), Some(last)) if is_range => AxisSelection::Range(*first..last + 1),
        _ => AxisSelection::Indices(indices),
    }
}
