//! Behaviour of the crate as its users see it.

#![expect(clippy::tests_outside_test_module, reason = "every module here is of tests")]

mod regions;
mod seattle;
