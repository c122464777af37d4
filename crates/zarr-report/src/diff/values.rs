//! Differences between the elements of two arrays of one shape and type.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};

use zarr_array::{Array, Selection, StoredTasks};
use zarr_cf::Numbers;
use zarr_grid::Grid;
use zarr_metadata::DataType;

use super::node::{DiffError, DiffNode};
use super::regions::Regions;
use super::sums::Tiles;
use super::tasks::{Piece, count, cut, grid_error, is_of_one_chunk, overlap, visits};
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
    /// Boxes that hold all differences, at most eight.
    pub regions: Vec<Vec<Range<u64>>>,
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

/// Elements of variable length count as so many bytes.
const VARIABLE: u64 = 64;

/// How often chunks of an array may be read so that each piece is compared at once; otherwise each
/// array is read for sums first.
const READS: u64 = 2;

/// Compares all elements of two arrays of one shape and type, in pieces of whole chunks. If both store
/// few of their chunks, only these are read. If the chunks of the arrays cross, so that pieces of one
/// would read chunks of the other again and again, only tiles whose sums differ are compared.
///
/// Also returns the errors of the chunks that cannot be read; the others are compared. `progress` is
/// called with the bytes read so far.
pub(super) fn compare(
    one: (&DiffNode<'_>, &Array),
    other: (&DiffNode<'_>, &Array),
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<ControlFlow<(), (Values, Vec<DiffError>)>, DiffError> {
    let ours = one.1;
    let all = elements(&Selection::whole(ours.shape())).map_err(|cause| one.0.failed(cause))?;
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
    let chunks = |array: &Array| array.grid().occupied_chunks().unwrap_or(u64::MAX);
    let mine = stored_tasks(ours, ours, chunks(ours)).map_err(|cause| one.0.failed(cause))?;
    let theirs = match &mine {
        Some(_) => stored_tasks(other.1, ours, chunks(other.1)),
        None => Ok(None),
    };
    let flow = match (mine, theirs.map_err(|cause| other.0.failed(cause))?) {
        (Some(mine), Some(theirs)) => comparison.stored(mine, theirs, all)?,
        _ => comparison.all(all)?,
    };
    Ok(flow.map_continue(|()| {
        let Comparison { mut values, regions, unread, .. } = comparison;
        values.regions = regions.finish();
        (values, unread)
    }))
}

/// One of the two arrays.
#[derive(Clone, Copy)]
enum Side {
    One,
    Other,
}

/// A comparison under way.
struct Comparison<'a, 'p> {
    one: (&'a DiffNode<'a>, &'a Array),
    other: (&'a DiffNode<'a>, &'a Array),
    /// Only differences need numbers, for which some types have a long table.
    numbers: OnceCell<Option<Numbers>>,
    values: Values,
    regions: Regions,
    /// Boxes of chunks that cannot be read, and why.
    damaged: Vec<(Side, Vec<Range<u64>>)>,
    unread: Vec<DiffError>,
    /// Elements that are not compared because of them.
    skipped: u64,
    bytes: u64,
    progress: &'p mut dyn FnMut(u64) -> ControlFlow<()>,
}

impl Comparison<'_, '_> {
    /// Compares all elements, of which there are so many.
    fn all(&mut self, all: u64) -> Result<ControlFlow<()>, DiffError> {
        let (one, other) = (self.one, self.other);
        let size = match one.1.data_type().is_variable_length() {
            true => VARIABLE,
            false => u64::try_from(one.1.element_size().max(1)).unwrap_or(u64::MAX),
        };
        // Small arrays have several pieces in tests.
        let piece = if cfg!(test) { PIECE.min(1 << 16) } else { PIECE };
        let most = (piece / size).max(1);
        let tasks = |(node, array): (&DiffNode<'_>, &Array), source: Option<&Array>| {
            let tasks = array.grid().grouped(most, source.map(Array::grid));
            tasks.map_err(|cause| grid_error(node, array, cause))
        };
        let whole: Vec<Range<u64>> = one.1.shape().iter().map(|length| 0..*length).collect();
        let boxes = |(node, array): (&DiffNode<'_>, &Array), tasks: &Grid| {
            cut(tasks, &whole).map_err(|cause| grid_error(node, array, cause))
        };
        // Tasks of whole chunks of one of the two.
        for (by, read) in [(one, other), (other, one)] {
            let tasks = tasks(by, Some(read.1))?;
            let visits = visits(&tasks, read.1.grid());
            let chunks = read.1.grid().occupied_chunks().unwrap_or(u64::MAX);
            if visits <= chunks.saturating_mul(READS) {
                return self.in_turn(&boxes(by, &tasks)?);
            }
        }
        let tiles = Tiles::new(one.1.shape(), most);
        let mut sums = [tiles.sums(), tiles.sums()];
        for ((side, of), sums) in
            [(Side::One, one), (Side::Other, other)].into_iter().zip(&mut sums)
        {
            for task in boxes(of, &tasks(of, None)?)? {
                match self.read(side, &task)? {
                    Some(piece) => {
                        tiles.add(sums, &task, piece.elements());
                        self.bytes = self.bytes.saturating_add(piece.bytes());
                    }
                    None => tiles.skip(sums, &task),
                }
                if (self.progress)(self.bytes).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        let [ours, theirs] = &sums;
        let different = tiles.different(ours, theirs);
        let among: u64 = different.iter().map(|tile| count(tile)).fold(0, u64::saturating_add);
        self.values.elements = all.saturating_sub(among);
        self.in_turn(&different)
    }

    /// Compares the elements of boxes, one after another.
    fn in_turn(&mut self, boxes: &[Vec<Range<u64>>]) -> Result<ControlFlow<()>, DiffError> {
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
            let (node, array) = self.side(side);
            let parts = cut(array.grid(), region);
            for part in parts.map_err(|cause| grid_error(node, array, cause))? {
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
        self.bytes = self.bytes.saturating_add(mine.bytes());
        match (&mine, &their) {
            // Most pieces are alike; a comparison of memory finds that at once.
            (Piece::Fixed(mine, _), Piece::Fixed(their, _)) if mine == their => {
                self.values.elements = self.values.elements.saturating_add(count(region));
            }
            _ => self.add(region, mine.elements().zip(their.elements()))?,
        }
        Ok((self.progress)(self.bytes))
    }

    fn side(&self, side: Side) -> (&DiffNode<'_>, &Array) {
        match side {
            Side::One => self.one,
            Side::Other => self.other,
        }
    }

    /// Reads a box of one array. `None` if chunks in it cannot be read, which are then known.
    fn read(&mut self, side: Side, region: &[Range<u64>]) -> Result<Option<Piece>, DiffError> {
        let (node, array) = self.side(side);
        let cause = match Piece::read(array, region) {
            Ok(piece) => return Ok(Some(piece)),
            Err(cause) if is_of_one_chunk(&cause) => cause,
            Err(cause) => return Err(node.failed(cause)),
        };
        let parts = cut(array.grid(), region).map_err(|cause| grid_error(node, array, cause))?;
        let (mut damaged, mut errors) = (Vec::new(), Vec::new());
        for part in parts.iter().filter(|_| parts.len() > 1) {
            match Piece::read(array, part) {
                Ok(_) => {}
                Err(cause) if is_of_one_chunk(&cause) => {
                    damaged.push((side, part.clone()));
                    errors.push(node.failed(cause));
                }
                Err(cause) => return Err(node.failed(cause)),
            }
        }
        // One chunk, or one that can be read again.
        if damaged.is_empty() {
            damaged.push((side, region.to_vec()));
            errors.push(node.failed(cause));
        }
        self.damaged.append(&mut damaged);
        self.unread.append(&mut errors);
        Ok(None)
    }

    /// Adds so many pairs of fill values; the first one has this index.
    fn fills(&mut self, index: &[u64], count: u64) -> Result<(), DiffError> {
        let (ours, theirs) = (self.one.1.fill(), self.other.1.fill());
        if ours != theirs {
            let first: Vec<Range<u64>> = index.iter().map(|at| *at..at.saturating_add(1)).collect();
            self.add(&first, std::iter::once((ours, theirs)))?;
            let whole = self.one.1.shape().iter().map(|length| 0..*length).collect();
            self.regions.add_box(whole);
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
            self.regions.add(&index);
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
