//! Strided views and the copies between them.

#![no_std]

extern crate alloc;
