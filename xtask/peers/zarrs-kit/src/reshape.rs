//! `reshape` on zarr-view and zarr-grid.

use std::any::Any;
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use zarr_metadata::Reshape;
use zarr_view::View;
use zarrs_chunk_grid::{ArraySubset, ArraySubsetTraits, ChunkShape, Indexer, IndexerError};
use zarrs_codec::{
    ArrayBytes, ArrayCodecTraits, ArrayPartialDecoderTraits, ArrayPartialEncoderTraits,
    ArrayToArrayCodecTraits, AsyncArrayPartialDecoderTraits, AsyncArrayPartialEncoderTraits,
    CodecError, CodecMetadataOptions, CodecOptions, CodecTraits, PartialDecoderCapability,
    PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs_data_type::{DataType, FillValue};
use zarrs_metadata::Configuration;
use zarrs_metadata::v3::MetadataV3;
use zarrs_plugin::{ExtensionName, PluginCreateError, ZarrVersion};
use zarrs_storage::StorageError;

use crate::{configuration, error, lengths, name_in, read};

/// The codec `reshape`.
#[derive(Debug, Clone)]
pub struct ReshapeCodec {
    reshape: Reshape,
}

impl ReshapeCodec {
    /// The name in documents.
    pub const NAME: &str = "reshape";

    /// The codec of a document.
    ///
    /// # Errors
    /// If zarr-metadata refuses the configuration.
    pub fn from_metadata(metadata: &MetadataV3) -> Result<Self, PluginCreateError> {
        match read(metadata, zarr_metadata::Codec::from_json)? {
            zarr_metadata::Codec::Reshape(reshape) => Ok(Self { reshape }),
            other => Err(PluginCreateError::NameInvalid { name: other.name().to_owned() }),
        }
    }

    fn partial<T: ?Sized>(
        &self,
        inner: Arc<T>,
        shape: &[NonZeroU64],
        data_type: &DataType,
    ) -> Result<Arc<Partial<T>>, CodecError> {
        let encoded = lengths(&self.encoded_shape(shape)?).to_vec();
        let decoded = lengths(shape).to_vec();
        Ok(Arc::new(Partial { decoded, encoded, data_type: data_type.clone(), inner }))
    }
}

impl ExtensionName for ReshapeCodec {
    fn name(&self, version: ZarrVersion) -> Option<Cow<'static, str>> {
        name_in(version, Self::NAME)
    }
}

impl CodecTraits for ReshapeCodec {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        Some(configuration(&zarr_metadata::Codec::Reshape(self.reshape.clone()).to_json()))
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: true, partial_decode: true }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability { partial_encode: true }
    }
}

impl ArrayCodecTraits for ReshapeCodec {
    fn recommended_concurrency(
        &self,
        _: &[NonZeroU64],
        _: &DataType,
    ) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }
}

