//! Joins of whole groups, with arrays matched by name.

mod arranged;
mod coordinates;
mod execute;
mod group_plan;
mod other_objects;
mod tree;

pub use coordinates::check_order;
pub use group_plan::{GroupArrangement, GroupJoinPlan, JoinGroups};
pub use other_objects::names_of_other_objects;
pub use tree::{GroupMember, GroupTree};
