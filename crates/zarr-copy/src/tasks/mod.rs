//! How the copy of an array is divided: into tasks that fit in memory, those that have anything
//! stored, and two passes by an intermediate where one would read its source many times.

pub(crate) mod budget;
pub(crate) mod intermediate_place;
pub(crate) mod passes;
pub(crate) mod route;
pub(crate) mod sparse;
