//! From and to Python: selections, memory, elements of variable length, errors.

pub(crate) mod error;
pub(crate) mod memory;
pub(crate) mod report;
pub(crate) mod selection;
pub(crate) mod values;
pub(crate) mod variable_length;
