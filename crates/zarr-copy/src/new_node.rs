//! New nodes of several other nodes, by the steps of a copy.

use zarr_array::unfinished::Kind;
use zarr_metadata::{ArrayMetadata, NodeMetadata};

use crate::CopyOptions;
use crate::begin::{begin, remove_markers};
use crate::content::ContentDigest;
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
}

impl<'a> NewNode<'a> {
    /// Begins the node at `to` with this document, from the nodes `from` with their documents.
    /// To resume it, pass the same nodes in the same order, with the same documents and the same
    /// `content`.
    ///
    /// Of the options, [`resume`](CopyOptions::resume) and [`overwrite`](CopyOptions::overwrite)
    /// matter; an overwrite never removes objects that belong to no node.
    ///
    /// # Errors
    /// As for [`copy_array`](crate::copy_array); nothing has then been removed.
    pub fn begin(
        from: &[(Endpoint<'_>, &str)],
        content: ContentDigest,
        to: Endpoint<'a>,
        document: &NodeMetadata,
        options: &CopyOptions,
    ) -> Result<Self, TransferError> {
        let marker = Marker::of_many(from, to, kind(document), document.json().to_owned())?;
        let marker = marker.with_content(Some(content)).of_this_run();
        let sources: Vec<Endpoint<'_>> = from.iter().map(|(from, _)| *from).collect();
        let state = begin(&marker, &sources, array(document), options, &mut || Ok(()))?;
        Ok(Self { marker, state, is_within: false })
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
        Ok(NewNode { marker, state, is_within: true })
    }

    /// Whether an earlier, interrupted run has finished the node, which is an array: then only
    /// [`finish`](NewNode::finish) remains to be called.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.state == TargetState::Finished
    }

    /// Whether an earlier, interrupted run may have put objects.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.state == TargetState::Interrupted
    }

    /// Puts the document and removes the marker. The consolidated metadata of the groups above
    /// then follows.
    ///
    /// # Errors
    /// Errors of the store; the node can then be resumed.
    pub fn finish(self) -> Result<(), TransferError> {
        if !self.is_within {
            self.marker.end(self.state)?;
            self.marker.to.refresh_above();
            return Ok(());
        }
        if !self.is_finished() {
            self.marker.put_document()?;
        }
        self.marker.remove()
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
