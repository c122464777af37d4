//! The array-to-array codecs that change values, and possibly the data type.
//!
//! Codecs that only move elements compile to a view. A codec that changes values ends the view: the
//! codecs after it are a separate chain, bound to another data type. This chain decodes all its
//! elements, or those of a region; then the codec changes them one by one. Only `numcodecs.delta`
//! also needs the elements before each element, and third-party codecs need all. Computation is
//! exact, in the type of the elements or with more digits; see [`number`].

mod bitround;
mod cast;
mod convert;
mod native;
mod number;
mod refused;
mod scale;

use std::fmt;
use std::sync::Arc;

use zarr_metadata::{Codec, DataType};

use crate::bytes_to_bytes::{check_decoded, corrupt, refused};
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::widen;
use crate::options::Options;
use crate::scratch::{Buffer, Pool};
use crate::third_party::ArrayCodec;

pub use self::convert::{Change, ConvertError, convert};
use self::number::{Kind, integer, load, store, wrapped};
use self::refused::{Refused, not_here};

/// A codec that changes values, bound to its data type.
#[derive(Clone, Debug)]
pub(crate) struct ValueCodec {
    action: Action,
    /// Kinds of the components of the input and of the stored elements.
    from: Kind,
    to: Kind,
    /// Components per element.
    components: usize,
    /// The data type that is stored.
    output: DataType,
    checks: Checks,
}

/// What is checked of elements when they are encoded.
#[derive(Clone, Copy, Debug)]
struct Checks {
    allow_loss: bool,
    /// Whether to decode each of them: some values that can be stored cannot be read.
    reads_back: bool,
}

#[derive(Clone, Debug)]
enum Action {
    Bitround(bitround::Bitround),
    Cast { encode: cast::Cast, decode: cast::Cast, checks_fill: bool },
    Delta,
    Fixed(scale::Fixed),
    Quantize(scale::Digits),
    Scale(scale::Scale),
    Other(Other),
}

/// A third-party codec.
#[derive(Clone)]
struct Other {
    codec: Arc<dyn ArrayCodec>,
    /// Bytes of an input element, and of an output element.
    sizes: [usize; 2],
}

impl fmt::Debug for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Other({:?})", self.sizes)
    }
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_))
}

impl ValueCodec {
    /// Binds a codec; `None` if it does not change values.
    pub(crate) fn bind(
        codec: &Codec,
        input: &DataType,
        options: &Options,
    ) -> Option<Result<Self, ChainErrorKind>> {
        let output = match codec {
            Codec::Bitround(_)
            | Codec::NumcodecsBitround(_)
            | Codec::NumcodecsQuantize(_)
            | Codec::ScaleOffset(_) => input,
            Codec::CastValue(cast) => &cast.data_type,
            Codec::NumcodecsAsType(cast) => &cast.encode_dtype,
            Codec::NumcodecsDelta(delta) => delta.astype.as_ref().unwrap_or(input),
            Codec::NumcodecsFixedScaleOffset(fixed) => fixed.astype.as_ref().unwrap_or(input),
            _ => return None,
        };
        let bound = kinds(codec, input, output).and_then(|(from, to, components)| {
            let action = action(codec, input, from, to)?;
            let is_bitround = matches!(action, Action::Bitround(_));
            if components > 1 && !is_bitround {
                return Err(not_here(format!("data type {input}")));
            }
            let is_readable = match &action {
                Action::Cast { encode, decode, .. } => cast::Cast::is_readable(encode, decode),
                Action::Fixed(fixed) => fixed.is_readable(),
                Action::Scale(scale) => scale.is_readable(),
                _ => true,
            };
            let checks = Checks { allow_loss: options.allow_loss, reads_back: !is_readable };
            Ok(Self { action, from, to, components, output: output.clone(), checks })
        });
        Some(bound)
    }

