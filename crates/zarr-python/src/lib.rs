//! The native part of the Python package `zarr-kit`: arrays and groups of [`zarr_kit`] behind the
//! buffer protocol.
//!
//! What Python's users see is in `python/zarr_kit`: numpy's indexing, dtypes, documents of new
//! arrays. Here is only what needs the library: opening, moving elements without the GIL, changing
//! documents.
//!
//! # Non-goals
//! It knows no numpy: memory comes as buffers, dtypes and index expressions are Python's affair. It
//! is no library for Rust.

mod array;
mod error;
mod group;
mod memory;
mod place;
mod variable;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::array::PyArray;
    #[pymodule_export]
    use super::error::{ConflictError, LossError, UnfinishedCopyError};
    #[pymodule_export]
    use super::group::PyGroup;
    #[pymodule_export]
    use super::variable::PyElements;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
