//! Paths and URLs: what they name, how stores are opened by them, and how they are shown.

pub(crate) mod below;
pub(crate) mod opener;
pub(crate) mod options;
pub(crate) mod place;
pub(crate) mod scheme;
pub(crate) mod shown;
pub(crate) mod url_names;
