//! The copy of one array of a tree.

use std::error::Error;

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::unfinished::Kind;
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding, Codec, MetadataError};
use zarr_store::{FullMessage, Prefix};

use crate::array::run;
use crate::documents::Pending;
use crate::endpoint::Endpoint;
use crate::error::{TransferError, source};
use crate::marker::{Marker, TargetState};
use crate::objects::{Renamed, copy_beside_chunks, copy_objects};
use crate::parts::Share;
use crate::plan::CopyPlan;
use crate::prepared::Prepared;
use crate::{CopyOptions, CopyProgress, CopySummary, UnfitArray};

/// Makes the metadata of an array's copy from the source's.
pub(crate) type Change<'a> =
    dyn FnMut(&Prefix, &ArrayMetadata) -> Result<ArrayMetadata, Box<dyn Error + Send + Sync>> + 'a;

/// The copy of one array, checked as far as possible before anything is written.
pub(crate) struct ArrayCopy<'a> {
    from: Endpoint<'a>,
    to: Endpoint<'a>,
    pub(crate) metadata: ArrayMetadata,
    pub(crate) changed: ArrayMetadata,
    /// The source and the prepared copy, unless it is copied object by object.
    elements: Option<(Array, Prepared)>,
    /// The reason why it is copied unchanged, although it was to change.
    pub(crate) unfit: Option<TransferError>,
}

impl<'a> ArrayCopy<'a> {
    pub(crate) fn new(
        from: Endpoint<'a>,
        to: Endpoint<'a>,
        metadata: ArrayMetadata,
        change: &mut Change<'_>,
        options: &CopyOptions,
    ) -> Result<Self, TransferError> {
        let changed = change(from.prefix, &metadata)
            .map_err(|cause| TransferError::Change { path: from.path(), cause })?;
        let changed = document_of_copy(&metadata, changed)
            .map_err(|cause| TransferError::Change { path: from.path(), cause: cause.into() })?;
        let is_joined = from.hierarchy().members(from.prefix).is_some();
        if !is_joined && is_same_but_for_keys(&metadata, &changed) {
            return Ok(Self { from, to, metadata, changed, elements: None, unfit: None });
        }
        let (store, options_of_source) = (from.hierarchy(), options.source_options());
        let array = Array::with_metadata(store, from.prefix, metadata.clone(), options_of_source);
        let array = match array {
            Ok(array) => array,
            Err(
                error @ (ArrayError::Chain { .. }
                | ArrayError::DataType { .. }
                | ArrayError::Unknown { .. }),
            ) => {
                return Err(TransferError::NotDecodable { path: from.path(), cause: error });
            }
            Err(error) => return Err(source(error)),
        };
        let prepared =
            Prepared::new(&array, to.store.clone(), to.prefix, changed.clone(), options)?;
        let elements = Some((array, prepared));
        Ok(Self { from, to, metadata, changed, elements, unfit: None })
    }

    /// As [`new`](Self::new), for an array of a group. If it cannot be read, or the change does not
    /// fit it, and the options allow it, it is copied unchanged.
    pub(crate) fn within(
        from: Endpoint<'a>,
        to: Endpoint<'a>,
        metadata: ArrayMetadata,
        change: &mut Change<'_>,
        options: &CopyOptions,
    ) -> Result<Self, TransferError> {
        if !options.keep_unfit {
            return Self::new(from, to, metadata, change, options);
        }
        match Self::new(from, to, metadata.clone(), change, options) {
            // None of these comes from a store: nothing has been read but the document.
            Err(
                error @ (TransferError::Change { .. }
                | TransferError::NotDecodable { .. }
                | TransferError::Source(_)
                | TransferError::Target(_)),
            ) => {
                // An array that version 3 cannot express is not copied at all.
                let Ok(changed) = document_of_copy(&metadata, metadata.clone()) else {
                    return Err(error);
                };
                let unfit = Some(error);
                Ok(Self { from, to, metadata, changed, elements: None, unfit })
            }
            job => job,
        }
    }

    /// Whether the elements are written anew.
    pub(crate) fn is_re_encoded(&self) -> bool {
        self.elements.is_some()
    }

