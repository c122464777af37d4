//! Tests of virtual joins.

mod answers;
mod asks;
#[path = "../../../zarr-join/tests/it/cases.rs"]
mod cases;
mod linked;