    /// A third-party codec, which turns elements of type `input` into elements of type `output`.
    pub(crate) fn other(
        codec: Arc<dyn ArrayCodec>,
        input: &DataType,
        output: DataType,
    ) -> Result<Self, ChainErrorKind> {
        let size = |data_type: &DataType| {
            let size = data_type.size().filter(|size| *size > 0);
            size.ok_or_else(|| ChainErrorKind::DataType { data_type: data_type.to_string() })
        };
        let sizes = [size(input)?, size(&output)?];
        // Not used: only that codec knows its components.
        let kind = Kind::Int { bits: 8, signed: false };
        let action = Action::Other(Other { codec, sizes });
        let checks = Checks { allow_loss: true, reads_back: false };
        Ok(Self { action, from: kind, to: kind, components: 1, output, checks })
    }

    /// Whether this is a third-party codec. How it changes single elements is not known.
    pub(crate) fn is_other(&self) -> bool {
        matches!(self.action, Action::Other(_))
    }

    /// The data type that is stored.
    pub(crate) fn output(&self) -> &DataType {
        &self.output
    }

    /// Whether values read may differ from those written because that is the purpose of the
    /// codec.
    pub(crate) fn rounds(&self) -> bool {
        match &self.action {
            Action::Bitround(_) | Action::Fixed(_) | Action::Quantize(_) => true,
            Action::Cast { checks_fill, .. } => !checks_fill,
            Action::Scale(scale) => matches!(scale, scale::Scale::Float { .. }),
            Action::Delta | Action::Other(_) => false,
        }
    }

    /// Whether each element is changed independently.
    pub(crate) fn is_elementwise(&self) -> bool {
        !matches!(self.action, Action::Delta | Action::Other(_))
    }

    /// The stored form of `elements`, an array of this shape.
    ///
    /// Elements that could not be read from it are refused even if loss is allowed: with them, the
    /// whole chunk would be lost.
    pub(crate) fn encode(
        &self,
        elements: &[u8],
        shape: &[usize],
        pool: &mut Pool,
    ) -> Result<Buffer, ChunkErrorKind> {
        self.encode_checked(elements, shape, self.checks, pool)
    }

    /// The stored form of a fill value. It only tells which chunks were left out, perhaps by other
    /// writers, so that it may lose anything.
    pub(crate) fn encode_fill(
        &self,
        fill: &[u8],
        pool: &mut Pool,
    ) -> Result<Buffer, ChunkErrorKind> {
        self.encode_checked(fill, &[], Checks { allow_loss: true, reads_back: false }, pool)
    }

    fn encode_checked(
        &self,
        elements: &[u8],
        shape: &[usize],
        checks: Checks,
        pool: &mut Pool,
    ) -> Result<Buffer, ChunkErrorKind> {
        let target = &self.output;
        let Checks { allow_loss, reads_back } = checks;
        match &self.action {
            Action::Bitround(codec) => {
                self.each(elements, pool, self.from, self.to, target, |code| {
                    codec.encode(code, allow_loss)
                })
            }
            Action::Quantize(codec) => {
                self.each(elements, pool, self.from, self.to, target, |code| {
                    codec.encode(code, allow_loss)
                })
            }
            Action::Cast { encode, decode, .. } => {
                self.each(elements, pool, self.from, self.to, target, |code| {
                    let stored = encode.cast(code, allow_loss)?;
                    if reads_back {
                        decode.cast(stored, true).map_err(|_| Refused::Unreadable)?;
                    }
                    Ok(stored)
                })
            }
            Action::Fixed(codec) => self.each(elements, pool, self.from, self.to, target, |code| {
                let stored = codec.encode(code, allow_loss)?;
                if reads_back {
                    codec.check(code, stored, allow_loss)?;
                }
                Ok(stored)
            }),
            Action::Scale(codec) => self.each(elements, pool, self.from, self.to, target, |code| {
                let stored = codec.encode(code)?;
                if reads_back {
                    codec.decode(stored).map_err(|_| Refused::Unreadable)?;
                }
                Ok(stored)
            }),
            Action::Other(Other { codec, sizes: [given, made] }) => {
                let stored = codec.encode(elements, shape).map_err(refused)?;
                let count = elements.len().checked_div(*given).unwrap_or(0);
                if stored.len() != count * made {
                    let found = stored.len();
                    let reason = format!("{found} bytes for {count} elements of {made} bytes");
                    return Err(ChunkErrorKind::Encode { reason });
                }
                Ok(stored.into())
            }
            Action::Delta => {
                let (Kind::Int { bits, signed }, Kind::Int { bits: to_bits, signed: to_signed }) =
                    (self.from, self.to)
                else {
                    let mut differences = scale::Differences::new(self.from, self.to);
                    return self.each(elements, pool, self.from, self.to, target, |code| {
                        match differences.next(code) {
                            (stored, true) => Ok(stored),
                            (stored, false) if allow_loss => Ok(stored),
                            (_, false) => Err(Refused::Rounded),
                        }
                    });
                };
                let mut before = 0;
                self.each(elements, pool, self.from, self.to, target, |code| {
                    let value = integer(code, bits, signed);
                    let difference = wrapped(value.wrapping_sub(before), bits, signed);
                    before = value;
                    let stored = wrapped(integer(difference, bits, signed), to_bits, to_signed);
                    let again = wrapped(integer(stored, to_bits, to_signed), bits, signed);
                    match again == difference || allow_loss {
                        true => Ok(stored),
                        false => Err(Refused::OutOfRange),
                    }
                })
            }
        }
    }

