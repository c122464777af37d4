//! `zfp` and `numcodecs.zfpy`: a stream of zfp, of blocks of 4 elements along each dimension.
//!
//! The codec encodes an array. It runs as `bytes`, which puts the elements into C order, followed
//! by this compressor, which gets the shape. `numcodecs.zfpy` puts a header before the stream,
//! which repeats the type, the shape and the mode: the header's shape and mode count.
//!
//! A stream is words of 64 bits, least significant byte first. Builds of the C library with shorter
//! words omit bytes at the end of the last word.

use std::sync::Arc;

use zarr_metadata::{DataType, Zfp as Configuration};
use zfp_rs::{
    ZFP_MIN_EXP, ZfpBitStream, ZfpBitStreamRef, ZfpCompressionError, ZfpConfig,
    ZfpDecompressionError, ZfpDimensionality, ZfpField, ZfpFieldMut, ZfpHeaderMask, ZfpScalar,
    ZfpScalarType, ZfpStreamAlignment,
};

use super::codec::BytesToBytes;
use super::limits::{check_decoded, check_empty, check_limit, decode_stated, reserve, with_room};
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::widen;

/// Bytes of a word of a stream.
const WORD: usize = 8;

#[derive(Clone, Debug)]
pub(crate) struct Zfp {
    kind: Kind,
    config: ZfpConfig,
    /// Whether a header is before the stream.
    header: bool,
    /// Whether values that zfp does not keep may be encoded.
    allow_loss: bool,
    reversible: bool,
    dimensions: ZfpDimensionality,
    /// The length of each dimension, the fastest first; dimensions that the array does not have are
    /// 0.
    lengths: [usize; 4],
}

/// The type of the elements.
#[derive(Clone, Copy, Debug)]
enum Kind {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Kind {
    /// Bytes of an element.
    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The type of zfp that elements are stored as.
    fn scalar(self) -> ZfpScalarType {
        match self {
            Self::I8 | Self::I16 | Self::I32 | Self::U8 | Self::U16 | Self::U32 => {
                ZfpScalarType::I32
            }
            Self::I64 | Self::U64 => ZfpScalarType::I64,
            Self::F32 => ZfpScalarType::F32,
            Self::F64 => ZfpScalarType::F64,
        }
    }
}

impl Zfp {
    /// The codec of arrays with this many dimensions.
    pub(crate) fn new(
        configuration: &Configuration,
        header: bool,
        data_type: &DataType,
        rank: usize,
        allow_loss: bool,
    ) -> Result<Self, ChainErrorKind> {
        let kind = match data_type {
            DataType::Int8 => Kind::I8,
            DataType::Int16 => Kind::I16,
            DataType::Int32 => Kind::I32,
            DataType::Int64 | DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_) => {
                Kind::I64
            }
            DataType::Uint8 => Kind::U8,
            DataType::Uint16 => Kind::U16,
            DataType::Uint32 => Kind::U32,
            DataType::Uint64 => Kind::U64,
            DataType::Float32 => Kind::F32,
            DataType::Float64 => Kind::F64,
            _ => return Err(ChainErrorKind::NotHere { what: format!("data type {data_type}") }),
        };
        let is_native = matches!(kind, Kind::I32 | Kind::I64 | Kind::F32 | Kind::F64);
        if header && !is_native {
            return Err(ChainErrorKind::NotHere { what: format!("data type {data_type}") });
        }
        // An array without dimensions is one of one dimension.
        let dimensions = u32::try_from(rank.max(1)).ok();
        let dimensions = dimensions.and_then(|count| ZfpDimensionality::try_from(count).ok());
        let Some(dimensions) = dimensions else {
            return Err(ChainErrorKind::NotHere { what: format!("an array of {rank} dimensions") });
        };
        let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        let unaligned = ZfpStreamAlignment::Unaligned;
        let config = match configuration {
            Configuration::Reversible => Ok(ZfpConfig::reversible()),
            Configuration::FixedAccuracy { tolerance } => {
                Ok(ZfpConfig::fixed_accuracy(number(tolerance)))
            }
            Configuration::FixedPrecision { precision } => {
                Ok(ZfpConfig::fixed_precision(*precision))
            }
            Configuration::FixedRate { rate } => {
                ZfpConfig::fixed_rate(number(rate), kind.scalar(), dimensions, unaligned)
            }
            Configuration::Expert { minbits, maxbits, maxprec, minexp } => {
                ZfpConfig::expert(*minbits, *maxbits, *maxprec, *minexp)
            }
            _ => return Err(ChainErrorKind::NotHere { what: "this mode".to_owned() }),
        };
        let config = config.map_err(|error| ChainErrorKind::Other { reason: error.to_string() })?;
        if config.max_bits() < least_bits(kind.scalar(), &config) {
            let what = format!("a block of {} bits", config.max_bits());
            return Err(ChainErrorKind::NotHere { what });
        }
        let reversible = configuration.is_reversible();
        let mut lengths = [0; 4];
        lengths[0] = 1;
        Ok(Self { kind, config, header, allow_loss, reversible, dimensions, lengths })
    }

