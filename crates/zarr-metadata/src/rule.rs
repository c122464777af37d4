//! The rules that a document can break, each by a name that stays.

use std::fmt;

macro_rules! rules {
    ($($variant:ident $id:literal $text:literal;)*) => {
        /// A rule of the specifications that a `zarr.json` can break.
        ///
        /// Some are about a document alone, and [`MetadataError::rule`](crate::MetadataError::rule)
        /// names them; others need chunk shapes, and the crates that bind chains and grids do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("`", $id, "`: ", $text, ".")] $variant,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Rule] = &[$(Rule::$variant),*];

            /// A stable name in kebab case, such as `reshape-elements`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self {
                    $(Rule::$variant => $id,)*
                }
            }

            /// What must be so, in one sentence without its period.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    $(Rule::$variant => $text,)*
                }
            }
        }
    };
}

rules! {
    NotJson "not-json" "a document must be one JSON object, in UTF-8";
    TooDeep "too-deep" "a document must be nested no deeper than 128 levels, a limit of this \
        reader";
    TooManyDimensions "too-many-dimensions" "an array must have no more than 1024 dimensions at any \
        place of its chain, a limit of this reader";
    TooManyCodecs "too-many-codecs" "a chain must have no more than 1024 codecs, a limit of this \
        reader";
    DuplicateKey "duplicate-key" "an object must have each key once";
    ZarrFormat "zarr-format" "`zarr_format` must be the integer 3";
    NodeType "node-type" "`node_type` must be \"array\" or \"group\"";
    MissingMember "missing-member" "a member that is required must be there";
    UnknownMember "unknown-member" "a member of a document that is not known must be an object \
        with `\"must_understand\": false`";
    Attributes "attributes" "`attributes` must be an object";
    Shape "shape" "`shape` must be an array of integers of at least 0";
    DimensionNames "dimension-names" "`dimension_names` must have a string or null for each \
        dimension";
    StorageTransformers "storage-transformers" "`storage_transformers` must be an array, empty \
        but for what need not be understood";
    ConsolidatedMetadata "consolidated-metadata" "consolidated metadata must be on groups, of the \
        kind \"inline\", with documents by their path";
    ExtensionForm "extension-form" "a data type, grid, key encoding or codec must be a name, or \
        an object with a name and perhaps a configuration, an object";
    UnknownExtensionMember "unknown-extension-member" "an extension and its configuration must \
        have no members that its document does not name";
    UnderstandDataType "data-type-must-be-understood" "a data type that is not known must not \
        have `\"must_understand\": false`";
    RawBits "raw-bits" "raw bits must be `r` and a positive multiple of 8";
    UnknownChunkGrid "unknown-chunk-grid" "the chunk grid must be `regular` or `rectilinear`";
    GridRank "grid-rank" "a grid must have an entry for each dimension of the array";
    RegularChunkShape "regular-chunk-shape" "`chunk_shape` of a regular grid must be an array of \
        integers of at least 1";
    GridKind "grid-kind" "`kind` of a rectilinear grid must be \"inline\"";
    GridSpelling "grid-spelling" "the edges of a rectilinear grid must be its `chunk_shapes`, not \
        a `chunk_shape`";
    GridAxis "grid-axis" "an axis of a rectilinear grid must be an integer or an array of edges";
    GridEdge "grid-edge" "an edge must be an integer, or a run of them";
    GridZeroEdge "grid-zero-edge" "an edge must be at least 1";
    GridRun "grid-run" "a run must be [length, count], two integers of at least 1";
    GridTooShort "grid-too-short" "the edges of an axis must sum to at least its length";
    GridOverflow "grid-overflow" "the edges of an axis must sum to less than 2^64";
    UnknownChunkKeyEncoding "unknown-chunk-key-encoding" "the chunk key encoding must be \
        `default` or `v2`";
    ChunkKeySeparator "chunk-key-separator" "`separator` must be \"/\" or \".\"";
    FillValueKind "fill-value-kind" "a fill value must be written as its data type says";
    FillValueRange "fill-value-range" "a fill value must be one that its data type can hold";
    FillValueHex "fill-value-hex" "a hexadecimal fill value must have as many digits as its data \
        type needs, and no bit above it";
    FillValueComplex "fill-value-complex" "a complex fill value must be [real, imaginary]";
    FillValueRawBits "fill-value-raw-bits" "a fill value of raw bits must be an integer from 0 to \
        255 for each byte, or base64";
    ChainOrder "chain-order" "`codecs` must be an array of array-to-array codecs, then one \
        array-to-bytes codec, then bytes-to-bytes codecs";
    BytesEndian "bytes-endian" "`endian` must be \"little\" or \"big\"";
    BytesEndianMissing "bytes-endian-missing" "`bytes` must have an `endian` where elements have \
        several bytes";
    PackbitsSpelling "packbits-spelling" "the members of `packbits` must be `padding_encoding`, \
        `first_bit` and `last_bit`";
    PackbitsPaddingEncoding "packbits-padding-encoding" "`padding_encoding` must be \"none\", \
        \"first_byte\" or \"last_byte\"";
    PackbitsBit "packbits-bit" "`first_bit` and `last_bit` must be integers of at least 0 or null";
    PackbitsBitRange "packbits-bit-range" "`first_bit` must be at most `last_bit`, which must be \
        less than the bits of a component";
    PackbitsDataType "packbits-data-type" "the data type under `packbits` must be bool, or \
        integers, floats or complex numbers of fixed size";
    ReshapeShape "reshape-shape" "`shape` of `reshape` must be an array of sizes of at least 1, \
        lists of input dimensions and -1";
    ReshapeAuto "reshape-auto" "`shape` of `reshape` must have -1 at most once";
    ReshapeIncreasing "reshape-increasing" "input dimensions must increase over the whole of \
        `shape`";
    ReshapeInputDim "reshape-input-dim" "an input dimension must be one that the input has";
    ReshapeElements "reshape-elements" "`reshape` must keep the number of elements of every chunk";
    ReshapeDivides "reshape-divides" "the sizes beside -1 must divide the number of elements of \
        every chunk";
    ReshapePlace "reshape-place" "as many elements must come before and after an input dimension \
        in the output as in the input";
    ReshapeOverflow "reshape-overflow" "the sizes of `shape` must multiply to less than 2^64";
    TransposeOrder "transpose-order" "`order` must be an array of dimensions";
    TransposePermutation "transpose-permutation" "`order` must have each dimension once";
    TransposeRank "transpose-rank" "`order` must be as long as the input has dimensions";
    ShardingChunkShape "sharding-chunk-shape" "`chunk_shape` of shards must be an array of \
        integers of at least 1";
    ShardingRank "sharding-rank" "`chunk_shape` of shards must be as long as the input has \
        dimensions";
    ShardingDivides "sharding-divides" "`chunk_shape` of shards must divide every chunk";
    ShardingIndexLocation "sharding-index-location" "`index_location` must be \"start\" or \"end\"";
    ShardingIndexSize "sharding-index-size" "`index_codecs` must give an index of fixed size";
    GzipConfiguration "gzip-configuration" "`level` of `gzip` must be an integer from 0 to 9";
    ZstdConfiguration "zstd-configuration" "`level` of `zstd` must be an integer from -131072 to \
        22, `checksum` a boolean";
    BloscConfiguration "blosc-configuration" "the members of `blosc` must have the values that \
        its document lists";
    NumcodecsPackbits "numcodecs-packbits" "`numcodecs.packbits` must be given bool, and be \
        followed by `bytes`";
    ChunkTooLarge "chunk-too-large" "a chunk must have less than 2^64 elements";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
