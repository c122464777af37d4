//! Members before their documents say whether they are arrays or groups.

use std::sync::Arc;

use zarr_array::store::{Prefix, Store};
use zarr_array::{Array, ArrayError, Group, Hierarchy, open_node};
use zarr_codec::Options;
use zarr_metadata::NodeMetadata;

use crate::error::JoinError;
use crate::group::{GroupJoinPlan, GroupMember};
use crate::join::execute::{JoinOptions, JoinProgress, JoinSummary};
use crate::join::plan::JoinPlan;
use crate::member::Member;

/// An array or a group to join.
#[derive(Clone, Debug)]
pub enum NodeMember {
    /// An array.
    Array(Member),
    /// A group.
    Group(GroupMember),
}

impl NodeMember {
    /// Opens the node at `prefix`. `name` is used in messages: the path or URL, as the user gave it.
    ///
    /// # Errors
    /// [`ArrayError`] if there is no node, or if it cannot be opened.
    pub fn open(
        name: impl Into<String>,
        store: impl Into<Hierarchy>,
        prefix: &Prefix,
    ) -> Result<Self, ArrayError> {
        let hierarchy = store.into();
        match open_node(&hierarchy, prefix)? {
            NodeMetadata::Array(metadata) => {
                let array = Array::with_metadata(hierarchy, prefix, metadata, Options::new())?;
                Ok(Self::Array(Member::new(name, array)))
            }
            NodeMetadata::Group(_) => {
                Ok(Self::Group(GroupMember::new(name, Group::open(hierarchy, prefix)?)))
            }
        }
    }
}

/// Members that are all arrays, for a [`Join`](crate::Join), or all groups, for
/// [`JoinGroups`](crate::JoinGroups).
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{MemoryStore, Prefix, Store};
/// use zarr_array::{Array, Group};
/// use zarr_join::{NodeMember, NodeMembers};
/// use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let (x, g) = (Prefix::new("x")?, Prefix::new("g")?);
/// Array::create(store.clone(), &x, ArrayBuilder::new([3], DataType::Uint8).build()?)?;
/// Group::create(store.clone(), &g, GroupMetadata::new())?;
///
/// let array = NodeMember::open("x", store.clone(), &x)?;
/// let group = NodeMember::open("g", store, &g)?;
/// assert!(matches!(NodeMembers::new([array.clone()])?, NodeMembers::Arrays(_)));
/// assert_eq!(
///     NodeMembers::new([array, group]).unwrap_err().to_string(),
///     "x is an array, and g a group: join either arrays or groups"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum NodeMembers {
    /// All are arrays.
    Arrays(Vec<Member>),
    /// All are groups.
    Groups(Vec<GroupMember>),
}

impl NodeMembers {
    /// Sorts members into arrays and groups, in their order.
    ///
    /// # Errors
    /// [`JoinError::NoMembers`] without any, and [`JoinError::Mixed`] with the first array and the
    /// first group if there are both.
    pub fn new(members: impl IntoIterator<Item = NodeMember>) -> Result<Self, JoinError> {
        let (mut arrays, mut groups) = (Vec::new(), Vec::new());
        for member in members {
            match member {
                NodeMember::Array(array) => arrays.push(array),
                NodeMember::Group(group) => groups.push(group),
            }
        }
        match (arrays.first(), groups.first()) {
            (Some(array), Some(group)) => {
                let (array, group) = (array.name().into(), group.name().into());
                Err(JoinError::Mixed { array, group })
            }
            (Some(_), None) => Ok(Self::Arrays(arrays)),
            (None, Some(_)) => Ok(Self::Groups(groups)),
            (None, None) => Err(JoinError::NoMembers),
        }
    }
}

/// A planned join of arrays or of groups.
#[derive(Debug)]
pub enum NodePlan {
    /// A join of arrays.
    Array(Box<JoinPlan>),
    /// A join of groups.
    Group(Box<GroupJoinPlan>),
}

impl NodePlan {
    /// The plan of each array, with its path in the joined node; the path of a single array is
    /// empty.
    #[must_use]
    pub fn arrays(&self) -> Vec<(&str, &JoinPlan)> {
        match self {
            Self::Array(plan) => vec![("", plan)],
            Self::Group(plan) => plan.arrays().collect(),
        }
    }

    /// See [`GroupJoinPlan::left_out`].
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        match self {
            Self::Array(_) => &[],
            Self::Group(plan) => plan.left_out(),
        }
    }

    /// Makes the joined node at `prefix` in `store`; see [`JoinPlan::execute`].
    ///
    /// # Errors
    /// As for [`JoinPlan::execute`].
    pub fn execute(
        &self,
        store: &Arc<dyn Store>,
        prefix: &Prefix,
        options: &JoinOptions,
        progress: &(dyn Fn(JoinProgress) + Sync),
    ) -> Result<JoinSummary, JoinError> {
        match self {
            Self::Array(plan) => plan.execute(store, prefix, options, progress).map(|(_, did)| did),
            Self::Group(plan) => plan.execute(store, prefix, options, progress).map(|(_, did)| did),
        }
    }
}

impl From<JoinPlan> for NodePlan {
    fn from(plan: JoinPlan) -> Self {
        Self::Array(Box::new(plan))
    }
}

impl From<GroupJoinPlan> for NodePlan {
    fn from(plan: GroupJoinPlan) -> Self {
        Self::Group(Box::new(plan))
    }
}
