//! Sampled chunks of an array.

use std::ops::Range;

use zarr_array::{Array, ArrayError, AxisSelection, Selection, StoredTasks};
use zarr_metadata::{ChunkGrid, DataType};

use crate::ReportError;
use crate::bits::Bits;

/// The most chunks that are looked at for each that is taken: others may hold fill values only.
const LOOKED_AT: u64 = 8;

/// The most chunks of a sample.
const MOST: u64 = 64;

/// Elements of sampled chunks, and the array of these chunks.
#[derive(Debug)]
pub(super) struct Sample {
    /// The shape and the grid of the array in which chains are tried.
    pub(super) shape: Vec<u64>,
    pub(super) grid: ChunkGrid,
    /// The regions of the chunks in that array, with their elements.
    pub(super) taken: Vec<(Selection, Elements)>,
    /// The regions of the sampled array that hold data: the whole one, unless chunks of fill values
    /// were found.
    pub(super) data: Vec<Vec<Range<u64>>>,
    /// The chunks from which they were chosen.
    pub(super) of: u64,
    /// Chunks that were looked at and hold the fill value only.
    pub(super) empty: u64,
    /// Whether only a part of one chunk was taken.
    pub(super) is_part: bool,
}

#[derive(Debug)]
pub(super) enum Elements {
    Fixed(Vec<u8>),
    Variable(Vec<Vec<u8>>),
}

impl Elements {
    pub(super) fn read(array: &Array, region: &Selection) -> Result<Self, ReportError> {
        Ok(match array.data_type().is_variable_length() {
            true => {
                let strings = array.read_as::<Vec<u8>>(region)?;
                Self::Variable(strings.iter().map(<[u8]>::to_vec).collect())
            }
            false => Self::Fixed(array.read(region)?),
        })
    }

    /// Bytes in memory.
    pub(super) fn len(&self) -> u64 {
        let bytes = match self {
            Self::Fixed(elements) => elements.len(),
            Self::Variable(strings) => strings.iter().map(Vec::len).sum(),
        };
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    pub(super) fn is_filled(&self, fill: Option<&[u8]>) -> bool {
        let Some(fill) = fill.filter(|fill| !fill.is_empty()) else { return self.len() == 0 };
        match self {
            Self::Fixed(elements) => {
                elements.chunks_exact(fill.len()).all(|element| element == fill)
            }
            Self::Variable(strings) => strings.iter().all(|element| element == fill),
        }
    }
}

impl Sample {
    /// Reads about so many bytes, from chunks all over a region.
    pub(super) fn read(array: &Array, region: &Selection, bytes: u64) -> Result<Self, ReportError> {
        let plan = array.layout().plan(region)?;
        let metadata = array.metadata();
        let of = plan.len();
        if of == 0 {
            return Err(ReportError::Nothing { what: "the region has no elements" });
        }
        let mut sample = Self {
            shape: metadata.shape().to_vec(),
            grid: metadata.chunk_grid().clone(),
            taken: Vec::new(),
            data: Vec::new(),
            of,
            empty: 0,
            is_part: false,
        };
        let size = u64::try_from(array.element_size().max(1)).unwrap_or(u64::MAX);
        let mut read = 0_u64;
        let most = usize::try_from(MOST * LOOKED_AT).unwrap_or(usize::MAX);
        let is_sparse = array.is_sparse(of);
        let bounds = region.bounds();
        let chunks: Box<dyn Iterator<Item = Result<Vec<u64>, ArrayError>>> = match is_sparse {
            // Hardly a chunk all over the region is stored.
            true => {
                let bounds = bounds.clone();
                let stored = StoredTasks::new(array, array.grid().clone(), most);
                let is_within = move |elements: &[Range<u64>]| {
                    let mut axes = elements.iter().zip(&bounds);
                    axes.all(|(a, b)| a.start < b.end && b.start < a.end)
                };
                Box::new(stored.filter_map(move |task| match task {
                    Ok((chunk, elements)) => is_within(&elements).then_some(Ok(chunk)),
                    Err(error) => Some(Err(error)),
                }))
            }
            false => Box::new(order(of).filter_map(|number| {
                let planned = plan.chunks(number..number + 1);
                planned.map(|mut chunks| Some(chunks.pop()?.chunk)).transpose()
            })),
        };
        for chunk in chunks.take(most) {
            let chunk = chunk?;
            let axes = array.grid().axes().iter().zip(&chunk);
            let mut region: Vec<_> =
                axes.filter_map(|(axis, chunk)| axis.clipped(*chunk)).collect();
            let elements =
                region.iter().fold(size, |n, axis| n.saturating_mul(axis.end - axis.start));
            let is_part = elements > bytes.saturating_mul(4);
            if is_part {
                let inner = inner_lengths(metadata.codecs(), region.len());
                cut(&mut region, &inner, size, bytes);
            }
            let selection: Selection = region.iter().cloned().map(AxisSelection::from).collect();
            let found = Elements::read(array, &selection)?;
            if found.is_filled(metadata.fill_value().bytes()) {
                sample.empty += 1;
                continue;
            }
            read += found.len();
            if is_part {
                // The part is an array of one chunk, in which the chunks before have no place.
                sample.is_part = true;
                sample.shape = region.iter().map(|axis| axis.end - axis.start).collect();
                sample.grid = ChunkGrid::Regular { chunk_shape: sample.shape.clone() };
                sample.taken = vec![(Selection::whole(&sample.shape), found)];
                sample.data = vec![sample.shape.iter().map(|length| 0..*length).collect()];
            } else {
                sample.data.push(region);
                sample.taken.push((selection, found));
            }
            if read >= bytes || sample.is_part || sample.chunks() >= MOST {
                break;
            }
        }
        if sample.empty == 0 && !is_sparse && !sample.is_part {
            sample.data = vec![bounds];
        }
        match sample.taken.is_empty() {
            true => Err(ReportError::Nothing { what: "there are no elements but fill values" }),
            false => Ok(sample),
        }
    }

