//! The codecs `packbits` and `reshape` and the chunk grid `rectilinear` for zarrs, on zarr-packbits,
//! zarr-view, zarr-grid and zarr-metadata.
//!
//! ```
//! zarrs_kit::register();
//! // From here on, `zarrs::array::Array` reads and writes with these crates.
//! ```
//!
//! zarrs asks its registries of plug-ins at run time before what it has built in, so no release of it
//! need be patched. Chunks are decoded and encoded whole or in part, blocking or not.

#![warn(missing_docs)]

mod packbits;
mod rectilinear;
mod reshape;

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::{Arc, Once};

use zarr_metadata::MetadataError;
use zarrs_chunk_grid::{ChunkGridRuntimePlugin, register_chunk_grid};
use zarrs_codec::{Codec, CodecError, CodecRuntimePluginV3, register_codec_v3};
use zarrs_metadata::Configuration;
use zarrs_metadata::v3::MetadataV3;
use zarrs_plugin::{PluginCreateError, ZarrVersion};

pub use packbits::PackbitsCodec;
pub use rectilinear::RectilinearGrid;
pub use reshape::ReshapeCodec;

/// Registers the codecs and the grid with zarrs, for all arrays that this process opens or makes
/// afterwards. Later calls do nothing.
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        register_codec_v3(CodecRuntimePluginV3::new(
            |name| name == PackbitsCodec::NAME,
            |metadata| Ok(Codec::ArrayToBytes(Arc::new(PackbitsCodec::from_metadata(metadata)?))),
        ));
        register_codec_v3(CodecRuntimePluginV3::new(
            |name| name == ReshapeCodec::NAME,
            |metadata| Ok(Codec::ArrayToArray(Arc::new(ReshapeCodec::from_metadata(metadata)?))),
        ));
        register_chunk_grid(ChunkGridRuntimePlugin::new(
            |name| name == RectilinearGrid::NAME,
            |metadata, shape| Ok(RectilinearGrid::from_metadata(metadata, shape)?.into()),
        ));
    });
}

/// Reads the JSON of an extension with zarr-metadata.
fn read<T>(
    metadata: &MetadataV3,
    from_json: impl FnOnce(&[u8]) -> Result<T, MetadataError>,
) -> Result<T, PluginCreateError> {
    let refuse = |error: &dyn std::error::Error| {
        PluginCreateError::Other(format!("{}: {error}", metadata.name()))
    };
    let json = serde_json::to_vec(metadata).map_err(|error| refuse(&error))?;
    from_json(&json).map_err(|error| refuse(&error))
}

/// The configuration in the JSON of an extension; empty where there is none.
fn configuration(json: &str) -> Configuration {
    let metadata = serde_json::from_str::<MetadataV3>(json).ok();
    metadata.and_then(|metadata| metadata.configuration().cloned()).unwrap_or_default()
}

/// The name of an extension that Zarr version 2 does not have.
fn name_in(version: ZarrVersion, name: &'static str) -> Option<Cow<'static, str>> {
    (version == ZarrVersion::V3).then_some(Cow::Borrowed(name))
}

/// An error of zarr-kit's crates, as zarrs passes it on.
fn error(codec: &str, error: impl std::fmt::Display) -> CodecError {
    CodecError::Other(format!("{codec}: {error}"))
}

fn lengths(shape: &[NonZeroU64]) -> &[u64] {
    bytemuck::must_cast_slice(shape)
}
