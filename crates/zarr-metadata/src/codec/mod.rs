//! Codecs: one table of those that are known, each with its configuration typed.
//!
//! A codec is a row of [`codecs!`](self) and a configuration type in a file of its own, which
//! implements [`Configuration`]: how it is read, written and checked against its input.

mod blosc;
mod bytes;
mod chain;
mod configuration;
mod construct;
mod gzip;
mod packbits;
mod reshape;
mod sharding;
mod transpose;
mod zstd;

pub use blosc::{Blosc, BloscCompressor, BloscShuffle};
pub use bytes::{Bytes, Endian};
pub use gzip::Gzip;
pub use packbits::{Packbits, PaddingEncoding};
pub use reshape::{Reshape, ReshapeDim};
pub use sharding::{IndexLocation, Sharding};
pub use transpose::Transpose;
pub use zstd::Zstd;

pub(crate) use chain::{check_chain, read_codecs, write_codecs};

use configuration::{Configuration, Context, Members, NoConfiguration};
use packbits::NumcodecsPackbits;

use crate::error::{At, MetadataError};
use crate::extension::{Extension, RawExtension};
use crate::finding::Finding;
use crate::json::{Grammar, Object, Raw, utf8, write_string};

type Result<T> = std::result::Result<T, MetadataError>;

/// What a codec takes and what it gives.
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
        /// One codec of a chain, its configuration typed.
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

            /// What the codec takes and what it gives; `None` where it is not known.
            #[must_use]
            pub fn kind(&self) -> Option<CodecKind> {
                match self {
                    $(Codec::$variant { .. } => Some(CodecKind::$kind),)*
                    Codec::Unknown(_) => None,
                }
            }

            /// The configuration, or the codec as it was written where it is not known.
            fn configuration(&self) -> std::result::Result<&dyn Configuration, &Extension> {
                Ok(match self {
                    $(Codec::$variant $((codecs!(@first held, $held)))? => {
                        $(codecs!(@first held, $held))? $(&$unit)?
                    })*
                    Codec::Unknown(extension) => return Err(extension),
                })
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
    /// `numcodecs.packbits`: bool elements as bits, most significant first (SD-11).
    NumcodecsPackbits: NumcodecsPackbits = "numcodecs.packbits", ArrayToArray;
    /// `packbits`: some bits of each element, without gaps.
    Packbits(Packbits) = "packbits", ArrayToBytes;
    /// `bytes`: the elements in a byte order.
    Bytes(Bytes) = "bytes", ArrayToBytes;
    /// `sharding_indexed`: a chunk made of smaller ones.
    ShardingIndexed(Box<Sharding>) = "sharding_indexed", ArrayToBytes;
    /// `gzip`.
    Gzip(Gzip) = "gzip", BytesToBytes;
    /// `zstd`.
    Zstd(Zstd) = "zstd", BytesToBytes;
    /// `blosc`.
    Blosc(Blosc) = "blosc", BytesToBytes;
    /// `crc32c`: a checksum after the bytes.
    Crc32c: NoConfiguration = "crc32c", BytesToBytes;
}

impl Codec {
    /// Reads one codec.
    ///
    /// # Errors
    /// Where the configuration of a known codec is wrong.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::read(Raw::parse(utf8(json)?, Grammar::Json)?, &mut Vec::new())
    }

    /// Reads an array of codecs.
    ///
    /// # Errors
    /// As for [`Codec::from_json`], and where the codecs are in no valid order (SD-31).
    pub fn list_from_json(json: &[u8]) -> Result<Vec<Self>> {
        let codecs = read_codecs(Raw::parse(utf8(json)?, Grammar::Json)?, &mut Vec::new())?;
        chain::check_order(&codecs)?;
        Ok(codecs)
    }

    /// The JSON text in canonical form: an object, its configuration complete but for members
    /// whose absence says the same. An unknown codec stays as it was written.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        self.write(&mut json);
        json
    }

    fn read(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<Self> {
        let extension = RawExtension::read(raw)?;
        let Some(read) = Self::reader(&extension.name) else {
            return Ok(Codec::Unknown(extension.keep()));
        };
        extension.only_known_members()?;
        let mut members = extension.members()?;
        let (codec, missing) = Finding::scope(
            findings,
            || ".configuration".to_owned(),
            |findings| {
                let mut context = Context { missing: Vec::new(), findings };
                read(&mut members, &mut context).map(|codec| (codec, context.missing))
            },
        )
        .member("configuration")?;
        if extension.bare {
            findings.push(Finding::new(
                "bare-string-codec",
                extension.describe(),
                "an object with a name, which every reader takes",
            ));
        }
        findings.extend(missing.into_iter().map(|member| {
            let found = format!("{} without \"{member}\"", codec.name());
            let allowed =
                "every member of the configuration, also those that only matter for encoding";
            Finding::new("missing-codec-member", found, allowed).under(".configuration")
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
        if members.is_empty() {
            json.truncate(without);
            json.push('}');
        } else {
            json.push_str("}}");
        }
    }
}
