//! The native part of the Python package `zarr-kit`: gives Python the arrays and groups of
//! [`zarr_kit`] through the buffer protocol.
//!
//! The interface for Python's users is in `python/zarr_kit`: numpy's indexing, dtypes, documents of
//! new arrays. This crate has only what needs the library: opening nodes, moving elements without
//! the GIL, and changing documents.
//!
//! # Non-goals
//! It does not use numpy: memory comes as buffers, and Python code handles dtypes and index
//! expressions. It is not a library for Rust.

mod array;
mod axes;
mod batch;
mod block;
mod codec;
mod compare;
mod error;
mod group;
mod join;
mod memory;
mod node;
mod node_store;
mod pipeline;
mod progress;
mod rearrange;
mod signals;
mod variable;
mod work;
mod writes;

use std::ffi::OsString;

use pyo3::prelude::*;

use crate::writes::Counted;

/// Runs the command line with these arguments and returns the exit status. The first argument is
/// the program's name.
#[pyfunction]
fn main_from(py: Python<'_>, args: Vec<OsString>) -> u8 {
    let _counted = Counted;
    py.detach(|| zarr_cli::main_from(args))
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::array::PyArray;
    #[pymodule_export]
    use super::codec::{PyChain, PyReader, check_codec};
    #[pymodule_export]
    use super::compare::diff;
    #[pymodule_export]
    use super::error::{ConflictError, LossError, UnfinishedCopyError};
    #[pymodule_export]
    use super::group::PyGroup;
    #[pymodule_export]
    use super::join::{join, join_virtually};
    #[pymodule_export]
    use super::main_from;
    #[pymodule_export]
    use super::pipeline::PyOpened;
    #[pymodule_export]
    use super::rearrange::{dimension_length, rearrange, rearrange_group};
    #[pymodule_export]
    use super::variable::PyElements;
    #[pymodule_export]
    use super::work::{array_document, check, copy};
    #[pymodule_export]
    use super::writes::{writes, wrote};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("LISTED", super::array::LISTED)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
