//! The pieces in which a part of a chunk is read: boxes that need nothing but what the part needs.
//!
//! A list of indices selects some rows of a chunk. The box around them may span inner chunks that
//! none of them touches, so the part is cut along each axis:
//!
//! ```text
//! inner chunks      |   0   |   1   |   2   |   3   |
//! listed indices      x   x   x               x
//! pieces              |-------|               |
//! ```
//!
//! A piece spans only units that the list touches: inner chunks of a shard, or single elements and
//! short gaps between them. The pieces of a part are the product of those of its axes. Ranges are cut
//! too, so that no piece has many more bytes than [`PieceLimits::bytes`]: the encoded bytes of a
//! piece are in memory while it is decoded, those of a whole large shard never are.

use std::borrow::Cow;
use std::ops::Range;

use zarr_codec::{ReadUnits, Slice};

use crate::counts::{PerAxis, narrow, number, wide};
use crate::selection::gather::{as_slice, slice_around};
use crate::selection::index_moves::{IndexMoves, Pair};

/// The most ranges of a piece: a list of more takes much memory.
pub(crate) const MOST_RANGES: usize = 1024;

/// What a piece may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieceLimits {
    /// The bytes of elements of a piece, unless one unit has more.
    pub(crate) bytes: u64,
    /// Gaps of at most this many bytes are read with the elements around them.
    pub(crate) range_cost: u64,
}

/// The indices of one axis of a chunk.
#[derive(Clone, Copy)]
pub(crate) enum AxisIndices<'a> {
    Slice(Slice),
    /// In any order; the position of each is its number.
    List(&'a [u64]),
}

/// The pieces of a part of a chunk.
#[derive(Debug)]
pub(crate) enum Pieces {
    /// A product of pieces per axis.
    Product(Product),
    /// Boxes around points; each point is an element of the part, which has one axis.
    Points { boxes: Vec<PointBox>, shape: [usize; 1] },
}

/// A box around points of a chunk.
#[derive(Debug)]
pub(crate) struct PointBox {
    pub(crate) region: PerAxis<Slice>,
    /// From the elements of the box to those of the part.
    pub(crate) moves: IndexMoves,
}

#[derive(Debug)]
pub(crate) struct Product {
    axes: Vec<Vec<AxisPiece>>,
    /// The indices of the part on each axis.
    shape: Vec<usize>,
    element_size: usize,
    /// Whether some axis has elements out of order.
    has_moves: bool,
}

/// Some indices of one axis.
#[derive(Debug)]
struct AxisPiece {
    /// The indices to read.
    slice: Slice,
    places: AxisPlaces,
}

/// Where the indices of a piece go, among those of the part.
#[derive(Debug)]
enum AxisPlaces {
    /// All, in order.
    Range(Range<usize>),
    /// Some, each from its position in the slice.
    Moves(Vec<Pair>),
}

/// The place of a piece in its part.
pub(crate) enum Target<'a> {
    /// A box.
    Box(PerAxis<Range<usize>>),
    /// Single elements, from a buffer of the piece's shape to a buffer of the part's shape.
    Moves(Cow<'a, IndexMoves>),
}

/// How an axis is cut.
#[derive(Clone, Copy)]
struct Cut {
    /// Indices of a unit.
    unit: usize,
    /// Units from one listed index to the next that are still in one piece.
    reach: usize,
    /// The most units of a piece.
    most: usize,
}

