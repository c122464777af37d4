//! Walks through the nodes of a hierarchy, and the objects that belong to no node.

use std::collections::HashMap;
use std::convert::Infallible;
use std::iter;
use std::sync::Arc;

use zarr_array::ArrayError;
use zarr_array::node;
use zarr_array::parallel;
use zarr_array::version_2;
use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata};
use zarr_store::{Key, Prefix};

use crate::CopyOptions;
use crate::endpoint::Endpoint;
use crate::error::{TransferError, source};

/// A place that a walk comes to.
pub(crate) struct Step {
    /// The prefix in the source.
    pub(crate) prefix: Prefix,
    /// The prefix in the target.
    pub(crate) new: Prefix,
    /// The kind of node.
    pub(crate) visit: Visit,
}

/// A step of a walk.
pub(crate) enum Visit {
    Array(Box<ArrayMetadata>),
    /// A node with an invalid document, and the reason.
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

/// The steps that a walk has yet to visit: prefixes in the source and in the target.
enum Ahead {
    Node(Prefix, Prefix),
    /// A folder without a document, which may contain nodes.
    Folder(Prefix, Prefix),
    /// The children of a group.
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
    /// A node that is not visited.
    left_out: Option<&'a Prefix>,
    /// The nodes that were opened before their turn, several at once.
    opened: HashMap<Prefix, Opened>,
    /// Nodes that the caller knows, and whether each is an array: those are not visited.
    known: HashMap<Prefix, bool>,
}

/// A node, or why it cannot be read, unless the copy ends there.
type Opened = Result<Result<NodeMetadata, ArrayError>, TransferError>;

impl<'a> Walk<'a> {
    pub(crate) fn new(from: Endpoint<'a>, to: Endpoint<'a>, options: &'a CopyOptions) -> Self {
        let ahead = vec![Ahead::Node(from.prefix.clone(), to.prefix.clone())];
        let left_out = options.left_out.as_ref();
        Self { from, to: Some(to), ahead, left_out, opened: HashMap::new(), known: HashMap::new() }
    }

    /// As [`new`](Self::new), without a target and without the arrays among known nodes.
    pub(crate) fn of(from: Endpoint<'a>, known: HashMap<Prefix, bool>) -> Self {
        let ahead = vec![Ahead::Node(from.prefix.clone(), Prefix::root())];
        Self { from, to: None, ahead, left_out: None, opened: HashMap::new(), known }
    }

    fn step(&mut self, next: Ahead) -> Result<Option<Step>, TransferError> {
        match next {
            Ahead::Node(prefix, new) => {
                let opened = self.opened(&prefix)?;
                self.node(prefix, new, opened).map(Some)
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
        // A store without its own location was asked about everything below the first.
        if let Some(to) = self.to.filter(|_| self.from.store.location(prefix).is_some()) {
            here.apart(to)?;
        }
        here.refuse_unfinished()
    }

    /// Opens the node at `prefix` with those after it, as many at once as the store answers, unless that
    /// was done before.
    fn opened(&mut self, prefix: &Prefix) -> Opened {
        if let Some(opened) = self.opened.remove(prefix) {
            return opened;
        }
        let at_once = self.from.store.capabilities().requests_in_flight;
        let after = self.ahead.iter().rev().filter_map(|ahead| match ahead {
            Ahead::Node(prefix, _) => Some(prefix).filter(|at| !self.opened.contains_key(at)),
            _ => None,
        });
        let next: Vec<&Prefix> = iter::once(prefix).chain(after).take(at_once.get()).collect();
        let Ok(opened) = parallel::map(&next, at_once, |prefix| {
            let opened = self.enter(prefix).map(|()| node::open(self.from.store, prefix));
            Ok::<_, Infallible>(opened)
        });
        let mut opened = opened.into_iter();
        let first = opened.next();
        let after: Vec<_> = next.into_iter().skip(1).cloned().zip(opened).collect();
        self.opened.extend(after);
        first.unwrap_or_else(|| Ok(node::open(self.from.store, prefix)))
    }

    fn node(
        &mut self,
        prefix: Prefix,
        new: Prefix,
        opened: Result<NodeMetadata, ArrayError>,
    ) -> Result<Step, TransferError> {
        let visit = match opened {
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
        let is_known = |prefix: &Prefix| self.known.contains_key(prefix);
        let content = here.content(is_group, is_version_2, &is_known)?;
        for (name, is_node) in content.members.into_iter().rev() {
            let (prefix, new) = (prefix.join(&name).map_err(source)?, new.join(&name)?);
            if self.left_out == Some(&prefix) || self.known.get(&prefix) == Some(&true) {
                continue;
            }
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

/// The treatment of a node with an unreadable document. Returns the error itself if the document is
/// not at fault, or is of a group of version 2.
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
