//! Tests of joins.

mod answers;
mod attributes;
mod cases;
mod changes;
mod groups;
mod kills;
mod linked;
#[cfg(unix)]
mod links;
mod members;
mod oracle;
mod seattle;
mod version_2;
