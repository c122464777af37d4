//! `zfp`, and `numcodecs.zfpy`.

use crate::codec::configuration::{Configuration, Context, Input, Members, Names, read_named};
use crate::data_type::DataType;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{JsonType, Object, Raw};

/// The configuration of `zfp`: its mode, with the parameters of that mode.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Zfp};
///
/// let json = br#"{"name": "zfp", "configuration": {"mode": "reversible"}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::Zfp(Zfp::Reversible));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// zarr-extensions `codecs/zfp`, with the modes of the [zfp
/// library](https://zfp.readthedocs.io/en/latest/modes.html).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Zfp {
    /// `"reversible"`: every element reads back bit by bit.
    Reversible,
    /// `"fixed_accuracy"`: floats read back with at most this absolute error, a JSON number.
    FixedAccuracy {
        /// The error; 0 keeps as much as this mode can.
        tolerance: Box<str>,
    },
    /// `"fixed_rate"`: this many bits per element, a JSON number.
    FixedRate {
        /// Bits per element, of blocks of 4 elements along each dimension.
        rate: Box<str>,
    },
    /// `"fixed_precision"`: this many bit planes, which bounds the relative error.
    FixedPrecision {
        /// Bit planes; 0 is all of them.
        precision: u32,
    },
    /// `"expert"`: the parameters that the other modes set.
    Expert {
        /// The fewest bits of a block.
        minbits: u32,
        /// The most bits of a block.
        maxbits: u32,
        /// The most bit planes of a block, from 1 to 64.
        maxprec: u32,
        /// The least bit plane of floats, as an exponent of 2; below -1074 the mode is reversible.
        minexp: i32,
    },
}

impl Zfp {
    /// Whether every element reads back bit by bit: in the mode `Reversible`, and in `Expert` with
    /// the parameters of that mode.
    #[must_use]
    pub fn is_reversible(&self) -> bool {
        match self {
            Zfp::Reversible => true,
            Zfp::Expert { maxbits, maxprec: 64, minexp, .. } => {
                *maxbits >= MOST_BITS && *minexp < LEAST_EXPONENT
            }
            _ => false,
        }
    }

    /// The bits with which a block of this data type begins, in a reversible mode or in another.
    /// With fewer bits per block the C library computes a bound below 0, and then writes and reads
    /// without a bound.
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{DataType, Zfp};
    ///
    /// // A bit that says whether all is zero, and 8 for the common exponent.
    /// assert_eq!(Zfp::least_block_bits(&DataType::Float32, false), 9);
    /// ```
    #[must_use]
    pub fn least_block_bits(data_type: &DataType, reversible: bool) -> u32 {
        match (data_type, reversible) {
            (DataType::Float32, false) => 9,
            (DataType::Float32, true) => 15,
            (DataType::Float64, false) => 12,
            (DataType::Float64, true) => 19,
            (DataType::Opaque(_), _) | (_, false) => 1,
            (data_type, true) => {
                if data_type.size() == Some(8) {
                    6
                } else {
                    5
                }
            }
        }
    }
}

/// The configuration of `numcodecs.zfpy`: the modes of `zfp` that numcodecs has.
///
/// # Spec
/// None; the format of numcodecs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Zfpy {
    /// Every element reads back bit by bit. numcodecs writes this without a parameter, or with a
    /// negative one.
    Reversible,
    /// As [`Zfp::FixedAccuracy`].
    FixedAccuracy {
        /// The error.
        tolerance: Box<str>,
    },
    /// As [`Zfp::FixedRate`].
    FixedRate {
        /// Bits per element.
        rate: Box<str>,
    },
    /// As [`Zfp::FixedPrecision`].
    FixedPrecision {
        /// Bit planes.
        precision: u32,
    },
}

