//! `packbits` on zarr-packbits.

use std::any::Any;
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;

use zarr_metadata::{Packbits, PaddingEncoding as Padding};
use zarr_packbits::{ByteOrder, PackedRange, Packing, PaddingEncoding};
use zarrs_chunk_grid::{Indexer, IndexerError};
use zarrs_codec::{
    ArrayBytes, ArrayBytesRaw, ArrayCodecTraits, ArrayPartialDecoderTraits,
    ArrayToBytesCodecTraits, AsyncArrayPartialDecoderTraits, AsyncBytesPartialDecoderTraits,
    BytesPartialDecoderTraits, BytesRepresentation, CodecError, CodecMetadataOptions, CodecOptions,
    CodecTraits, InvalidBytesLengthError, PartialDecoderCapability, PartialEncoderCapability,
    RecommendedConcurrency,
};
use zarrs_data_type::{DataType, FillValue};
use zarrs_metadata::Configuration;
use zarrs_metadata::v3::MetadataV3;
use zarrs_plugin::{ExtensionName, PluginCreateError, ZarrVersion};
use zarrs_storage::StorageError;
use zarrs_storage::byte_range::ByteRange;

use crate::{configuration, lengths, name_in, read};

/// The codec `packbits`.
#[derive(Debug, Clone)]
pub struct PackbitsCodec {
    packbits: Packbits,
}

fn error(error: impl std::fmt::Display) -> CodecError {
    crate::error(PackbitsCodec::NAME, error)
}

impl PackbitsCodec {
    /// The name in documents.
    pub const NAME: &str = "packbits";

    /// The codec of a document.
    ///
    /// # Errors
    /// If zarr-metadata refuses the configuration.
    pub fn from_metadata(metadata: &MetadataV3) -> Result<Self, PluginCreateError> {
        match read(metadata, zarr_metadata::Codec::from_json)? {
            zarr_metadata::Codec::Packbits(packbits) => Ok(Self { packbits }),
            other => Err(PluginCreateError::NameInvalid { name: other.name().to_owned() }),
        }
    }

    /// How elements of this type, in the byte order of this machine, are packed.
    fn packing(&self, data_type: &DataType) -> Result<Packing, CodecError> {
        let name = data_type.name_v3().unwrap_or_default();
        let metadata = MetadataV3::new_with_configuration(name, data_type.configuration_v3());
        let ours = read(&metadata, zarr_metadata::DataType::from_json).ok();
        let layout = ours.filter(|it| it.is_packable()).and_then(|it| it.element_layout());
        let unsupported = || CodecError::UnsupportedDataType(data_type.clone(), Self::NAME.into());
        let layout = layout.ok_or_else(unsupported)?;
        let packing = Packing::builder(layout.component_bits)
            .components(u32::try_from(layout.components).map_err(|_| unsupported())?)
            .signed(layout.signed)
            .byte_order(ByteOrder::NATIVE)
            .first_bit(self.packbits.first_bit.unwrap_or(0));
        let packing = match self.packbits.last_bit {
            Some(bit) => packing.last_bit(bit),
            None => packing,
        };
        let packing = packing.build().map_err(error)?;
        // What zarrs has in memory for an element must be what is packed.
        match data_type.fixed_size() == Some(packing.element_size()) {
            true => Ok(packing.refuse_loss(true)),
            false => Err(unsupported()),
        }
    }

    fn padding(&self) -> PaddingEncoding {
        match self.packbits.padding_encoding {
            Padding::None => PaddingEncoding::None,
            Padding::FirstByte => PaddingEncoding::FirstByte,
            Padding::LastByte => PaddingEncoding::LastByte,
        }
    }

    fn partial<T: ?Sized>(
        &self,
        input: Arc<T>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
    ) -> Result<Arc<Partial<T>>, CodecError> {
        Ok(Arc::new(Partial {
            input,
            shape: shape.to_vec(),
            packing: self.packing(data_type)?,
            prefix: self.padding().prefix_len(),
            data_type: data_type.clone(),
            fill_value: fill_value.clone(),
        }))
    }
}

