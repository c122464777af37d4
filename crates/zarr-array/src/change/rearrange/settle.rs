//! What is to be done about a rearrangement that was interrupted.

use super::Settled;
use super::marker::{Marker, Step};
use super::steps::{checked, settle_at};
use super::together::settle_group_of;
use crate::array::Array;
use crate::change::document::{Document, Extent};
use crate::error::ArrayError;

impl Array {
    /// Undoes or completes a rearrangement of this array that was interrupted, `None` if there is
    /// none. It is undone if the array was still the old one. What was changed since then, by writes,
    /// appends or resizes, is kept. If it was rearranged together with other arrays of a group, this
    /// settles [the group](crate::Group::settle_rearrangement).
    ///
    /// This handle must be opened again afterwards.
    ///
    /// # Errors
    /// As [`Rearrangement::execute`](crate::Rearrangement::execute). It can be repeated.
    pub fn settle_rearrangement(&self) -> Result<Option<Settled>, ArrayError> {
        let Some(marker) = Marker::at(&**self.store(), self.prefix())? else { return Ok(None) };
        if let Some(share) = &marker.share
            && let Some(settled) = settle_group_of(self, share)?
        {
            return Ok(Some(settled));
        }
        let array = checked(self);
        let mut document = Document::lock(&array, Extent::Chunks)?;
        // Another process may have settled it before the lock was given.
        let Some(Marker { home, step, .. }) = Marker::at(&**array.store(), array.prefix())? else {
            return Ok(None);
        };
        let is_undone = step == Step::Leaving && array.layout().key_encoding() == home;
        settle_at(&array, &mut document, home)?;
        Ok(Some(if is_undone { Settled::Undone } else { Settled::Completed }))
    }
}
