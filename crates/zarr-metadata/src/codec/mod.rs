//! Codecs: one table of the known codecs, each with a typed configuration.
//!
//! A codec is a row of [`codecs!`](self) and a configuration type in a separate file. The type
//! implements [`Configuration`]: reading, writing, and checking against the codec's input.

mod array_to_array;
mod array_to_bytes;
mod bytes_to_bytes;
mod chain;
mod configuration;
mod construct;
mod notation;
mod notation_shards;
mod numcodecs;

pub use crate::element::Endian;
pub use array_to_array::bitround::{Bitround, NumcodecsBitround};
pub use array_to_array::cast_value::{CastValue, OutOfRange, Rounding};
pub use array_to_array::reshape::{Reshape, ReshapeDim};
pub use array_to_array::scale_offset::ScaleOffset;
pub use array_to_array::transpose::Transpose;
pub use array_to_bytes::bytes::Bytes;
pub use array_to_bytes::optional::OptionalCodecs;
pub use array_to_bytes::packbits::{Packbits, PaddingEncoding};
pub use array_to_bytes::sharding::{IndexLocation, Sharding};
pub use array_to_bytes::zfp::{Zfp, Zfpy};
pub use bytes_to_bytes::blosc::{Blosc, BloscCompressor, BloscShuffle};
pub use bytes_to_bytes::gzip::Gzip;
pub use bytes_to_bytes::zstd::Zstd;
pub use notation::{CodecNotation, NotationError};
pub use numcodecs::{
    AsType, Bz2, Checksum, ChecksumLocation, Deflate, Delta, FixedScaleOffset, JenkinsLookup3, Lz4,
    Lzma, LzmaCheck, LzmaFilter, LzmaFormat, NumcodecsBlosc, NumcodecsZstd, Pcodec, PcodecDelta,
    PcodecMode, Quantize, Shuffle,
};

pub(crate) use chain::{
    assume_little_endian, check_chain, element_order, has_checksum, read_codecs, write_codecs,
};

use array_to_array::squeeze::Squeeze;
use array_to_bytes::packbits::NumcodecsPackbits;
use array_to_bytes::vlen::{VlenBytes, VlenUtf8};
use configuration::{Configuration, Context, Members, NoConfiguration};
use numcodecs::Json2;

use crate::error::Result;
use crate::error::finding::Finding;
use crate::error::nearest;
use crate::error::rule::Rule;
use crate::extension::{Extension, RawExtension};
use crate::json::{Grammar, Object, Outline, Raw, utf8, write_string};

/// The kind of a codec: its input and its output.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, CodecKind};
///
/// assert_eq!(Codec::transpose([1, 0]).kind(), Some(CodecKind::ArrayToArray));
/// assert_eq!(Codec::bytes().kind(), Some(CodecKind::ArrayToBytes));
/// assert_eq!(Codec::zstd(3).kind(), Some(CodecKind::BytesToBytes));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodecKind {
    /// Takes an array, gives an array.
    ArrayToArray,
    /// Takes an array, gives bytes.
    ArrayToBytes,
    /// Takes bytes, gives bytes.
    BytesToBytes,
}

