//! The kinds of stores in files that a path or URL may lead to: a row each.

use zarr_array::store::Opener;

/// Opens the kinds of stores in files that this build has: of zip archives with the feature `zip`, and of
/// files of references with the feature `references`.
///
/// # Examples
/// ```
/// use zarr_array::store::{StoreOptions, open_url};
///
/// let options = StoreOptions::new().openers(zarr_place::OPENERS);
/// assert!(open_url("none/data.zip", &options).is_err());
/// ```
pub const OPENERS: &[&dyn Opener] = &[
    #[cfg(feature = "references")]
    &zarr_references::ReferenceOpener,
    #[cfg(feature = "zip")]
    &zarr_zip::ZipOpener,
];
