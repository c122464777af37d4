//! Differences between the elements of two arrays of one shape and type.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};

use zarr_array::{Selection, StoredTasks};
use zarr_cf::Numbers;
use zarr_metadata::DataType;

use super::node::DiffError;
use super::picked::Picked;
use super::regions::Regions;
use super::tasks::{Piece, count, is_of_one_chunk, overlap};
use crate::ReportError;
use crate::format::{element, quoted};
use crate::labels::ArrayLabels;
use crate::pieces::{elements, stored_tasks};

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
    /// Boxes of the first array that hold all differences, at most eight.
    pub regions: Vec<Vec<Range<u64>>>,
    /// The labels of the regions, in the form of `--region`; none if the array has no labels.
    pub labels: Vec<String>,
}

impl Values {
    /// Adds the labels of what differs, of the first array.
    pub(super) fn label(&mut self, labels: &ArrayLabels) {
        let pairs = self.first.iter_mut().chain(self.largest.iter_mut().map(|(_, at)| at));
        for pair in pairs {
            let region: Vec<Range<u64>> = pair.index.iter().map(|at| *at..at + 1).collect();
            pair.labels = labels.region(&region);
        }
        let of_regions = self.regions.iter().map(|region| labels.region(region));
        self.labels = of_regions.collect::<Option<_>>().unwrap_or_default();
    }
}

/// Two elements at one index, as text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pair {
    /// The index in the first array.
    pub index: Vec<u64>,
    /// The index in the second array, if it is another.
    pub other_index: Option<Vec<u64>>,
    /// The labels of the index, in the form of `--region`, if it has some.
    pub labels: Option<String>,
    /// The element of the first array.
    pub one: String,
    /// The element of the second array.
    pub other: String,
}

/// Compares what is picked of two arrays of one type, in pieces of whole chunks. If both store few of
/// their chunks, only these are read. If the chunks of the arrays cross, so that pieces of one would read
/// chunks of the other again and again, both are read for sums of tiles, and what differs a second time.
///
/// Also returns the errors of the chunks that cannot be read; the others are compared. `progress` is
/// called with the bytes read so far.
pub(super) fn compare(
    one: &Picked<'_>,
    other: &Picked<'_>,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<ControlFlow<(), (Values, Vec<DiffError>)>, DiffError> {
    let all = elements(&Selection::whole(one.shape())).map_err(|cause| one.failed(cause))?;
    let mut comparison = Comparison {
        one,
        other,
        numbers: OnceCell::new(),
        values: Values::default(),
        regions: Regions::default(),
        damaged: Vec::new(),
        unread: Vec::new(),
        skipped: 0,
        bytes: 0,
        progress,
    };
    let mine = match one.is_whole() && other.is_whole() {
        true => stored_tasks(one.array, one.array, one.chunks()),
        false => Ok(None),
    };
    let mine = mine.map_err(|cause| one.failed(cause))?;
    let theirs = match &mine {
        Some(_) => stored_tasks(other.array, one.array, other.chunks()),
        None => Ok(None),
    };
    let flow = match (mine, theirs.map_err(|cause| other.failed(cause))?) {
        (Some(mine), Some(theirs)) => comparison.stored(mine, theirs, all)?,
        _ => comparison.all(all)?,
    };
    Ok(flow.map_continue(|()| {
        let Comparison { mut values, regions, unread, .. } = comparison;
        // Positions become indices of the first array.
        values.regions = regions.finish().iter().map(|region| one.region(region)).collect();
        let pairs = values.first.iter_mut().chain(values.largest.iter_mut().map(|(_, at)| at));
        for pair in pairs {
            let (index, other) = (one.index(&pair.index), other.index(&pair.index));
            pair.other_index = (other != index).then_some(other);
            pair.index = index;
        }
        (values, unread)
    }))
}

/// One of the two arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    One,
    Other,
}

/// A comparison under way.
pub(super) struct Comparison<'a, 'p> {
    pub(super) one: &'a Picked<'a>,
    pub(super) other: &'a Picked<'a>,
    /// Only differences need numbers, for which some types have a long table.
    numbers: OnceCell<Option<Numbers>>,
    pub(super) values: Values,
    regions: Regions,
    /// Boxes of chunks that cannot be read, and why.
    pub(super) damaged: Vec<(Side, Vec<Range<u64>>)>,
    unread: Vec<DiffError>,
    /// Elements that are not compared because of them.
    skipped: u64,
    pub(super) bytes: u64,
    pub(super) progress: &'p mut dyn FnMut(u64) -> ControlFlow<()>,
}

