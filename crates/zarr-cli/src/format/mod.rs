//! Elements as text and as files.

pub(crate) mod csv;
pub(crate) mod element;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod nested;
pub(crate) mod npy;
pub(crate) mod pretty;
pub(crate) mod quoted;
pub(crate) mod text;
mod time;
pub(crate) mod value;

pub(crate) use time::day;