    pub(super) fn chunks(&self) -> u64 {
        u64::try_from(self.taken.len()).unwrap_or(u64::MAX)
    }

    /// Bytes of elements in memory.
    pub(super) fn bytes(&self) -> u64 {
        self.taken.iter().fold(0, |sum, (_, elements)| sum + elements.len())
    }

    pub(super) fn write(&self, array: &Array) -> Result<(), ArrayError> {
        self.taken.iter().try_for_each(|(region, elements)| match elements {
            Elements::Fixed(elements) => array.write(region, elements),
            Elements::Variable(strings) => array.write_as(region, strings),
        })
    }

    /// The bits that the elements use.
    pub(super) fn bits(&self, data_type: &DataType) -> Option<Bits> {
        let mut bits = Bits::of(data_type)?;
        for (_, elements) in &self.taken {
            if let Elements::Fixed(elements) = elements {
                bits.add(elements);
            }
        }
        Some(bits)
    }
}

/// All numbers below `count`, each once, such that the first ones are spread evenly: steps of the
/// golden ratio, which follow no period of the data.
pub(super) fn order(count: u64) -> impl Iterator<Item = u64> {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "any number without a common divisor does"
    )]
    let near = (count as f64 * 0.618_033_988_749_894_9) as u64;
    let gcd = |mut one: u64, mut other: u64| {
        while other != 0 {
            (one, other) = (other, one % other);
        }
        one
    };
    let step = (near.max(1)..).find(|step| gcd(*step, count) == 1).unwrap_or(1);
    let mut at = count / 2;
    (0..count).map(move |_| {
        let number = at;
        let next = u128::from(at).saturating_add(step.into()) % u128::from(count.max(1));
        at = u64::try_from(next).unwrap_or(0);
        number
    })
}

/// The lengths of inner chunks of shards. A part of a chunk must have whole ones.
pub(super) fn inner_lengths(codecs: &[zarr_metadata::Codec], rank: usize) -> Vec<u64> {
    match codecs.first() {
        Some(zarr_metadata::Codec::ShardingIndexed(sharding)) => sharding.chunk_shape.clone(),
        _ => vec![1; rank],
    }
}