#[async_trait::async_trait]
impl ArrayToArrayCodecTraits for ReshapeCodec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn ArrayToArrayCodecTraits> {
        self
    }

    fn encoded_data_type(&self, decoded: &DataType) -> Result<DataType, CodecError> {
        Ok(decoded.clone())
    }

    fn encoded_fill_value(
        &self,
        _: &DataType,
        decoded: &FillValue,
    ) -> Result<FillValue, CodecError> {
        Ok(decoded.clone())
    }

    fn encoded_shape(&self, decoded: &[NonZeroU64]) -> Result<ChunkShape, CodecError> {
        let refuse = |what: &dyn std::fmt::Display| {
            error(Self::NAME, format_args!("{what}, for a chunk of shape {decoded:?}"))
        };
        let shape = self.reshape.output_shape(lengths(decoded)).map_err(|error| refuse(&error))?;
        let shape = shape.into_iter().map(NonZeroU64::new).collect::<Option<_>>();
        shape.ok_or_else(|| refuse(&"a dimension of length 0"))
    }

    fn decoded_shape(&self, _: &[NonZeroU64]) -> Result<Option<ChunkShape>, CodecError> {
        Ok(None)
    }

    fn encode<'a>(
        &self,
        bytes: ArrayBytes<'a>,
        _: &[NonZeroU64],
        _: &DataType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        Ok(bytes)
    }

    fn decode<'a>(
        &self,
        bytes: ArrayBytes<'a>,
        _: &[NonZeroU64],
        _: &DataType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        Ok(bytes)
    }

    // zarrs' defaults ask the next codec for elements at places of the decoded shape.

    fn partial_decoder(
        self: Arc<Self>,
        inner: Arc<dyn ArrayPartialDecoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<Arc<dyn ArrayPartialDecoderTraits>, CodecError> {
        Ok(self.partial(inner, shape, data_type)?)
    }

    fn partial_encoder(
        self: Arc<Self>,
        inner: Arc<dyn ArrayPartialEncoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<Arc<dyn ArrayPartialEncoderTraits>, CodecError> {
        Ok(self.partial(inner, shape, data_type)?)
    }

    async fn async_partial_decoder(
        self: Arc<Self>,
        inner: Arc<dyn AsyncArrayPartialDecoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<Arc<dyn AsyncArrayPartialDecoderTraits>, CodecError> {
        Ok(self.partial(inner, shape, data_type)?)
    }

    async fn async_partial_encoder(
        self: Arc<Self>,
        inner: Arc<dyn AsyncArrayPartialEncoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<Arc<dyn AsyncArrayPartialEncoderTraits>, CodecError> {
        Ok(self.partial(inner, shape, data_type)?)
    }
}

/// Decodes and encodes parts of a chunk as parts of the reshaped chunk.
struct Partial<T: ?Sized> {
    decoded: Vec<u64>,
    encoded: Vec<u64>,
    data_type: DataType,
    inner: Arc<T>,
}

/// Places in a chunk, as boxes of the reshaped chunk with the same elements in the same order.
enum Places {
    One(ArraySubset),
    /// Any other number.
    Many(Vec<ArraySubset>),
}

impl Places {
    fn as_indexer(&self) -> &dyn Indexer {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }
}

impl<T: ?Sized> Partial<T> {
    fn places(&self, indexer: &dyn Indexer) -> Result<Places, CodecError> {
        let (found, expected) = (indexer.dimensionality(), self.decoded.len());
        if found != expected {
            return Err(IndexerError::new_incompatible_dimensionality(found, expected).into());
        }
        if indexer.is_empty() {
            return Ok(Places::One(ArraySubset::new_empty(self.encoded.len())));
        }
        if let Some(one) = indexer.as_array_subset().and_then(|subset| self.one_box(subset)) {
            return Ok(Places::One(one));
        }
        let runs = indexer.iter_contiguous_linearised_indices(&self.decoded)?;
        let boxes = runs.flat_map(|(first, count)| {
            zarr_grid::boxes(first..first.saturating_add(count), &self.encoded)
        });
        Ok(Places::Many(boxes.map(|ranges| ArraySubset::new_with_ranges(&ranges)).collect()))
    }

    /// The box of the reshaped chunk that is this box of the chunk, if it is one: the chunk's view
    /// without the rest of the elements can be reshaped exactly then.
    fn one_box(&self, subset: &dyn ArraySubsetTraits) -> Option<ArraySubset> {
        let near = |length: &u64| usize::try_from(*length).ok();
        let shape = |shape: &[u64]| shape.iter().map(near).collect::<Option<Vec<_>>>();
        let mask = subset.to_ranges().into_iter().map(|r| Some((near(&r.start)?, near(&r.end)?)));
        let view = View::contiguous(&shape(&self.decoded)?).ok()?;
        let view = view.with_mask(&mask.collect::<Option<Vec<_>>>()?).ok()?;
        let view = view.reshape(&shape(&self.encoded)?).ok()??;
        let far = |range: Range<usize>| range.start as u64..range.end as u64;
        let ranges: Vec<_> = view.valid_box().into_iter().map(far).collect();
        Some(ArraySubset::new_with_ranges(&ranges))
    }
}

impl<T: ArrayPartialDecoderTraits + ?Sized> ArrayPartialDecoderTraits for Partial<T> {
    fn data_type(&self) -> &DataType {
        &self.data_type
    }

    fn exists(&self) -> Result<bool, StorageError> {
        self.inner.exists()
    }

    fn size_held(&self) -> usize {
        self.inner.size_held()
    }

    fn partial_decode(
        &self,
        indexer: &dyn Indexer,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'_>, CodecError> {
        self.inner.partial_decode(self.places(indexer)?.as_indexer(), options)
    }

    fn supports_partial_decode(&self) -> bool {
        self.inner.supports_partial_decode()
    }
}

impl<T: ArrayPartialEncoderTraits + ?Sized> ArrayPartialEncoderTraits for Partial<T> {
    fn into_dyn_decoder(self: Arc<Self>) -> Arc<dyn ArrayPartialDecoderTraits> {
        self.clone()
    }

    fn erase(&self) -> Result<(), CodecError> {
        self.inner.erase()
    }

    fn partial_encode(
        &self,
        indexer: &dyn Indexer,
        bytes: &ArrayBytes<'_>,
        options: &CodecOptions,
    ) -> Result<(), CodecError> {
        self.inner.partial_encode(self.places(indexer)?.as_indexer(), bytes, options)
    }

    fn supports_partial_encode(&self) -> bool {
        self.inner.supports_partial_encode()
    }
}

#[async_trait::async_trait]
impl<T: AsyncArrayPartialDecoderTraits + ?Sized> AsyncArrayPartialDecoderTraits for Partial<T> {
    fn data_type(&self) -> &DataType {
        &self.data_type
    }

    async fn exists(&self) -> Result<bool, StorageError> {
        self.inner.exists().await
    }

    fn size_held(&self) -> usize {
        self.inner.size_held()
    }

    async fn partial_decode<'a>(
        &'a self,
        indexer: &dyn Indexer,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        self.inner.partial_decode(self.places(indexer)?.as_indexer(), options).await
    }

    fn supports_partial_decode(&self) -> bool {
        self.inner.supports_partial_decode()
    }
}

#[async_trait::async_trait]
impl<T: AsyncArrayPartialEncoderTraits + ?Sized> AsyncArrayPartialEncoderTraits for Partial<T> {
    fn into_dyn_decoder(self: Arc<Self>) -> Arc<dyn AsyncArrayPartialDecoderTraits> {
        self.clone()
    }

    async fn erase(&self) -> Result<(), CodecError> {
        self.inner.erase().await
    }

    async fn partial_encode(
        &self,
        indexer: &dyn Indexer,
        bytes: &ArrayBytes<'_>,
        options: &CodecOptions,
    ) -> Result<(), CodecError> {
        self.inner.partial_encode(self.places(indexer)?.as_indexer(), bytes, options).await
    }

    fn supports_partial_encode(&self) -> bool {
        self.inner.supports_partial_encode()
    }
}
