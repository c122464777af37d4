//! A chain that is tried on a sample, in memory.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_array::store::{Key, Links, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec};

use super::goal::Goal;
use super::sample::{Elements, Sample};
use crate::ReportError;

/// A chain that was tried.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trial {
    /// The chain.
    pub codecs: Vec<Codec>,
    /// Stored bytes of the sample.
    pub bytes: u64,
    /// The time of one thread to encode the sample, and to decode it.
    pub encode: Duration,
    /// See `encode`.
    pub decode: Duration,
}

impl Trial {
    /// The time that counts for a goal, with a store of this rate; for the size, the bytes.
    pub(super) fn cost(&self, goal: Goal, rate: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "compared, and shown with three digits")]
        let moved = self.bytes as f64 / rate as f64;
        match goal {
            Goal::Size => moved,
            Goal::Read => moved + self.decode.as_secs_f64(),
            Goal::Write => moved + self.encode.as_secs_f64(),
            Goal::Both => 2.0 * moved + self.encode.as_secs_f64() + self.decode.as_secs_f64(),
        }
    }
}

/// Times that are shorter than this are too short to agree.
const SHORTEST: Duration = Duration::from_millis(20);

/// The most times that a sample is encoded and decoded, if the time counts: while other programs take
/// the processor, times are longer, and do not agree.
const MOST: usize = 5;

/// An array of the sample's shape; `None` if this build lacks a codec, or the chain does not take the
/// type or the chunks.
fn created(
    store: &Arc<dyn Store>,
    sample: &Sample,
    like: &ArrayMetadata,
    codecs: Vec<Codec>,
) -> Option<Array> {
    let metadata = ArrayBuilder::new(sample.shape.clone(), like.data_type().clone())
        .chunk_grid(sample.grid.clone())
        .fill_value(like.fill_value().clone())
        .codecs(codecs)
        .build();
    let array = Array::create(Arc::clone(store), &Prefix::root(), metadata.ok()?).ok()?;
    Some(array.with_threads(NonZeroUsize::MIN).with_empty_chunks_stored(true))
}

/// The sample as an array in memory that is not compressed.
pub(super) fn in_memory(sample: &Sample, like: &ArrayMetadata) -> Option<Array> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = created(&store, sample, like, vec![Codec::array_to_bytes(like.data_type())])?;
    sample.write(&array).ok()?;
    Some(array)
}

/// Encodes and decodes the sample. `None` if this build lacks a codec of the chain, or the chain
/// does not take the type, the chunks or the values.
pub(super) fn run(
    sample: &Sample,
    like: &ArrayMetadata,
    codecs: Vec<Codec>,
    goal: Goal,
) -> Result<Option<Trial>, ReportError> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let Some(array) = created(&store, sample, like, codecs.clone()) else { return Ok(None) };
    let write = || sample.write(&array);
    // For these, it does not count.
    let times = if matches!(goal, Goal::Read | Goal::Size) { 1 } else { MOST };
    let Some(encode) = fastest(times, write) else { return Ok(None) };
    let read = || {
        sample.taken.iter().try_for_each(|(region, elements)| match elements {
            Elements::Fixed(_) => array.read(region).map(drop),
            Elements::Variable(_) => array.read_as::<Vec<u8>>(region).map(drop),
        })
    };
    let Some(decode) = fastest(MOST, read) else { return Ok(None) };
    for (region, elements) in &sample.taken {
        let same = match (elements, Elements::read(&array, region)?) {
            (Elements::Fixed(one), Elements::Fixed(other)) => *one == other,
            (Elements::Variable(one), Elements::Variable(other)) => *one == other,
            _ => false,
        };
        // A chain that changes values, which the array itself may have, is no advice.
        if !same {
            return Ok(None);
        }
    }
    let mut bytes = 0_u64;
    let document = Prefix::root().key("zarr.json").map_err(ArrayError::from)?;
    for key in store.list(&Prefix::root(), Links::AsObjects) {
        let key: Key = key.map_err(ArrayError::from)?;
        if key != document {
            bytes = bytes.saturating_add(store.size(&key).map_err(ArrayError::from)?.unwrap_or(0));
        }
    }
    Ok(Some(Trial { codecs, bytes, encode, decode }))
}

/// The least time of at most so many runs, which end when the two shortest agree; `None` if the array
/// refuses.
fn fastest(times: usize, mut run: impl FnMut() -> Result<(), ArrayError>) -> Option<Duration> {
    shortest(times, || {
        let start = Instant::now();
        run().ok()?;
        Some(start.elapsed())
    })
}

/// The least of at most so many times, which end when the two least agree within a tenth.
fn shortest(times: usize, mut time: impl FnMut() -> Option<Duration>) -> Option<Duration> {
    let (mut least, mut next) = (time()?, Duration::MAX);
    for _ in 1..times {
        let time = time()?;
        next = next.min(time.max(least));
        least = least.min(time);
        if least > SHORTEST && next - least <= least / 10 {
            break;
        }
    }
    Some(least)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MOST, shortest};

    #[test]
    fn times_repeat_until_they_agree() {
        for (times, expected, runs) in [
            // Two that agree.
            (&[100, 101][..], 100, 2),
            (&[100, 91], 91, 2),
            // The processor was taken: until it is free.
            (&[400, 250, 100, 104], 100, 4),
            (&[100, 400, 180, 300, 150], 100, 5),
            (&[500, 400, 300, 200, 100, 100], 100, 5),
            // Too short to tell.
            (&[5, 5, 4, 5, 5, 1], 4, 5),
        ] {
            let mut left = times.iter();
            let next = || left.next().map(|time| Duration::from_millis(*time));
            assert_eq!(shortest(MOST, next), Some(Duration::from_millis(expected)), "{times:?}");
            assert_eq!(times.len() - left.len(), runs, "{times:?}");
        }
        assert_eq!(shortest(1, || Some(Duration::ZERO)), Some(Duration::ZERO));
        let mut left = [Some(Duration::from_secs(1)), None].into_iter();
        assert_eq!(shortest(MOST, || left.next().flatten()), None);
    }
}
