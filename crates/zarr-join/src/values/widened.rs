//! Arrays with numbers of a narrower type, seen as arrays of a wider one.
//!
//! The view has the chain of the stored array behind the codec `cast_value`, so reads need nothing else.

use zarr_array::Array;
use zarr_array::store::Remedy;
use zarr_metadata::{
    ArrayMetadata, Bytes, CastValue, Codec, DataType, Endian, FillValue, FloatFormat,
    FloatSpecials, FloatValue, Sharding, Zfpy,
};

use crate::error::JoinError;
use crate::error::rearrange::consists_of_others;
use crate::member::Member;
use crate::values::times::{Conversion, in_memory, in_units_of};

/// The integers by their bits.
const SIGNED: [DataType; 6] = [
    DataType::Int2,
    DataType::Int4,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
];
const UNSIGNED: [DataType; 6] = [
    DataType::Uint2,
    DataType::Uint4,
    DataType::Uint8,
    DataType::Uint16,
    DataType::Uint32,
    DataType::Uint64,
];

/// The narrowest type with each number of all these types, as numpy's `result_type`, except that no
/// integer is rounded to a float.
///
/// # Errors
/// The reason why there is none; `None` if not all are types of numbers.
fn common_type(types: &[&DataType]) -> Result<DataType, Option<&'static str>> {
    let (mut signed, mut unsigned, mut floats) = (0, 0, Vec::new());
    for data_type in types {
        let layout = data_type.element_layout().ok_or(None)?;
        if let Some(format) = data_type.float_format().filter(|_| !data_type.is_complex()) {
            floats.push((*data_type, format));
        } else if SIGNED.contains(data_type) {
            signed = layout.component_bits.max(signed);
        } else if UNSIGNED.contains(data_type) {
            unsigned = layout.component_bits.max(unsigned);
        } else {
            return Err(None);
        }
    }
    // Without the sign, whose least number is a power of two.
    let digits = signed.saturating_sub(1).max(unsigned);
    if floats.is_empty() {
        let (all, bits) = match signed {
            0 => (UNSIGNED, digits),
            _ => (SIGNED, digits.saturating_add(1)),
        };
        let mut all = all.into_iter();
        let wide = all.find(|one| one.element_layout().is_some_and(|it| it.component_bits >= bits));
        return wide.ok_or(Some("no type of integers has the numbers of both"));
    }
    let others = [&DataType::Float32, &DataType::Float64];
    let mut all: Vec<&DataType> = floats.iter().map(|(one, _)| *one).collect();
    all.sort_by_key(|one| one.float_format().map(|format| format.bits()));
    all.extend(others);
    let has_all = |one: &&&DataType| {
        one.float_format().is_some_and(|wide| {
            wide.mantissa_bits.saturating_add(1) >= digits
                && (digits == 0 || wide.specials == FloatSpecials::Ieee && wide.exponent_bits > 4)
                && floats.iter().all(|(_, narrow)| is_within(narrow, &wide))
        })
    };
    let found = all.iter().find(has_all);
    found.map(|one| (*one).clone()).ok_or(Some("no type of floats has each of the integers"))
}

/// Whether each value of a format is one of another.
fn is_within(narrow: &FloatFormat, wide: &FloatFormat) -> bool {
    let reaches = wide.exponent_bits > narrow.exponent_bits
        || wide.exponent_bits == narrow.exponent_bits && wide.bias == narrow.bias;
    narrow == wide
        || wide.specials == FloatSpecials::Ieee
            && reaches
            && wide.mantissa_bits >= narrow.mantissa_bits
}

/// The narrowest type with all numbers of these arrays.
///
/// # Errors
/// As [`common_type`].
pub(crate) fn common<'m>(
    arrays: impl IntoIterator<Item = &'m ArrayMetadata>,
) -> Result<DataType, Option<&'static str>> {
    let arrays: Vec<&ArrayMetadata> = arrays.into_iter().collect();
    let types: Vec<&DataType> = arrays.iter().map(|array| array.data_type()).collect();
    let common = common_type(&types)?;
    let is_other = types.iter().any(|one| **one != common);
    if is_other && arrays.iter().any(|array| array.attribute("_Unsigned").is_some()) {
        return Err(Some(
            "the attribute _Unsigned gives the bits another meaning in each type: write the values in \
             their own type first",
        ));
    }
    Ok(common)
}