/// Halves the longest axis until so many bytes are left, or nothing can be halved.
fn cut(region: &mut [std::ops::Range<u64>], inner: &[u64], size: u64, bytes: u64) {
    loop {
        let length = |axis: &std::ops::Range<u64>| axis.end - axis.start;
        let all = region.iter().fold(size, |n, axis| n.saturating_mul(length(axis)));
        if all <= bytes {
            return;
        }
        let half = |axis: &std::ops::Range<u64>, inner: u64| {
            (length(axis) / 2).div_ceil(inner.max(1)).max(1).saturating_mul(inner.max(1))
        };
        let inner = |at: usize| inner.get(at).copied().unwrap_or(1);
        let longest = (0..region.len())
            .filter(|at| half(&region[*at], inner(*at)) < length(&region[*at]))
            .max_by_key(|at| length(&region[*at]));
        let Some(at) = longest else { return };
        region[at].end = region[at].start + half(&region[at], inner(at));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarr_array::store::{MemoryStore, Prefix};
    use zarr_metadata::{ArrayBuilder, ChunkEdges, Codec};

    use super::*;
    use crate::advise::{Advice, AdviceOptions, Goal};

    /// Chunks of which one is cut and others are not have no array together.
    #[test]
    fn small_and_large_chunks_are_sampled_in_any_order() {
        let (small, large) = (10, 1000);
        // The lengths of chunks, which of them hold fill values only, and the sampled bytes.
        for (lengths, empty, expected) in [
            (vec![small, large], vec![], 62),
            (vec![large, small], vec![], 62),
            (vec![small, large, small], vec![], 62),
            (vec![large, small], vec![0], 10),
            (vec![small, large], vec![1], 10),
            (vec![small, large, small], vec![1], 20),
        ] {
            let metadata = ArrayBuilder::new([lengths.iter().sum()], DataType::Uint8)
                .chunks([ChunkEdges::from_lengths(lengths.iter().copied())])
                .codecs([Codec::bytes()])
                .build()
                .expect("a document");
            let store = Arc::new(MemoryStore::new());
            let array = Array::create(store, &Prefix::root(), metadata).expect("is new");
            let mut start = 0;
            for (at, length) in lengths.iter().enumerate() {
                let elements =
                    vec![u8::from(!empty.contains(&at)); usize::try_from(*length).expect("small")];
                array.write(start..start + length, &elements).expect("writes");
                start += length;
            }
            let (whole, options) = (
                Selection::whole(array.shape()),
                AdviceOptions::new().goal(Goal::Size).sample(100),
            );
            let advice = Advice::of(&array, &whole, &options, &mut |_, _| {})
                .unwrap_or_else(|error| panic!("{lengths:?}: {error}"));
            assert_eq!(advice.sample.bytes(), expected, "{lengths:?}");
        }
    }

    #[test]
    fn every_chunk_has_its_turn_once_and_the_first_are_spread() {
        for count in [0, 1, 2, 3, 10, 12, 97, 1000] {
            let mut seen: Vec<u64> = order(count).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..count).collect::<Vec<_>>(), "{count}");
        }
        let mut first: Vec<u64> = order(1000).take(10).collect();
        first.sort_unstable();
        let most = first.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(most < Some(250), "{first:?}");
        assert_eq!(order(u64::MAX).take(64).collect::<std::collections::BTreeSet<_>>().len(), 64);
    }

    #[test]
    fn a_part_of_a_chunk_has_whole_inner_chunks() {
        let mut region = [0..1000, 10..110];
        cut(&mut region, &[7, 20], 1, 10_000);
        let lengths = [region[0].end, region[1].end - 10];
        assert!(lengths[0] * lengths[1] <= 10_000 && lengths[0] % 7 == 0 && lengths[1] % 20 == 0);
        let mut point = [5..6; 1];
        cut(&mut point, &[1], 8, 4);
        assert_eq!(point[0], 5..6);
    }
}
