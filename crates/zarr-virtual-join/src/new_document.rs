//! Makes the document of a virtual join from its members.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use zarr_array::store::{
    Key, MemoryStore, Place, Prefix, PutOutcome, StoreOptions, open_url, shown_url,
};
use zarr_array::{Array, ArrayError, chunk_grid_of, node, open_node, parallel};
use zarr_codec::Options;
use zarr_grid::{Axis, Grid, GridError, Run};
use zarr_join::Join;
use zarr_join::JoinError;
use zarr_join::{Member, Members};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec, NodeMetadata};

use crate::document::{Document, JoinedArray, MemberReference, Missing, seconds};
use crate::document_folder::reference;
use crate::document_url::{DocumentUrl, is_virtual_join};
use crate::document_version::DocumentVersion;
use crate::error::VirtualJoinError;
use crate::grid::{common, concatenated};
use crate::one_state::OneState;
use crate::open::check_depth;
use crate::source::document;

impl Document {
    /// The document of a virtual join, in place of an array: the places of the members, and the state
    /// of their documents. `place` is the path or URL at which it will be
    /// [written](Document::write). Members are named relative to it where this is possible. The names
    /// of the members must be their paths or URLs.
    ///
    /// Chunks, codecs and fill values of the members may all differ. The joined array has the chunks
    /// of the members. Where neighbours have different chunks, a chunk of the joined array ends at
    /// the next edge that all neighbours share. The last chunk of an axis reaches past its end if it
    /// does so in all members there. The joined array has the codecs of the first member,
    /// or of its inner chunks, if they fit its chunks. A copy is encoded with these codecs by
    /// default.
    ///
    /// Reading a chunk that is modified after this call began is an error, unless
    /// [`chunks_may_change`](Document::chunks_may_change) takes the times out.
    ///
    /// # Errors
    /// [`VirtualJoinError`] with the name of the first member that does not fit, cannot be looked up,
    /// or has another document than when it was opened.
    pub fn of_join(join: Join, place: &str, missing: Missing) -> Result<Self, VirtualJoinError> {
        let mut state = OneState::new();
        let join = state.of_join(join);
        state.checked(Self::of_state(join, place, missing, state.since))
    }

    /// The document of members that were first read at a time.
    pub(crate) fn of_state(
        join: Join,
        place: &str,
        missing: Missing,
        since: SystemTime,
    ) -> Result<Self, VirtualJoinError> {
        let here = DocumentUrl::of(place).filter(|here| here.inner.is_empty());
        let here = here.ok_or_else(|| VirtualJoinError::Name { place: shown_url(place) })?;
        let grid = |members: &Members| -> Result<_, VirtualJoinError> {
            let grid = match members.shape().contains(&0) {
                // Without elements there is nothing to divide into chunks.
                true => members.joined_grid(),
                false => linked_grid(members),
            };
            Ok(chunk_grid_of(&grid.map_err(JoinError::Grid)?))
        };
        let (members, metadata) = join.checked(grid)?;
        let first = members.members().first();
        let threads = first.map(|first| parallel::requests(&**first.array().store()));
        let threads = threads.unwrap_or(NonZeroUsize::MIN);
        let recorded = parallel::map(members.members(), threads, |member| {
            record(member, &here.parent, since).map(Some)
        })?;
        // Members without elements have no place in a grid.
        let has_elements = |tile: usize| members.region(tile).iter().all(|axis| !axis.is_empty());
        let recorded = recorded.into_iter().enumerate();
        let recorded = recorded.filter(|(tile, _)| has_elements(*tile)).map(|(_, member)| member);
        Ok(Self::of_array(JoinedArray {
            metadata: with_fitting_codecs(metadata)?,
            grid: grid_of_members(&members).map_err(JoinError::Grid)?,
            new_axis: members.new_axis(),
            missing,
            members: recorded.collect(),
        }))
    }

    /// Writes the document to a path or URL that ends in `.zjoin`, where there must be nothing yet.
    ///
    /// # Errors
    /// [`VirtualJoinError`] if the name does not end in `.zjoin`, if there is something already, if its
    /// virtual joins are nested too deeply to be read, or if it cannot be written.
    pub fn write(&self, place: &str, options: &StoreOptions) -> Result<(), VirtualJoinError> {
        let here = DocumentUrl::of(place).filter(|here| here.inner.is_empty());
        let here = here.ok_or_else(|| VirtualJoinError::Name { place: shown_url(place) })?;
        check_depth(self, &here.parent, options)?;
        let store = open_url(&here.parent, options)?;
        let (key, json) = (here.key()?, self.to_json());
        match node::put_new(&*store, &key, json.as_bytes())? {
            PutOutcome::Written => Ok(()),
            PutOutcome::Changed => Err(VirtualJoinError::Exists { place: shown_url(place) }),
        }
    }
}

