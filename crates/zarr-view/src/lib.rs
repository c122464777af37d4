//! Strided views and the copies between them.
//!
//! A [`View`] is a shape, strides, an offset and a mask over a buffer of elements. Operations on
//! views (permute, reshape, flip, shrink, pad, expand, slice, compose, invert) move no data, and
//! [`View::reshape`] is *complete*: it finds a view whenever one exists. The copy engine
//! ([`copy`], [`CopyPlan`], [`Output`]) moves every element once, from one view to another, at
//! the speed of memory.
//!
//! ```
//! use zarr_view::{CopyElement, View, copy};
//!
//! // Three rows of two big-endian 16-bit integers, read as two columns in little endian.
//! let stored = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6];
//! let from = View::contiguous(&[3, 2])?.permute(&[1, 0])?;
//! let to = View::contiguous(&[2, 3])?;
//! let mut wanted = [0; 12];
//! copy(&from, &stored, &to, &mut wanted, CopyElement::swapped_in_units(2, 2)?, &[])?;
//! assert_eq!(wanted, [1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Definitions, laws and the completeness argument are in `docs/view.md` of the repository.
//!
//! # Features
//!
//! * `std` (default): [`zeroed`] asks the operating system for huge pages, and the fastest vector
//!   instructions of the processor are detected ([`InstructionSet`]).
//! * `count`: counts the bytes that copies write, so that tests can show that each is written
//!   once.
//!
//! # Non-goals
//!
//! The crate computes no values, and of data types it knows only an element's size. It starts no
//! threads, does no I/O, and has no symbolic sizes. It has no array type: it borrows plain bytes of
//! any alignment.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

mod copy;
mod error;
mod instruction_set;
mod runs;
mod stack;
mod view;

#[cfg(feature = "count")]
pub use copy::bytes_written;
pub use copy::{
    CopyElement, CopyPlan, Output, OutputGrid, OwnedGrid, OwnedOutput, advise_huge_pages, copy,
    zeroed,
};
pub use error::{CopyError, ViewError};
pub use instruction_set::InstructionSet;
pub use runs::{Run, Runs};
pub use stack::ViewStack;
pub use view::View;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
