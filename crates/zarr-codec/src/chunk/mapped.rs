//! Chunks of a chain with a codec that changes values. The rest of the chain decodes its own
//! elements, those of the region if that is possible, and the codec changes them one by one.

use zarr_view::{CopyError, View};

use super::{ChunkCodec, Empty, Encoded, Input, ShapedCodec, chunk_error};
use crate::array_to_bytes::shard::{ShardDecoder, unravel};
use crate::array_to_bytes::{ArrayToBytes, Mapped};
use crate::bound::Bound;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::{Buffer, Bytes, Scratch};
use crate::transform::{NestedError, Slice, Source, sliced};

impl ChunkCodec {
    /// The codec that changes values, and the chain after it.
    pub(super) fn mapped(&self) -> Option<(&Mapped, &Self)> {
        match (&self.bound.array_to_bytes, &self.array_to_bytes) {
            (ArrayToBytes::Mapped(mapped), ShapedCodec::Mapped(codec)) => Some((mapped, &**codec)),
            _ => None,
        }
    }

    /// The elements that `region` of a chunk needs, for an output with this view, if a codec that
    /// changes values provides them: those of the region, or all if the codec or the codecs before
    /// it need all.
    pub(super) fn mapped_source(
        &self,
        encoded: Bytes<'_>,
        region: &[Slice],
        view: &View,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Source<'static>, ChunkError> {
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let failed = |kind| chunk_error(place, kind);
        let Some((mapped, inner)) = self.mapped() else {
            unreachable!("asked only of chunks whose elements are changed");
        };
        let part = self.transform.stored_region(region, view);
        let part = part.filter(|_| mapped.codec.is_elementwise());
        let everything: Vec<Slice>;
        let stored_region = if let Some(part) = &part {
            &**part
        } else {
            if mapped.inner.has_shard() {
                self.check_limit()?;
            }
            everything = inner.everything();
            &everything
        };
        let fill = mapped.fill(fill, &mut scratch.pool).map_err(failed)?;
        let stored = inner.gathered(encoded, stored_region, &fill, scratch)?;
        let pool = &mut scratch.pool;
        let shape: Vec<usize> = stored_region.iter().map(|slice| slice.count).collect();
        let elements = mapped.codec.decode(&stored, &shape, &mapped.data_type, pool);
        let elements = elements.map_err(|kind| failed(in_chunk(kind, stored_region, inner)))?;
        pool.give(stored);
        let element = element.moved(false);
        Ok(match part {
            Some(_) => Source::Part(elements, element),
            None => Source::Elements(Bytes::Taken(elements), element),
        })
    }

    /// The elements of `region`, in C order.
    ///
    /// Without a shard, allocates memory for them only after checking that there are as many bytes as
    /// they need (SD-35).
    pub(super) fn gathered(
        &self,
        encoded: Bytes<'_>,
        region: &[Slice],
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Buffer, ChunkError> {
        let Bound { element, array_to_bytes_path: place, .. } = &*self.bound;
        let failed = |error: NestedError| error.at(place);
        let plain = element.moved(false);
        let bytes = self.decode_bytes(encoded, &mut scratch.pool)?;
        let mut source = match &self.array_to_bytes {
            ShapedCodec::Elements(codec) => {
                let pool = &mut scratch.pool;
                let source = Source::new(codec, bytes, self.elements, element, pool);
                source.map_err(|kind| chunk_error(place, kind))?
            }
            ShapedCodec::Shard(shard) => {
                let Scratch { pool, shard: shard_scratch, .. } = scratch;
                let shard_scratch = shard_scratch.get_or_insert_default();
                let mut source =
                    Source::Shard(ShardDecoder::new(shard, &bytes, fill, shard_scratch)?);
                let gathered = self.transform.gather_region(&mut source, region, plain, pool);
                drop(source);
                bytes.give_to(pool);
                return gathered.map_err(failed);
            }
            ShapedCodec::Mapped(_) => {
                let shape: Vec<usize> = region.iter().map(|slice| slice.count).collect();
                let view = View::contiguous(&shape).map_err(CopyError::from);
                let view = view.map_err(|error| failed(error.into()))?;
                self.mapped_source(bytes, region, &view, fill, scratch)?
            }
        };
        let pool = &mut scratch.pool;
        self.transform.gather_region(&mut source, region, plain, pool).map_err(failed)
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
        if mapped.inner.has_shard() {
            self.check_limit()?;
        }
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

/// The error of an element of `region`, with the number of the element in the chunk.
fn in_chunk(mut kind: ChunkErrorKind, region: &[Slice], codec: &ChunkCodec) -> ChunkErrorKind {
    if let ChunkErrorKind::Value { element, .. } = &mut kind
        && let Ok(number) = usize::try_from(*element)
        && let Ok(whole) = View::contiguous(codec.shape())
        && let Ok(part) = sliced(&whole, region)
        && let Some(position) = part.position(&unravel(number, part.shape()))
    {
        *element = widen(position);
    }
    kind
}