/// The elements of a chunk of this shape.
fn elements(shape: &[NonZeroU64]) -> Result<usize, CodecError> {
    let count = lengths(shape).iter().try_fold(1_u64, |count, length| count.checked_mul(*length));
    let count = count.and_then(|count| usize::try_from(count).ok());
    count.ok_or_else(|| error(format_args!("a chunk of shape {shape:?} is too large for memory")))
}

impl ExtensionName for PackbitsCodec {
    fn name(&self, version: ZarrVersion) -> Option<Cow<'static, str>> {
        name_in(version, Self::NAME)
    }
}

impl CodecTraits for PackbitsCodec {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        Some(configuration(&zarr_metadata::Codec::Packbits(self.packbits).to_json()))
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: true, partial_decode: true }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        // zarrs' own default decodes, changes and encodes the chunk.
        PartialEncoderCapability { partial_encode: false }
    }
}

impl ArrayCodecTraits for PackbitsCodec {
    fn recommended_concurrency(
        &self,
        _: &[NonZeroU64],
        _: &DataType,
    ) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }
}

#[async_trait::async_trait]
impl ArrayToBytesCodecTraits for PackbitsCodec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn ArrayToBytesCodecTraits> {
        self
    }

    fn encoded_representation(
        &self,
        shape: &[NonZeroU64],
        data_type: &DataType,
        _: &FillValue,
    ) -> Result<BytesRepresentation, CodecError> {
        let length = self.packing(data_type)?.encoded_len(elements(shape)?, self.padding());
        let length = length.ok_or_else(|| error("the encoded chunk is too large for memory"))?;
        Ok(BytesRepresentation::FixedSize(length as u64))
    }

    /// Refuses an element that would not read back unchanged.
    fn encode<'a>(
        &self,
        bytes: ArrayBytes<'a>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let (packing, count) = (self.packing(data_type)?, elements(shape)?);
        let bytes = bytes.into_fixed()?;
        let expected = count.saturating_mul(packing.element_size());
        if bytes.len() != expected {
            return Err(InvalidBytesLengthError::new(bytes.len(), expected).into());
        }
        let length = packing.encoded_len(count, self.padding());
        let mut encoded = vec![0; length.unwrap_or_default()];
        packing.encode(&bytes, self.padding(), &mut encoded).map_err(error)?;
        Ok(encoded.into())
    }

    fn decode<'a>(
        &self,
        bytes: ArrayBytesRaw<'a>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let (packing, count) = (self.packing(data_type)?, elements(shape)?);
        // The length is checked before memory for the elements is allocated.
        let packed = packing.packed_bits(&bytes, count, self.padding()).map_err(error)?;
        let mut decoded = vec![0; count.saturating_mul(packing.element_size())];
        packing.unpack(packed, &mut decoded).map_err(error)?;
        Ok(ArrayBytes::new_flen(decoded))
    }

    fn partial_decoder(
        self: Arc<Self>,
        input: Arc<dyn BytesPartialDecoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        _: &CodecOptions,
    ) -> Result<Arc<dyn ArrayPartialDecoderTraits>, CodecError> {
        Ok(self.partial(input, shape, data_type, fill_value)?)
    }

    async fn async_partial_decoder(
        self: Arc<Self>,
        input: Arc<dyn AsyncBytesPartialDecoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        _: &CodecOptions,
    ) -> Result<Arc<dyn AsyncArrayPartialDecoderTraits>, CodecError> {
        Ok(self.partial(input, shape, data_type, fill_value)?)
    }
}

/// Decodes parts of a chunk from the bytes that hold them.
struct Partial<T: ?Sized> {
    shape: Vec<NonZeroU64>,
    packing: Packing,
    /// Bytes before the packed bits.
    prefix: usize,
    data_type: DataType,
    fill_value: FillValue,
    input: Arc<T>,
}