/// A document's record of a member, of which nothing was read before `since`.
pub(crate) fn record(
    member: &Member,
    parent: &str,
    since: SystemTime,
) -> Result<MemberReference, VirtualJoinError> {
    let array = member.array();
    let failed = |cause: ArrayError| {
        let member = member.name().into();
        JoinError::Member { member, cause: Box::new(cause) }
    };
    let prefix = array.prefix();
    let place = Place::parse(member.store(), &StoreOptions::new()).ok();
    let place = place.and_then(|place| place.folder().map(Path::to_owned));
    let folder = place.and_then(|place| match place.is_file() {
        // Not an archive, whose entries have times of their own.
        true => is_virtual_join(member.store()).then_some(place),
        false => Some(prefix.segments().fold(place, |path, name| path.join(name))),
    });
    let found = document(&**array.store(), prefix).map_err(failed)?;
    let Some((key, meta, bytes)) = found else {
        return Err(failed(ArrayError::NotFound { path: prefix.to_string() }).into());
    };
    if zarr_array::store::step!("virtual join: comparison of the recorded document")
        && !is_document_of(array, &key, &bytes)
    {
        let (member, key) = (member.name().into(), key.as_str().into());
        return Err(JoinError::Changed { member, key }.into());
    }
    let DocumentVersion { length, etag, last_modified } =
        DocumentVersion::new(&meta, &key, folder.as_deref());
    Ok(MemberReference {
        location: reference(parent, member.store())?,
        path: prefix.clone(),
        length: Some(length),
        etag,
        last_modified,
        // The clock of a server may be ahead of this one.
        chunks_last_updated_at: seconds(
            meta.modified.map_or(since, |modified| modified.max(since)),
        ),
    })
}

/// Whether an array was opened from a document like this one.
fn is_document_of(array: &Array, key: &Key, bytes: &[u8]) -> bool {
    if bytes == array.metadata().json().as_bytes() {
        return true;
    }
    let found = match key.name() {
        "zarr.json" => NodeMetadata::from_json(bytes).ok(),
        // A node of version 2 has several documents, so their translation is compared.
        _ => open_node(array.store(), array.prefix()).ok(),
    };
    // Consolidated metadata has other white space.
    matches!(found, Some(NodeMetadata::Array(found)) if found == *array.metadata())
}

/// The document with other codecs if its own do not fit the chunks, as shards may not: the codecs
/// within them, else none that compress. This build may be without the compressor of new arrays.
pub(crate) fn with_fitting_codecs(
    metadata: ArrayMetadata,
) -> Result<ArrayMetadata, VirtualJoinError> {
    let fits = |metadata: &ArrayMetadata| {
        let (store, root) = (Arc::new(MemoryStore::new()), Prefix::root());
        Array::with_metadata(store, &root, metadata.clone(), Options::new()).is_ok()
    };
    if fits(&metadata) {
        return Ok(metadata);
    }
    let inner = metadata.codecs().iter().find_map(|codec| match codec {
        Codec::ShardingIndexed(sharding) => metadata.with_codecs(&sharding.codecs).ok(),
        _ => None,
    });
    if let Some(inner) = inner.filter(fits) {
        return Ok(inner);
    }
    let plain = ArrayBuilder::new(metadata.shape(), metadata.data_type().clone());
    let plain = plain.build().map_err(JoinError::Metadata)?;
    let codecs = plain.codecs().get(..1).unwrap_or_default();
    Ok(metadata.with_codecs(codecs).map_err(JoinError::Metadata)?)
}

/// The grid whose chunks are the members.
fn grid_of_members(members: &Members) -> Result<Grid, GridError> {
    let tiles = members.tiles();
    let axes = (0..tiles.counts().len()).map(|axis| {
        let bounds = tiles.bounds(axis);
        let lengths = bounds.iter().zip(bounds.iter().skip(1));
        let runs = lengths.filter_map(|(start, end)| {
            let edge = end - start;
            (edge > 0).then_some(Run { edge, count: 1 })
        });
        let extent = bounds.last().copied().unwrap_or(0);
        if extent == 0 {
            // A list of lengths has at least one.
            return Axis::regular(0, 1).map_err(|error| error.on_axis(axis));
        }
        let made = Axis::from_runs(extent, runs);
        // Equal lengths are one number in the document.
        made.map(|made| made.to_regular().unwrap_or(made)).map_err(|error| error.on_axis(axis))
    });
    Ok(Grid::new(axes.collect::<Result<Vec<_>, _>>()?))
}

/// The grid whose chunks are chunks of the members, or several whole ones.
fn linked_grid(members: &Members) -> Result<Grid, GridError> {
    let tiles = members.tiles();
    let counts = tiles.counts();
    // The chunks of each tile on each axis, none for the axis that members do not have.
    let mut chunks: Vec<Vec<Option<Axis>>> =
        counts.iter().map(|count| vec![None; *count]).collect();
    for (tile, member) in members.members().iter().enumerate() {
        for (axis, at) in tiles.place(tile).into_iter().enumerate() {
            let own = members.member_axis(axis);
            let own = own.and_then(|axis| member.array().grid().axes().get(axis));
            let known = chunks.get_mut(axis).and_then(|tiles| tiles.get_mut(at));
            if let (Some(own), Some(known)) = (own, known) {
                *known = Some(match known.take() {
                    None => own.clone(),
                    Some(known) => common(known, own)?,
                });
            }
        }
    }
    let shape = tiles.shape();
    let axes = chunks.into_iter().zip(shape).enumerate().map(|(number, (tiles, extent))| {
        if members.member_axis(number).is_none() {
            return Axis::regular(extent, 1);
        }
        let tiles: Vec<Axis> = tiles.into_iter().flatten().collect();
        concatenated(extent, &tiles).map_err(|error| error.on_axis(number))
    });
    Ok(Grid::new(axes.collect::<Result<Vec<_>, GridError>>()?))
}
