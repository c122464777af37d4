//! Functions of the module on whole arrays, groups and hierarchies.

pub(crate) mod copy;
pub(crate) mod diff;
pub(crate) mod hierarchy;
pub(crate) mod join;
pub(crate) mod objects;
pub(crate) mod rearrange;
pub(crate) mod replace;
