//! Consolidated metadata as a source of documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_metadata::{GroupMetadata, MetadataError, NodeMetadata};

use crate::error::ArrayError;
use crate::hierarchy::node;
use crate::store::Prefix;

/// A group's consolidated metadata for a part of the hierarchy below it.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// Each document by its path below the group that has the metadata.
    nodes: Arc<BTreeMap<String, Result<NodeMetadata, MetadataError>>>,
    /// The document that has the metadata, for messages.
    key: Arc<str>,
    /// The prefix of this part's paths: empty, or a path and a slash.
    below: String,
}

impl Snapshot {
    /// `None` if the group has no consolidated metadata.
    pub(crate) fn of(group: &GroupMetadata, prefix: &Prefix) -> Option<Self> {
        let consolidated = group.consolidated_metadata()?;
        let mut nodes = BTreeMap::new();
        for (path, node) in consolidated.nodes() {
            // A name that is not a node's path can never be looked up.
            if prefix.join(path).is_ok() {
                nodes.insert(path.to_owned(), node);
            }
        }
        let key = node::metadata_key(prefix).into();
        Some(Self { nodes: Arc::new(nodes), key, below: String::new() })
    }

    /// The part below the node at `path`, if the node itself is known.
    pub(crate) fn below(&self, path: &str) -> Option<Self> {
        let path = format!("{}{path}", self.below);
        self.nodes.get(&path)?;
        Some(Self { below: format!("{path}/"), ..self.clone() })
    }

    /// The node at `path`, if it is known.
    pub(crate) fn node(&self, path: &str) -> Option<Result<NodeMetadata, ArrayError>> {
        let node = self.nodes.get(&format!("{}{path}", self.below))?;
        Some(match node {
            Ok(NodeMetadata::Array(array)) => Ok(NodeMetadata::Array(array.clone())),
            Ok(NodeMetadata::Group(group)) => Ok(NodeMetadata::Group(group.clone())),
            Err(cause) => {
                Err(ArrayError::Metadata { key: self.key.to_string(), cause: cause.clone() })
            }
        })
    }

    /// Names of the direct members of this part, sorted.
    pub(crate) fn children(&self) -> Vec<String> {
        self.nodes
            .range(self.below.clone()..)
            .map_while(|(path, _)| path.strip_prefix(&self.below))
            .filter(|name| !name.contains('/'))
            .map(str::to_owned)
            .collect()
    }
}
