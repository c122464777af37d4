//! How the copy of an array is divided: into tasks that fit in memory, tasks with stored chunks,
//! and two passes with an intermediate if one pass would read its source many times.

pub(crate) mod budget;
pub(crate) mod intermediate_place;
pub(crate) mod passes;
pub(crate) mod route;
pub(crate) mod sparse;