impl From<&Zfpy> for Zfp {
    fn from(zfpy: &Zfpy) -> Self {
        match zfpy {
            Zfpy::Reversible => Zfp::Reversible,
            Zfpy::FixedAccuracy { tolerance } => {
                Zfp::FixedAccuracy { tolerance: tolerance.clone() }
            }
            Zfpy::FixedRate { rate } => Zfp::FixedRate { rate: rate.clone() },
            Zfpy::FixedPrecision { precision } => Zfp::FixedPrecision { precision: *precision },
        }
    }
}

/// Bits that no block exceeds, of any type and number of dimensions.
const MOST_BITS: u32 = 16658;

/// The exponent of the least bit plane that floats have; below it, the mode is reversible.
const LEAST_EXPONENT: i32 = -1074;

/// The dimensions that zfp supports.
const MOST_DIMENSIONS: usize = 4;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Reversible,
    FixedAccuracy,
    FixedRate,
    FixedPrecision,
    Expert,
}

const MODES: Names<Mode> = &[
    (Mode::Reversible, "reversible"),
    (Mode::FixedAccuracy, "fixed_accuracy"),
    (Mode::FixedRate, "fixed_rate"),
    (Mode::FixedPrecision, "fixed_precision"),
    (Mode::Expert, "expert"),
];

impl Configuration for Zfp {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        let raw = members.require("mode", "the name of a mode").breaks(Rule::ZFP_CONFIGURATION)?;
        let mode = read_named(MODES, raw).breaks(Rule::ZFP_CONFIGURATION).member("mode")?;
        match mode {
            Mode::Reversible => {
                members.check_known(&["mode"])?;
                Ok(Zfp::Reversible)
            }
            Mode::FixedAccuracy => {
                members.check_known(&["mode", "tolerance"])?;
                let tolerance = required(members, "tolerance", "a number", finite)?;
                Ok(Zfp::FixedAccuracy { tolerance })
            }
            Mode::FixedRate => {
                members.check_known(&["mode", "rate"])?;
                Ok(Zfp::FixedRate { rate: required(members, "rate", "a number", finite)? })
            }
            Mode::FixedPrecision => {
                members.check_known(&["mode", "precision"])?;
                let precision = required(members, "precision", NATURAL, natural)?;
                Ok(Zfp::FixedPrecision { precision })
            }
            Mode::Expert => {
                members.check_known(&["mode", "minbits", "maxbits", "maxprec", "minexp"])?;
                Ok(Zfp::Expert {
                    minbits: required(members, "minbits", NATURAL, natural)?,
                    maxbits: required(members, "maxbits", NATURAL, natural)?,
                    maxprec: required(members, "maxprec", NATURAL, natural)?,
                    minexp: required(members, "minexp", "an integer", |raw| {
                        let minexp = raw.integer().and_then(|n| i32::try_from(n).ok());
                        minexp.ok_or_else(|| raw.expected("an integer of 32 bits"))
                    })?,
                })
            }
        }
    }

    fn write(&self, members: &mut Members<'_>) {
        let mode = match self {
            Zfp::Reversible => Mode::Reversible,
            Zfp::FixedAccuracy { .. } => Mode::FixedAccuracy,
            Zfp::FixedRate { .. } => Mode::FixedRate,
            Zfp::FixedPrecision { .. } => Mode::FixedPrecision,
            Zfp::Expert { .. } => Mode::Expert,
        };
        members.named("mode", MODES, &mode);
        match self {
            Zfp::Reversible => {}
            Zfp::FixedAccuracy { tolerance } => members.plain("tolerance", tolerance),
            Zfp::FixedRate { rate } => members.plain("rate", rate),
            Zfp::FixedPrecision { precision } => members.plain("precision", precision),
            Zfp::Expert { minbits, maxbits, maxprec, minexp } => {
                members.plain("minbits", minbits);
                members.plain("maxbits", maxbits);
                members.plain("maxprec", maxprec);
                members.plain("minexp", minexp);
            }
        }
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        let is_supported = |data_type: &DataType| {
            use DataType::{
                Float32, Float64, Int8, Int16, Int32, Int64, NumpyDatetime64, NumpyTimedelta64,
                Opaque, Uint8, Uint16, Uint32, Uint64,
            };
            matches!(
                data_type,
                Int8 | Int16 | Int32 | Int64 | Uint8 | Uint16 | Uint32 | Uint64 | Float32 | Float64
            ) || matches!(data_type, NumpyDatetime64(_) | NumpyTimedelta64(_) | Opaque(_))
        };
        let allowed = "integers of 8, 16, 32 and 64 bits, float32, float64, or times";
        check_input(input, is_supported, allowed).breaks(Rule::ZFP_CONFIGURATION)?;
        check_parameters(self, input).breaks(Rule::ZFP_CONFIGURATION)
    }
}

