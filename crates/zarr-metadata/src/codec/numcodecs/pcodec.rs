//! `numcodecs.pcodec`: numbers compressed by pco.

use super::{narrow, or};
use crate::codec::configuration::{Configuration, Context, Input, Members, Names, read_named};
use crate::data_type::DataType;
use crate::error::rule::Rule;
use crate::error::{MetadataError, Result};
use crate::json::{Object, Raw};

/// The configuration of `numcodecs.pcodec`. Reading does not depend on its members.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Pcodec};
///
/// let json = br#"{"name": "numcodecs.pcodec", "configuration": {"level": 8}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::NumcodecsPcodec(Pcodec::new(8)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// The format of standalone files of [pco](https://github.com/pcodec/pcodec), with the members of
/// numcodecs' `PCodec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Pcodec {
    /// From 0 to 12.
    pub level: u32,
    /// Whether pco looks for a structure in the numbers, such as multiples of 0.1.
    pub mode_spec: PcodecMode,
    /// The kind of differences that are stored.
    pub delta_spec: PcodecDelta,
    /// The number of times that differences are taken, from 0 to 7: for `TryConsecutive`, and for
    /// `Auto`, which then is `TryConsecutive`.
    pub delta_encoding_order: Option<u32>,
    /// The most numbers of a page, at least 1. Pages are of equal length.
    pub equal_pages_up_to: u64,
}

impl Pcodec {
    /// Compresses at a level from 0 to 12, with numcodecs' defaults for the rest.
    #[must_use]
    pub fn new(level: u32) -> Self {
        Pcodec { level, ..Self::default() }
    }
}

/// Level 8, pages of 2^18 numbers; pco chooses everything else.
impl Default for Pcodec {
    fn default() -> Self {
        Pcodec {
            level: 8,
            mode_spec: PcodecMode::Auto,
            delta_spec: PcodecDelta::Auto,
            delta_encoding_order: None,
            equal_pages_up_to: 1 << 18,
        }
    }
}

/// `mode_spec` of `numcodecs.pcodec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PcodecMode {
    /// `"auto"`: pco finds the best one.
    #[default]
    Auto,
    /// `"classic"`: numbers are used unchanged.
    Classic,
}

/// `delta_spec` of `numcodecs.pcodec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PcodecDelta {
    /// `"auto"`: the best one is found.
    #[default]
    Auto,
    /// `"none"`, or `"no_op"` in later versions of numcodecs: no differences.
    None,
    /// `"try_consecutive"`: differences of neighbours.
    TryConsecutive,
    /// `"try_lookback"`: differences from numbers further back.
    TryLookback,
}

const MODES: Names<PcodecMode> = &[(PcodecMode::Auto, "auto"), (PcodecMode::Classic, "classic")];

/// The name that every version of numcodecs and zarrs accepts comes first, and is written.
const DELTAS: Names<PcodecDelta> = &[
    (PcodecDelta::Auto, "auto"),
    (PcodecDelta::None, "none"),
    (PcodecDelta::None, "no_op"),
    (PcodecDelta::TryConsecutive, "try_consecutive"),
    (PcodecDelta::TryLookback, "try_lookback"),
];

const PAGINGS: Names<()> = &[((), "equal_pages_up_to")];

impl Configuration for Pcodec {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&[
            "level",
            "mode_spec",
            "delta_spec",
            "paging_spec",
            "delta_encoding_order",
            "equal_pages_up_to",
        ])?;
        let default = Pcodec::default();
        or(members, "paging_spec", (), |raw| read_named(PAGINGS, raw))?;
        let order = |raw: Raw<'_>| narrow(raw, 0, 7).map(Some);
        Ok(Pcodec {
            level: or(members, "level", default.level, |raw| narrow(raw, 0, 12))?,
            mode_spec: or(members, "mode_spec", default.mode_spec, |raw| read_named(MODES, raw))?,
            delta_spec: or(members, "delta_spec", default.delta_spec, |raw| {
                read_named(DELTAS, raw)
            })?,
            delta_encoding_order: or(members, "delta_encoding_order", None, order)?,
            equal_pages_up_to: or(
                members,
                "equal_pages_up_to",
                default.equal_pages_up_to,
                |raw| raw.at_least(1),
            )?,
        })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("level", self.level);
        members.named("mode_spec", MODES, &self.mode_spec);
        members.named("delta_spec", DELTAS, &self.delta_spec);
        members.named("paging_spec", PAGINGS, &());
        match self.delta_encoding_order {
            Some(order) => members.plain("delta_encoding_order", order),
            None => members.plain("delta_encoding_order", "null"),
        }
        members.plain("equal_pages_up_to", self.equal_pages_up_to);
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        match input.data_type {
            Some(data_type) if !has_numbers(data_type) => {
                let allowed = "integers of 16, 32 and 64 bits, float16, float32, float64, complex \
                               numbers of these, or times";
                let error = MetadataError::unexpected(format!("type {data_type}"), allowed);
                Err(error.breaks(Rule::NUMCODECS_CONFIGURATION))
            }
            _ => Ok(()),
        }
    }
}

/// Whether elements are numbers that pco supports. Times count as integers; for unknown types this
/// cannot be decided.
fn has_numbers(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Uint16
            | DataType::Uint32
            | DataType::Uint64
            | DataType::Float16
            | DataType::Float32
            | DataType::Float64
            | DataType::ComplexFloat16
            | DataType::ComplexFloat32
            | DataType::ComplexFloat64
            | DataType::Complex64
            | DataType::Complex128
            | DataType::NumpyDatetime64(_)
            | DataType::NumpyTimedelta64(_)
            | DataType::Opaque(_)
    )
}
