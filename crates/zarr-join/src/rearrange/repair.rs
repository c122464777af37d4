//! The repair of an interrupted rearrangement.

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::{Extent, LockedDocument};

use super::Repair;
use super::array_marker::{ArrayMarker, Step};
use super::group::repair_group_of;
use super::run::Run;
use super::steps::{CopyCounter, checked, leave, return_to_own_keys};

/// Undoes or completes a rearrangement of the array that was interrupted, `None` if there is none.
/// It is undone if the array was still the old one. Changes since then, by writes, appends or
/// resizes, are kept. If it was rearranged together with other arrays of a group, this repairs [the
/// group](super::repair_group).
///
/// The handle must be opened again afterwards.
///
/// # Errors
/// As [`Rearrangement::execute`](super::Rearrangement::execute). It can be repeated.
pub fn repair(array: &Array) -> Result<Option<Repair>, ArrayError> {
    let Some(marker) = ArrayMarker::at(&**array.store(), array.prefix())? else { return Ok(None) };
    if let Some(share) = &marker.share
        && let Some(repair) = repair_group_of(array, share)?
    {
        return Ok(Some(repair));
    }
    let array = checked(array);
    let run = Run::of_array(&array, &marker.home)?;
    let document = LockedDocument::lock(&array, Extent::Chunks)?;
    // another process may have repaired it before the lock was given.
    let Some(ArrayMarker { home, step, .. }) = ArrayMarker::at(&**array.store(), array.prefix())?
    else {
        return Ok(None);
    };
    if step == Step::Leaving && *array.layout().key_encoding() == home {
        zarr_array::store::reached!("repair: what is left is removed");
        run.take_over(|run| ArrayMarker::alone(&home, step).text(run))?;
        document.renew()?;
        leave(&run.held(&array))?;
        return Ok(Some(Repair::Undone));
    }
    run.take_over(|run| ArrayMarker::alone(&home, step).text(run))?;
    document.renew()?;
    return_to_own_keys(&run, &[array], None, &[], &CopyCounter::new(0, &|_| {}))?;
    Ok(Some(Repair::Completed))
}
