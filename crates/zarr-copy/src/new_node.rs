//! New nodes of several other nodes, by the steps of a copy.

use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::unfinished::{Hold, Kind};
use zarr_metadata::{ArrayMetadata, NodeMetadata};
use zarr_store::Store;

use crate::CopyOptions;
use crate::begin::{begin, remove_markers};
use crate::content::ContentDigest;
use crate::documents::Pending;
use crate::endpoint::Endpoint;
use crate::error::TransferError;
use crate::marker::{Marker, TargetState};

/// A new node of several other nodes, such as a join of arrays. It follows the steps of a copy:
/// after a kill at any moment there is no node, or the whole node.
///
/// [`begin`](NewNode::begin) puts the [`MARKER`](crate::MARKER), then the caller puts chunks or
/// makes the nodes [`within`](NewNode::within), and [`finish`](NewNode::finish) puts the document
/// and removes the marker. As for copies, a [resumed](CopyOptions::resume) node has only objects of
/// the same work, so stored objects are done.
pub struct NewNode<'a> {
    marker: Marker<'a>,
    state: TargetState,
    is_within: bool,
    of: Arc<Whole>,
}

/// What the nodes of a tree have in common.
struct Whole {
    hold: Arc<Hold>,
    /// Whether objects that are there are of this node.
    trusts_objects: bool,
    /// The documents of finished nodes below the first.
    documents: Mutex<Vec<Pending>>,
}

impl<'a> NewNode<'a> {
    /// Begins the node at `to` with this document, from the nodes `from` with their documents.
    /// To resume it, pass the same nodes in the same order, with the same documents and the same
    /// `content`. `within` is a digest of the documents that the nodes within will have, if it is a group.
    ///
    /// Of the options, [`resume`](CopyOptions::resume) and [`overwrite`](CopyOptions::overwrite)
    /// matter; an overwrite never removes objects that belong to no node.
    ///
    /// # Errors
    /// As for [`copy_array`](crate::copy_array); nothing has then been removed.
    pub fn begin(
        from: &[(Endpoint<'_>, &str)],
        content: ContentDigest,
        within: Option<ContentDigest>,
        to: Endpoint<'a>,
        document: &NodeMetadata,
        options: &CopyOptions,
    ) -> Result<Self, TransferError> {
        let marker = Marker::of_many(from, to, kind(document), document.json().to_owned())?;
        let mut marker = marker.with_content(Some(content)).of_this_run();
        marker.set_below(within);
        let sources: Vec<Endpoint<'_>> = from.iter().map(|(from, _)| *from).collect();
        let state = begin(&mut marker, &sources, array(document), options, &mut |_| Ok(()))?;
        let (hold, trusts_objects) = (marker.hold()?, !marker.follows());
        let of = Arc::new(Whole { hold, trusts_objects, documents: Mutex::default() });
        Ok(Self { marker, state, is_within: false, of })
    }

    /// Begins a node within this one, which is a group.
    ///
    /// # Errors
    /// As for [`begin`](NewNode::begin).
    pub fn within<'b>(
        &self,
        from: &[(Endpoint<'_>, &str)],
        to: Endpoint<'b>,
        document: &NodeMetadata,
    ) -> Result<NewNode<'b>, TransferError> {
        let marker = Marker::of_many(from, to, kind(document), document.json().to_owned())?;
        let state = marker.begin_within(self.state)?;
        Ok(NewNode { marker, state, is_within: true, of: Arc::clone(&self.of) })
    }

    /// The store through which the objects of this node are put: it refuses them when another process
    /// has taken over. If the document of an array was put before, objects that are there stay.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        match self.state {
            TargetState::Fresh | TargetState::Interrupted => {
                self.of.hold.store(self.marker.to.store)
            }
            TargetState::Documented => self.of.hold.store_of_missing(self.marker.to.store),
        }
    }

    /// Whether an earlier, interrupted run may have put objects, and those that are there are of this
    /// node. Missing ones are to be put, whether or not there is a document.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.state != TargetState::Fresh && self.of.trusts_objects
    }

    /// Puts the document and removes the marker, with the documents of the nodes within. The consolidated
    /// metadata of the groups above then follows. A node within only waits for that.
    ///
    /// # Errors
    /// Errors of the store; the node can then be resumed.
    pub fn finish(self) -> Result<(), TransferError> {
        let mut documents = self.of.documents.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_within {
            documents.push(self.marker.pending()?);
            return Ok(());
        }
        self.marker.end(&documents, self.state)?;
        self.marker.to.refresh_above();
        Ok(())
    }

    /// Undoes [`begin`](NewNode::begin), if only markers have been put. Use it if the work failed
    /// for a reason that would recur. Markers that cannot be removed stay, as after a kill.
    pub fn withdraw(self) {
        if self.state == TargetState::Fresh {
            let _stays = remove_markers(&self.marker);
        }
    }
}

fn kind(document: &NodeMetadata) -> Kind {
    match document {
        NodeMetadata::Array(_) => Kind::Array,
        NodeMetadata::Group(_) => Kind::Group,
    }
}

fn array(document: &NodeMetadata) -> Option<&ArrayMetadata> {
    match document {
        NodeMetadata::Array(array) => Some(array),
        NodeMetadata::Group(_) => None,
    }
}
