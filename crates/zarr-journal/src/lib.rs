//! Markers of unfinished work in a store, and stores that only the run of a marker changes.
//!
//! A copy, join or rearrangement puts an object, its *marker*, before it changes anything, and removes
//! it at the end. So a program that finds the remains of a killed process knows what they are:
//! [`Unfinished`] reads the marker of a copy, [`Record`] names the records of its parts.
//!
//! # Runs
//! A process that stopped, because a laptop slept or a node hung, may go on when another has taken its
//! work over. So a marker has a [number of its run](run_number), and **whoever does not hold the marker
//! writes nothing**. [`Hold`] makes a store that keeps this rule for every object that is put or removed
//! through it, by the best means of the store:
//!
//! | store | put | removal, copy within a server |
//! | --- | --- | --- |
//! | with [shared locks](zarr_store::Store::lock_shared) | under the shared lock of the marker, after reading it; taking over needs the lock alone | the same |
//! | with conditional puts | only if there is no object. If there is one, the marker is read again: the object is compared and, if it differs, replaced on the condition of its version | after reading the marker |
//! | with sessions, such as archives | nothing can be overtaken before the commit | the same |
//! | any other | after reading the marker | the same |
//!
//! In the last column and row, a request that is made just before another takes over, and answered
//! after it, is not stopped. No store offers more there.
//!
//! # Versions
//! A marker names its version ([`MARKER_VERSION`]), and a build that knows another one refuses to
//! resume. Members may be added within a version if an older build that does not know them refuses the
//! marker, because it compares whole texts; markers of older builds lack these members, and are read.
//!
//! # Non-goals
//! No documents, grids or codecs, no copies, and no decision what is resumed or replaced. No clock and no
//! lease: a run that stops holds its marker until another takes it over.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::as_conversions, clippy::arithmetic_side_effects))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod copy_marker;
mod end;
mod held_store;
mod hold;
mod parts;
mod run;
mod unfinished;

pub use copy_marker::{CopyMarker, CopyStep};
pub use end::{end_marker, replace_marker};
pub use hold::Hold;
pub use parts::{Record, UnfinishedParts, is_of_copy, record_run, record_text};
pub use run::run_number;
pub use unfinished::{
    INTERMEDIATE, Kind, MARKER, MARKER_VERSION, MOST_PARTS, REARRANGE_MARKER, Unfinished,
    UnfinishedWork, is_ended, is_marker, marker_text, other_version, read_marker,
};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
