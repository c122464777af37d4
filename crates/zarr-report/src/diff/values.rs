//! Differences between the elements of two arrays of one shape and type.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};

use zarr_array::{Array, Selection, StoredTasks};
use zarr_cf::Numbers;
use zarr_metadata::DataType;

use super::node::{DiffError, DiffNode};
use crate::format::{element, quoted};
use crate::pieces::{elements, stored_tasks};
use crate::{PIECE, ReportError};

/// The differences between the elements of two arrays.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Values {
    /// Elements compared.
    pub elements: u64,
    /// Pairs of elements with different bits.
    pub different: u64,
    /// The first such pair in C order.
    pub first: Option<Pair>,
    /// The pair with the largest difference, if elements are numbers. The difference of integers of
    /// 64 bits is rounded.
    pub largest: Option<(f64, Pair)>,
    /// The largest difference of integers of 64 bits or times.
    pub(super) exact: Option<u64>,
}

/// Two elements at one index, as text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pair {
    /// The index in the arrays.
    pub index: Vec<u64>,
    /// The element of the first array.
    pub one: String,
    /// The element of the second array.
    pub other: String,
}

/// Compares all elements of two arrays of one shape and type, in pieces that end where the chunks of
/// `one` end. If both store few of their chunks, only these are read. `progress` is called with the
/// bytes compared so far.
pub(super) fn compare(
    one: (&DiffNode<'_>, &Array),
    other: (&DiffNode<'_>, &Array),
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<ControlFlow<(), Values>, DiffError> {
    let ours = one.1;
    let whole = Selection::whole(ours.shape());
    let all = elements(&whole).map_err(|cause| one.0.failed(cause))?;
    let values = Values::default();
    let mut comparison =
        Comparison { one, other, numbers: OnceCell::new(), values, bytes: 0, progress };
    let chunks = |array: &Array| array.grid().occupied_chunks().unwrap_or(u64::MAX);
    let mine = stored_tasks(ours, ours, chunks(ours)).map_err(|cause| one.0.failed(cause))?;
    let theirs = match &mine {
        Some(_) => stored_tasks(other.1, ours, chunks(other.1)),
        None => Ok(None),
    };
    let flow = match (mine, theirs.map_err(|cause| other.0.failed(cause))?) {
        (Some(mine), Some(theirs)) => comparison.stored(mine, theirs, all)?,
        _ => comparison.region(&whole)?,
    };
    Ok(flow.map_continue(|()| comparison.values))
}

/// A comparison under way.
struct Comparison<'a, 'p> {
    one: (&'a DiffNode<'a>, &'a Array),
    other: (&'a DiffNode<'a>, &'a Array),
    /// Only differences need numbers, for which some types have a long table.
    numbers: OnceCell<Option<Numbers>>,
    values: Values,
    bytes: u64,
    progress: &'p mut dyn FnMut(u64) -> ControlFlow<()>,
}

impl Comparison<'_, '_> {
    /// Compares the elements of tasks with a stored chunk, in C order, and then the rest, where
    /// both arrays have their fill value.
    fn stored(
        &mut self,
        mine: StoredTasks<'_>,
        theirs: StoredTasks<'_>,
        all: u64,
    ) -> Result<ControlFlow<()>, DiffError> {
        let (one, other) = (self.one, self.other);
        let mut mine = mine.map(|task| task.map_err(|cause| one.0.failed(cause))).peekable();
        let mut theirs = theirs.map(|task| task.map_err(|cause| other.0.failed(cause))).peekable();
        // The origin of the first task without a stored chunk is the first such element.
        let mut gap = Some(vec![0; one.1.shape().len()]);
        loop {
            let order = match (mine.peek(), theirs.peek()) {
                (Some(Ok((mine, _))), Some(Ok((theirs, _)))) => mine.cmp(theirs),
                (Some(Err(_)), _) | (_, None) => Ordering::Less,
                _ => Ordering::Greater,
            };
            let task = if order.is_le() { mine.next() } else { theirs.next() };
            if order.is_eq() {
                theirs.next();
            }
            let Some((_, region)) = task.transpose()? else { break };
            gap = gap.and_then(|gap| after(gap, &region, one.1.shape()));
            if self.region(&Selection::from(region.as_slice()))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let left = all.saturating_sub(self.values.elements);
        if left > 0 {
            self.fills(&gap.unwrap_or_default(), left)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Compares the elements of a region.
    fn region(&mut self, region: &Selection) -> Result<ControlFlow<()>, DiffError> {
        let ((one, ours), (other, theirs)) = (self.one, self.other);
        for piece in ours.batches(region, PIECE).map_err(|cause| one.failed(cause))? {
            let bounds = piece.bounds();
            if ours.data_type().is_variable_length() {
                let ours = ours.read_as::<Vec<u8>>(&piece).map_err(|cause| one.failed(cause))?;
                let theirs =
                    theirs.read_as::<Vec<u8>>(&piece).map_err(|cause| other.failed(cause))?;
                self.add(&bounds, ours.iter().zip(theirs.iter()))?;
            } else {
                let size = ours.element_size().max(1);
                let ours = ours.read(&piece).map_err(|cause| one.failed(cause))?;
                let theirs = theirs.read(&piece).map_err(|cause| other.failed(cause))?;
                self.bytes = self.bytes.saturating_add(ours.len().try_into().unwrap_or(u64::MAX));
                // Most pieces are alike; a comparison of memory finds that at once.
                if ours == theirs {
                    self.values.elements += u64::try_from(ours.len() / size).unwrap_or(u64::MAX);
                } else {
                    self.add(&bounds, ours.chunks_exact(size).zip(theirs.chunks_exact(size)))?;
                }
            }
            if (self.progress)(self.bytes).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Adds so many pairs of fill values; the first one has this index.
    fn fills(&mut self, index: &[u64], count: u64) -> Result<(), DiffError> {
        let (ours, theirs) = (self.one.1.fill(), self.other.1.fill());
        if ours != theirs {
            let first: Vec<Range<u64>> = index.iter().map(|at| *at..at.saturating_add(1)).collect();
            self.add(&first, std::iter::once((ours, theirs)))?;
            let more = count.saturating_sub(1);
            self.values.different = self.values.different.saturating_add(more);
            self.values.elements = self.values.elements.saturating_add(more);
        } else {
            self.values.elements = self.values.elements.saturating_add(count);
        }
        Ok(())
    }

    /// Adds pairs of elements of a box, in C order.
    fn add<'e>(
        &mut self,
        region: &[Range<u64>],
        pairs: impl Iterator<Item = (&'e [u8], &'e [u8])>,
    ) -> Result<(), DiffError> {
        let data_type = self.one.1.data_type();
        let failed = |cause: ReportError| self.one.0.failed(cause);
        let values = &mut self.values;
        let mut lists = (Vec::new(), Vec::new());
        for (at, (one, other)) in (0_u64..).zip(pairs) {
            values.elements += 1;
            if one == other {
                continue;
            }
            values.different += 1;
            let index = index(region, at);
            let pair = || -> Result<Pair, DiffError> {
                let text = |bytes: &[u8]| text(data_type, bytes).map_err(failed);
                Ok(Pair { index: index.clone(), one: text(one)?, other: text(other)? })
            };
            if values.first.as_ref().is_none_or(|first| index < first.index) {
                values.first = Some(pair()?);
            }
            let numbers = self.numbers.get_or_init(|| Numbers::of(data_type));
            let Some(numbers) = numbers else { continue };
            numbers.list(one, &mut lists.0);
            numbers.list(other, &mut lists.1);
            let (Some(a), Some(b)) = (lists.0.first(), lists.1.first()) else { continue };
            if a.is_nan() || b.is_nan() {
                continue;
            }
            let exact = numbers.exact(one).zip(numbers.exact(other));
            let exact = exact.and_then(|(a, b)| u64::try_from(a.abs_diff(b)).ok());
            #[expect(clippy::cast_precision_loss, reason = "compared before the exact difference")]
            let difference = exact.map_or((a - b).abs(), |exact| exact as f64);
            let is_largest = values.largest.as_ref().is_none_or(|(largest, pair)| {
                let (this, old) = ((difference, exact), (*largest, values.exact));
                this > old || this == old && index < pair.index
            });
            if is_largest {
                values.largest = Some((difference, pair()?));
                values.exact = exact;
            }
        }
        Ok(())
    }
}

/// The origin of the task that follows this one in C order, if its own origin is `gap`, which is
/// otherwise the answer; `None` after the last task.
fn after(mut gap: Vec<u64>, task: &[Range<u64>], shape: &[u64]) -> Option<Vec<u64>> {
    if gap.iter().ne(task.iter().map(|range| &range.start)) {
        return Some(gap);
    }
    for ((at, range), length) in gap.iter_mut().zip(task).zip(shape).rev() {
        if range.end < *length {
            *at = range.end;
            return Some(gap);
        }
        *at = 0;
    }
    None
}

/// An element as text.
fn text(data_type: &DataType, bytes: &[u8]) -> Result<String, ReportError> {
    if data_type.is_variable_length() {
        return Ok(quoted::quoted(data_type, bytes)?);
    }
    let mut text = String::new();
    element::format(data_type, bytes, &mut text)?;
    Ok(text)
}

/// The index of the element at a position in C order of a box.
fn index(region: &[Range<u64>], position: u64) -> Vec<u64> {
    let shape: Vec<u64> =
        region.iter().map(|range| range.end.saturating_sub(range.start)).collect();
    let within = zarr_grid::unravel(position, &shape).unwrap_or_default();
    region.iter().zip(within).map(|(range, at)| range.start.saturating_add(at)).collect()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use zarr_array::Array;
    use zarr_array::store::{MemoryStore, Prefix, Store};
    use zarr_metadata::{ArrayBuilder, DataType};

    use super::{after, index};
    use crate::diff::{DiffEvent, DiffNode, diff};

    /// As floats, these numbers are equal to their neighbours.
    #[test]
    fn differences_of_large_integers_are_exact() {
        let times = r#"{"name": "numpy.datetime64", "configuration":
            {"unit": "ns", "scale_factor": 1}}"#;
        let times = DataType::from_json(times.as_bytes()).expect("a type");
        let large = 1_500_000_000_000_000_001_i64;
        for (data_type, one, other, difference, at) in [
            (DataType::Int64, [large, 0], [large + 100, 1], "100", "[0]"),
            (DataType::Int64, [i64::MIN, 0], [i64::MAX, -1], "18446744073709551615", "[0]"),
            (DataType::Uint64, [0, -2], [1, -5], "3", "[1]"),
            (times.clone(), [large, 0], [large + 100, 1], "100", "[0]"),
            // "NaT" is no number.
            (times, [i64::MIN, 0], [large, -7], "7", "[1]"),
        ] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let node = |name: &'static str, elements: [i64; 2]| {
                let metadata = ArrayBuilder::new([2], data_type.clone()).build().expect("built");
                let prefix = Prefix::new(name).expect("a prefix");
                let array = Array::create(store.clone(), &prefix, metadata).expect("is new");
                array.write(0..2, &elements.map(i64::to_le_bytes).concat()).expect("writes");
                DiffNode::new(&store, prefix, name)
            };
            let (one, other) = (node("a", one), node("b", other));
            let reported = |as_json: bool| {
                let mut text = String::new();
                let mut event = |event: DiffEvent<'_>| {
                    if let DiffEvent::Difference(found) = event {
                        text = match as_json {
                            true => found.json(|error| error.to_string())["largest"].to_string(),
                            false => found.line(|error| error.to_string()),
                        };
                    }
                    ControlFlow::Continue(())
                };
                diff(&one, &other, false, &mut event).expect("reads");
                text
            };
            let expected = format!("; the largest difference is {difference}, at {at}: ");
            assert!(reported(false).contains(&expected), "{}", reported(false));
            let expected = format!("\"difference\":{difference}}}");
            assert!(reported(true).ends_with(&expected), "{}", reported(true));
        }
    }

    #[test]
    fn positions_are_in_c_order() {
        assert_eq!(index(&[0..2, 0..3, 5..9], 0), [0, 0, 5]);
        assert_eq!(index(&[0..2, 0..3, 5..9], 23), [1, 2, 8]);
        assert_eq!(index(&[4..6, 0..3, 0..4], 13), [5, 0, 1]);
        assert_eq!(index(&[], 0), Vec::<u64>::new());
    }

    #[test]
    fn the_first_task_that_is_missing() {
        let tasks = [[0..2, 0..4], [0..2, 4..7], [2..3, 0..4], [2..3, 4..7]];
        let shape = [3, 7];
        let gap = |tasks: &[&[std::ops::Range<u64>; 2]]| {
            let start = Some(vec![0, 0]);
            tasks.iter().fold(start, |gap, task| after(gap?, task.as_slice(), &shape))
        };
        let [a, b, c, d] = &tasks;
        assert_eq!(gap(&[]), Some(vec![0, 0]));
        assert_eq!(gap(&[b, c]), Some(vec![0, 0]));
        assert_eq!(gap(&[a, c]), Some(vec![0, 4]));
        assert_eq!(gap(&[a, b]), Some(vec![2, 0]));
        assert_eq!(gap(&[a, b, c]), Some(vec![2, 4]));
        assert_eq!(gap(&[a, b, c, d]), None);
    }
}
