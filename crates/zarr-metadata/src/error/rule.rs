//! Rules that something stored can break, each with a name that stays.

use std::fmt;

/// The severity of a broken rule.
///
/// # Examples
/// ```
/// use zarr_metadata::{Rule, Severity};
///
/// let errors = Rule::ALL.iter().filter(|rule| rule.severity() == Severity::Error);
/// assert!(errors.count() > 50);
/// assert_eq!(Severity::Warning.to_string(), "warning");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// A rule of the specifications is broken: readers may fail, or read something else.
    Error,
    /// Allowed, or harmless here, but probably unintended: other readers may refuse it.
    Warning,
    /// No fault, but worth knowing: a habit of common writers, or a part that could not be checked.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// A rule, with its id and the severity of breaking it.
///
/// [`Rule::ALL`] has the rules of a `zarr.json`. The constants are those that other crates check
/// too, such as the ones that need chunk shapes.
/// [`MetadataError::rule`](crate::MetadataError::rule) names the rule that a document breaks.
/// [`Finding::rule`](crate::Finding::rule) names a broken rule that does not prevent reading. A
/// crate that examines more than documents declares its rules with [`Rule::new`].
///
/// # Examples
/// ```
/// use zarr_metadata::{Rule, Severity};
///
/// const LAYOUT: Rule = Rule::new("my-layout", Severity::Warning, "arrays must be in /data");
/// assert_eq!(Rule::GRID_RANK.id(), "grid-rank");
/// assert!(Rule::ALL.contains(&Rule::GRID_RANK) && !Rule::ALL.contains(&LAYOUT));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    id: &'static str,
    severity: Severity,
    text: &'static str,
}

impl Rule {
    /// A rule with this id, in kebab case. `text` is one sentence without its period.
    #[must_use]
    pub const fn new(id: &'static str, severity: Severity, text: &'static str) -> Self {
        Rule { id, severity, text }
    }

    /// A stable name in kebab case, such as `reshape-elements`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.id
    }

    /// The severity of breaking the rule.
    #[must_use]
    pub const fn severity(self) -> Severity {
        self.severity
    }

    /// The requirement or, below an error, the finding: one sentence without its period.
    #[must_use]
    pub const fn text(self) -> &'static str {
        self.text
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

macro_rules! rules {
    ($([$vis:vis] $($name:ident $id:literal $severity:ident $text:literal;)*)*) => {
        impl Rule {
            $($(
                #[doc = concat!("`", $id, "`: ", $text, ".")]
                $vis const $name: Rule = Rule::new($id, Severity::$severity, $text);
            )*)*

            /// Every rule of a `zarr.json`.
            pub const ALL: &[Rule] = &[$($(Rule::$name),*),*];
        }
    };
}