    /// Decodes the numbers that elements are stored as.
    fn numbers<T: ZfpScalar>(
        &self,
        encoded: &[u8],
        count: usize,
    ) -> Result<Vec<T>, ChunkErrorKind> {
        let words = words(encoded)?;
        let mut stream = ZfpBitStreamRef::from_words(&words);
        let (config, dimensions, lengths) = match self.header {
            true => header::<T>(&mut stream, count)?,
            false => (self.config, self.dimensions, self.lengths),
        };
        check_blocks(encoded, &config, lengths, count.saturating_mul(size_of::<T>()))?;
        let mut numbers = with_room(count)?;
        numbers.resize(count, T::default());
        let mut field = ZfpFieldMut::new(&mut numbers, lengths).map_err(corrupt)?;
        let begun = stream.read_pos();
        let used = stream.decompress(&config, &mut field).map_err(|error| match error {
            ZfpDecompressionError::Truncated { .. } => cut_short(encoded),
            error => corrupt(error),
        })?;
        match encoded.get(used..) {
            Some(rest) => check_empty(rest)?,
            // The words that are not there have nothing but zeros that fill up the last block.
            None if used > words.len().saturating_mul(WORD) => return Err(cut_short(encoded)),
            None => {
                let mut stream = ZfpBitStreamRef::from_words(&words);
                stream.seek_read(begun);
                check_last_word::<T>(encoded, &mut stream, &config, dimensions, lengths)?;
            }
        }
        Ok(numbers)
    }

    /// Decodes each number to an element.
    fn decode_as<T: ZfpScalar, const SIZE: usize>(
        &self,
        encoded: &[u8],
        out: &mut [u8],
        element: impl Fn(T) -> [u8; SIZE],
    ) -> Result<(), ChunkErrorKind> {
        let (places, rest) = out.as_chunks_mut::<SIZE>();
        check_decoded(rest.len(), 0)?;
        let numbers = self.numbers::<T>(encoded, places.len())?;
        for (place, number) in places.iter_mut().zip(numbers) {
            *place = element(number);
        }
        Ok(())
    }