/// Runs of consecutive elements: how many, and where they are.
struct Plan(Vec<(usize, PackedRange)>);

impl Plan {
    fn ranges(&self, prefix: usize) -> Vec<ByteRange> {
        let ranges = self.0.iter().map(|(_, range)| {
            let at = |byte: usize| (prefix + byte) as u64;
            ByteRange::new(at(range.bytes.start)..at(range.bytes.end))
        });
        ranges.collect()
    }
}

impl<T: ?Sized> Partial<T> {
    fn plan(&self, indexer: &dyn Indexer) -> Result<Plan, CodecError> {
        let (found, expected) = (indexer.dimensionality(), self.shape.len());
        if found != expected {
            return Err(IndexerError::new_incompatible_dimensionality(found, expected).into());
        }
        let runs = indexer.iter_contiguous_linearised_indices(lengths(&self.shape))?;
        let runs = runs.map(|(first, count)| {
            let (first, count) = (usize::try_from(first).ok()?, usize::try_from(count).ok()?);
            Some((count, self.packing.byte_range(first, count)?))
        });
        let runs = runs.collect::<Option<_>>();
        Ok(Plan(runs.ok_or_else(|| error("a region too large for memory"))?))
    }

    /// `None` is a chunk that does not exist.
    fn unpack(
        &self,
        plan: &Plan,
        parts: Option<Vec<ArrayBytesRaw<'_>>>,
    ) -> Result<ArrayBytes<'static>, CodecError> {
        let count = plan.0.iter().fold(0_usize, |sum, (count, _)| sum.saturating_add(*count));
        let Some(parts) = parts else {
            let fill = ArrayBytes::new_fill_value(&self.data_type, count as u64, &self.fill_value)?;
            return Ok(fill.into_owned());
        };
        let size = self.packing.element_size();
        let mut elements = vec![0; count.saturating_mul(size)];
        let mut rest = elements.as_mut_slice();
        for ((count, range), part) in plan.0.iter().zip(&parts) {
            let (out, after) = rest.split_at_mut(count * size);
            self.packing.unpack_at(part, range.bit, out).map_err(error)?;
            rest = after;
        }
        Ok(ArrayBytes::new_flen(elements))
    }
}

impl<T: BytesPartialDecoderTraits + ?Sized> ArrayPartialDecoderTraits for Partial<T> {
    fn data_type(&self) -> &DataType {
        &self.data_type
    }

    fn exists(&self) -> Result<bool, StorageError> {
        self.input.exists()
    }

    fn size_held(&self) -> usize {
        self.input.size_held()
    }

    fn partial_decode(
        &self,
        indexer: &dyn Indexer,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'_>, CodecError> {
        let plan = self.plan(indexer)?;
        let ranges = plan.ranges(self.prefix).into_iter();
        self.unpack(&plan, self.input.partial_decode_many(Box::new(ranges), options)?)
    }

    fn supports_partial_decode(&self) -> bool {
        self.input.supports_partial_decode()
    }
}

#[async_trait::async_trait]
impl<T: AsyncBytesPartialDecoderTraits + ?Sized> AsyncArrayPartialDecoderTraits for Partial<T> {
    fn data_type(&self) -> &DataType {
        &self.data_type
    }

    async fn exists(&self) -> Result<bool, StorageError> {
        self.input.exists().await
    }

    fn size_held(&self) -> usize {
        self.input.size_held()
    }

    async fn partial_decode<'a>(
        &'a self,
        indexer: &dyn Indexer,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let plan = self.plan(indexer)?;
        let ranges = plan.ranges(self.prefix).into_iter();
        self.unpack(&plan, self.input.partial_decode_many(Box::new(ranges), options).await?)
    }

    fn supports_partial_decode(&self) -> bool {
        self.input.supports_partial_decode()
    }
}
