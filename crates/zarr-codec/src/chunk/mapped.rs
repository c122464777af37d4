//! Chunks of a chain with a codec that changes values. The rest of the chain decodes its own
//! elements, all at once, and the codec changes them one by one.

use zarr_view::{CopyError, View};

use super::{ChunkCodec, Empty, Encoded, Input, ShapedCodec, chunk_error};
use crate::array_to_bytes::shard::ShardDecoder;
use crate::array_to_bytes::{ArrayToBytes, Mapped};
use crate::bound::Bound;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::{Buffer, Bytes, Scratch};
use crate::transform::Source;

impl ChunkCodec {
    /// The codec that changes values, and the chain after it.
    pub(super) fn mapped(&self) -> Option<(&Mapped, &Self)> {
        match (&self.bound.array_to_bytes, &self.array_to_bytes) {
            (ArrayToBytes::Mapped(mapped), ShapedCodec::Mapped(codec)) => Some((mapped, &**codec)),
            _ => None,
        }
    }

    /// All elements in C order of the stored shape, if a codec that changes values provides them.
    pub(super) fn mapped_elements(
        &self,
        encoded: Bytes<'_>,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Buffer, ChunkError> {
        let place = &self.bound.array_to_bytes_path;
        let failed = |kind| chunk_error(place, kind);
        let Some((mapped, inner)) = self.mapped() else {
            unreachable!("asked only of chunks whose elements are changed");
        };
        let fill = mapped.fill(fill, &mut scratch.pool).map_err(failed)?;
        let stored = inner.gathered(encoded, &fill, scratch)?;
        let pool = &mut scratch.pool;
        let elements =
            mapped.codec.decode(&stored, inner.shape(), &mapped.data_type, pool).map_err(failed)?;
        pool.give(stored);
        Ok(elements)
    }

    /// All elements in C order of the chunk's shape.
    ///
    /// Allocates memory for them only after checking that there are as many bytes as they need
    /// or, for a shard, only up to the limit (SD-35).
    pub(super) fn gathered(
        &self,
        encoded: Bytes<'_>,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Buffer, ChunkError> {
        let Bound { element, array_to_bytes_path: place, options, .. } = &*self.bound;
        let plain = element.moved(false);
        let bytes = self.decode_bytes(encoded, &mut scratch.pool)?;
        match &self.array_to_bytes {
            ShapedCodec::Elements(codec) => {
                let pool = &mut scratch.pool;
                let source = Source::new(codec, bytes, self.elements, element, pool);
                let mut source = source.map_err(|kind| chunk_error(place, kind))?;
                let gathered = self.transform.gather(0, &mut source, plain, pool);
                gathered.map_err(|error| error.at(place))
            }
            ShapedCodec::Shard(shard) => {
                if self.bytes() > options.unknown_decoded_len {
                    let limit = options.unknown_decoded_len;
                    return Err(chunk_error(place, ChunkErrorKind::DecodedLimit { limit }));
                }
                let Scratch { pool, shard: shard_scratch, .. } = scratch;
                let shard_scratch = shard_scratch.get_or_insert_default();
                let mut source =
                    Source::Shard(ShardDecoder::new(shard, &bytes, fill, shard_scratch)?);
                let gathered = self.transform.gather(0, &mut source, plain, pool);
                let gathered = gathered.map_err(|error| error.at(place))?;
                drop(source);
                bytes.give_to(pool);
                Ok(gathered)
            }
            ShapedCodec::Mapped(_) => {
                let elements = self.mapped_elements(bytes, fill, scratch)?;
                let mut source = Source::Elements(Bytes::Taken(elements), plain);
                let gathered = self.transform.gather(0, &mut source, plain, &mut scratch.pool);
                gathered.map_err(|error| error.at(place))
            }
        }
    }

    /// Encodes a chunk of values that are changed before they are stored.
    pub(super) fn encode_mapped(
        &self,
        input: Input<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Encoded, ChunkError> {
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let failed = |kind| chunk_error(place, kind);
        let Some((mapped, inner)) = self.mapped() else {
            unreachable!("asked only of chunks whose elements are changed");
        };
        let Input { data, view, fill } = input;
        let pool = &mut scratch.pool;
        let plain = element.moved(false);
        let elements = self.transform.encode(data, view, plain, fill, pool).map_err(failed)?;
        let stored_fill = self.stored_fill(fill);
        let storable = self.storable(elements, &stored_fill, empty, pool).map_err(failed)?;
        let Some((elements, content)) = storable else { return Ok(Encoded::Empty) };
        let stored = mapped.codec.encode(&elements, inner.shape(), pool).map_err(failed)?;
        elements.give_to(pool);
        let fill = mapped.fill(&stored_fill, pool).map_err(failed)?;
        let whole = View::contiguous(inner.shape());
        let whole = whole.map_err(|error| failed(CopyError::from(error).into()))?;
        let input = Input { data: &stored, view: &whole, fill: &fill };
        inner.encode_unless_empty(input, Empty::Encode, out, scratch)?;
        scratch.pool.give(stored);
        Ok(content)
    }
}
