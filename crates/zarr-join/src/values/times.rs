//! Times of members with units that differ from the first member's: their exact numbers in the
//! first member's units.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Remedy};
use zarr_array::{Array, ArrayError, Selection};
use zarr_cf::{Packing, Rebase, TimeAxis, element_type, has_bounds, missing};
use zarr_metadata::{ArrayMetadata, DataType, Printable};

use crate::error::JoinError;
use crate::member::Member;
use crate::values::attributes::{self, Attributes};

/// The most bytes of elements that are converted together.
pub(crate) const PIECE: u64 = 16 << 20;

/// The attributes by which numbers are times.
const TIME_ATTRIBUTES: [&str; 2] = ["units", "calendar"];

/// The times of a member in the units of the first one.
#[derive(Clone, Debug)]
pub(crate) struct Conversion {
    member: Box<str>,
    first: Box<str>,
    found: Box<str>,
    expected: Box<str>,
    from: TimeAxis,
    to: TimeAxis,
    rebase: Rebase,
    number: Number,
    /// Elements that are no time, and stay.
    missing: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug)]
enum Number {
    Signed(usize),
    Unsigned(usize),
    Single,
    Double,
}

impl Number {
    fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Int8 => Self::Signed(1),
            DataType::Int16 => Self::Signed(2),
            DataType::Int32 => Self::Signed(4),
            DataType::Int64 => Self::Signed(8),
            DataType::Uint8 => Self::Unsigned(1),
            DataType::Uint16 => Self::Unsigned(2),
            DataType::Uint32 => Self::Unsigned(4),
            DataType::Uint64 => Self::Unsigned(8),
            DataType::Float32 => Self::Single,
            DataType::Float64 => Self::Double,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::Signed(size) | Self::Unsigned(size) => size,
            Self::Single => 4,
            Self::Double => 8,
        }
    }
}

/// Why a number has no other.
enum Lost {
    Inexact,
    /// The type has no number as this.
    Range(i128),
}

impl Conversion {
    /// How the values of a member become values in the units of the first. `None` unless both are
    /// times of one calendar and one type of numbers; comparing attributes finds other differences.
    pub(crate) fn between(member: &Member, first: &Member) -> Option<Self> {
        let number = Number::of(&element_type(member.array().metadata()))?;
        let ((found, from), (expected, to)) = (times_of(member)?, times_of(first)?);
        let rebase = Rebase::between(from, to)?;
        let (metadata, name) = (member.array().metadata(), |member: &Member| member.name().into());
        let mut missing = missing(metadata);
        // Xarray takes the fill value of version 2 for a missing value, also in a view with a wider
        // type. A fill value of null is zero here.
        let fill = member.array().fill();
        if member.stored().is_version_2() && fill.iter().any(|byte| *byte != 0) {
            missing.push(fill.to_vec());
        }
        Some(Self {
            member: name(member),
            first: name(first),
            found: found.into(),
            expected: expected.into(),
            from,
            to,
            rebase,
            number,
            missing,
        })
    }

    /// Whether all values stay: the same units in other words.
    pub(crate) fn is_identity(&self) -> bool {
        self.rebase.is_identity()
    }

    /// Converts elements, each in its form in memory.
    ///
    /// # Errors
    /// [`JoinError::Times`] with the first number that cannot be converted exactly.
    pub(crate) fn apply(&self, elements: &mut [u8]) -> Result<(), JoinError> {
        for element in elements.chunks_exact_mut(self.number.size()) {
            if self.missing.iter().any(|missing| missing == element) {
                continue;
            }
            let before = element.to_vec();
            self.convert(element).map_err(|lost| self.error(&before, &lost))?;
            if self.missing.iter().any(|missing| missing == element) {
                let declared = format!(
                    "{} becomes {}, which is declared as missing; write the times of all members \
                     with another fill value",
                    self.text(&before),
                    self.text(element)
                );
                return Err(self.refused(declared));
            }
        }
        Ok(())
    }

