//! Tests of joins.

mod arrangement;
mod attributes;
mod cases;
mod changes;
mod coordinates;
mod groups;
mod inside;
mod kills;
#[cfg(unix)]
mod links;
mod locks;
mod members;
mod oracle;
#[cfg(test)]
mod overtaken;
mod promote;
mod rearrange;
mod seattle;
mod shards;
mod times;
mod version_2;