impl Pieces {
    /// Cuts the part with these indices; `None` if it is one box that is to be read at once.
    /// `is_whole`: whether the part is all of the chunk, so that everything must be checked.
    pub(crate) fn new<'a>(
        axes: impl Iterator<Item = AxisIndices<'a>> + Clone,
        units: impl FnOnce() -> ReadUnits,
        element_size: usize,
        is_whole: bool,
        limits: PieceLimits,
    ) -> Option<Self> {
        let shape: Vec<usize> = axes.clone().map(AxisIndices::len).collect();
        let has_lists = axes.clone().any(|axis| matches!(axis, AxisIndices::List(_)));
        let bytes = shape.iter().fold(wide(element_size), |all, n| all.saturating_mul(wide(*n)));
        let is_short = shape
            .iter()
            .try_fold(1_usize, |all, n| all.checked_mul(*n))
            .is_some_and(|elements| elements <= MOST_RANGES);
        if !has_lists && (is_short || is_whole) && bytes <= limits.bytes {
            return None;
        }
        let units = units();
        // Single elements may be more ranges than one piece has.
        if !has_lists && bytes <= limits.bytes && !matches!(units, ReadUnits::Elements { .. }) {
            return None;
        }
        let axes: Vec<AxisIndices<'a>> = axes.collect();
        let cuts = match units {
            ReadUnits::InnerChunks { is_all: false, .. } if is_whole => None,
            ReadUnits::InnerChunks { shape, slowest_first, .. } => {
                Some(inner_cuts(&axes, &shape, &slowest_first, element_size, limits))
            }
            ReadUnits::Elements { distances } if !is_whole => {
                Some(element_cuts(&axes, &distances, element_size, limits))
            }
            _ => None,
        };
        let whole = Cut { unit: 1, reach: usize::MAX, most: usize::MAX };
        let cut = |axis: usize| cuts.as_ref().and_then(|cuts| cuts.get(axis)).unwrap_or(&whole);
        let axes: Vec<Vec<AxisPiece>> =
            axes.iter().enumerate().map(|(axis, indices)| indices.pieces(*cut(axis))).collect();
        let pieces = axes.iter().flatten();
        let has_moves = pieces.clone().any(|piece| matches!(piece.places, AxisPlaces::Moves(_)));
        let is_one = !has_moves && axes.iter().all(|pieces| pieces.len() == 1);
        let product = Product { axes, shape, element_size, has_moves };
        (!is_one).then_some(Self::Product(product))
    }

    /// The number of pieces.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Product(Product { axes, .. }) => {
                axes.iter().fold(1, |all, pieces| all.saturating_mul(pieces.len()))
            }
            Self::Points { boxes, .. } => boxes.len(),
        }
    }

    /// The shape of the part.
    pub(crate) fn part_shape(&self) -> &[usize] {
        match self {
            Self::Product(product) => &product.shape,
            Self::Points { shape, .. } => shape,
        }
    }

    /// Whether the targets are [moves](Target::Moves), of all pieces or of none.
    pub(crate) fn has_moves(&self) -> bool {
        match self {
            Self::Product(product) => product.has_moves,
            Self::Points { .. } => true,
        }
    }

    /// The indices of a piece in the chunk.
    pub(crate) fn region(&self, piece: usize) -> Cow<'_, [Slice]> {
        match self {
            Self::Product(product) => {
                Cow::Owned(product.of_axes(piece).map(|axis| axis.slice).collect())
            }
            Self::Points { boxes, .. } => {
                Cow::Borrowed(boxes.get(piece).map_or(&[], |found| &*found.region))
            }
        }
    }

    /// The place of a piece in the part.
    pub(crate) fn target(&self, piece: usize) -> Target<'_> {
        match self {
            Self::Product(product) => product.target(piece),
            Self::Points { boxes, .. } => match boxes.get(piece) {
                Some(found) => Target::Moves(Cow::Borrowed(&found.moves)),
                None => Target::Box(PerAxis::new()),
            },
        }
    }
}

impl Product {
    fn of_axes(&self, piece: usize) -> impl Iterator<Item = &AxisPiece> {
        let numbers = number(wide(piece), self.axes.iter().map(Vec::len));
        self.axes.iter().zip(numbers).filter_map(|(pieces, number)| pieces.get(number))
    }

    fn target(&self, piece: usize) -> Target<'_> {
        if !self.has_moves {
            let ranges = self.of_axes(piece).map(|axis| match &axis.places {
                AxisPlaces::Range(range) => range.clone(),
                AxisPlaces::Moves(_) => 0..0,
            });
            return Target::Box(ranges.collect());
        }
        let pairs: Vec<Vec<Pair>> = self
            .of_axes(piece)
            .map(|axis| match &axis.places {
                AxisPlaces::Range(range) => range.clone().enumerate().collect(),
                AxisPlaces::Moves(pairs) => pairs.clone(),
            })
            .collect();
        let source: Vec<usize> = self.of_axes(piece).map(|axis| axis.slice.count).collect();
        let moves = IndexMoves::new(&pairs, &source, &self.shape, self.element_size);
        Target::Moves(Cow::Owned(moves))
    }
}

impl AxisIndices<'_> {
    fn len(self) -> usize {
        match self {
            Self::Slice(slice) => slice.count,
            Self::List(list) => list.len(),
        }
    }

    /// The first and the last index of the chunk.
    fn bounds(self) -> (usize, usize) {
        let Slice { start, count, step } = match self {
            Self::Slice(slice) => slice,
            Self::List(list) => slice_around(list),
        };
        (start, start.saturating_add(count.saturating_sub(1).saturating_mul(step)))
    }

    fn pieces(self, cut: Cut) -> Vec<AxisPiece> {
        match self {
            Self::Slice(slice) => pieces_of_slice(slice, cut),
            Self::List(list) => pieces_of_list(list, cut),
        }
    }
}

