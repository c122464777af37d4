//! Stores on servers by URL.

use std::sync::Arc;

#[cfg(not(feature = "object_store"))]
use crate::addresses::scheme::schemes;
#[cfg(not(feature = "object_store"))]
use crate::shown_url;
use crate::{Store, StoreError, StoreOptions};

/// Opens the store at a URL of a server.
#[cfg(feature = "object_store")]
pub(crate) fn open_remote(url: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(crate::RemoteStore::from_url(url, options)?))
}

/// Refuses the URL of a server, since this build has no client.
#[cfg(not(feature = "object_store"))]
pub(crate) fn open_remote(url: &str, _: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    let reason = format!("this build has clients for {} alone", schemes());
    Err(StoreError::Url { url: shown_url(url), reason })
}
