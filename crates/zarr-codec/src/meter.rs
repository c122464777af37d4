//! Counts calls, bytes and time of bytes-to-bytes codecs, for a program that shows where the time
//! of a read goes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::bytes_to_bytes::codec::BytesToBytes;
use crate::codec_path::CodecPath;
use crate::error::ChunkErrorKind;
use crate::length::widen;

/// Measures the decoding time of a chain's bytes-to-bytes codecs: compressors, checksums, and
/// third-party codecs that give bytes.
///
/// Given to a chain by [`Options::meter`](crate::Options::meter); clones count together. Any number
/// of threads may decode, and their times are added up. The rest of a read's time is
/// spent by the store, and by the one pass that unpacks and moves the elements. The other codecs of a
/// chain take no separate time.
///
/// # Examples
/// ```
/// use zarr_codec::{AxisEdges, Chain, Meter, Options, Scratch, Slice};
/// use zarr_metadata::{Codec, DataType};
/// use zarr_view::{Output, View};
///
/// let meter = Meter::new();
/// let codecs = [Codec::bytes(), Codec::Crc32c];
/// let options = Options::new().meter(meter.clone());
/// let chain = Chain::bind_with(&codecs, &DataType::Uint8, &[AxisEdges::one(3)], options)?;
/// let codec = chain.for_shape(&[3])?;
///
/// // The elements 1, 2 and 3, and their checksum.
/// let encoded = [1, 2, 3, 0x1e, 0xf2, 0x30, 0xf1];
/// let mut elements = [0; 3];
/// let mut out = Output::new(&mut elements, &View::contiguous(&[3])?, 1)?;
/// codec.decode(&encoded, &[Slice::from(0..3)], &mut out, &[0], &mut Scratch::new())?;
/// let [crc32c] = &meter.codecs()[..] else { unreachable!("one codec") };
/// assert_eq!((&*crc32c.name, &*crc32c.path), ("crc32c", "$.codecs[1]"));
/// assert_eq!((crc32c.calls, crc32c.encoded, crc32c.decoded), (1, 7, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Meter {
    counts: Arc<Mutex<Vec<Arc<Count>>>>,
}

/// Meters are equal if they count together.
impl PartialEq for Meter {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.counts, &other.counts)
    }
}

impl Eq for Meter {}

/// The counts of one codec, from [`Meter::codecs`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metered {
    /// The JSON path of the codec in the metadata document.
    pub path: String,
    /// The name of the codec.
    pub name: String,
    /// The time in it, added up over all threads.
    pub time: Duration,
    /// The number of calls of its decoder.
    pub calls: u64,
    /// Encoded bytes: its input.
    pub encoded: u64,
    /// Decoded bytes: its output.
    pub decoded: u64,
}

impl Meter {
    /// A meter that has counted nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The measurement of each codec, in the order in which the codecs were bound: for a chain the
    /// order of the metadata document.
    #[must_use]
    pub fn codecs(&self) -> Vec<Metered> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|count| count.metered()).collect()
    }

    /// The codec, which now counts.
    pub(crate) fn count(
        &self,
        codec: Box<dyn BytesToBytes>,
        place: &CodecPath,
    ) -> Box<dyn BytesToBytes> {
        let path = place.path();
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        // A chain that is bound again, to other options, continues its counts.
        let found = counts.iter().find(|count| count.path == path && &*count.name == place.name());
        let count = found.map(Arc::clone).unwrap_or_else(|| {
            let count = Arc::new(Count { path, name: place.name().into(), ..Count::default() });
            counts.push(Arc::clone(&count));
            count
        });
        Box::new(Counted { codec: codec.into(), count })
    }
}

#[derive(Debug, Default)]
struct Count {
    path: String,
    name: Box<str>,
    nanoseconds: AtomicU64,
    calls: AtomicU64,
    encoded: AtomicU64,
    decoded: AtomicU64,
}

impl Count {
    fn metered(&self) -> Metered {
        let of = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Metered {
            path: self.path.clone(),
            name: self.name.to_string(),
            time: Duration::from_nanos(of(&self.nanoseconds)),
            calls: of(&self.calls),
            encoded: of(&self.encoded),
            decoded: of(&self.decoded),
        }
    }

    fn add(&self, begun: Instant, encoded: usize, decoded: usize) {
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        for (number, more) in [
            (&self.nanoseconds, took),
            (&self.calls, 1),
            (&self.encoded, widen(encoded)),
            (&self.decoded, widen(decoded)),
        ] {
            number.fetch_add(more, Ordering::Relaxed);
        }
    }
}

/// A codec that counts its decoding.
#[derive(Debug)]
struct Counted {
    codec: Arc<dyn BytesToBytes>,
    count: Arc<Count>,
}

impl BytesToBytes for Counted {
    fn encoded_len(&self, decoded: Option<u64>) -> Option<u64> {
        self.codec.encoded_len(decoded)
    }

    fn most_encoded(&self, decoded: u64) -> u64 {
        self.codec.most_encoded(decoded)
    }

    fn input_offset(&self) -> Option<u64> {
        self.codec.input_offset()
    }

    fn decoded_prefix(&self, encoded: &[u8]) -> Option<Result<usize, ChunkErrorKind>> {
        let begun = Instant::now();
        let prefix = self.codec.decoded_prefix(encoded)?;
        self.count.add(begun, encoded.len(), prefix.as_ref().copied().unwrap_or(0));
        Some(prefix)
    }

    fn for_shape(&self, shape: &[usize]) -> Option<Arc<dyn BytesToBytes>> {
        let codec = self.codec.for_shape(shape)?;
        Some(Arc::new(Self { codec, count: Arc::clone(&self.count) }))
    }

    fn decode_owned(
        &self,
        encoded: &[u8],
        expected: usize,
    ) -> Option<Result<Vec<u8>, ChunkErrorKind>> {
        let begun = Instant::now();
        let decoded = self.codec.decode_owned(encoded, expected)?;
        self.count.add(begun, encoded.len(), decoded.as_ref().map_or(0, Vec::len));
        Some(decoded)
    }

    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        self.codec.check_len(encoded, expected)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let begun = Instant::now();
        let decoded = self.codec.decode_to(encoded, out);
        self.count.add(begun, encoded.len(), out.len());
        decoded
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        let begun = Instant::now();
        let decoded = self.codec.decode_up_to(encoded, limit, out);
        self.count.add(begun, encoded.len(), out.len());
        decoded
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        self.codec.encode(decoded, out)
    }
}
