//! Joins of whole groups, whose arrays are matched by name.

mod coordinates;
mod execute;
mod laid;
mod plan;
mod tree;

pub(crate) use laid::check_equal;
pub use plan::{GroupArrangement, GroupJoinPlan, JoinGroups};
pub use tree::{GroupMember, GroupTree};
