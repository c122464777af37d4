//! Tests of virtual joins.

mod answers;
#[path = "../../../zarr-join/tests/it/cases.rs"]
mod cases;
mod linked;
