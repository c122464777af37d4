//! The traits that all types implement, whatever they hold: checked at compile time.

use std::fmt::Debug;

use zarr_metadata::*;

fn all<T: Send + Sync + Debug + Clone>() {}
fn compared<T: Eq>() {}

#[test]
fn types_can_be_sent_shown_cloned_and_compared() {
    all::<(ArrayMetadata, GroupMetadata, NodeMetadata, ConsolidatedMetadata<'_>, Finding)>();
    all::<(ChunkGrid, ChunkEdges, EdgeRun, ChunkKeyEncoding, Separator, MetadataError)>();
    all::<(Codec, Reshape, ReshapeDim, Transpose, Packbits, Sharding, Zstd, Blosc, Extension)>();
    all::<(DataType, ElementLayout, RawBits, FillValue)>();
    compared::<(ArrayMetadata, GroupMetadata, NodeMetadata, ChunkGrid, ChunkEdges, Codec)>();
    compared::<(ChunkKeyEncoding, DataType, FillValue, Finding, MetadataError, Extension)>();
    let error = Codec::from_json(b"{}").unwrap_err();
    let _: &dyn std::error::Error = &error;
}