rules! {
    [pub]
    NOT_JSON "not-json" Error "a document must be one JSON object, in UTF-8";
    GRID_RANK "grid-rank" Error "a grid must have one entry per dimension of the array";
    GRID_ZERO_EDGE "grid-zero-edge" Error "an edge must be at least 1";
    GRID_RUN "grid-run" Error "a run must be [length, count], two integers of at least 1";
    GRID_TOO_SHORT "grid-too-short" Error "the edges of an axis must sum to at least its length";
    GRID_OVERFLOW "grid-overflow" Error "the edges of an axis must sum to less than 2^64";
    CHAIN_ORDER "chain-order" Error "`codecs` must be an array of array-to-array codecs, then one \
        array-to-bytes codec, then bytes-to-bytes codecs";
    BYTES_ENDIAN_MISSING "bytes-endian-missing" Error "`bytes` must have an `endian` if elements \
        have several bytes";
    PACKBITS_BIT_RANGE "packbits-bit-range" Error "`first_bit` must be at most `last_bit`, and \
        `last_bit` less than the number of bits of a component";
    RESHAPE_INCREASING "reshape-increasing" Error "input dimensions must increase over the whole of \
        `shape`";
    RESHAPE_INPUT_DIM "reshape-input-dim" Error "an input dimension must be a dimension of the \
        input";
    RESHAPE_ELEMENTS "reshape-elements" Error "`reshape` must keep the number of elements of every chunk";
    RESHAPE_DIVIDES "reshape-divides" Error "the sizes beside -1 must divide the number of elements of \
        every chunk";
    RESHAPE_PLACE "reshape-place" Error "an input dimension must have as many elements before it \
        and after it in the output as in the input";
    RESHAPE_OVERFLOW "reshape-overflow" Error "the product of the sizes of `shape` must be less \
        than 2^64";
    TRANSPOSE_PERMUTATION "transpose-permutation" Error "`order` must contain each dimension once";
    SHARDING_RANK "sharding-rank" Error "`chunk_shape` of shards must have one entry per \
        dimension of the input";
    SHARDING_DIVIDES "sharding-divides" Error "`chunk_shape` of shards must divide every chunk";
    SHARDING_INDEX_SIZE "sharding-index-size" Error "`index_codecs` must encode the index to a \
        fixed size";
    NUMCODECS_PACKBITS "numcodecs-packbits" Error "`numcodecs.packbits` must have an input of \
        bool, and `bytes` after it";
    CHUNK_TOO_LARGE "chunk-too-large" Error "a chunk must have less than 2^64 elements";
    [pub(crate)]
    TOO_DEEP "too-deep" Error "a document must be nested at most 128 levels deep, a limit of this \
        reader";
    TOO_MANY_DIMENSIONS "too-many-dimensions" Error "an array must have at most 1024 dimensions \
        at every place of its chain, a limit of this reader";
    TOO_MANY_CODECS "too-many-codecs" Error "a chain must have at most 1024 codecs, a limit of \
        this reader";
    DUPLICATE_KEY "duplicate-key" Error "an object must have each key once";
    ZARR_FORMAT "zarr-format" Error "`zarr_format` must be the integer 3";
    NODE_TYPE "node-type" Error "`node_type` must be \"array\" or \"group\"";
    MISSING_MEMBER "missing-member" Error "a required member must be present";
    UNKNOWN_MEMBER "unknown-member" Error "an unknown member of a document must be an object with \
        `\"must_understand\": false`";
    ATTRIBUTES "attributes" Error "`attributes` must be an object";
    SHAPE "shape" Error "`shape` must be an array of integers of at least 0";
    DIMENSION_NAMES "dimension-names" Error "`dimension_names` must have a string or null per \
        dimension";
    STORAGE_TRANSFORMERS "storage-transformers" Error "`storage_transformers` must be an array \
        without entries that must be understood";
    CONSOLIDATED_METADATA "consolidated-metadata" Error "consolidated metadata must be on a \
        group, be of the kind \"inline\", and list documents by path";
    CONSOLIDATED_UNDERSTAND "consolidated-must-understand" Error "consolidated metadata must have \
        `\"must_understand\": false`";
    EXTENSION_FORM "extension-form" Error "a data type, grid, key encoding or codec must be a \
        name, or an object with a name and optionally a configuration object";
    UNKNOWN_EXTENSION_MEMBER "unknown-extension-member" Error "an extension and its configuration \
        must have only the members that its document names";
    EXTENSION_NAME "extension-name" Error "an unknown name must be a URI, or consist of lower-case \
        letters, digits, `-`, `_` and `.` and begin with a letter";
    MUST_UNDERSTAND "must-be-understood" Error "a data type, a chunk grid and a chunk key encoding \
        must not have `\"must_understand\": false`";
    UNDERSTAND_DATA_TYPE "data-type-must-be-understood" Error "an unknown data type must not have \
        `\"must_understand\": false`";
    RAW_BITS "raw-bits" Error "the name of raw bits must be `r` and a positive multiple of 8";
    DATA_TYPE_CONFIGURATION "data-type-configuration" Error "the configuration of a data type \
        must have the members and values that its document allows";
    ELEMENT_TOO_LARGE "element-too-large" Error "an element of strings, bytes, raw bits or \
        records must have at most 1 MiB, a limit of this reader";
    UNKNOWN_CHUNK_GRID "unknown-chunk-grid" Error "no other chunk grid than `regular` and `rectilinear` is \
        known: the elements cannot be read";
    REGULAR_CHUNK_SHAPE "regular-chunk-shape" Error "`chunk_shape` of a regular grid must be an array of \
        integers of at least 1";
    GRID_KIND "grid-kind" Error "`kind` of a rectilinear grid must be \"inline\"";
    GRID_SPELLING "grid-spelling" Error "the edges of a rectilinear grid must be its `chunk_shapes`, not \
        a `chunk_shape`";
    GRID_AXIS "grid-axis" Error "an axis of a rectilinear grid must be an integer or an array of edges";
    GRID_EDGE "grid-edge" Error "an entry of a list of edges must be an integer or a run";
    UNKNOWN_CHUNK_KEY_ENCODING "unknown-chunk-key-encoding" Error "no other chunk key encoding than \
        `default`, `v2`, `template` and `zarrs.default_suffix` is known: the elements cannot be read";
    CHUNK_KEY_FORMAT "chunk-key-format" Error "a format or suffix of chunk keys must give each chunk a \
        valid key of its own, that is no name of a document";
    CHUNK_KEY_SEPARATOR "chunk-key-separator" Error "`separator` must be \"/\" or \".\"";
    FILL_VALUE_KIND "fill-value-kind" Error "a fill value must have the JSON form of its data \
        type";
    FILL_VALUE_RANGE "fill-value-range" Error "a fill value must be in the range of its data type";
    FILL_VALUE_HEX "fill-value-hex" Error "a hexadecimal fill value must have the digits of its \
        data type, and no bit above its width";
    FILL_VALUE_COMPLEX "fill-value-complex" Error "a complex fill value must be [real, imaginary]";
    FILL_VALUE_RAW_BITS "fill-value-raw-bits" Error "a fill value of raw bits must be base64, or \
        one integer from 0 to 255 per byte";
    FILL_VALUE_BYTES "fill-value-bytes" Error "a fill value of bytes must be base64 of at most \
        the length of its data type, for raw bytes of exactly this length";
    FILL_VALUE_TEXT "fill-value-text" Error "a fill value of strings must be a string of at most \
        as many code points as its data type has";
    FILL_VALUE_STRUCT "fill-value-struct" Error "a fill value of records must be an object with \
        exactly one value per field";
    BYTES_ENDIAN "bytes-endian" Error "`endian` must be \"little\" or \"big\"";
    BYTES_DATA_TYPE "bytes-data-type" Error "the data type under `bytes` must have a fixed size";
    VLEN_DATA_TYPE "vlen-data-type" Error "the data type must be `string` under `vlen-utf8` and \
        `numcodecs.json2`, and `bytes` under `vlen-bytes`";
    OPTIONAL_DATA_TYPE "optional-data-type" Error "the data type under `zarrs.optional` must be \
        `zarrs.optional`";
    PACKBITS_SPELLING "packbits-spelling" Error "the members of `packbits` must be `padding_encoding`, \
        `first_bit` and `last_bit`";
    PACKBITS_PADDING_ENCODING "packbits-padding-encoding" Error "`padding_encoding` must be \"none\", \
        \"first_byte\" or \"last_byte\"";
    PACKBITS_BIT "packbits-bit" Error "`first_bit` and `last_bit` must be null or integers of at \
        least 0";
    PACKBITS_DATA_TYPE "packbits-data-type" Error "the data type under `packbits` must be bool, or \
        integers, floats or complex numbers of fixed size";
    RESHAPE_SHAPE "reshape-shape" Error "`shape` of `reshape` must be an array of sizes of at least 1, \
        lists of input dimensions and -1";
    RESHAPE_AUTO "reshape-auto" Error "`shape` of `reshape` must have at most one -1";
    TRANSPOSE_ORDER "transpose-order" Error "`order` must be an array of dimensions";
    TRANSPOSE_RANK "transpose-rank" Error "`order` must have one entry per dimension of the input";
    SHARDING_CHUNK_SHAPE "sharding-chunk-shape" Error "`chunk_shape` of shards must be an array of \
        integers of at least 1";
    SHARDING_INDEX_LOCATION "sharding-index-location" Error "`index_location` must be \"start\" or \"end\"";
    GZIP_CONFIGURATION "gzip-configuration" Error "`level` of `gzip` must be an integer from 0 to 9";
    ZSTD_CONFIGURATION "zstd-configuration" Error "`level` of `zstd` must be an integer from -131072 to \
        22, `checksum` a boolean";
    BLOSC_CONFIGURATION "blosc-configuration" Error "the members of `blosc` must have values that \
        its document allows";
    BITROUND_CONFIGURATION "bitround-configuration" Error "`bitround` must have a number of bits \
        to keep, and an input of integers, floats or complex numbers";
    CAST_VALUE_CONFIGURATION "cast-value-configuration" Error "the members of `cast_value` must \
        have values that its document allows, and both data types must be real numbers";
    SCALE_OFFSET_CONFIGURATION "scale-offset-configuration" Error "`offset` and `scale` must be \
        values of the input's data type, and this must be a type of real numbers";
    ZFP_CONFIGURATION "zfp-configuration" Error "the members of `zfp` must have values that its \
        document allows, for an array that zfp can compress";
    NUMCODECS_CONFIGURATION "numcodecs-configuration" Error "the members of a codec of numcodecs \
        must have values that numcodecs accepts";
    BARE_STRING_CODEC "bare-string-codec" Warning "a codec is written as a string, which others \
        refuse";
    BARE_STRING_CHUNK_KEY_ENCODING "bare-string-chunk-key-encoding" Warning "the key encoding is \
        written as a string";
    MISSING_CODEC_MEMBER "missing-codec-member" Note "a codec lacks a member that does not matter \
        for reading";
    UNKNOWN_RECTILINEAR_MEMBER "unknown-rectilinear-member" Note "a rectilinear grid has a member \
        that its document lacks";
    UNKNOWN_DATA_TYPE "unknown-data-type" Warning "no data type of this name is registered";
    OTHER_WRITER "other-writer" Note "a document of version 2 has a spelling of one program, which \
        other readers may refuse";
    LEGACY_STRUCT "legacy-struct" Note "a record has its older name, or fields as pairs";
    MISSING_ENDIAN "missing-endian" Warning "a record has no byte order, and is read as \
        little-endian";
    ZERO_CHUNK_LENGTH "zero-chunk-length" Warning "an axis of length 0 has chunks of length 0";
    NOT_FINITE_WORD "not-finite-word" Warning "bare NaN or Infinity, which JSON does not have";
}