    /// The elements of `stored`, an array of this shape.
    pub(crate) fn decode(
        &self,
        stored: &[u8],
        shape: &[usize],
        target: &DataType,
        pool: &mut Pool,
    ) -> Result<Buffer, ChunkErrorKind> {
        match &self.action {
            Action::Bitround(_) | Action::Quantize(_) => {
                let mut elements = pool.take(stored.len())?;
                elements.copy_from_slice(stored);
                Ok(elements)
            }
            Action::Cast { decode, .. } => {
                self.each(stored, pool, self.to, self.from, target, |code| decode.cast(code, true))
            }
            Action::Fixed(codec) => {
                self.each(stored, pool, self.to, self.from, target, |code| codec.decode(code))
            }
            Action::Scale(codec) => {
                self.each(stored, pool, self.to, self.from, target, |code| codec.decode(code))
            }
            Action::Other(Other { codec, sizes: [given, made] }) => {
                let elements = codec.decode(stored, shape).map_err(corrupt)?;
                let count = stored.len().checked_div(*made).unwrap_or(0);
                check_decoded(elements.len(), count * given)?;
                Ok(elements.into())
            }
            Action::Delta => match (self.from, self.to) {
                (Kind::Int { bits, signed }, Kind::Int { bits: to_bits, signed: to_signed }) => {
                    let mut sum = 0;
                    self.each(stored, pool, self.to, self.from, target, |code| {
                        let next = wrapped(
                            integer(code, to_bits, to_signed).wrapping_add(sum),
                            bits,
                            signed,
                        );
                        sum = integer(next, bits, signed);
                        Ok(next)
                    })
                }
                _ => {
                    let mut sums = scale::Sum::new(self.to, self.from);
                    self.each(stored, pool, self.to, self.from, target, |code| Ok(sums.add(code)))
                }
            },
        }
    }

    /// Converts each component.
    fn each(
        &self,
        elements: &[u8],
        pool: &mut Pool,
        from: Kind,
        to: Kind,
        target: &DataType,
        mut change: impl FnMut(u64) -> Result<u64, Refused>,
    ) -> Result<Buffer, ChunkErrorKind> {
        let components = elements.len().checked_div(from.size()).unwrap_or(0);
        let mut changed = pool.take(components * to.size())?;
        let pairs = elements.chunks_exact(from.size()).zip(changed.chunks_exact_mut(to.size()));
        for (at, (source, place)) in pairs.enumerate() {
            match change(load(source)) {
                Ok(code) => store(code, place),
                Err(refused) => {
                    let element = widen(at.checked_div(self.components).unwrap_or(at));
                    let value = source.iter().rev();
                    let value = value.fold(String::from("0x"), |hex, b| format!("{hex}{b:02x}"));
                    return Err(ChunkErrorKind::Value {
                        element,
                        value,
                        reason: refused.reason(target),
                    });
                }
            }
        }
        Ok(changed)
    }
}

