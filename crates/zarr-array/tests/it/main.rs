//! Behaviour of the crate as its users see it.

mod regions;
mod seattle;
mod store;