/// Members of one type of numbers: all of the narrowest that has their numbers.
///
/// # Errors
/// [`JoinError::DataType`] with the first member that has no such type together with those before.
pub(crate) fn promoted(members: Vec<Member>) -> Result<Vec<Member>, JoinError> {
    let documents = || members.iter().map(|member| member.array().metadata());
    let Some(first) = members.first() else { return Ok(members) };
    let is_same = |one: &ArrayMetadata| one.data_type() == first.array().data_type();
    if documents().all(is_same) {
        return Ok(members);
    }
    let common = match common(documents()) {
        Ok(common) => common,
        Err(_) => {
            for (number, member) in members.iter().enumerate() {
                if let Err(reason) = self::common(documents().take(number + 1)) {
                    return Err(differs(member, first, reason, None));
                }
            }
            return Ok(members);
        }
    };
    members.into_iter().map(|member| widened(member, &common)).collect()
}

/// The error of a member with another data type than the first.
pub(crate) fn differs<'r>(
    member: &Member,
    first: &Member,
    reason: impl Into<Option<&'r str>>,
    remedy: impl Into<Option<Remedy>>,
) -> JoinError {
    JoinError::DataType {
        member: member.name().into(),
        found: member.array().data_type().to_string().into(),
        expected: first.array().data_type().to_string().into(),
        first: first.name().into(),
        reason: reason.into().map(Into::into),
        remedy: remedy.into(),
    }
}

/// A member with its numbers in a wider type.
///
/// # Errors
/// [`JoinError::Unfit`] if the wider type cannot have the fill value; [`JoinError::Member`], also of an
/// array that consists of others.
fn widened(member: Member, to: &DataType) -> Result<Member, JoinError> {
    let (name, array) = (member.name(), member.array());
    let metadata = array.metadata();
    let own = metadata.data_type();
    if own == to {
        return Ok(member);
    }
    if array.members().is_some() {
        // Its document would have to be a view, and each member be opened as one.
        return Err(JoinError::member(name, consists_of_others(array)));
    }
    let fill = widened_fill(own, metadata.fill_value(), to);
    let fill = fill.ok_or_else(|| {
        let reason = format!(
            "the fill value {} is no value of {to}, which the joined array has: copy the member with \
             another fill value first",
            metadata.fill_value().json()
        );
        JoinError::unfit(name, reason)
    })?;
    let cast = [Codec::CastValue(CastValue::new(own.clone()))];
    let codecs: Vec<Codec> = cast.into_iter().chain(metadata.codecs().iter().cloned()).collect();
    let document = metadata.with_data_type(to, &fill, &codecs).map_err(JoinError::Metadata)?;
    let array = array.with_document(document).map_err(|cause| JoinError::member(name, cause))?;
    Ok(member.seen_as(array))
}

/// The same number in a wider type; `None` for a NaN other than the usual one.
fn widened_fill(own: &DataType, fill: &FillValue, to: &DataType) -> Option<FillValue> {
    let bytes = fill.bytes()?;
    let mut bits = [0; 8];
    bits.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let Some(format) = own.float_format() else {
        // An integer has one spelling in all types.
        let is_negative = SIGNED.contains(own) && bytes.last().is_some_and(|byte| *byte >= 0x80);
        let text = match is_negative {
            true => {
                bits.iter_mut().skip(bytes.len()).for_each(|byte| *byte = 0xff);
                i64::from_le_bytes(bits).to_string()
            }
            false => u64::from_le_bytes(bits).to_string(),
        };
        return FillValue::parse(to, &text).ok();
    };
    let text = match format.value(u64::from_le_bytes(bits)) {
        FloatValue::Nan if FillValue::parse(own, "\"NaN\"").ok()? == *fill => "\"NaN\"".to_owned(),
        FloatValue::Nan => return None,
        FloatValue::Infinite { negative: true } => "\"-Infinity\"".to_owned(),
        FloatValue::Infinite { negative: false } => "\"Infinity\"".to_owned(),
        // The shortest text of a number is read as this number by all types that have it.
        finite @ FloatValue::Finite { .. } => format!("{:?}", finite.to_f64()),
    };
    FillValue::parse(to, &text).ok()
}