    /// Encodes the number that each element is stored as, and whether that is its own value.
    fn encode_as<T: Kept, const SIZE: usize>(
        &self,
        decoded: &[u8],
        out: &mut Vec<u8>,
        number: impl Fn([u8; SIZE]) -> (T, bool),
    ) -> Result<(), ChunkErrorKind> {
        let (elements, rest) = decoded.as_chunks::<SIZE>();
        check_decoded(rest.len(), 0)?;
        let mut numbers = with_room(elements.len())?;
        for (at, element) in elements.iter().enumerate() {
            let (number, is_same) = number(*element);
            let reason = if !is_same {
                "more than the greatest signed integer, which is the most that zfp stores"
            } else if !self.reversible && !number.is_kept() {
                T::RANGE
            } else {
                numbers.push(number);
                continue;
            };
            if !self.allow_loss {
                let value = element.iter().rev();
                let value = value.fold(String::from("0x"), |hex, b| format!("{hex}{b:02x}"));
                let (element, reason) = (widen(at), reason.to_owned());
                return Err(ChunkErrorKind::Value { element, value, reason });
            }
            numbers.push(number);
        }
        let field = ZfpField::new(&numbers, self.lengths).map_err(refused)?;
        // A stream is rarely longer than this. The library gives the needed length after a stream
        // did not fit.
        let mut capacity = decoded.len().saturating_add(decoded.len() / 8).saturating_add(1024);
        let stream = loop {
            let mut stream = ZfpBitStream::new(capacity)
                .map_err(|error| ChunkErrorKind::OutOfMemory { bytes: widen(error.bytes) })?;
            if self.header {
                let header =
                    stream.write_header(&self.config, &field.metadata(), ZfpHeaderMask::FULL);
                header.map_err(refused)?;
            }
            match stream.compress(&self.config, &field) {
                Ok(_) => break stream,
                Err(ZfpCompressionError::BufferTooSmall { required, capacity: found })
                    if required > found =>
                {
                    capacity = required;
                }
                Err(error) => return Err(refused(error)),
            }
        };
        let words = stream.as_words();
        reserve(out, words.len().saturating_mul(WORD))?;
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        Ok(())
    }
}

impl BytesToBytes for Zfp {
    fn most_encoded(&self, decoded: u64) -> u64 {
        let most = self.config.maximum_size(self.kind.scalar(), self.lengths);
        most.map_or(u64::MAX, widen).max(decoded)
    }

    fn for_shape(&self, shape: &[usize]) -> Option<Arc<dyn BytesToBytes>> {
        let mut lengths = self.lengths;
        for (length, size) in lengths.iter_mut().zip(shape.iter().rev()) {
            *length = *size;
        }
        Some(Arc::new(Self { lengths, ..self.clone() }))
    }

    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind> {
        if !self.header {
            return check_blocks(encoded, &self.config, self.lengths, expected);
        }
        // The header may have another shape. A block has a bit at least.
        let most = widen(encoded.len()).saturating_mul(8 * 256);
        let elements = widen(expected).checked_div(widen(self.kind.size())).unwrap_or(0);
        match elements > most {
            true => Err(too_short(encoded, expected)),
            false => Ok(()),
        }
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let byte = |n: i32, zero: i32| (n >> 23).saturating_add(zero);
        let pair = |n: i32, zero: i32| (n >> 15).saturating_add(zero);
        match self.kind {
            Kind::I8 => self.decode_as(encoded, out, |n: i32| {
                i8::try_from(byte(n, 0).clamp(-0x80, 0x7f)).unwrap_or_default().to_le_bytes()
            }),
            Kind::U8 => self.decode_as(encoded, out, |n: i32| {
                u8::try_from(byte(n, 0x80).clamp(0, 0xff)).unwrap_or_default().to_le_bytes()
            }),
            Kind::I16 => self.decode_as(encoded, out, |n: i32| {
                i16::try_from(pair(n, 0).clamp(-0x8000, 0x7fff)).unwrap_or_default().to_le_bytes()
            }),
            Kind::U16 => self.decode_as(encoded, out, |n: i32| {
                u16::try_from(pair(n, 0x8000).clamp(0, 0xffff)).unwrap_or_default().to_le_bytes()
            }),
            Kind::I32 => self.decode_as(encoded, out, i32::to_le_bytes),
            Kind::U32 => self.decode_as(encoded, out, |n: i32| n.max(0).to_le_bytes()),
            Kind::I64 => self.decode_as(encoded, out, i64::to_le_bytes),
            Kind::U64 => self.decode_as(encoded, out, |n: i64| n.max(0).to_le_bytes()),
            Kind::F32 => self.decode_as(encoded, out, f32::to_le_bytes),
            Kind::F64 => self.decode_as(encoded, out, f64::to_le_bytes),
        }
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        let lengths = self.lengths.iter().filter(|length| **length > 0);
        let bytes = lengths.fold(self.kind.size(), |n, length| n.saturating_mul(*length));
        check_limit(bytes, limit)?;
        self.check_len(encoded, bytes)?;
        decode_stated(self, encoded, bytes, out)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        // As the specification promotes shorter integers: to the upper bits but the highest.
        match self.kind {
            Kind::I8 => {
                self.encode_as(decoded, out, |e| (i32::from(i8::from_le_bytes(e)) << 23, true))
            }
            Kind::U8 => self.encode_as(decoded, out, |e| {
                (i32::from(u8::from_le_bytes(e)).saturating_sub(0x80) << 23, true)
            }),
            Kind::I16 => {
                self.encode_as(decoded, out, |e| (i32::from(i16::from_le_bytes(e)) << 15, true))
            }
            Kind::U16 => self.encode_as(decoded, out, |e| {
                (i32::from(u16::from_le_bytes(e)).saturating_sub(0x8000) << 15, true)
            }),
            Kind::I32 => self.encode_as(decoded, out, |e| (i32::from_le_bytes(e), true)),
            Kind::U32 => self.encode_as(decoded, out, |e| {
                i32::try_from(u32::from_le_bytes(e)).map_or((i32::MAX, false), |n| (n, true))
            }),
            Kind::I64 => self.encode_as(decoded, out, |e| (i64::from_le_bytes(e), true)),
            Kind::U64 => self.encode_as(decoded, out, |e| {
                i64::try_from(u64::from_le_bytes(e)).map_or((i64::MAX, false), |n| (n, true))
            }),
            Kind::F32 => self.encode_as(decoded, out, |e| (f32::from_le_bytes(e), true)),
            Kind::F64 => self.encode_as(decoded, out, |e| (f64::from_le_bytes(e), true)),
        }
    }
}