/// The codecs from one table: variant, name, kind. A variant holds its configuration, `(Type)`, or
/// none, `: Type`.
macro_rules! codecs {
    ($(
        $(#[$doc:meta])*
        $variant:ident $(($held:ty))? $(: $unit:ident)? = $name:literal, $kind:ident;
    )*) => {
        /// One codec of a chain, with a typed configuration.
        ///
        /// # Examples
        /// ```
        /// use zarr_metadata::{Codec, CodecKind};
        ///
        /// let chain = Codec::list_from_json(
        ///     br#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "packbits"}]"#,
        /// )?;
        /// assert_eq!(chain[0], Codec::transpose([1, 0]));
        /// assert_eq!(chain[1].kind(), Some(CodecKind::ArrayToBytes));
        /// assert_eq!(chain[1].to_json(), r#"{"name": "packbits"}"#);
        ///
        /// // What is not known is kept as it was written.
        /// let unknown = Codec::from_json(br#"{"name": "example.rle", "configuration": {"n": 1.0}}"#)?;
        /// let Codec::Unknown(extension) = unknown else { panic!("it is not known") };
        /// assert_eq!(extension.configuration(), Some(r#"{"n": 1.0}"#));
        /// # Ok::<_, zarr_metadata::MetadataError>(())
        /// ```
        ///
        /// # Spec
        /// Zarr v3 core 3.1, "Codecs"; the document of each codec.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Codec {
            $($(#[$doc])* $variant $(($held))?,)*
            /// A codec that this crate does not know, kept as it was written.
            Unknown(Extension),
        }

        impl Codec {
            /// The name that documents give the codec.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Codec::$variant { .. } => $name,)*
                    Codec::Unknown(extension) => extension.name(),
                }
            }

            /// The codec's input and output; `None` if they are not known.
            #[must_use]
            pub fn kind(&self) -> Option<CodecKind> {
                match self {
                    $(Codec::$variant { .. } => Some(CodecKind::$kind),)*
                    Codec::Unknown(_) => None,
                }
            }

            /// The configuration, or the codec as it was written if it is not known.
            fn configuration(&self) -> std::result::Result<&dyn Configuration, &Extension> {
                Ok(match self {
                    $(Codec::$variant $((codecs!(@first held, $held)))? => {
                        $(codecs!(@first held, $held))? $(&$unit)?
                    })*
                    Codec::Unknown(extension) => return Err(extension),
                })
            }

            /// The known name that is a few typing errors away from one that is not known.
            ///
            /// # Examples
            /// ```
            /// use zarr_metadata::Codec;
            ///
            /// assert_eq!(Codec::nearest_name("zst"), Some("zstd"));
            /// assert_eq!(Codec::nearest_name("example.rle"), None);
            /// ```
            #[must_use]
            pub fn nearest_name(name: &str) -> Option<&'static str> {
                nearest(name, &[$($name),*]).filter(|near| *near != name)
            }

            /// How the configuration of the codec of this name is read.
            fn reader(name: &str) -> Option<ReadConfiguration> {
                Some(match name {
                    $($name => |members, context| {
                        $(<$held>::read(members, context).map(Codec::$variant))?
                        $($unit::read(members, context).map(|_| Codec::$variant))?
                    },)*
                    _ => return None,
                })
            }
        }
    };
    (@first $name:ident, $held:ty) => { $name };
}

type ReadConfiguration = fn(&mut Object<'_>, &mut Context<'_>) -> Result<Codec>;