impl<'a> Comparison<'a, '_> {
    /// Compares the elements of boxes, one after another.
    pub(super) fn in_turn(
        &mut self,
        boxes: &[Vec<Range<u64>>],
    ) -> Result<ControlFlow<()>, DiffError> {
        for region in boxes {
            if self.region(region)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Compares the elements of tasks with a stored chunk, in C order, and then the rest, where
    /// both arrays have their fill value.
    fn stored(
        &mut self,
        mine: StoredTasks<'_>,
        theirs: StoredTasks<'_>,
        all: u64,
    ) -> Result<ControlFlow<()>, DiffError> {
        let (one, other) = (self.one, self.other);
        let mut mine = mine.map(|task| task.map_err(|cause| one.failed(cause))).peekable();
        let mut theirs = theirs.map(|task| task.map_err(|cause| other.failed(cause))).peekable();
        // The origin of the first task without a stored chunk is the first such element.
        let mut gap = Some(vec![0; one.shape().len()]);
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
            gap = gap.and_then(|gap| after(gap, &region, one.shape()));
            if self.region(&region)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let left = all.saturating_sub(self.values.elements).saturating_sub(self.skipped);
        if left > 0 {
            self.fills(&gap.unwrap_or_default(), left)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Compares the elements of a box, except those of chunks that cannot be read.
    fn region(&mut self, region: &[Range<u64>]) -> Result<ControlFlow<()>, DiffError> {
        let damaged = self.damaged.iter().find(|(_, damaged)| overlap(damaged, region)).cloned();
        if let Some((side, damaged)) = damaged {
            let of = self.side(side);
            for part in of.cut(of.grid(), region)? {
                if overlap(&damaged, &part) {
                    self.skipped = self.skipped.saturating_add(count(&part));
                } else if self.region(&part)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let Some(mine) = self.read(Side::One, region)? else { return self.region(region) };
        let Some(their) = self.read(Side::Other, region)? else { return self.region(region) };
        self.bytes += mine.bytes();
        self.pieces(region, &mine, &their)?;
        Ok((self.progress)(self.bytes))
    }

    /// Compares the elements of a box.
    pub(super) fn pieces(
        &mut self,
        region: &[Range<u64>],
        mine: &Piece,
        their: &Piece,
    ) -> Result<(), DiffError> {
        match (mine, their) {
            // Most pieces are alike; a comparison of memory finds that at once.
            (Piece::Fixed(mine, _), Piece::Fixed(their, _)) if mine == their => {
                self.values.elements = self.values.elements.saturating_add(count(region));
                Ok(())
            }
            _ => self.add(region, mine.elements().zip(their.elements())),
        }
    }

    pub(super) fn side(&self, side: Side) -> &'a Picked<'a> {
        match side {
            Side::One => self.one,
            Side::Other => self.other,
        }
    }

    /// Reads a box of one array. `None` if chunks in it cannot be read, which are then known.
    pub(super) fn read(
        &mut self,
        side: Side,
        region: &[Range<u64>],
    ) -> Result<Option<Piece>, DiffError> {
        let of = self.side(side);
        let cause = match of.read(region) {
            Ok(piece) => return Ok(Some(piece)),
            Err(cause) if is_of_one_chunk(&cause) => cause,
            Err(cause) => return Err(of.failed(cause)),
        };
        let parts = of.cut(of.grid(), region)?;
        let (mut damaged, mut errors) = (Vec::new(), Vec::new());
        for part in parts.iter().filter(|_| parts.len() > 1) {
            match of.read(part) {
                Ok(_) => {}
                Err(cause) if is_of_one_chunk(&cause) => {
                    damaged.push((side, part.clone()));
                    errors.push(of.failed(cause));
                }
                Err(cause) => return Err(of.failed(cause)),
            }
        }
        // One chunk, or one that can be read again.
        if damaged.is_empty() {
            damaged.push((side, region.to_vec()));
            errors.push(of.failed(cause));
        }
        self.damaged.append(&mut damaged);
        self.unread.append(&mut errors);
        Ok(None)
    }

    /// Adds so many pairs of fill values; the first one has this index.
    fn fills(&mut self, index: &[u64], count: u64) -> Result<(), DiffError> {
        let (ours, theirs) = (self.one.array.fill(), self.other.array.fill());
        if ours != theirs {
            let first: Vec<Range<u64>> = index.iter().map(|at| *at..at + 1).collect();
            self.add(&first, std::iter::once((ours, theirs)))?;
            let whole = self.one.shape().iter().map(|length| 0..*length).collect();
            self.regions.add_box(whole);
            let more = count - 1;
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
        let data_type = self.one.array.data_type();
        let failed = |cause: ReportError| self.one.failed(cause);
        let values = &mut self.values;
        let mut lists = (Vec::new(), Vec::new());
        for (at, (one, other)) in (0_u64..).zip(pairs) {
            values.elements += 1;
            if one == other {
                continue;
            }
            values.different += 1;
            let index = index(region, at);
            self.regions.add(&index);
            let pair = || -> Result<Pair, DiffError> {
                let text = |bytes: &[u8]| text(data_type, bytes).map_err(failed);
                let (one, other) = (text(one)?, text(other)?);
                Ok(Pair { index: index.clone(), other_index: None, labels: None, one, other })
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
    let shape: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
    let within = zarr_grid::unravel(position, &shape).unwrap_or_default();
    region.iter().zip(within).map(|(range, at)| range.start + at).collect()
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