/// The kinds of both data types, and the number of components.
fn kinds(
    codec: &Codec,
    input: &DataType,
    output: &DataType,
) -> Result<(Kind, Kind, usize), ChainErrorKind> {
    // Codecs for which a time is the integer that it is in memory, and a boolean its byte.
    let takes_times = matches!(codec, Codec::Bitround(_) | Codec::NumcodecsAsType(_));
    let takes_bools = matches!(codec, Codec::NumcodecsAsType(_));
    let kind = |data_type: &DataType| {
        let kind = match data_type {
            time if takes_times && is_time(time) => Some(Kind::Int { bits: 64, signed: true }),
            DataType::Bool if takes_bools => Some(Kind::Int { bits: 8, signed: false }),
            data_type => Kind::of(data_type),
        };
        kind.ok_or_else(|| not_here(format!("data type {data_type}")))
    };
    let components =
        |data_type: &DataType| data_type.element_layout().map_or(1, |layout| layout.components);
    if components(input) != components(output) {
        return Err(not_here(format!("{input} as {output}")));
    }
    Ok((kind(input)?, kind(output)?, components(input)))
}

fn action(codec: &Codec, input: &DataType, from: Kind, to: Kind) -> Result<Action, ChainErrorKind> {
    let bitround = |keepbits| {
        Action::Bitround(bitround::Bitround { kind: from, keepbits, is_time: is_time(input) })
    };
    let computable = |kind: Kind| matches!(kind, Kind::Int { .. }) || scale::is_numpy_float(kind);
    Ok(match codec {
        Codec::Bitround(bitround) if bitround.keepbits == 0 => {
            return Err(not_here("keepbits 0".to_owned()));
        }
        Codec::Bitround(codec) => bitround(codec.keepbits),
        Codec::NumcodecsBitround(codec) if scale::is_numpy_float(from) => bitround(codec.keepbits),
        Codec::NumcodecsQuantize(quantize) if scale::is_numpy_float(from) => {
            Action::Quantize(scale::Digits::new(quantize, from)?)
        }
        Codec::CastValue(configuration) => {
            let [encode, decode] = cast::Cast::both(configuration, input)?;
            Action::Cast { encode, decode, checks_fill: true }
        }
        Codec::NumcodecsAsType(cast) => {
            let output = &cast.encode_dtype;
            // NumPy converts units, and makes NaT of NaN.
            let computes = |data_type: &DataType| data_type.is_float() || is_time(data_type);
            let both = [(input, output), (output, input)];
            if input != output && both.iter().any(|(time, other)| is_time(time) && computes(other))
            {
                return Err(not_here(format!("{input} as {output}")));
            }
            let encode = cast::Cast::numpy(from, to).with_truth(*output == DataType::Bool);
            let decode = cast::Cast::numpy(to, from).with_truth(*input == DataType::Bool);
            Action::Cast { encode, decode, checks_fill: false }
        }
        Codec::NumcodecsFixedScaleOffset(fixed) if computable(from) && computable(to) => {
            Action::Fixed(scale::Fixed::new(fixed, from, to)?)
        }
        Codec::ScaleOffset(configuration) => {
            Action::Scale(scale::Scale::new(configuration, input)?)
        }
        Codec::NumcodecsDelta(_)
            if computable(from)
                && computable(to)
                && matches!(from, Kind::Int { .. }) == matches!(to, Kind::Int { .. }) =>
        {
            Action::Delta
        }
        _ => return Err(not_here(format!("data type {input}"))),
    })
}
