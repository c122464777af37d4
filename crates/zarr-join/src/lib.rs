//! Many Zarr v3 arrays joined into one, end to end or as tiles.
//!
//! Data often come as a file per month or a tile per flight, each with its own length. [`Members`]
//! are such arrays, checked to fit together: each has a place in the joined array. [`Join`] plans
//! an array with a rectilinear grid of their chunks. So objects are linked or copied, and only
//! chunks that must change are decoded. [`JoinGroups`] does this for all arrays of groups.
//! [`rearrange`] removes, reorders and inserts whole chunks of an array that exists, or of all
//! arrays of a group.
//!
//! # Non-goals
//! No interpolation, no alignment by coordinates, no arithmetic on values: members are laid side by
//! side, without gap and without overlap.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::as_conversions))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod arrangement;
mod axes;
mod conventions;
mod error;
mod group;
mod insert;
mod join;
mod member;
mod members;
mod nodes;
pub mod rearrange;
mod values;

pub use arrangement::{AxisName, MemberGrid, NamedArrangement};
pub use axes::GroupAxes;
pub use error::JoinError;
pub use group::{
    GroupArrangement, GroupJoinPlan, GroupMember, GroupTree, JoinGroups, check_order,
    names_of_other_objects,
};
pub use insert::{check_group_insertion, check_insertion, check_member, check_unjoined};
pub use join::Join;
pub use join::chain::encode_alike;
pub use join::execute::{JoinOptions, JoinProgress, JoinSummary};
pub use join::grid::occupied_runs;
pub use join::plan::{JoinPlan, Reason};
pub use member::Member;
pub use members::tiles::Tiles;
pub use members::{Arrangement, Members};
pub use nodes::{NodeMember, NodeMembers, NodePlan};
pub use values::attributes::CombineAttributes;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
