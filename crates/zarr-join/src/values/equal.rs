//! Whether two arrays have the same elements.

use zarr_array::{Array, Selection};

use crate::error::JoinError;
use crate::member::Member;

/// Refuses an array that does not have the shape, type and elements of another, bit by bit.
pub(crate) fn check_equal(member: &Member, first: &Member) -> Result<(), JoinError> {
    /// The most bytes of elements that are compared at once.
    const PIECE: u64 = 16 << 20;
    let unequal = || {
        let first = first.name();
        let reason = format!("differs from {first}, and has no axis along which to join them");
        JoinError::unfit(member.name(), reason)
    };
    let failed = |member: &Member| {
        let member = member.name().into();
        move |cause| JoinError::Member { member, cause: Box::new(cause) }
    };
    let (a, b) = (member.array(), first.array());
    if a.shape() != b.shape() || a.data_type() != b.data_type() {
        return Err(unequal());
    }
    let pieces = b.batches(Selection::whole(b.shape()), PIECE).map_err(failed(first))?;
    for piece in pieces {
        let same = match b.element_size() {
            0 => {
                let read = |array: &Array| array.read_as::<Vec<u8>>(&piece);
                read(a).map_err(failed(member))? == read(b).map_err(failed(first))?
            }
            _ => {
                let read = |array: &Array| array.read(&piece);
                read(a).map_err(failed(member))? == read(b).map_err(failed(first))?
            }
        };
        if !same {
            return Err(unequal());
        }
    }
    Ok(())
}
