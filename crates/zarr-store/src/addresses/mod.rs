//! Paths and URLs: what they name, how stores are opened by them, and how they are shown.

pub(crate) mod address;
pub(crate) mod archive_url;
pub(crate) mod below;
pub(crate) mod open;
pub(crate) mod open_remote;
pub(crate) mod opener;
pub(crate) mod options;
pub(crate) mod scheme;
pub(crate) mod shown;
pub(crate) mod url_names;
