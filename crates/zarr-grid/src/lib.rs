//! Regular and rectilinear chunk grids.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