codecs! {
    /// `reshape`: other dimensions, the elements in the same order.
    Reshape(Reshape) = "reshape", ArrayToArray;
    /// `transpose`: the dimensions in another order.
    Transpose(Transpose) = "transpose", ArrayToArray;
    /// `zarrs.squeeze`: without the dimensions of size 1, the elements in the same order.
    ZarrsSqueeze: Squeeze = "zarrs.squeeze", ArrayToArray;
    /// `numcodecs.packbits`: bool elements as bits, most significant first (SD-11).
    NumcodecsPackbits: NumcodecsPackbits = "numcodecs.packbits", ArrayToArray;
    /// `bitround`: fewer nonzero bits in each element.
    Bitround(Bitround) = "bitround", ArrayToArray;
    /// `cast_value`: the same values in another data type.
    CastValue(CastValue) = "cast_value", ArrayToArray;
    /// `scale_offset`: the elements less an offset, times a factor.
    ScaleOffset(ScaleOffset) = "scale_offset", ArrayToArray;
    /// `numcodecs.bitround`: as `bitround`, of floats.
    NumcodecsBitround(NumcodecsBitround) = "numcodecs.bitround", ArrayToArray;
    /// `numcodecs.delta`: the first element, then the differences.
    NumcodecsDelta(Delta) = "numcodecs.delta", ArrayToArray;
    /// `numcodecs.fixedscaleoffset`: the elements less an offset, times a factor, rounded.
    NumcodecsFixedScaleOffset(FixedScaleOffset) = "numcodecs.fixedscaleoffset", ArrayToArray;
    /// `numcodecs.quantize`: floats with fewer digits.
    NumcodecsQuantize(Quantize) = "numcodecs.quantize", ArrayToArray;
    /// `numcodecs.astype`: the elements in another data type.
    NumcodecsAsType(AsType) = "numcodecs.astype", ArrayToArray;
    /// `packbits`: some bits of each element, without gaps.
    Packbits(Packbits) = "packbits", ArrayToBytes;
    /// `bytes`: the elements in a byte order.
    Bytes(Bytes) = "bytes", ArrayToBytes;
    /// `vlen-utf8`: strings, each after its length.
    VlenUtf8: VlenUtf8 = "vlen-utf8", ArrayToBytes;
    /// `vlen-bytes`: byte strings, each after its length.
    VlenBytes: VlenBytes = "vlen-bytes", ArrayToBytes;
    /// `zarrs.optional`: which elements exist, then their values.
    ZarrsOptional(Box<OptionalCodecs>) = "zarrs.optional", ArrayToBytes;
    /// `numcodecs.json2`: objects of Zarr version 2. Each element is a JSON text.
    NumcodecsJson2: Json2 = "numcodecs.json2", ArrayToBytes;
    /// `numcodecs.pcodec`: numbers, compressed.
    NumcodecsPcodec(Pcodec) = "numcodecs.pcodec", ArrayToBytes;
    /// `zfp`: numbers, compressed by blocks of 4 along each dimension.
    Zfp(Zfp) = "zfp", ArrayToBytes;
    /// `numcodecs.zfpy`: as `zfp`, after a header.
    NumcodecsZfpy(Zfpy) = "numcodecs.zfpy", ArrayToBytes;
    /// `sharding_indexed`: a chunk (shard) of smaller inner chunks.
    ShardingIndexed(Box<Sharding>) = "sharding_indexed", ArrayToBytes;
    /// `gzip`.
    Gzip(Gzip) = "gzip", BytesToBytes;
    /// `zstd`.
    Zstd(Zstd) = "zstd", BytesToBytes;
    /// `blosc`.
    Blosc(Blosc) = "blosc", BytesToBytes;
    /// `crc32c`: a checksum after the bytes.
    Crc32c: NoConfiguration = "crc32c", BytesToBytes;
    /// `numcodecs.zlib`: deflate in the container of zlib.
    NumcodecsZlib(Deflate) = "numcodecs.zlib", BytesToBytes;
    /// `numcodecs.gzip`: as `gzip`.
    NumcodecsGzip(Deflate) = "numcodecs.gzip", BytesToBytes;
    /// `numcodecs.bz2`.
    NumcodecsBz2(Bz2) = "numcodecs.bz2", BytesToBytes;
    /// `numcodecs.lzma`.
    NumcodecsLzma(Lzma) = "numcodecs.lzma", BytesToBytes;
    /// `numcodecs.lz4`: the number of bytes, then a block of LZ4.
    NumcodecsLz4(Lz4) = "numcodecs.lz4", BytesToBytes;
    /// `numcodecs.zstd`: as `zstd`.
    NumcodecsZstd(NumcodecsZstd) = "numcodecs.zstd", BytesToBytes;
    /// `numcodecs.blosc`: as `blosc`.
    NumcodecsBlosc(NumcodecsBlosc) = "numcodecs.blosc", BytesToBytes;
    /// `numcodecs.shuffle`: the first bytes of all elements, then the second bytes, and so on.
    NumcodecsShuffle(Shuffle) = "numcodecs.shuffle", BytesToBytes;
    /// `numcodecs.crc32`: a checksum before the bytes, or after them.
    NumcodecsCrc32(Checksum) = "numcodecs.crc32", BytesToBytes;
    /// `numcodecs.crc32c`: a checksum after the bytes, or before them.
    NumcodecsCrc32c(Checksum) = "numcodecs.crc32c", BytesToBytes;
    /// `numcodecs.adler32`: a checksum before the bytes, or after them.
    NumcodecsAdler32(Checksum) = "numcodecs.adler32", BytesToBytes;
    /// `numcodecs.fletcher32`: a checksum after the bytes.
    NumcodecsFletcher32: NoConfiguration = "numcodecs.fletcher32", BytesToBytes;
    /// `numcodecs.jenkins_lookup3`: a checksum after the bytes.
    NumcodecsJenkinsLookup3(JenkinsLookup3) = "numcodecs.jenkins_lookup3", BytesToBytes;
}

