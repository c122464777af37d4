//! Elements as text and as files.

pub(crate) mod csv;
pub(crate) mod lines;
pub(crate) mod npy;
pub(crate) mod text;