impl Configuration for Zfpy {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        // numcodecs writes `compression_kwargs` in documents of version 2, and ignores them.
        members.check_known(&["mode", "tolerance", "rate", "precision", "compression_kwargs"])?;
        let rule = Rule::NUMCODECS_CONFIGURATION;
        let mode = members.optional("mode", |raw| {
            let mode = raw.natural().filter(|mode| (2..=5).contains(mode));
            mode.ok_or_else(|| {
                raw.expected("2 (fixed rate), 3 (precision), 4 (accuracy) or 5 (reversible)")
            })
        });
        let tolerance = members.optional("tolerance", finite).breaks(rule)?;
        let rate = members.optional("rate", finite).breaks(rule)?;
        let precision = members.optional("precision", |raw| {
            let precision = raw.integer().filter(|n| i32::try_from(*n).is_ok());
            precision.ok_or_else(|| raw.expected("an integer of 32 bits"))
        });
        let precision = precision.breaks(rule)?.and_then(|n| u32::try_from(n).ok());
        // A parameter below 0 is absent.
        let given = |number: Option<Box<str>>| number.filter(|text| value(text) >= 0.0);
        Ok(match mode.breaks(rule)?.unwrap_or(4) {
            2 => given(rate).map_or(Zfpy::Reversible, |rate| Zfpy::FixedRate { rate }),
            3 => precision.map_or(Zfpy::Reversible, |precision| Zfpy::FixedPrecision { precision }),
            4 => given(tolerance)
                .map_or(Zfpy::Reversible, |tolerance| Zfpy::FixedAccuracy { tolerance }),
            _ => Zfpy::Reversible,
        })
    }

    fn write(&self, members: &mut Members<'_>) {
        match self {
            Zfpy::FixedRate { rate } => {
                members.plain("mode", 2);
                members.plain("rate", rate);
            }
            Zfpy::FixedPrecision { precision } => {
                members.plain("mode", 3);
                members.plain("precision", precision);
            }
            Zfpy::FixedAccuracy { tolerance } => {
                members.plain("mode", 4);
                members.plain("tolerance", tolerance);
            }
            // numcodecs cannot write in mode 5.
            Zfpy::Reversible => {
                members.plain("mode", 4);
                members.plain("tolerance", -1);
            }
        }
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        let is_supported = |data_type: &DataType| {
            use DataType::{Float32, Float64, Int32, Int64, Opaque};
            matches!(data_type, Int32 | Int64 | Float32 | Float64 | Opaque(_))
        };
        check_input(input, is_supported, "int32, int64, float32 or float64")
            .breaks(Rule::NUMCODECS_CONFIGURATION)?;
        check_parameters(&Zfp::from(self), input).breaks(Rule::NUMCODECS_CONFIGURATION)
    }
}

/// Refuses an array that zfp cannot compress, as far as it is known.
fn check_input(
    input: Input<'_>,
    is_supported: impl Fn(&DataType) -> bool,
    allowed: &'static str,
) -> Result<()> {
    if let Some(data_type) = input.data_type.filter(|data_type| !is_supported(data_type)) {
        return Err(MetadataError::unexpected(format!("type {data_type}"), allowed));
    }
    match input.rank {
        Some(rank) if rank > MOST_DIMENSIONS => {
            let found = format!("an array of {rank} dimensions");
            let allowed = "at most 4; a reshape before this codec can join some";
            Err(MetadataError::unexpected(found, allowed))
        }
        _ => Ok(()),
    }
}

