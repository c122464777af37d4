//! What stored numbers mean by the CF conventions: packing, missing values, times and calendars.
//!
//! Groups have a meaning, too, by the conventions of a field: [`GroupMeaning`] has the one list of what
//! in them depends on chunks, axes or order.
//!
//! Attributes give the elements of an array a meaning: `scale_factor` and `add_offset` unpack
//! numbers, `_FillValue` and `missing_value` mark missing elements, `units` and `calendar` make
//! numbers times. This crate has the one list of these attributes, [`MEANING`], and the one decoder by
//! it, [`Decoder`].
//!
//! ```
//! use zarr_cf::{Calendar, Moment, TimeAxis};
//!
//! let days = TimeAxis::cf("days since 2000-01-01", Some("360_day"))?.ok_or("times")?;
//! assert_eq!(days.shown_whole(59), "2000-02-30");
//! let march = Moment::parse("2000-03").ok_or("a month")?;
//! assert_eq!(days.whole_from(march.start(Calendar::Days360)), 60);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Hostile input
//! Attributes are texts of others. No text causes a panic, and memory and time are in proportion to
//! its length. Years have at most nine digits, and numbers at most 64 bits, so that times are exact
//! in 128 bits.
//!
//! # Specifications
//! CF conventions 1.11, chapters 4.4 (times), 7.1 (bounds), 7.4 (climatology) and 8.1 (packing), and
//! `_Unsigned` of the NetCDF conventions. Where these are silent, elements mean what Xarray and
//! netCDF4 make of them.
//!
//! # Non-goals
//! No I/O and no arrays: callers read elements and attributes. Units are not converted, except those of
//! times. `valid_min`, `valid_max` and `valid_range` describe elements and mask none, as in Xarray.
//! Images, cells and genomes are not read, only what joins, copies and checks must keep true.
//! Grid mappings, coordinates of discrete samples and cell methods are not interpreted.

#![forbid(unsafe_code)]

mod attributes;
mod bounds;
mod calendar;
mod conventions;
mod decoder;
mod duration;
mod error;
mod meaning;
mod missing;
mod moment;
mod numbers;
mod packing;
mod rebase;
mod reference;
mod time_axis;

pub use attributes::{DESCRIBING, MEANING, PACKING, element_type, text};
pub use bounds::has_bounds;
pub use calendar::{Calendar, Date, REFORM};
pub use conventions::{Change, ConventionError, GroupMeaning, JoinedAxes, Part, REGION_INDEX};
pub use decoder::Decoder;
pub use duration::Durations;
pub use error::CfError;
pub use meaning::{Kind, Meaning};
pub use missing::missing;
pub use moment::{DAY, Moment, SECOND, shown};
pub use numbers::Numbers;
pub use packing::Packing;
pub use rebase::Rebase;
pub use time_axis::TimeAxis;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
