//! `numcodecs.pcodec`: a standalone file of pco; its numbers are the components of the elements.
//!
//! The codec encodes an array. It runs as `bytes`, which puts the elements into C order, followed by
//! this compressor, because pco has no shapes.

use half::f16;
use pco::data_types::Number;
use pco::errors::PcoError;
use pco::standalone::{DecompressorItem, FileDecompressor, simple_compress};
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};
use zarr_metadata::{DataType, Pcodec as Configuration, PcodecDelta, PcodecMode};

use super::codec::BytesToBytes;
use super::limits::{check_decoded, check_empty, check_limit, check_ratio, reserve, with_room};
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::widen;

/// The most numbers in one chunk of a file.
const MOST_NUMBERS: u64 = 1 << 24;

/// The least bytes of a chunk of a file: 4 of its head, 3 of metadata and 1 of numbers.
const LEAST_CHUNK: u64 = 8;

/// Numbers that are decoded at a time, a multiple of the batches of pco.
const BATCH: usize = 16 * pco::FULL_BATCH_N;

#[derive(Debug)]
pub(crate) struct Pcodec {
    kind: Kind,
    config: ChunkConfig,
}

/// The type of the numbers.
#[derive(Clone, Copy, Debug)]
enum Kind {
    I16,
    I32,
    I64,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

/// Calls a function that is generic over the type of the numbers.
macro_rules! with_numbers {
    ($kind:expr, $run:ident($($argument:expr),*)) => {
        match $kind {
            Kind::I16 => $run::<i16>($($argument),*),
            Kind::I32 => $run::<i32>($($argument),*),
            Kind::I64 => $run::<i64>($($argument),*),
            Kind::U16 => $run::<u16>($($argument),*),
            Kind::U32 => $run::<u32>($($argument),*),
            Kind::U64 => $run::<u64>($($argument),*),
            Kind::F16 => $run::<f16>($($argument),*),
            Kind::F32 => $run::<f32>($($argument),*),
            Kind::F64 => $run::<f64>($($argument),*),
        }
    };
}

impl Pcodec {
    pub(crate) fn new(
        configuration: &Configuration,
        data_type: &DataType,
    ) -> Result<Self, ChainErrorKind> {
        let kind = match data_type {
            DataType::Int16 => Kind::I16,
            DataType::Int32 => Kind::I32,
            DataType::Int64 | DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_) => {
                Kind::I64
            }
            DataType::Uint16 => Kind::U16,
            DataType::Uint32 => Kind::U32,
            DataType::Uint64 => Kind::U64,
            DataType::Float16 | DataType::ComplexFloat16 => Kind::F16,
            DataType::Float32 | DataType::ComplexFloat32 | DataType::Complex64 => Kind::F32,
            DataType::Float64 | DataType::ComplexFloat64 | DataType::Complex128 => Kind::F64,
            _ => return Err(ChainErrorKind::NotHere { what: format!("data type {data_type}") }),
        };
        let order = |order: Option<u32>| usize::try_from(order.unwrap_or(0)).unwrap_or(0);
        let delta = match (configuration.delta_spec, configuration.delta_encoding_order) {
            (PcodecDelta::Auto, None) => DeltaSpec::Auto,
            (PcodecDelta::None, _) => DeltaSpec::NoOp,
            (PcodecDelta::TryLookback, _) => DeltaSpec::TryLookback,
            (PcodecDelta::Auto | PcodecDelta::TryConsecutive, given) => {
                DeltaSpec::TryConsecutive(order(given))
            }
            (other, _) => {
                return Err(ChainErrorKind::NotHere { what: format!("delta_spec {other:?}") });
            }
        };
        let mode = match configuration.mode_spec {
            PcodecMode::Auto => ModeSpec::Auto,
            PcodecMode::Classic => ModeSpec::Classic,
            other => {
                return Err(ChainErrorKind::NotHere { what: format!("mode_spec {other:?}") });
            }
        };
        let numbers = configuration.equal_pages_up_to.clamp(1, MOST_NUMBERS);
        let numbers = usize::try_from(numbers).unwrap_or(usize::MAX);
        let config = ChunkConfig::default()
            .with_compression_level(usize::try_from(configuration.level).unwrap_or(0))
            .with_mode_spec(mode)
            .with_delta_spec(delta)
            .with_paging_spec(PagingSpec::EqualPagesUpTo(numbers));
        Ok(Self { kind, config })
    }

    /// Bytes of a number.
    fn size(&self) -> usize {
        fn size<T>() -> usize {
            size_of::<T>()
        }
        with_numbers!(self.kind, size())
    }
}

