//! Whether an array can be inserted into another as it is.

use crate::attributes::{self, Attributes};
use crate::error::JoinError;
use crate::join::values;
use crate::members::{Arrangement, Member, Members};

/// Checks that an array may be put between the chunks of another along an axis: rank, data type,
/// dimension names and lengths on the other axes are equal, and so are the attributes that say what
/// values mean, [`VALUE_ATTRIBUTES`](crate::VALUE_ATTRIBUTES). Nothing of either is read.
///
/// [`Array::rearrange`](zarr_array::Array::rearrange) inserts it, and compares what decides how
/// chunks are stored.
///
/// # Errors
/// [`JoinError`] with the name of the inserted array.
pub fn check_insertion(array: &Member, inserted: &Member, axis: usize) -> Result<(), JoinError> {
    let both = vec![array.clone(), inserted.clone()];
    let both = Members::new(both, Arrangement::Along(axis))?;
    let each: Vec<Attributes<'_>> = both
        .members()
        .iter()
        .map(|member| Attributes { member: member.name(), values: values(member.array()) })
        .collect();
    attributes::check_values(&each)
}
