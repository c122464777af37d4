//! Opening without blocking the thread.

use zarr_array::store::{Operation, run_blocking, shown_url};

use crate::{Opened, PlaceError, PlaceOptions};

/// As [`open`](crate::open), without blocking the thread. The future borrows nothing, and can be awaited on
/// any executor.
///
/// # Errors
/// As [`open`](crate::open).
///
/// # Examples
/// ```
/// let missing = zarr_place::asynchronous::open("none/data.zarr");
/// assert!(futures_executor::block_on(missing).is_err());
/// ```
pub fn open(address: &str) -> impl Future<Output = Result<Opened, PlaceError>> + Send + use<> {
    open_with(address, PlaceOptions::new())
}

/// As [`Opened::open`], without blocking the thread: see [`open`].
///
/// # Errors
/// As [`Opened::open`].
pub fn open_with(
    address: &str,
    options: PlaceOptions,
) -> impl Future<Output = Result<Opened, PlaceError>> + Send + use<> {
    let address = address.to_owned();
    async move {
        let shown = shown_url(&address);
        run_blocking(Operation::Open, &shown, move || Opened::open(&address, &options)).await?
    }
}
