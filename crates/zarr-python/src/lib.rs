//! The native part of the Python package `zarr-kit`: gives Python the arrays and groups of
//! [`zarr_kit`] through the buffer protocol.
//!
//! The interface for Python's users is in `python/zarr_kit`: numpy's indexing, dtypes, documents of
//! new arrays. This crate has only the parts that need the library: opening nodes, moving elements
//! without the GIL, and changing documents.
//!
//! # Non-goals
//! It does not use numpy: memory comes as buffers, and Python code handles dtypes and index
//! expressions. It is not a library for Rust.

mod advice;
mod array;
mod conversion;
mod group;
mod node;
mod operations;
mod process;
mod stores;
mod zarr_python;

use std::ffi::OsString;

use pyo3::prelude::*;
use pyo3::types::PyString;
use zarr_kit::array::store::Service;
use zarr_kit::metadata::Printable;

use crate::process::writes::Counted;

/// Runs the command line with these arguments and returns the exit status. The first argument is
/// the program's name.
#[pyfunction]
fn main_from(py: Python<'_>, args: Vec<OsString>) -> u8 {
    let _counted = Counted;
    py.detach(|| zarr_cli::main_from(args))
}

/// The text with escapes in place of characters that control a terminal or hide text. Names come from
/// the writer of a store, who may be hostile. Backslashes stay as they are, so that text may pass
/// twice.
#[pyfunction]
fn printable(text: &Bound<'_, PyString>) -> String {
    Printable(text.to_string_lossy()).to_string()
}

/// The kind of server that a URL names, as the scheme that its URLs have; None for a path.
#[pyfunction]
fn service(url: &str) -> Option<&'static str> {
    Some(match Service::of(url)? {
        Service::S3 => "s3",
        Service::GoogleCloud => "gs",
        Service::Azure => "az",
        _ => "http",
    })
}

// Python without a global lock takes it for this module: nothing has run without it yet.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use super::array::PyArray;
    #[pymodule_export]
    use super::conversion::error::{ConflictError, LossError, UnfinishedCopyError};
    #[pymodule_export]
    use super::conversion::values::{convert, element};
    #[pymodule_export]
    use super::conversion::variable_length::PyElements;
    #[pymodule_export]
    use super::group::PyGroup;
    #[pymodule_export]
    use super::main_from;
    #[pymodule_export]
    use super::operations::copy::{copy, plan_copy};
    #[pymodule_export]
    use super::operations::diff::diff;
    #[pymodule_export]
    use super::operations::hierarchy::{
        array_document, check, check_portable, reads_from, stored_mask,
    };
    #[pymodule_export]
    use super::operations::join::{check_order, join, join_virtually};
    #[pymodule_export]
    use super::operations::objects::{PyObjects, references, stored_bytes};
    #[pymodule_export]
    use super::operations::rearrange::{dimension_length, rearrange, rearrange_group};
    #[pymodule_export]
    use super::operations::replace::{create_array, create_group, delete};
    #[pymodule_export]
    use super::printable;
    #[pymodule_export]
    use super::process::writes::{writes, wrote};
    #[pymodule_export]
    use super::service;
    #[pymodule_export]
    use super::zarr_python::codec::{PyChain, PyReader, check_codec};
    #[pymodule_export]
    use super::zarr_python::pipeline::PyOpened;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("LISTED", super::array::LISTED)?;
        module.add("MEANING", zarr_kit::cf::MEANING)?;
        module.add("DESCRIBING", zarr_kit::cf::DESCRIBING)?;
        module.add("PACKING", zarr_kit::cf::PACKING)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
