//! Chunks of one shape that are encoded from elements of an array.

use std::ops::Range;

use zarr_array::{Array, AxisSelection, Selection};
use zarr_grid::Axis;
use zarr_metadata::{ChunkGrid, Codec};

use super::expected::spread;
use super::goal::Goal;
use super::sample::{Elements, Sample, inner_lengths};
use super::shapes::{objects, product, real};
use super::trial;
use crate::ReportError;

/// A chunk as stored: its bytes, and the seconds to decode it.
#[derive(Clone, Copy)]
pub(super) struct EncodedChunk {
    pub(super) encoded: f64,
    pub(super) decode: f64,
}

impl EncodedChunk {
    /// Encodes chunks of these lengths from all over the data. `None` if the codecs do not take them;
    /// `about` if only fill values are found.
    ///
    /// Of chunks that are too large, or for which too many chunks of the array would be read, parts are
    /// encoded.
    pub(super) fn tried(
        array: &Array,
        data: &[Vec<Range<u64>>],
        sample: u64,
        codecs: &[Codec],
        chunks: &[u64],
        about: Self,
    ) -> Result<Option<Self>, ReportError> {
        const MOST: u64 = 4;
        const READ_FOR_ONE: u64 = 8;
        // Parts that hold fill values only say nothing of the others.
        const LOOKED_AT: u64 = 32;
        let Some(first) = data.first() else { return Ok(Some(about)) };
        let bounds = data.iter().skip(1).fold(first.clone(), |all, one| {
            let axes = all.iter().zip(one);
            axes.map(|(all, one)| all.start.min(one.start)..all.end.max(one.end)).collect()
        });
        let size = u64::try_from(array.element_size().max(1)).unwrap_or(u64::MAX);
        let source: Vec<u64> = match inner_lengths(array.metadata().codecs(), chunks.len()) {
            inner if product(&inner) > 1 => inner,
            _ => {
                let first =
                    |axis: &Axis| axis.clipped(0).map_or(1, |first| first.end - first.start);
                array.grid().axes().iter().map(first).collect()
            }
        };
        let mut part: Vec<u64> =
            chunks.iter().zip(&bounds).map(|(one, all)| (*one).min(all.end - all.start)).collect();
        let read = |part: &[u64]| objects(part, &source).saturating_mul(product(&source));
        loop {
            let of = part.iter().zip(&source).map(|(part, source)| part.div_ceil(*source));
            let is_far = read(&part).saturating_mul(size) > sample.saturating_mul(READ_FOR_ONE);
            let is_large = product(&part).saturating_mul(size) > sample;
            let most = of.enumerate().filter(|(_, of)| is_far && *of > 1).max_by_key(|(_, of)| *of);
            let longest = most.or_else(|| {
                let axes = part.iter().copied().enumerate();
                axes.filter(|(_, length)| is_large && *length > 1).max_by_key(|(_, length)| *length)
            });
            let Some((axis, _)) = longest else { break };
            part[axis] = part[axis].div_ceil(2);
        }
        // Of a part that is only a few elements, headers are more than what is stored.
        let wanted = product(chunks).min(1 << 16);
        for axis in (0..part.len()).rev() {
            let most = source[axis].min(bounds[axis].end - bounds[axis].start);
            while product(&part) < wanted && part[axis] < most {
                part[axis] = (part[axis] * 2).min(most);
            }
        }
        let (mut taken, mut bytes) = (Vec::new(), 0_u64);
        for (place, within) in (0..LOOKED_AT).zip(data.iter().cycle()) {
            let axes = within.iter().zip(&bounds).zip(&part).zip(spread(place, part.len()));
            let ranges = axes.map(|(((within, bounds), length), at)| {
                let places = (within.end - within.start) / length;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "below the count"
                )]
                let place = ((at * real(places)) as u64).min(places.saturating_sub(1));
                let start = (within.start + place * length).min(bounds.end - length);
                AxisSelection::from(start..start + length)
            });
            let elements = Elements::read(array, &ranges.collect::<Selection>())?;
            if elements.is_filled(array.metadata().fill_value().bytes()) {
                continue;
            }
            bytes += elements.len();
            let count = u64::try_from(taken.len()).unwrap_or(u64::MAX);
            let mut stacked: Vec<_> = part.iter().map(|length| 0..*length).collect();
            stacked[0] = count * part[0]..(count + 1) * part[0];
            taken.push((stacked.into_iter().map(AxisSelection::from).collect(), elements));
            if bytes >= sample || count + 1 >= MOST {
                break;
            }
        }
        if taken.is_empty() {
            return Ok(Some(about));
        }
        let count = u64::try_from(taken.len()).unwrap_or(u64::MAX);
        let mut shape = part.clone();
        shape[0] *= count;
        let grid = ChunkGrid::Regular { chunk_shape: part.clone() };
        let data = Vec::new();
        let sample = Sample { shape, grid, taken, data, of: count, empty: 0, is_part: false };
        let trial = trial::run(&sample, array.metadata(), codecs.to_vec(), Goal::Read)?;
        let scale = real(product(chunks)) / real(product(&part)) / real(count);
        Ok(trial.map(|trial| Self {
            encoded: real(trial.bytes) * scale,
            decode: trial.decode.as_secs_f64() * scale,
        }))
    }
}