fn pieces_of_slice(slice: Slice, cut: Cut) -> Vec<AxisPiece> {
    let Slice { start, count, step } = slice;
    let mut pieces = Vec::new();
    let mut done = 0_usize;
    while done < count {
        let first = start + done * step;
        // The index after those that the piece may span.
        let units = first.checked_div(cut.unit).unwrap_or(0).saturating_add(cut.most);
        let span = units.saturating_mul(cut.unit).saturating_sub(first);
        let taken = span.div_ceil(step.max(1)).clamp(1, count.saturating_sub(done));
        let places = AxisPlaces::Range(done..done + taken);
        pieces.push(AxisPiece { slice: Slice { start: first, count: taken, step }, places });
        done += taken;
    }
    pieces
}

fn pieces_of_list(list: &[u64], cut: Cut) -> Vec<AxisPiece> {
    let mut sorted: Vec<Pair> = list.iter().map(|index| narrow(*index)).zip(0..).collect();
    if !sorted.is_sorted() {
        sorted.sort_unstable();
    }
    let unit = |index: usize| index.checked_div(cut.unit).unwrap_or(0);
    let mut pieces = Vec::new();
    let mut rest = sorted.as_slice();
    while let Some((first, _)) = rest.first().copied() {
        let mut last = first;
        let end = rest.iter().position(|(index, _)| {
            let goes_on = unit(*index).saturating_sub(unit(last)) <= cut.reach
                && unit(*index).saturating_sub(unit(first)) < cut.most;
            last = if goes_on { *index } else { last };
            !goes_on
        });
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(piece_of(piece));
        rest = after;
    }
    pieces
}

/// The piece of some indices, in ascending order, with their positions.
fn piece_of(listed: &[Pair]) -> AxisPiece {
    let indices: Vec<u64> = listed.iter().map(|(index, _)| wide(*index)).collect();
    let position = listed.first().map_or(0, |(_, at)| *at);
    let end = position + listed.len();
    if let Some(slice) = as_slice(&indices)
        && listed.iter().map(|(_, at)| *at).eq(position..end)
    {
        return AxisPiece { slice, places: AxisPlaces::Range(position..end) };
    }
    let slice = slice_around(&indices);
    let from =
        |index: usize| index.saturating_sub(slice.start).checked_div(slice.step).unwrap_or(0);
    let pairs = listed.iter().map(|(index, at)| (from(*index), *at)).collect();
    AxisPiece { slice, places: AxisPlaces::Moves(pairs) }
}

