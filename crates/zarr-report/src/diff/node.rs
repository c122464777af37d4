//! A node that is compared, and its errors.

use std::collections::BTreeMap;
use std::fmt;

use zarr_array::store::{KeyError, Prefix};
use zarr_array::{Array, ArrayError, AxisSelection, Group, Hierarchy, Selection, open_node};
use zarr_codec::Options;
use zarr_metadata::{ArrayMetadata, NodeMetadata};

use crate::ReportError;

/// Opens the array with a name in the group around the compared node.
pub type Coordinates<'a> = &'a dyn Fn(&str) -> Option<Array>;

/// What is compared of the array at a path below the node: the whole, if it is `None`. The error is a
/// text that says what is wrong.
pub type Regions<'a> = &'a dyn Fn(&str, &ArrayMetadata) -> Result<Option<Selection>, String>;

/// One of the two nodes that are compared.
#[derive(Clone)]
pub struct DiffNode<'a> {
    pub(super) store: Hierarchy,
    pub(super) prefix: Prefix,
    pub(super) name: &'a str,
    coordinates: Option<Coordinates<'a>>,
    regions: Option<Regions<'a>>,
}

impl fmt::Debug for DiffNode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut node = f.debug_struct("DiffNode");
        node.field("store", &self.store).field("prefix", &self.prefix).field("name", &self.name);
        node.finish_non_exhaustive()
    }
}

impl<'a> DiffNode<'a> {
    /// The node at `prefix` of a store; reports call it by this name.
    #[must_use]
    pub fn new(store: impl Into<Hierarchy>, prefix: Prefix, name: &'a str) -> Self {
        let store = store.into();
        Self { store, prefix, name, coordinates: None, regions: None }
    }

    /// With the coordinate arrays of the node, if it is an array at the root of its store, around which
    /// nothing is known.
    #[must_use]
    pub fn coordinates(mut self, coordinates: Coordinates<'a>) -> Self {
        self.coordinates = Some(coordinates);
        self
    }

    /// Limits what is compared of each array.
    ///
    /// # Examples
    /// ```
    /// # use std::{ops::ControlFlow, sync::Arc};
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix, Store};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// use zarr_report::diff::{DiffNode, diff};
    ///
    /// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// let metadata = ArrayBuilder::new([3], DataType::Uint8).build()?;
    /// let (a, b) = (Prefix::new("a")?, Prefix::new("b")?);
    /// Array::create(store.clone(), &a, metadata.clone())?;
    /// Array::create(store.clone(), &b, metadata)?.write(1..2, &[7])?;
    /// let last = |_: &str, _: &_| Ok(Some((2..3).into()));
    /// let (one, other) = (DiffNode::new(&store, a, "a"), DiffNode::new(&store, b, "b"));
    /// let (one, other) = (one.regions(&last), other.regions(&last));
    /// let summary = diff(&one, &other, false, &mut |_| ControlFlow::Continue(()))?;
    /// assert_eq!((summary.elements, summary.different), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn regions(mut self, regions: Regions<'a>) -> Self {
        self.regions = Some(regions);
        self
    }

    /// Whether less than whole arrays may be compared.
    pub(super) fn has_regions(&self) -> bool {
        self.regions.is_some()
    }

    /// What is compared of an array: ranges, steps or lists.
    pub(super) fn region(
        &self,
        path: &str,
        metadata: &ArrayMetadata,
    ) -> Result<Option<Vec<AxisSelection>>, DiffError> {
        let Some(regions) = self.regions else { return Ok(None) };
        let region = regions(path, metadata);
        let Some(region) = region.map_err(|cause| self.failed(ReportError::Region(cause)))? else {
            return Ok(None);
        };
        // One index keeps its axis.
        let axes = region.axes().iter().map(|axis| match axis {
            AxisSelection::Index(index) => AxisSelection::from(*index..index.saturating_add(1)),
            AxisSelection::Mask(_) => AxisSelection::Indices(axis.indices().collect()),
            other => other.clone(),
        });
        Ok(Some(axes.collect()))
    }

    /// The name of the node at a path; empty if it is not known.
    pub(super) fn own_name(&self, path: &str) -> String {
        let prefix = self.below(path).map(|prefix| prefix.to_string()).unwrap_or_default();
        prefix.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// The coordinate array with this name of the array at a path.
    pub(super) fn coordinate(&self, path: &str, name: &str) -> Option<Array> {
        match self.below(path).ok()?.parent() {
            Some(group) => Array::open(&self.store, &group.join(name).ok()?).ok(),
            None => self.coordinates?(name),
        }
    }

    pub(super) fn failed(&self, cause: impl Into<ReportError>) -> DiffError {
        DiffError::new(self.name, cause.into())
    }

    /// The place of the node at this path below.
    fn below(&self, path: &str) -> Result<Prefix, DiffError> {
        self.prefix.join(path).map_err(|cause| self.key_error(cause))
    }

    pub(super) fn key_error(&self, cause: KeyError) -> DiffError {
        self.failed(ArrayError::from(cause))
    }

    /// Opens an array below the node.
    pub(super) fn array(&self, path: &str, metadata: &ArrayMetadata) -> Result<Array, DiffError> {
        let prefix = self.below(path)?;
        Array::with_metadata(&self.store, &prefix, metadata.clone(), Options::new())
            .map_err(|cause| self.failed(cause))
    }
}

/// The error of a node that cannot be compared.
#[derive(thiserror::Error)]
#[error("{}: {cause}", zarr_metadata::Printable(name))]
#[non_exhaustive]
pub struct DiffError {
    /// The name of the compared node that failed.
    pub name: String,
    /// The reason.
    pub cause: ReportError,
}

zarr_array::store::debug_as_text!(DiffError);

impl DiffError {
    /// An error of the node of this name.
    pub fn new(name: &str, cause: ReportError) -> Self {
        Self { name: name.to_owned(), cause }
    }
}

/// A node, or why it cannot be read.
pub(super) type ReadNode = Result<NodeMetadata, DiffError>;

/// The node and all nodes below it, by their paths. Some of those below may have documents that
/// cannot be read, such as arrays of pickled objects.
pub(super) fn nodes(root: &DiffNode<'_>) -> Result<BTreeMap<String, ReadNode>, DiffError> {
    let node = open_node(&root.store, &root.prefix).map_err(|cause| root.failed(cause))?;
    let mut found = BTreeMap::new();
    let mut next = vec![(String::new(), root.prefix.clone(), Ok(node))];
    while let Some((path, prefix, node)) = next.pop() {
        if let Ok(NodeMetadata::Group(_)) = node {
            let failed = |cause: ArrayError| root.failed(cause);
            let group = Group::open(&root.store, &prefix).map_err(failed)?;
            for (name, node) in group.nodes().map_err(failed)? {
                let below = prefix.join(&name).map_err(|cause| root.key_error(cause))?;
                let node = node.map_err(failed);
                let path = if path.is_empty() { name } else { format!("{path}/{name}") };
                next.push((path, below, node));
            }
        }
        found.insert(path, node);
    }
    Ok(found)
}

/// The nodes that were read, each with whether it is an array.
pub(super) fn known(
    root: &DiffNode<'_>,
    nodes: &BTreeMap<String, ReadNode>,
) -> Result<Vec<(Prefix, bool)>, DiffError> {
    let read = nodes.iter().filter_map(|(path, node)| Some((path, node.as_ref().ok()?)));
    let known =
        read.map(|(path, node)| Ok((root.below(path)?, matches!(node, NodeMetadata::Array(_)))));
    known.collect()
}