    /// The array for the summary, if it is copied unchanged although it was to change.
    pub(crate) fn kept(&self) -> Option<UnfitArray> {
        let reason = match self.unfit.as_ref()? {
            TransferError::Change { cause, .. } => FullMessage(cause.as_ref()).to_string(),
            TransferError::NotDecodable { cause, .. }
            | TransferError::Source(cause)
            | TransferError::Target(cause) => cause.to_string(),
            error => error.to_string(),
        };
        Some(UnfitArray { path: self.from.prefix.as_str().to_owned(), reason })
    }

    /// The plan of its reads, if elements are written anew.
    pub(crate) fn plan(&self, options: &CopyOptions) -> Result<Option<CopyPlan>, TransferError> {
        let plan = |(array, prepared): &(Array, Prepared)| {
            CopyPlan::new(array, prepared, options.part.is_none(), options)
        };
        self.elements.as_ref().map(plan).transpose()
    }

    pub(crate) fn marker(&self) -> Result<Marker<'a>, TransferError> {
        let document = self.changed.json().to_owned();
        Marker::new(self.from, self.metadata.json(), self.to, Kind::Array, document)
    }

    /// Its document, to be put when all objects are there.
    pub(crate) fn pending(&self) -> Result<Pending, TransferError> {
        let bytes = self.changed.json().to_owned().into_bytes();
        Ok(Pending { key: self.to.document()?, bytes })
    }

    /// Refuses what is known before the target is cleared.
    pub(crate) fn check(&self) -> Result<(), TransferError> {
        Renamed::new(&self.metadata, &self.changed).check_others(self.from)
    }

    pub(crate) fn run(
        &self,
        found: TargetState,
        share: &Share<'_>,
        options: &CopyOptions,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<CopySummary, TransferError> {
        let renamed = Renamed::new(&self.metadata, &self.changed);
        // Before anything is written.
        renamed.check_others(self.from)?;
        let store = share.store_for(found);
        let to = Endpoint::new(&store, self.to.prefix);
        match &self.elements {
            None => {
                let owned = share.objects_of(&self.metadata, self.to.prefix);
                // The limit of chunks is known if the codecs are known.
                let (store, codecs) = (self.from.hierarchy(), options.source_options());
                let (prefix, metadata) = (self.from.prefix, self.metadata.clone());
                let array = Array::with_metadata(store, prefix, metadata, codecs).ok();
                let of = (&renamed, array.as_ref(), &owned);
                copy_objects(self.from, to, of, found, options, progress)
            }
            Some((array, prepared)) => {
                let mut summary =
                    run(prepared, (self.from, array), found, share, options, progress)?;
                let owned = share.objects(self.to.prefix);
                let ends = (self.from, to);
                summary.add(copy_beside_chunks(ends, array, &owned, found, options)?);
                Ok(summary)
            }
        }
    }
}

/// The document of a copy of the array with `metadata`, which was to be `changed`: of version 3. For an
/// array of version 2 it has the usual chunk keys, and objects that are JSON text become strings.
///
/// # Errors
/// [`MetadataError`] if version 3 cannot express it.
pub fn document_of_copy(
    metadata: &ArrayMetadata,
    changed: ArrayMetadata,
) -> Result<ArrayMetadata, MetadataError> {
    let is_json = |codec: &Codec| *codec == Codec::NumcodecsJson2;
    let changed = match changed.codecs().iter().any(is_json) {
        true => {
            let strings = |codec: &Codec| match is_json(codec) {
                true => Codec::VlenUtf8,
                false => codec.clone(),
            };
            changed.with_codecs(&changed.codecs().iter().map(strings).collect::<Vec<_>>())?
        }
        false => changed,
    };
    let is_kept = changed.chunk_key_encoding() == metadata.chunk_key_encoding();
    match metadata.is_version_2() && is_kept {
        true => changed.with_chunk_key_encoding(&ChunkKeyEncoding::default()),
        false => Ok(changed.into_version_3()),
    }
}

/// Whether the chunks of both are the same objects, perhaps under other keys.
fn is_same_but_for_keys(metadata: &ArrayMetadata, changed: &ArrayMetadata) -> bool {
    if metadata.json() == changed.json() {
        return true;
    }
    let keys = metadata.chunk_key_encoding();
    changed.chunk_key_encoding() != keys
        && changed
            .with_chunk_key_encoding(keys)
            .is_ok_and(|changed| changed.json() == metadata.json())
}