/// Cuts a part of a shard between inner chunks of this shape.
fn inner_cuts(
    axes: &[AxisIndices<'_>],
    inner: &[usize],
    slowest_first: &[usize],
    element_size: usize,
    limits: PieceLimits,
) -> Vec<Cut> {
    let bytes = inner.iter().fold(wide(element_size), |all, n| all.saturating_mul(wide(*n)));
    let mut left = narrow(limits.bytes.checked_div(bytes.max(1)).unwrap_or(1)).max(1);
    let mut cuts = vec![Cut { unit: 1, reach: 1, most: 1 }; axes.len()];
    for axis in slowest_first.iter().rev() {
        let (Some(cut), Some(unit), Some(indices)) =
            (cuts.get_mut(*axis), inner.get(*axis), axes.get(*axis))
        else {
            continue;
        };
        let (first, last) = indices.bounds();
        let number = |index: usize| index.checked_div(*unit).unwrap_or(0);
        let units = number(last).saturating_sub(number(first)).saturating_add(1);
        *cut = Cut { unit: *unit, reach: 1, most: left };
        left = left.checked_div(units.min(left)).unwrap_or(1).max(1);
    }
    cuts
}

/// Cuts a part of uncompressed elements where the bytes between two of them cost more than another
/// range.
fn element_cuts(
    axes: &[AxisIndices<'_>],
    distances: &[u64],
    element_size: usize,
    limits: PieceLimits,
) -> Vec<Cut> {
    let mut left = narrow(limits.bytes.checked_div(wide(element_size.max(1))).unwrap_or(1)).max(1);
    let mut ranges = MOST_RANGES;
    let mut cuts = vec![Cut { unit: 1, reach: 1, most: 1 }; axes.len()];
    let mut fastest_first: PerAxis<usize> = (0..axes.len()).collect();
    fastest_first.sort_by_key(|axis| distances.get(*axis));
    // Bytes from the first to the last element of the axes so far, if they are one range.
    let mut joined = Some(wide(element_size));
    for axis in fastest_first {
        let (Some(cut), Some(distance), Some(indices)) =
            (cuts.get_mut(axis), distances.get(axis), axes.get(axis))
        else {
            continue;
        };
        let gap = limits.range_cost.checked_div(*distance).unwrap_or(0);
        let step = match indices {
            AxisIndices::Slice(slice) => slice.step,
            AxisIndices::List(_) => 1,
        };
        let apart = distance.saturating_mul(wide(step));
        let (first, last) = indices.bounds();
        let span = last - first + 1;
        let is_joined =
            joined.is_some_and(|bytes| apart.saturating_sub(bytes) <= limits.range_cost);
        let mut most = left;
        if is_joined {
            let reach = wide(span.saturating_sub(1)).saturating_mul(*distance);
            joined = joined.map(|bytes| bytes.saturating_add(reach));
        } else {
            joined = None;
            most = most.min(ranges.saturating_mul(step));
            ranges = ranges.checked_div(span.div_ceil(step.max(1)).min(ranges)).unwrap_or(1).max(1);
        }
        *cut = Cut { unit: 1, reach: narrow(gap).saturating_add(1), most };
        left = left.checked_div(span.min(most)).unwrap_or(1).max(1);
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every list of up to four of eight indices, in every order: each listed index goes to each of its
    /// positions once, and no unit is spanned that the list does not touch.
    #[test]
    fn pieces_of_lists_are_what_the_list_touches() {
        let mut lists: Vec<Vec<u64>> = vec![vec![]];
        for _ in 0..4 {
            let longer = lists.iter().flat_map(|list| (0..8).map(|at| [&list[..], &[at]].concat()));
            lists = lists.iter().cloned().chain(longer).collect();
            lists.sort();
            lists.dedup();
        }
        for list in lists.iter().filter(|list| !list.is_empty()) {
            for (unit, most) in [(1, 1), (1, 3), (2, 1), (2, 2), (3, 8)] {
                let touched: Vec<usize> = list.iter().map(|at| narrow(*at) / unit).collect();
                let mut found = vec![None; list.len()];
                for piece in pieces_of_list(list, Cut { unit, reach: 1, most }) {
                    let index = |at: usize| piece.slice.start + at * piece.slice.step;
                    let units = index(0) / unit..=index(piece.slice.count - 1) / unit;
                    assert!(units.clone().count() <= most, "{list:?} {piece:?}");
                    assert!(
                        units.clone().all(|unit| touched.contains(&unit)),
                        "{list:?} {piece:?}"
                    );
                    let pairs = match &piece.places {
                        AxisPlaces::Range(range) => range.clone().enumerate().collect(),
                        AxisPlaces::Moves(pairs) => pairs.clone(),
                    };
                    for (from, to) in pairs {
                        assert_eq!(found[to].replace(index(from)), None, "{list:?}");
                    }
                }
                let wanted: Vec<_> = list.iter().map(|at| Some(narrow(*at))).collect();
                assert_eq!(found, wanted, "{unit} {most}");
            }
        }
    }

    #[test]
    fn pieces_of_slices_are_the_slice() {
        for unit in 1..=4 {
            for most in 1..=3 {
                for start in 0..5 {
                    for step in 1..=5 {
                        for count in 0..=9 {
                            let slice = Slice { start, count, step };
                            let pieces = pieces_of_slice(slice, Cut { unit, reach: 1, most });
                            let mut found = Vec::new();
                            for AxisPiece { slice, places } in pieces {
                                let AxisPlaces::Range(places) = places else { panic!() };
                                assert_eq!(places, found.len()..found.len() + slice.count);
                                let at = |n: usize| slice.start + n * slice.step;
                                let units = at(0) / unit..=at(slice.count - 1) / unit;
                                assert!(units.count() <= most, "{slice:?} {unit} {most}");
                                found.extend((0..slice.count).map(at));
                            }
                            let wanted: Vec<_> = (0..count).map(|n| start + n * step).collect();
                            assert_eq!(found, wanted, "{unit} {most}");
                        }
                    }
                }
            }
        }
    }
}
