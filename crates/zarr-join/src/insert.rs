//! Checks whether an array can be inserted into another unchanged.

use zarr_array::Array;

use crate::error::JoinError;
use crate::member::Member;
use crate::members::{Arrangement, Members, same_kind};
use crate::rearrange::GroupRearrangement;
use crate::values::attributes;
use crate::values::equal::check_equal;
use crate::values::times::{Conversion, values_in_common_units};
use crate::values::widened::{fitted, promoted};

/// Checks that an array may be put between the chunks of another along an axis. Rank, data type,
/// dimension names and lengths on the other axes must be equal. So must the attributes that give
/// values their meaning, [`zarr_cf::MEANING`]. Returns the array to
/// insert: the array itself or, if both are times in different units, a copy in memory in the units
/// of the first. With `promote`, numbers of a narrower type become numbers of the array's type, in memory too:
/// it is the number of bytes that these copies may still have, at first [`MOST_PROMOTED`](crate::rearrange::MOST_PROMOTED) for all arrays
/// that are inserted, and is lowered by those of this copy.
///
/// [`Rearrangement`](crate::rearrange::Rearrangement) inserts it, and compares codecs, fill value
/// and chunks.
///
/// # Errors
/// [`JoinError`] with the name of the inserted array; [`JoinError::Times`] with a time that has no exact
/// number in the other units; [`JoinError::DataType`], also if it takes more bytes.
pub fn check_insertion(
    array: &Member,
    inserted: &Member,
    axis: usize,
    promote: Option<&mut u64>,
) -> Result<Array, JoinError> {
    let converted = fitted(inserted, array, promote)?;
    let inserted = match converted {
        Some(converted) => &Member::new(inserted.name(), converted),
        None => inserted,
    };
    check_member(array, inserted, Arrangement::Along(axis))?;
    Ok(inserted.array().clone())
}

/// As [`check_insertion`] for each array of a rearranged group and each inserted group. Arrays without
/// the dimension must have equal elements: [`check_unjoined`]. Names of arrays begin with the groups'
/// names.
///
/// # Errors
/// [`JoinError`] with the name of the inserted array.
pub fn check_group_insertion(
    plan: &GroupRearrangement,
    group: &str,
    inserted: &[String],
) -> Result<(), JoinError> {
    let member = |group: &str, path: &str, array: &Array| {
        Member::new(format!("{group}/{path}"), array.clone())
    };
    for (index, (array, path)) in plan.arrays().iter().zip(plan.paths()).enumerate() {
        let whole = member(group, path, array.array());
        for (name, arrays) in inserted.iter().zip(plan.inserted()) {
            if let Some(other) = arrays.get(index) {
                check_insertion(&whole, &member(name, path, other), array.axis(), None)?;
            }
        }
    }
    for (index, (path, array)) in plan.unjoined().iter().enumerate() {
        let whole = member(group, path, array);
        for (name, arrays) in inserted.iter().zip(plan.inserted_unjoined()) {
            if let Some((_, other)) = arrays.get(index) {
                let both = vec![whole.clone(), member(name, path, other)];
                let both = if plan.is_promoting() { promoted(both)? } else { both };
                if let [whole, other] = &*both {
                    check_unjoined(whole, other)?;
                }
            }
        }
    }
    Ok(())
}

/// Checks that two arrays may be joined unchanged, and that the attributes that give values their
/// meaning are equal.
///
/// # Errors
/// [`JoinError`] with the name of the inserted array.
pub fn check_member(
    array: &Member,
    inserted: &Member,
    arrangement: Arrangement,
) -> Result<(), JoinError> {
    Members::new(vec![array.clone(), inserted.clone()], arrangement)?;
    check_values(array, inserted)
}

/// Checks that an unjoined array equals the other group's array, names of dimensions included. Reads
/// both.
///
/// # Errors
/// [`JoinError`] with the name of the other array.
pub fn check_unjoined(array: &Member, other: &Member) -> Result<(), JoinError> {
    same_kind(other, array)?;
    check_values(array, other)?;
    check_equal(other, array)
}

/// Units of the same times may be in other words: nothing is converted here.
fn check_values(array: &Member, other: &Member) -> Result<(), JoinError> {
    let both = [array.clone(), other.clone()];
    attributes::check_values(&values_in_common_units(&both, Conversion::is_identity))
}
