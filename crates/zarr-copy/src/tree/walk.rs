//! Walks through the nodes of a hierarchy, and the objects that belong to no node.

use std::sync::Arc;

use zarr_array::ArrayError;
use zarr_array::node;
use zarr_array::version_2;
use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata};
use zarr_store::{Key, Prefix};

use crate::endpoint::Endpoint;
use crate::error::{TransferError, source};

/// A place that a walk comes to.
pub(crate) struct Step {
    /// The prefix in the source.
    pub(crate) prefix: Prefix,
    /// The prefix in the target.
    pub(crate) new: Prefix,
    /// What is there.
    pub(crate) visit: Visit,
}

/// What a walk visits.
pub(crate) enum Visit {
    Array(Box<ArrayMetadata>),
    /// A node whose document is not valid, and why.
    Invalid(ArrayError),
    /// An array of Zarr version 2 that version 3 cannot express, and why.
    Untranslated(ArrayError),
    /// A group, before its members.
    Group(Arc<GroupMetadata>),
    /// A group, after its members.
    GroupEnd(Arc<GroupMetadata>),
    /// Objects that belong to no node, directly in a group or in a folder without a document.
    Others(Vec<Key>),
}

/// What a walk has yet to visit: prefixes in the source and in the target.
enum Ahead {
    Node(Prefix, Prefix),
    /// A folder without a document, which may contain nodes.
    Folder(Prefix, Prefix),
    /// What is in a group.
    Content {
        prefix: Prefix,
        new: Prefix,
        is_version_2: bool,
    },
    GroupEnd(Prefix, Prefix, Arc<GroupMetadata>),
}

/// The nodes of a source, each with its place in the target, and the objects that belong to no node.
///
/// It ends after an error.
pub(crate) struct Walk<'a> {
    from: Endpoint<'a>,
    /// `None` if nothing is to be copied.
    to: Option<Endpoint<'a>>,
    ahead: Vec<Ahead>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(from: Endpoint<'a>, to: Endpoint<'a>) -> Self {
        let ahead = vec![Ahead::Node(from.prefix.clone(), to.prefix.clone())];
        Self { from, to: Some(to), ahead }
    }

    /// As [`new`](Self::new), without a target.
    pub(crate) fn of(from: Endpoint<'a>) -> Self {
        Self { from, to: None, ahead: vec![Ahead::Node(from.prefix.clone(), Prefix::root())] }
    }

    fn step(&mut self, next: Ahead) -> Result<Option<Step>, TransferError> {
        match next {
            Ahead::Node(prefix, new) => {
                self.enter(&prefix)?;
                self.node(prefix, new).map(Some)
            }
            Ahead::Folder(prefix, new) => {
                self.enter(&prefix)?;
                self.content(prefix, new, false, false)
            }
            Ahead::Content { prefix, new, is_version_2 } => {
                self.content(prefix, new, true, is_version_2)
            }
            Ahead::GroupEnd(prefix, new, group) => {
                Ok(Some(Step { prefix, new, visit: Visit::GroupEnd(group) }))
            }
        }
    }

    /// Checks a place below the first: through a link, it may be elsewhere than its parent.
    fn enter(&self, prefix: &Prefix) -> Result<(), TransferError> {
        if prefix == self.from.prefix {
            return Ok(());
        }
        let here = Endpoint::new(self.from.store, prefix);
        if let Some(to) = self.to {
            here.apart(to)?;
        }
        here.refuse_unfinished()
    }

    fn node(&mut self, prefix: Prefix, new: Prefix) -> Result<Step, TransferError> {
        let visit = match node::open(self.from.store, &prefix) {
            Ok(NodeMetadata::Array(metadata)) => Visit::Array(Box::new(metadata)),
            Ok(NodeMetadata::Group(group)) => {
                let is_version_2 = group.is_version_2();
                let group = Arc::new(group);
                let end = Ahead::GroupEnd(prefix.clone(), new.clone(), Arc::clone(&group));
                let content =
                    Ahead::Content { prefix: prefix.clone(), new: new.clone(), is_version_2 };
                self.ahead.extend([end, content]);
                Visit::Group(group)
            }
            Err(error) => unreadable(Endpoint::new(self.from.store, &prefix), error)?,
        };
        Ok(Step { prefix, new, visit })
    }

    /// Puts the members of a group or folder ahead. The objects in it that belong to no node, if
    /// there are any.
    fn content(
        &mut self,
        prefix: Prefix,
        new: Prefix,
        is_group: bool,
        is_version_2: bool,
    ) -> Result<Option<Step>, TransferError> {
        let here = Endpoint::new(self.from.store, &prefix);
        let content = here.content(is_group, is_version_2)?;
        for (name, is_node) in content.members.into_iter().rev() {
            let (prefix, new) = (prefix.join(&name).map_err(source)?, new.join(&name)?);
            self.ahead.push(match is_node {
                true => Ahead::Node(prefix, new),
                false => Ahead::Folder(prefix, new),
            });
        }
        if content.others.is_empty() {
            return Ok(None);
        }
        Ok(Some(Step { prefix, new, visit: Visit::Others(content.others) }))
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Step, TransferError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(next) = self.ahead.pop() {
            match self.step(next).transpose() {
                None => {}
                Some(Ok(step)) => return Some(Ok(step)),
                Some(Err(error)) => {
                    self.ahead.clear();
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// What becomes of a node whose document cannot be read; the error itself if it is none of the
/// document, or that of a group of version 2.
fn unreadable(here: Endpoint<'_>, error: ArrayError) -> Result<Visit, TransferError> {
    if !matches!(error, ArrayError::Metadata { .. }) {
        return Err(source(error));
    }
    if here.store.head(&here.document()?).map_err(source)?.is_some() {
        return Ok(Visit::Invalid(error));
    }
    match version_2::is_array(&**here.store, here.prefix).map_err(source)? {
        true => Ok(Visit::Untranslated(error)),
        false => Err(source(error)),
    }
}
