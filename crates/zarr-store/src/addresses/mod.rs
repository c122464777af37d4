//! Paths and URLs of stores: parsing, opening and showing them.

pub(crate) mod below;
pub(crate) mod opener;
pub(crate) mod options;
pub(crate) mod place;
pub(crate) mod scheme;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
pub(crate) mod settings;
pub(crate) mod shown;
pub(crate) mod trust;
pub(crate) mod url_names;