/// The array that is inserted in place of a member, `None` for its own: a copy in memory with times in the
/// units of an array and, with `promote`, numbers of its type. The bytes of these are taken from the bytes
/// that `promote` has left.
///
/// # Errors
/// [`JoinError::DataType`] if the array's type does not have all numbers of the member's, or without
/// `promote`; [`JoinError::Unfit`]; as [`in_units_of`].
pub(crate) fn fitted(
    member: &Member,
    array: &Member,
    promote: Option<&mut u64>,
) -> Result<Option<Array>, JoinError> {
    let (own, to) = (member.array().metadata(), array.array().metadata());
    if own.data_type() == to.data_type() || own.shape().len() != to.shape().len() {
        return in_units_of(member, array);
    }
    match common([to, own]) {
        Ok(common) if common != *to.data_type() => {
            let reason =
                format!("an array keeps its data type, and {common} has the numbers of both");
            return Err(differs(member, array, &*reason, Remedy::PromoteIntoNew));
        }
        Ok(_) => {}
        Err(reason) => return Err(differs(member, array, reason, None)),
    }
    let Some(room) = promote else {
        let reason = format!("{} has the numbers of both", to.data_type());
        return Err(differs(member, array, &*reason, Remedy::Promote));
    };
    check_lossless(array.name(), to.codecs())?;
    let size = to.data_type().size().and_then(|size| u64::try_from(size).ok()).unwrap_or(1);
    let bytes = own.shape().iter().fold(size, |bytes, length| bytes.saturating_mul(*length));
    *room = room.checked_sub(bytes).ok_or_else(|| {
        let reason = format!(
            "{bytes} bytes of elements would be encoded anew in memory, where {room} are left of 4 GiB: \
             an append in parts converts them"
        );
        differs(member, array, &*reason, Remedy::PromoteIntoNew)
    })?;
    let member = widened(member.clone(), to.data_type())?;
    let is_version_2 = member.stored().is_version_2();
    // The fill value of version 2 means a missing value, which another fill value would not.
    if is_version_2 && member.array().fill() != array.array().fill() {
        let (what, values) = ("fill value of Zarr version 2", [own.fill_value(), to.fill_value()]);
        let values = values.map(FillValue::json);
        return Err(JoinError::differs(member.name(), what, values, array.name()));
    }
    let conversion = Conversion::between(&member, array);
    let conversion = conversion.filter(|found| !found.is_identity() && !is_version_2);
    let document = own.with_data_type(to.data_type(), to.fill_value(), to.codecs());
    let document = document.map_err(JoinError::Metadata)?;
    in_memory(&member, document, array, conversion.as_ref()).map(Some)
}

/// Refuses codecs that may give other numbers than were written: those of members and of arrays that exist
/// were not chosen for the numbers of a narrower type.
///
/// # Errors
/// [`JoinError::Unfit`] with the name of the codec.
pub(crate) fn check_lossless(name: &str, codecs: &[Codec]) -> Result<(), JoinError> {
    match lossy(codecs) {
        Some(codec) => {
            let reason = format!(
                "the codec {} may change numbers of a narrower type that are written with it: copy \
                 the array with other codecs first",
                codec.name()
            );
            Err(JoinError::unfit(name, reason))
        }
        None => Ok(()),
    }
}

/// The first codec that may give other numbers. Packbits refuses numbers that it has no bits for.
fn lossy(codecs: &[Codec]) -> Option<&Codec> {
    codecs.iter().find_map(|codec| match codec {
        Codec::Bitround(_)
        | Codec::CastValue(_)
        | Codec::ScaleOffset(_)
        | Codec::NumcodecsBitround(_)
        | Codec::NumcodecsFixedScaleOffset(_)
        | Codec::NumcodecsQuantize(_)
        | Codec::NumcodecsAsType(_) => Some(codec),
        // Differences of floats are rounded, and those of integers wrap and come back.
        Codec::NumcodecsDelta(delta) => {
            let is_float = delta.dtype.float_format().is_some();
            (is_float || delta.astype.as_ref().is_some_and(|to| *to != delta.dtype))
                .then_some(codec)
        }
        Codec::Zfp(zfp) => (!zfp.is_reversible()).then_some(codec),
        Codec::NumcodecsZfpy(zfpy) => (*zfpy != Zfpy::Reversible).then_some(codec),
        Codec::ShardingIndexed(sharding) => lossy(&sharding.codecs),
        Codec::ZarrsOptional(optional) => lossy(&optional.data_codecs),
        _ => None,
    })
}

