//! `sharding_indexed`.

use crate::chunk_grid::write_list;
use crate::codec::chain::{check_chain, read_chain, write_codecs};
use crate::codec::configuration::{Configuration, Context, Input, Members, Names, read_named};
use crate::codec::{Codec, CodecKind};
use crate::data_type::DataType;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{Object, read_elements};
use crate::limits::check_rank;

/// The configuration of `sharding_indexed`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, IndexLocation, Sharding};
///
/// let shard = Sharding::new([256, 256], [Codec::bytes(), Codec::zstd(3)])
///     .with_index([Codec::bytes()], IndexLocation::Start);
/// let json = Codec::ShardingIndexed(shard.into()).to_json();
/// assert_eq!(Codec::from_json(json.as_bytes())?.name(), "sharding_indexed");
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// Zarr v3 "Sharding codec"; SD-59.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sharding {
    /// The shape of an inner chunk, lengths of at least 1.
    pub chunk_shape: Vec<u64>,
    /// The chain of each inner chunk.
    pub codecs: Vec<Codec>,
    /// The chain of the index; its encoded size is fixed.
    pub index_codecs: Vec<Codec>,
    /// Where the index is.
    pub index_location: IndexLocation,
}

impl Sharding {
    /// Inner chunks of this shape, each encoded by `codecs`. The index is at the end, with a
    /// checksum.
    pub fn new(chunk_shape: impl Into<Vec<u64>>, codecs: impl IntoIterator<Item = Codec>) -> Self {
        Sharding {
            chunk_shape: chunk_shape.into(),
            codecs: codecs.into_iter().collect(),
            index_codecs: vec![Codec::bytes(), Codec::Crc32c],
            index_location: IndexLocation::End,
        }
    }

    /// The same with an index that is encoded by these codecs, at this place.
    #[must_use]
    pub fn with_index(
        self,
        index_codecs: impl IntoIterator<Item = Codec>,
        index_location: IndexLocation,
    ) -> Self {
        Sharding { index_codecs: index_codecs.into_iter().collect(), index_location, ..self }
    }
}

/// Where a shard has its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IndexLocation {
    /// Before the chunks.
    Start,
    /// After the chunks.
    #[default]
    End,
}

const LOCATIONS: Names<IndexLocation> =
    &[(IndexLocation::Start, "start"), (IndexLocation::End, "end")];

/// Boxed, as it is much larger than the other configurations.
impl Configuration for Box<Sharding> {
    fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self> {
        const LENGTHS: &str = "an array of chunk lengths";
        members.check_known(&["chunk_shape", "codecs", "index_codecs", "index_location"])?;
        let raw = members.require("chunk_shape", LENGTHS)?;
        let chunk_shape = read_elements(raw, LENGTHS, |raw| raw.at_least(1))
            .breaks(Rule::SHARDING_CHUNK_SHAPE)
            .member("chunk_shape")?;
        check_rank(chunk_shape.len()).member("chunk_shape")?;
        let codecs = read_chain(members, context, "codecs")?;
        let index_codecs = read_chain(members, context, "index_codecs")?;
        let index_location = members
            .take("index_location")
            .map(|raw| read_named(LOCATIONS, raw).member("index_location"))
            .transpose()
            .breaks(Rule::SHARDING_INDEX_LOCATION)?
            .unwrap_or_default();
        Ok(Box::new(Sharding { chunk_shape, codecs, index_codecs, index_location }))
    }

    fn write(&self, members: &mut Members<'_>) {
        write_list(&self.chunk_shape, members.begin("chunk_shape"));
        write_codecs(&self.codecs, members.begin("codecs"));
        write_codecs(&self.index_codecs, members.begin("index_codecs"));
        members.named("index_location", LOCATIONS, &self.index_location);
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        let inner = self.chunk_shape.len();
        if let Some(rank) = input.rank
            && rank != inner
        {
            let found = format!("length {inner}");
            let allowed = format!("length {rank}, the rank of the input");
            let error = MetadataError::unexpected(found, allowed);
            return Err(error.breaks(Rule::SHARDING_RANK).in_member("chunk_shape"));
        }
        if let Some(data_type) = input.data_type {
            check_chain(&self.codecs, data_type, inner).member("codecs")?;
        }
        // The index has the shape of the inner chunks and one dimension more, of uint64.
        let index_rank = inner + 1;
        check_chain(&self.index_codecs, &DataType::Uint64, index_rank)
            .and_then(|()| check_fixed_size(&self.index_codecs))
            .member("index_codecs")
    }
}

/// The index of a shard is found by its size, which must not depend on its content (SD-59).
fn check_fixed_size(codecs: &[Codec]) -> Result<()> {
    let fixed = |codec: &Codec| match codec.kind() {
        Some(CodecKind::ArrayToArray) | None => true,
        Some(CodecKind::ArrayToBytes) => matches!(codec, Codec::Bytes(_) | Codec::Packbits(_)),
        Some(CodecKind::BytesToBytes) => matches!(
            codec,
            Codec::Crc32c
                | Codec::NumcodecsShuffle(_)
                | Codec::NumcodecsCrc32(_)
                | Codec::NumcodecsCrc32c(_)
                | Codec::NumcodecsAdler32(_)
                | Codec::NumcodecsFletcher32
                | Codec::NumcodecsJenkinsLookup3(_)
        ),
    };
    match codecs.iter().enumerate().find(|(_, codec)| !fixed(codec)) {
        Some((index, codec)) => {
            let allowed = "codecs with an output of fixed size";
            let error = MetadataError::unexpected(codec.name(), allowed);
            Err(error.breaks(Rule::SHARDING_INDEX_SIZE).in_element(index))
        }
        None => Ok(()),
    }
}