/// The name under which the table has a codec that zarrs wrote under another one.
///
/// Up to version 0.22, zarrs gave unregistered codecs URIs as names. Since then it also reads the
/// names of numcodecs.
fn canonical(name: &str) -> &str {
    match name {
        "https://codec.zarrs.dev/array_to_bytes/pcodec" => "numcodecs.pcodec",
        "https://codec.zarrs.dev/array_to_bytes/zfp" | "zarrs.zfp" => "zfp",
        "https://codec.zarrs.dev/array_to_bytes/zfpy" => "numcodecs.zfpy",
        "https://codec.zarrs.dev/array_to_bytes/bitround" => "bitround",
        "https://codec.zarrs.dev/array_to_array/squeeze" => "zarrs.squeeze",
        // The name in betas of zarrs 0.23.
        "optional" => "zarrs.optional",
        "https://codec.zarrs.dev/bytes_to_bytes/fletcher32" => "numcodecs.fletcher32",
        name => name,
    }
}

impl Codec {
    /// Reads one codec.
    ///
    /// # Errors
    /// If the configuration of a known codec is wrong.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::read(Outline::read(utf8(json)?, Grammar::Json)?.root(), &mut Vec::new())
    }

    /// The JSON text in canonical form: an object with its configuration, without members that
    /// equal their default. An unknown codec stays as it was written.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        self.write(&mut json);
        json
    }

    /// The codec of numcodecs with this name and this text as its configuration.
    pub(crate) fn of_numcodecs(name: &str, configuration: &str) -> Result<Self> {
        let mut json = "{\"name\": ".to_owned();
        write_string(name, &mut json);
        json.push('}');
        let Some(read) = Self::reader(name) else { return Self::from_json(json.as_bytes()) };
        let outline = Outline::read(configuration, Grammar::Json)?;
        let mut members = Object::read(outline.root(), "an object")?;
        // numcodecs has a value for each member that is missing.
        let mut context = Context { missing: Vec::new(), findings: &mut Vec::new() };
        read(&mut members, &mut context)
    }

    fn read(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<Self> {
        let extension = RawExtension::read(raw)?;
        let Some(read) = Self::reader(canonical(&extension.name)) else {
            return Ok(Codec::Unknown(extension.keep(findings)));
        };
        extension.only_known_members()?;
        let mut members = extension.members()?;
        let (codec, missing) = Finding::member(findings, "configuration", |findings| {
            let mut context = Context { missing: Vec::new(), findings };
            read(&mut members, &mut context).map(|codec| (codec, context.missing))
        })?;
        if extension.bare {
            findings.push(Finding::in_document(
                Rule::BARE_STRING_CODEC,
                extension.describe(),
                "an object with a name, which every reader takes",
            ));
        }
        findings.extend(missing.into_iter().map(|member| {
            let found = format!("{} without \"{member}\"", codec.name());
            let allowed =
                "every member of the configuration, also those that only matter for encoding";
            Finding::in_document(Rule::MISSING_CODEC_MEMBER, found, allowed).under(".configuration")
        }));
        Ok(codec)
    }

    /// Appends the JSON text.
    fn write(&self, json: &mut String) {
        let configuration = match self.configuration() {
            Ok(configuration) => configuration,
            Err(extension) => return json.push_str(extension.json()),
        };
        json.push_str("{\"name\": ");
        write_string(self.name(), json);
        let without = json.len();
        json.push_str(", \"configuration\": {");
        let mut members = Members::new(json);
        configuration.write(&mut members);
        // zarr-python refuses codecs of numcodecs without a configuration, even an empty one.
        if members.is_empty() && !self.name().starts_with("numcodecs.") {
            json.truncate(without);
            json.push('}');
        } else {
            json.push_str("}}");
        }
    }
}