    fn convert(&self, element: &mut [u8]) -> Result<(), Lost> {
        match self.number {
            Number::Single => {
                let number = f32::from_le_bytes(array(element));
                let real = self.rebase.real(number.into()).ok_or(Lost::Inexact)?;
                #[expect(
                    clippy::as_conversions,
                    clippy::cast_possible_truncation,
                    reason = "compared"
                )]
                let single = real as f32;
                if !number.is_nan() && f64::from(single).to_bits() != real.to_bits() {
                    return Err(Lost::Inexact);
                }
                if number.is_finite() {
                    element.copy_from_slice(&single.to_le_bytes());
                }
            }
            Number::Double => {
                let number = f64::from_le_bytes(array(element));
                let real = self.rebase.real(number).ok_or(Lost::Inexact)?;
                if number.is_finite() {
                    element.copy_from_slice(&real.to_le_bytes());
                }
            }
            Number::Signed(size) | Number::Unsigned(size) => {
                let number = self.rebase.whole(self.whole(element)).ok_or(Lost::Inexact)?;
                let bytes = number.to_le_bytes();
                element.copy_from_slice(bytes.get(..size).unwrap_or_default());
                if self.whole(element) != number {
                    return Err(Lost::Range(number));
                }
            }
        }
        Ok(())
    }

    fn whole(&self, element: &[u8]) -> i128 {
        let is_signed = matches!(self.number, Number::Signed(_));
        let is_negative = is_signed && element.last().is_some_and(|byte| *byte >= 0x80);
        let mut wide = [if is_negative { 0xff } else { 0 }; 16];
        wide.iter_mut().zip(element).for_each(|(to, from)| *to = *from);
        i128::from_le_bytes(wide)
    }

    fn text(&self, element: &[u8]) -> String {
        match self.number {
            Number::Single => format!("{:?}", f32::from_le_bytes(array(element))),
            Number::Double => format!("{:?}", f64::from_le_bytes(array(element))),
            Number::Signed(_) | Number::Unsigned(_) => self.whole(element).to_string(),
        }
    }

    fn error(&self, element: &[u8], lost: &Lost) -> JoinError {
        let value = self.text(element);
        let is_float = matches!(self.number, Number::Single | Number::Double);
        let unit = match (lost, is_float) {
            // A number with a fraction may be of any part of a day.
            (_, true) => "seconds",
            _ => Rebase::common_unit(self.from, self.to),
        };
        let (_, since) = self.expected.split_once(" since ").unwrap_or_default();
        let since = Printable(since.trim());
        self.refused(match lost {
            Lost::Inexact => format!(
                "{value} has no exact number in these units; write the times of all members in \
                 \"{unit} since {since}\", as int64"
            ),
            Lost::Range(number) => format!(
                "{value} becomes {number}, which is out of the range of the data type; write the \
                 times of all members as int64"
            ),
        })
    }

    /// The units, and why they cannot become the first member's.
    pub(crate) fn refused(&self, reason: impl Into<Box<str>>) -> JoinError {
        self.refused_with(reason, None)
    }

    /// The same, with what converts them.
    pub(crate) fn refused_with(
        &self,
        reason: impl Into<Box<str>>,
        remedy: impl Into<Option<Remedy>>,
    ) -> JoinError {
        JoinError::Times {
            member: self.member.clone(),
            found: self.found.clone(),
            expected: self.expected.clone(),
            first: self.first.clone(),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

/// The attributes of members; where times can be converted to the units of the first, in a way that
/// is `allowed`, with its units and its calendar.
pub(crate) fn values_in_common_units(
    members: &[Member],
    allowed: impl Fn(&Conversion) -> bool,
) -> Vec<Attributes<'_>> {
    let of = |(number, member)| {
        let mut found = Member::array(member).metadata().attribute_texts();
        let first = members.first().filter(|_| number > 0);
        let first = first.filter(|first| {
            Conversion::between(member, first).is_some_and(|found| allowed(&found))
        });
        if let Some(first) = first {
            let is_of_time = |name: &str| TIME_ATTRIBUTES.contains(&name);
            found.retain(|(name, _)| !is_of_time(name));
            let theirs = first.array().metadata().attribute_texts().into_iter();
            found.extend(theirs.filter(|(name, _)| is_of_time(name)));
        }
        Attributes { member: member.name(), values: found }
    };
    members.iter().enumerate().map(of).collect()
}

/// The coordinate in the group that names this array as its `bounds` or `climatology`, whose units it
/// has where it lacks some.
pub(crate) fn coordinate_of<'a>(
    path: &str,
    arrays: impl Iterator<Item = (&'a str, &'a Array)>,
) -> Option<Array> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_named = |(other, array): &(&str, &Array)| {
        other.rsplit_once('/').map_or("", |(at, _)| at) == folder
            && has_bounds(array.metadata(), name)
    };
    let mut arrays = arrays;
    arrays.find(is_named).map(|(_, array)| array.clone())
}

/// A copy of an array in memory with its times in the units of another; `None` if they are so now.
///
/// # Errors
/// [`JoinError`] if one of them has no exact number there, or if the array cannot be read.
pub(crate) fn in_units_of(member: &Member, first: &Member) -> Result<Option<Array>, JoinError> {
    let array = member.array();
    let conversion = Conversion::between(member, first).filter(|found| !found.is_identity());
    let Some(conversion) = conversion.filter(|_| !array.metadata().is_version_2()) else {
        return Ok(None);
    };
    in_memory(member, array.metadata().clone(), first, Some(&conversion)).map(Some)
}

/// A copy of an array in memory with this document; with a conversion, its times are in the units of
/// another, and its attributes say so.
///
/// # Errors
/// As [`in_units_of`].
pub(crate) fn in_memory(
    member: &Member,
    mut metadata: ArrayMetadata,
    first: &Member,
    conversion: Option<&Conversion>,
) -> Result<Array, JoinError> {
    let array = member.array();
    if conversion.is_some() {
        let both = [first.clone(), member.clone()];
        let values = values_in_common_units(&both, |_| true).pop();
        let json = attributes::to_json(&values.map(|found| found.values).unwrap_or_default());
        metadata = metadata.with_attributes(&json).map_err(JoinError::Metadata)?;
    }
    let failed = |cause: ArrayError| JoinError::member(member.name(), cause);
    let store = Arc::new(MemoryStore::new());
    let copy = Array::create(store, &Prefix::root(), metadata).map_err(failed)?;
    for piece in array.batches(Selection::whole(array.shape()), PIECE).map_err(failed)? {
        let mut elements = array.read(&piece).map_err(failed)?;
        if let Some(conversion) = conversion {
            conversion.apply(&mut elements)?;
        }
        copy.write(&piece, &elements).map_err(failed)?;
    }
    Ok(copy)
}

/// The units of times and their meaning, from the member's own attributes. Bounds without
/// units have the units of their coordinate.
fn times_of(member: &Member) -> Option<(String, TimeAxis)> {
    let own = member.array().metadata();
    if Packing::of(own).is_given() {
        return None;
    }
    let coordinate = member.coordinate().map(Array::metadata);
    let [units, _] = TimeAxis::attributes(own, coordinate);
    let axis = TimeAxis::of(own, coordinate).ok().flatten()?;
    Some((units?, axis))
}

/// The first bytes of an element, which has as many.
fn array<const N: usize>(element: &[u8]) -> [u8; N] {
    element.first_chunk().copied().unwrap_or([0; N])
}
