//! Paths and URLs of stores: parsing, opening and showing them.

pub(crate) mod below;
pub(crate) mod opener;
pub(crate) mod options;
pub(crate) mod place;
pub(crate) mod scheme;
pub(crate) mod shown;
pub(crate) mod trust;
pub(crate) mod url_names;