/// A number type of zfp, and the numbers that its lossy modes keep.
trait Kept: ZfpScalar {
    const RANGE: &str;

    fn is_kept(self) -> bool;
}

macro_rules! kept {
    ($($number:ty: $range:expr, $name:literal;)*) => {
        $(impl Kept for $number {
            const RANGE: &str = $name;

            fn is_kept(self) -> bool {
                $range.contains(&self)
            }
        })*
    };
}

kept! {
    i32: (-(1 << 30)..1 << 30), "out of -2^30 to 2^30 - 1, beyond which lossy modes of zfp overflow";
    i64: (-(1 << 62)..1 << 62), "out of -2^62 to 2^62 - 1, beyond which lossy modes of zfp overflow";
    f32: (f32::MIN..=f32::MAX), "not a finite number, which only the reversible mode of zfp keeps";
    f64: (f64::MIN..=f64::MAX), "not a finite number, which only the reversible mode of zfp keeps";
}

/// The words of a stream, the last one filled up with zeros.
fn words(encoded: &[u8]) -> Result<Vec<u64>, ChunkErrorKind> {
    let (whole, rest) = encoded.as_chunks::<WORD>();
    let mut words = with_room(whole.len().saturating_add(1))?;
    words.extend(whole.iter().map(|word| u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        let mut last = [0; WORD];
        last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
        words.push(u64::from_le_bytes(last));
    }
    Ok(words)
}

/// The bits that a block has at least.
fn least_bits(scalar: ZfpScalarType, config: &ZfpConfig) -> u32 {
    let data_type = match scalar {
        ZfpScalarType::I32 => DataType::Int32,
        ZfpScalarType::I64 => DataType::Int64,
        ZfpScalarType::F32 => DataType::Float32,
        ZfpScalarType::F64 => DataType::Float64,
    };
    Configuration::least_block_bits(&data_type, config.min_exp() < ZFP_MIN_EXP)
}

/// Reads a header: the mode, and dimensions with the expected count of numbers.
fn header<T: ZfpScalar>(
    stream: &mut ZfpBitStreamRef<'_>,
    count: usize,
) -> Result<(ZfpConfig, ZfpDimensionality, [usize; 4]), ChunkErrorKind> {
    let header = stream.read_header(ZfpHeaderMask::FULL).map_err(corrupt)?;
    let wrong = |reason: String| Err(ChunkErrorKind::Corrupt { reason });
    let (Some(metadata), Some(config)) = (header.metadata, header.config) else {
        return wrong("a header without a shape and a mode".to_owned());
    };
    if metadata.scalar_type != T::SCALAR_TYPE {
        let (found, expected) = (metadata.scalar_type, T::SCALAR_TYPE);
        return wrong(format!("a header of {found}, expected {expected}"));
    }
    let least = least_bits(T::SCALAR_TYPE, &config);
    if config.max_bits() < least {
        let bits = config.max_bits();
        return wrong(format!("a header of blocks of {bits} bits, expected at least {least}"));
    }
    let lengths = metadata.dims;
    let given: Vec<usize> = lengths.iter().copied().filter(|length| *length > 0).collect();
    let found = given.iter().try_fold(1_usize, |n, length| n.checked_mul(*length));
    if found != Some(count) {
        let given: Vec<String> = given.iter().rev().map(ToString::to_string).collect();
        let given = given.join(" x ");
        return wrong(format!("a header of {given} elements, expected {count}"));
    }
    let dimensions = u32::try_from(given.len()).ok();
    match dimensions.and_then(|count| ZfpDimensionality::try_from(count).ok()) {
        Some(dimensions) => Ok((config, dimensions, lengths)),
        None => wrong("a header without dimensions".to_owned()),
    }
}

/// Refuses a stream that has fewer bits than its blocks need, before memory is allocated and blocks
/// are decoded for it.
fn check_blocks(
    encoded: &[u8],
    config: &ZfpConfig,
    lengths: [usize; 4],
    expected: usize,
) -> Result<(), ChunkErrorKind> {
    let bits = widen(encoded.len()).saturating_mul(8);
    let (blocks, least) = (blocks(lengths), u64::from(config.min_bits().max(1)));
    // Padding of a block is skipped, and may be missing after the last block.
    let all_but_one = blocks.saturating_sub(1).saturating_mul(least);
    match blocks > bits || all_but_one > bits {
        true => Err(too_short(encoded, expected)),
        false => Ok(()),
    }
}

/// The number of blocks of an array.
fn blocks(lengths: [usize; 4]) -> u64 {
    let lengths = lengths.iter().filter(|length| **length > 0);
    lengths.fold(1_u64, |n, length| n.saturating_mul(widen(length.div_ceil(4))))
}

/// Refuses a stream that ends within a word if a block reads bits that are not there.
///
/// The blocks are decoded once more, because the library tells only which words it has read.
fn check_last_word<T: ZfpScalar>(
    encoded: &[u8],
    stream: &mut ZfpBitStreamRef<'_>,
    config: &ZfpConfig,
    dimensions: ZfpDimensionality,
    lengths: [usize; 4],
) -> Result<(), ChunkErrorKind> {
    let mut block = vec![T::default(); dimensions.block_size()];
    for _ in 0..blocks(lengths) {
        let read = zfp_rs::codec::block::decode_block(stream, config, &mut block, dimensions);
        read.map_err(corrupt)?;
    }
    match stream.read_pos() > widen(encoded.len()).saturating_mul(8) {
        true => Err(cut_short(encoded)),
        false => Ok(()),
    }
}

fn too_short(encoded: &[u8], expected: usize) -> ChunkErrorKind {
    ChunkErrorKind::DecodedTooShort { encoded: widen(encoded.len()), expected: widen(expected) }
}

fn cut_short(encoded: &[u8]) -> ChunkErrorKind {
    let reason = format!("the stream goes on after its {} bytes", encoded.len());
    ChunkErrorKind::Corrupt { reason }
}

fn corrupt(error: impl std::error::Error) -> ChunkErrorKind {
    ChunkErrorKind::Corrupt { reason: error.to_string() }
}

fn refused(error: impl std::error::Error) -> ChunkErrorKind {
    ChunkErrorKind::Encode { reason: error.to_string() }
}