impl BytesToBytes for Pcodec {
    fn most_encoded(&self, decoded: u64) -> u64 {
        // Each page has metadata of at most some bins: a twelfth of a page of 2^18 numbers, a
        // multiple of one of few.
        decoded.saturating_mul(2).saturating_add(1 << 16)
    }

    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        let ratio = widen(self.size()).saturating_mul(MOST_NUMBERS / LEAST_CHUNK);
        check_ratio(encoded, expected, ratio)
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let (expected, mut filled) = (out.len(), 0_usize);
        let put = |bytes: &[u8]| {
            let end = filled.saturating_add(bytes.len());
            let Some(place) = out.get_mut(filled..end) else {
                return Err(ChunkErrorKind::DecodedTooLong { expected: widen(expected) });
            };
            place.copy_from_slice(bytes);
            filled = end;
            Ok(())
        };
        with_numbers!(self.kind, decode(encoded, put))?;
        check_decoded(filled, expected)
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        let put = |bytes: &[u8]| {
            let length = out.len().saturating_add(bytes.len());
            check_limit(length, limit)?;
            let failed = |_| ChunkErrorKind::OutOfMemory { bytes: widen(length) };
            out.try_reserve(bytes.len()).map_err(failed)?;
            out.extend_from_slice(bytes);
            Ok(())
        };
        with_numbers!(self.kind, decode(encoded, put))
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        with_numbers!(self.kind, encode(decoded, &self.config, out))
    }
}

/// A number in its in-memory form.
trait Little: Number {
    fn load(bytes: &[u8]) -> Self;
    fn store(self, place: &mut [u8]);
}

macro_rules! little {
    ($($number:ty),*) => {
        $(impl Little for $number {
            fn load(bytes: &[u8]) -> Self {
                bytes.try_into().map(<$number>::from_le_bytes).unwrap_or_default()
            }

            fn store(self, place: &mut [u8]) {
                place.copy_from_slice(&self.to_le_bytes());
            }
        })*
    };
}

little!(i16, i32, i64, u16, u32, u64, f16, f32, f64);

/// Decodes all numbers, some at a time. It never requests more than there is room for, even if the
/// file states more.
fn decode<T: Little + Default>(
    encoded: &[u8],
    mut put: impl FnMut(&[u8]) -> Result<(), ChunkErrorKind>,
) -> Result<(), ChunkErrorKind> {
    let (file, mut rest) = FileDecompressor::new(encoded).map_err(corrupt)?;
    let mut numbers = vec![T::default(); BATCH];
    let mut bytes = vec![0; BATCH.saturating_mul(size_of::<T>())];
    loop {
        check_dictionary(rest, size_of::<T>())?;
        let mut chunk = match file.chunk_decompressor::<T, _>(rest).map_err(corrupt)? {
            DecompressorItem::Chunk(chunk) => chunk,
            DecompressorItem::EndOfData(rest) => return check_empty(rest),
        };
        loop {
            let progress = chunk.read(&mut numbers).map_err(corrupt)?;
            let read = numbers.iter().take(progress.n_processed);
            for (number, place) in read.zip(bytes.chunks_exact_mut(size_of::<T>())) {
                number.store(place);
            }
            let length = progress.n_processed.saturating_mul(size_of::<T>());
            put(bytes.get(..length).unwrap_or_default())?;
            if progress.finished {
                break;
            }
        }
        rest = chunk.into_src();
    }
}

/// Refuses a chunk of a file if its dictionary is longer than the chunk: pco would first allocate
/// memory for it.
///
/// A chunk begins with one byte for its type, three for the count of numbers, and four bits for its
/// mode. Mode 4 is a dictionary; 25 bits with the number of its values follow.
fn check_dictionary(chunk: &[u8], size: usize) -> Result<(), ChunkErrorKind> {
    let Some((head, values)) = chunk.split_first_chunk::<8>() else { return Ok(()) };
    let head = u64::from_le_bytes(*head);
    let count = usize::try_from(head >> 36 & 0x01ff_ffff).unwrap_or(usize::MAX);
    let is_dictionary = head >> 32 & 0xf == 4;
    if is_dictionary && count.saturating_mul(size) > values.len() {
        let reason = format!("a dictionary of {count} values in {} bytes", values.len());
        return Err(ChunkErrorKind::Corrupt { reason });
    }
    Ok(())
}

fn encode<T: Little>(
    decoded: &[u8],
    config: &ChunkConfig,
    out: &mut Vec<u8>,
) -> Result<(), ChunkErrorKind> {
    let mut numbers = with_room(decoded.len().checked_div(size_of::<T>()).unwrap_or(0))?;
    numbers.extend(decoded.chunks_exact(size_of::<T>()).map(T::load));
    let failed = |error: PcoError| ChunkErrorKind::Encode { reason: error.to_string() };
    let encoded = simple_compress(&numbers, config).map_err(failed)?;
    reserve(out, encoded.len())?;
    out.extend_from_slice(&encoded);
    Ok(())
}

fn corrupt(error: PcoError) -> ChunkErrorKind {
    ChunkErrorKind::Corrupt { reason: error.to_string() }
}
