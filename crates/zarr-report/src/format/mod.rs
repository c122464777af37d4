//! Elements as text and as files.

pub mod decoded;
pub mod element;
pub mod json;
pub mod nested;
pub mod npy;
pub mod pretty;
pub mod quoted;
pub mod text;
mod time;
pub mod value;