/// The chain of an array of a narrower type for elements of a wider one, where it is [lossless](lossy).
///
/// # Errors
/// The name of the codec that depends on the type.
pub(crate) fn chain_for(codecs: &[Codec]) -> Result<Vec<Codec>, String> {
    let each = codecs.iter().map(|codec| match codec {
        // An order of bytes matters from two on; a codec of bits need not pack whole bytes.
        Codec::Bytes(Bytes { endian: None, .. }) | Codec::Packbits(_) => {
            Ok(Codec::Bytes(Bytes::new(Some(Endian::Little))))
        }
        Codec::ShardingIndexed(sharding) => {
            let (index, place) = (sharding.index_codecs.clone(), sharding.index_location);
            let inner = chain_for(&sharding.codecs)?;
            let sharding = Sharding::new(sharding.chunk_shape.clone(), inner);
            Ok(Codec::ShardingIndexed(Box::new(sharding.with_index(index, place))))
        }
        Codec::NumcodecsDelta(_) | Codec::Unknown(_) => Err(codec.name().to_owned()),
        other => Ok(other.clone()),
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use std::slice;

    use zarr_metadata::{Delta, Zfp};

    use super::*;

    fn common(types: &str) -> String {
        let types: Vec<DataType> =
            types.split(' ').map(|name| DataType::from_name(name).expect("a type")).collect();
        match common_type(&types.iter().collect::<Vec<_>>()) {
            Ok(found) => found.to_string(),
            Err(reason) => format!("{reason:?}"),
        }
    }

    #[test]
    fn the_common_type_is_that_of_numpy_and_loses_no_integer() {
        for (types, expected) in [
            ("int8 int16", "int16"),
            ("int16 uint8", "int16"),
            ("uint8 int8", "int16"),
            ("uint16 uint8 uint32", "uint32"),
            ("uint32 int8", "int64"),
            ("uint2 int4", "int4"),
            ("uint4 int2", "int8"),
            ("uint2 uint4", "uint4"),
            ("int4 int8", "int8"),
            ("float32 float64", "float64"),
            ("float16 bfloat16", "float32"),
            ("float8_e5m2 float16", "float16"),
            ("float8_e8m0fnu float16", "float32"),
            ("float4_e2m1fn float6_e3m2fn", "float32"),
            ("int8 float16", "float16"),
            ("uint8 float8_e4m3", "float32"),
            ("int16 float16", "float32"),
            ("int16 uint16 float32", "float32"),
            ("int32 float32", "float64"),
            ("uint32 float16", "float64"),
        ] {
            assert_eq!(common(types), expected, "{types}");
            let turned: Vec<&str> = types.split(' ').rev().collect();
            assert_eq!(common(&turned.join(" ")), expected, "{types}, turned");
        }
        for types in ["int64 float64", "uint64 float32", "uint64 int8"] {
            assert!(common(types).starts_with("Some(\"no type of "), "{types}");
        }
        for types in ["bool int8", "string int8", "complex64 float32", "r8 uint8"] {
            assert_eq!(common(types), "None", "{types}");
        }
    }

    #[test]
    fn fill_values_stay_the_same_numbers() {
        let fill = |own: &DataType, json: &str, to: &DataType| {
            let fill = FillValue::parse(own, json).expect("a fill value");
            widened_fill(own, &fill, to).map(|fill| fill.json().to_owned())
        };
        let (single, double) = (&DataType::Float32, &DataType::Float64);
        for (own, json, to, expected) in [
            (&DataType::Int8, "-1", &DataType::Int16, "-1"),
            (&DataType::Uint8, "255", &DataType::Int16, "255"),
            (&DataType::Int4, "-8", &DataType::Int64, "-8"),
            (&DataType::Int16, "-32768", single, "-32768"),
            (single, "0.1", double, "0.10000000149011612"),
            (single, "-0.0", double, "-0.0"),
            (single, "\"NaN\"", double, "\"NaN\""),
            (single, "\"-Infinity\"", double, "\"-Infinity\""),
            (&DataType::Float8E5m2, "1.25", &DataType::Float16, "1.25"),
        ] {
            assert_eq!(fill(own, json, to).as_deref(), Some(expected), "{own} {json}");
        }
        assert_eq!(fill(single, "\"0x7fc00001\"", double), None);
    }

    #[test]
    fn codecs_are_lossy_by_their_configuration() {
        let found = |codecs: &[Codec]| lossy(codecs).map(|codec| codec.name().to_owned());
        let delta = |astype| Codec::NumcodecsDelta(Delta::new(DataType::Int32, astype));
        let bytes = || Codec::Bytes(Bytes::new(Some(Endian::Little)));
        let zfp = |precision| Codec::Zfp(Zfp::FixedPrecision { precision });
        let sharded = |inner| Codec::ShardingIndexed(Box::new(Sharding::new(vec![2], vec![inner])));
        for (codec, expected) in [
            (zfp(8), Some("zfp")),
            (Codec::Zfp(Zfp::Reversible), None),
            (Codec::NumcodecsZfpy(Zfpy::FixedPrecision { precision: 8 }), Some("numcodecs.zfpy")),
            (Codec::NumcodecsZfpy(Zfpy::Reversible), None),
            (delta(Some(DataType::Int8)), Some("numcodecs.delta")),
            (delta(Some(DataType::Int32)), None),
            (delta(None), None),
            (sharded(zfp(8)), Some("zfp")),
            (sharded(bytes()), None),
            (bytes(), None),
        ] {
            assert_eq!(found(slice::from_ref(&codec)).as_deref(), expected, "{codec:?}");
        }
    }
}
