//! Units: what is encoded as a whole, and moves from one array to another as it is stored.

use std::ops::Range;

use zarr_array::Array;
use zarr_grid::Axis;
use zarr_metadata::Codec;

/// How encoded chunks, and inner chunks of shards, move from one array to another as they are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitMoves {
    /// The shape of a unit in the target.
    pub(crate) edges: Vec<u64>,
    /// Whether they are inner chunks of the source.
    pub(crate) from_shards: bool,
    /// Whether they are inner chunks of the target.
    pub(crate) to_shards: bool,
    /// The elements of the target that are the source's. They begin with a unit.
    place: Vec<Range<u64>>,
    /// The element of the source that comes to the first place, on each axis of the target.
    first: Vec<u64>,
    /// The axis of the target that the source lacks: it has one index there.
    pub(crate) new_axis: Option<usize>,
    /// The length of the target.
    shape: Vec<u64>,
}

/// The units of an array, of one kind.
struct Units<'m> {
    edges: Vec<u64>,
    codecs: &'m [Codec],
    are_inner: bool,
}

impl UnitMoves {
    /// The moves of units from an array to another that has its elements at `place`, and perhaps a
    /// new axis. `are_alike` says whether two chains encode units of the source and of the target to
    /// the same bytes.
    ///
    /// Where both chunks and the chunks within them are the same, chunks move, unless the source's
    /// elements end within one: then what moves is the chunks within them.
    ///
    /// `None` if the source's units are not the target's.
    #[must_use]
    pub fn new(
        from: &Array,
        to: &Array,
        place: &[Range<u64>],
        new_axis: Option<usize>,
        are_alike: impl Fn(&[Codec], &[Codec]) -> bool,
    ) -> Option<Self> {
        if from.members().is_some() || from.fill() != to.fill() {
            return None;
        }
        let targets = units(to);
        let shape = to.shape();
        let mut same = units(from).into_iter().filter_map(|of_source| {
            let mut edges = of_source.edges;
            if let Some(axis) = new_axis {
                edges.insert(axis.min(edges.len()), 1);
            }
            let begins = |(range, edge): (&Range<u64>, &u64)| range.start.is_multiple_of(*edge);
            if !place.iter().zip(&edges).all(begins) {
                return None;
            }
            let is_same = |of_target: &&Units<'_>| {
                of_target.edges == edges && are_alike(of_source.codecs, of_target.codecs)
            };
            let of_target = targets.iter().find(is_same)?;
            Some(Self {
                from_shards: of_source.are_inner,
                to_shards: of_target.are_inner,
                edges,
                place: place.to_vec(),
                first: vec![0; place.len()],
                new_axis,
                shape: shape.to_vec(),
            })
        });
        let moves = same.next()?;
        match moves.are_whole(&shape.iter().map(|length| 0..*length).collect::<Vec<_>>()) {
            true => Some(moves),
            false => Some(same.last().unwrap_or(moves)),
        }
    }

    /// The same for a source whose element `first` comes to the first place, on each axis of the
    /// target. `None` if it is not the first of a unit.
    #[must_use]
    pub fn beginning_at(self, first: &[u64]) -> Option<Self> {
        let mut axes = first.iter().zip(&self.edges);
        let begins = axes.all(|(first, edge)| first.is_multiple_of(*edge));
        (begins && first.len() == self.edges.len()).then(|| Self { first: first.to_vec(), ..self })
    }

    /// The length of a unit on an axis of the target.
    #[must_use]
    pub fn edge(&self, axis: usize) -> Option<u64> {
        self.edges.get(axis).copied()
    }

    /// Of a copy: the target has the source's elements at the same places.
    pub(crate) fn of_copy(from: &Array, to: &Array) -> Option<Self> {
        let all: Vec<Range<u64>> = to.shape().iter().map(|length| 0..*length).collect();
        Self::new(from, to, &all, None, |source, target| source == target)
    }

    /// Whether the source's elements in a chunk of the target are whole units: none is shared with the
    /// elements that follow the source's.
    #[must_use]
    pub fn are_whole(&self, chunk: &[Range<u64>]) -> bool {
        let axes = self.common(chunk).into_iter().zip(&self.edges).zip(&self.shape);
        let mut ends = axes.map(|((range, edge), length)| {
            range.is_empty() || range.end == *length || range.end.is_multiple_of(*edge)
        });
        ends.all(|is_whole| is_whole)
    }

    /// The number of units of arrays of this shape.
    pub(crate) fn count(&self, shape: &[u64]) -> u64 {
        let axes = shape.iter().zip(&self.edges);
        axes.fold(1, |all, (length, edge)| all.saturating_mul(length.div_ceil((*edge).max(1))))
    }

    /// The source's elements in a chunk of the target.
    fn common(&self, chunk: &[Range<u64>]) -> Vec<Range<u64>> {
        let axes = self.place.iter().zip(chunk);
        axes.map(|(own, chunk)| {
            let start = own.start.max(chunk.start);
            start..own.end.min(chunk.end).max(start)
        })
        .collect()
    }

    /// The numbers of the source's units, on each axis of the target, in a chunk of the target.
    pub(crate) fn units_in(&self, chunk: &[Range<u64>]) -> Vec<Range<u64>> {
        let axes = self.common(chunk).into_iter().zip(&self.edges);
        // No edge is 0.
        let at = |element: u64, edge: u64| element.checked_div(edge).unwrap_or(0);
        axes.map(|(range, edge)| match range.is_empty() {
            true => 0..0,
            false => at(range.start, *edge)..range.end.div_ceil((*edge).max(1)),
        })
        .collect()
    }

    /// The unit that a chunk of the source is, if it is one of these.
    pub(crate) fn unit_of_chunk(&self, index: &[u64], of: &[Range<u64>]) -> Option<Vec<u64>> {
        let mut unit = index.to_vec();
        if let Some(axis) = self.new_axis {
            unit.insert(axis.min(unit.len()), 0);
        }
        let places = self.place.iter().zip(&self.first);
        for ((at, edge), (place, first)) in unit.iter_mut().zip(&self.edges).zip(places) {
            let after = at.checked_add(place.start.checked_div(*edge)?)?;
            *at = after.checked_sub(first.checked_div(*edge)?)?;
        }
        let is_one = unit.iter().zip(of).all(|(at, range)| range.contains(at));
        (is_one && unit.len() == of.len()).then_some(unit)
    }

    /// The first element of a unit, in the source.
    pub(crate) fn in_source(&self, unit: &[u64]) -> Vec<u64> {
        let axes = unit.iter().zip(&self.edges).zip(self.place.iter().zip(&self.first));
        let within = axes.map(|((at, edge), (place, first))| at * edge - place.start + first);
        let mut first: Vec<u64> = within.collect();
        if let Some(axis) = self.new_axis.filter(|axis| *axis < first.len()) {
            first.remove(axis);
        }
        first
    }
}

/// The chunks of an array, if all have one shape, and the inner chunks of its shards.
fn units(array: &Array) -> Vec<Units<'_>> {
    let codecs = array.metadata().codecs();
    let edges: Option<Vec<u64>> = array.grid().axes().iter().map(Axis::regular_edge).collect();
    let plain = edges.map(|edges| Units { edges, codecs, are_inner: false });
    let inner = match codecs {
        [Codec::ShardingIndexed(shards)] => Some(Units {
            edges: shards.chunk_shape.clone(),
            codecs: &shards.codecs,
            are_inner: true,
        }),
        _ => None,
    };
    plain.into_iter().chain(inner).collect()
}

/// The numbers on each axis, in C order.
pub(crate) fn each_of(ranges: &[Range<u64>]) -> impl Iterator<Item = Vec<u64>> {
    let counts: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
    let all = counts.iter().fold(1, |all: u64, count| all.saturating_mul(*count));
    (0..all).filter_map(move |number| {
        let within = zarr_grid::unravel(number, &counts)?;
        let at = within.iter().zip(ranges).map(|(at, range)| range.start + at);
        Some(at.collect())
    })
}
