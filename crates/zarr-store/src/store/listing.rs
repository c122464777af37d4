//! The result of a listing.

use std::iter;

use crate::StoreError;

/// The entries of a listing, in unspecified order.
///
/// The iterator asks the store as it advances: memory follows a folder or a page, not the number of
/// entries. Dropping the iterator ends the listing. The store may be used meanwhile; whether
/// entries made or removed meanwhile are listed is unspecified.
///
/// An error is the last item: the items before it are not the whole listing.
///
/// # Examples
/// ```
/// use zarr_store::{Key, Links, MemoryStore, Prefix, Store, StoreExt};
///
/// let store = MemoryStore::new();
/// store.put(&Key::new("a/c/0")?, b"chunk")?;
/// let keys = store.list(&Prefix::new("a")?, Links::Follow).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(keys, [Key::new("a/c/0")?]);
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
pub type Listing<'s, T> = Box<dyn Iterator<Item = Result<T, StoreError>> + Send + 's>;

/// A listing that fails at once.
///
/// # Examples
/// ```
/// use zarr_store::{Key, Listing, Operation, StoreError, failed_listing};
///
/// let error = StoreError::io(Operation::List, "a", std::io::Error::other("a lost disk"));
/// let mut listing: Listing<'_, Key> = failed_listing(error);
/// assert!(listing.next().is_some_and(|first| first.is_err()) && listing.next().is_none());
/// ```
pub fn failed_listing<'s, T: Send + 's>(error: StoreError) -> Listing<'s, T> {
    Box::new(iter::once(Err(error)))
}

/// The items up to and including the first error: makes a [`Listing`] of an iterator that continues
/// after errors.
pub fn until_error<T>(
    items: impl Iterator<Item = Result<T, StoreError>>,
) -> impl Iterator<Item = Result<T, StoreError>> {
    let mut failed = false;
    items.take_while(move |item| !std::mem::replace(&mut failed, item.is_err()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    #[test]
    fn an_error_is_the_last_item() {
        let error = || StoreError::io(Operation::List, "a", std::io::Error::other("made up"));
        let items = until_error([Ok(1), Ok(2), Err(error()), Ok(3), Err(error())].into_iter());
        let seen: Vec<_> = items.map(|item| item.ok()).collect();
        assert_eq!(seen, [Some(1), Some(2), None]);
        assert_eq!(until_error([Ok(1), Ok(2)].into_iter()).count(), 2);
    }
}
