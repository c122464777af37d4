//! Results, messages and progress, as the terminal or a file gets them.

pub(crate) mod csv_table;
pub(crate) mod help;
pub(crate) mod print;
pub(crate) mod progress;
