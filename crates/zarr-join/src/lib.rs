//! Many Zarr v3 arrays joined into one, end to end or as tiles.
//!
//! People have a file per month or a tile per flight, each with its own length, and want one array.
//! [`Members`] are such arrays, looked at and found to fit: each has a place in the joined array.
//!
//! # Non-goals
//! No interpolation, no alignment by coordinates, no arithmetic on values: members are laid side by
//! side, without gap and without overlap.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::as_conversions, clippy::arithmetic_side_effects))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod members;
mod tiles;

pub use error::JoinError;
pub use members::{Arrangement, Member, Members};
pub use tiles::Tiles;