/// Refuses parameters with which zfp stores nothing, or more than any block needs.
fn check_parameters(zfp: &Zfp, input: Input<'_>) -> Result<()> {
    let refused = |member: &'static str, found: String, allowed: String| {
        Err(MetadataError::unexpected(found, allowed).in_member(member))
    };
    match zfp {
        Zfp::FixedAccuracy { tolerance } if !value(tolerance).is_finite() => {
            refused("tolerance", tolerance.to_string(), "a finite number".to_owned())
        }
        Zfp::FixedRate { rate } if !value(rate).is_finite() => {
            refused("rate", rate.to_string(), "a finite number".to_owned())
        }
        Zfp::FixedRate { rate } => {
            let Some(rank) = input.rank.filter(|rank| *rank <= MOST_DIMENSIONS) else {
                return Ok(());
            };
            let elements = (0..rank.max(1)).fold(1.0, |elements, _| elements * 4.0);
            let bits = (elements * value(rate) + 0.5).floor();
            let least = least_bits(input, false);
            if (f64::from(least)..=f64::from(MOST_BITS)).contains(&bits) {
                return Ok(());
            }
            let found = format!("{rate}, {bits} bits for a block of {elements} elements");
            refused("rate", found, format!("from {least} to {MOST_BITS} bits for a block"))
        }
        Zfp::Expert { maxprec, .. } if !(1..=64).contains(maxprec) => {
            refused("maxprec", maxprec.to_string(), "from 1 to 64".to_owned())
        }
        Zfp::Expert { minbits, maxbits, .. } if minbits > maxbits => {
            let found = format!("{minbits}, with a maxbits of {maxbits}");
            refused("minbits", found, "at most maxbits".to_owned())
        }
        Zfp::Expert { minbits, .. } if *minbits > MOST_BITS => {
            let allowed = format!("at most {MOST_BITS}, which no block exceeds");
            refused("minbits", minbits.to_string(), allowed)
        }
        Zfp::Expert { maxbits, minexp, .. } => {
            let least = least_bits(input, *minexp < LEAST_EXPONENT);
            if *maxbits >= least {
                return Ok(());
            }
            refused("maxbits", maxbits.to_string(), format!("at least {least}"))
        }
        Zfp::Reversible | Zfp::FixedAccuracy { .. } | Zfp::FixedPrecision { .. } => Ok(()),
    }
}

/// As [`Zfp::least_block_bits`]; for an unknown type, the bits that every type needs.
fn least_bits(input: Input<'_>, reversible: bool) -> u32 {
    input.data_type.map_or(1, |data_type| Zfp::least_block_bits(data_type, reversible))
}

const NATURAL: &str = "an integer of at least 0";

fn required<T>(
    members: &mut Object<'_>,
    key: &'static str,
    allowed: &'static str,
    read: impl FnOnce(Raw<'_>) -> Result<T>,
) -> Result<T> {
    let raw = members.require(key, allowed).breaks(Rule::ZFP_CONFIGURATION)?;
    read(raw).breaks(Rule::ZFP_CONFIGURATION).member(key)
}

fn natural(raw: Raw<'_>) -> Result<u32> {
    let number = raw.natural().and_then(|n| u32::try_from(n).ok());
    number.ok_or_else(|| raw.expected("an integer of at least 0 and less than 2^32"))
}

/// Reads the text of a number that is finite as a float64.
fn finite(raw: Raw<'_>) -> Result<Box<str>> {
    match raw.json_type() {
        JsonType::Number if value(raw.text()).is_finite() => Ok(raw.text().into()),
        _ => Err(raw.expected("a number within the range of float64")),
    }
}

/// The float64 of a JSON number; NaN of anything else.
fn value(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}
