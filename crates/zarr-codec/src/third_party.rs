//! Third-party codecs: two traits, and the names under which documents have them.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use zarr_metadata::{Codec, DataType, Extension};

/// The error of a third-party codec; its message becomes part of the chunk's error.
pub type CodecError = Box<dyn Error + Send + Sync>;

/// A third-party bytes-to-bytes codec.
///
/// The function registered with [`Codecs::with_bytes_codec`] makes one for each place in a document
/// that names it. Several threads may call it at once.
pub trait BytesCodec: Send + Sync {
    /// Encodes all bytes.
    ///
    /// # Errors
    /// If they cannot be encoded.
    fn encode(&self, decoded: &[u8]) -> Result<Vec<u8>, CodecError>;

    /// Decodes all bytes. If the output has a length that `length` does not allow, the chunk is an
    /// error, even if the codec returned `Ok`. A codec that stops at that length needs no more
    /// memory for damaged chunks.
    ///
    /// # Errors
    /// If they are not output of [`encode`](BytesCodec::encode).
    fn decode(&self, encoded: &[u8], length: DecodedLength) -> Result<Vec<u8>, CodecError>;

    /// The encoded length, if the decoded one determines it. Only such codecs may be among the
    /// `index_codecs` of a shard.
    fn encoded_len(&self, decoded: u64) -> Option<u64> {
        let _unused = decoded;
        None
    }
}

/// The number of bytes to which a chunk may decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodedLength {
    /// This many.
    Exactly(u64),
    /// At most this many.
    AtMost(u64),
}

/// A third-party array-to-bytes or array-to-array codec, which gets one chunk at a time.
///
/// The function registered with [`Codecs::with_array_codec`] makes one for each place in a document
/// that names it; it gets the data type of the codec's input. Elements are in C order, in their
/// in-memory form: little-endian, with components of less than a byte in one byte each.
///
/// Any other codecs may be around it and after it. Each chunk is encoded and decoded as a whole.
pub trait ArrayCodec: Send + Sync {
    /// The kind of its output.
    fn output(&self) -> ArrayOutput;

    /// Encodes the elements of an array of this shape: to bytes, or to as many elements of the other
    /// data type.
    ///
    /// # Errors
    /// If they cannot be encoded.
    fn encode(&self, elements: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError>;

    /// Decodes the elements of `encoded`. If their number does not match the shape, the chunk is an
    /// error, even if the codec returned `Ok`.
    ///
    /// # Errors
    /// If it is not output of [`encode`](ArrayCodec::encode).
    fn decode(&self, encoded: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError>;
}

/// The kind of output of an [`ArrayCodec`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayOutput {
    /// Bytes: it is an array-to-bytes codec.
    Bytes,
    /// An array of the same shape with this data type: it is an array-to-array codec.
    Elements(DataType),
}

/// Makes a bytes-to-bytes codec from a configuration.
type MakeBytesCodec = dyn Fn(&Extension) -> Result<Box<dyn BytesCodec>, CodecError> + Send + Sync;

/// Makes a codec of arrays from a configuration, for a data type.
type MakeArrayCodec =
    dyn Fn(&Extension, &DataType) -> Result<Box<dyn ArrayCodec>, CodecError> + Send + Sync;

/// The function registered under a name.
#[derive(Clone)]
pub(crate) enum Make {
    Bytes(Arc<MakeBytesCodec>),
    Array(Arc<MakeArrayCodec>),
}

/// Third-party codecs, by their names in documents.
///
/// Pass them with [`Options::codecs`](crate::Options::codecs) when a chain is bound or an array is
/// opened: there is no global state. A clone is another handle of the same list. Names of codecs that
/// this library has are never looked up.
///
/// # Examples
/// ```
/// use zarr_codec::{AxisEdges, BytesCodec, Chain, CodecError, Codecs, DecodedLength, Options};
/// use zarr_metadata::{Codec, DataType};
///
/// /// Every byte with some of its bits flipped.
/// struct Flip(u8);
///
/// impl BytesCodec for Flip {
///     fn encode(&self, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
///         Ok(decoded.iter().map(|byte| byte ^ self.0).collect())
///     }
///
///     fn decode(&self, encoded: &[u8], _: DecodedLength) -> Result<Vec<u8>, CodecError> {
///         self.encode(encoded)
///     }
/// }
///
/// let codecs = Codecs::new().with_bytes_codec("example.flip", |codec| {
///     // The configuration is JSON text, for any parser.
///     match codec.configuration() {
///         Some(r#"{"bits": 255}"#) => Ok(Flip(255)),
///         other => Err(format!("found {other:?}, expected {{\"bits\": 255}}").into()),
///     }
/// });
///
/// let json = br#"[{"name": "bytes"}, {"name": "example.flip", "configuration": {"bits": 255}}]"#;
/// let list = Codec::list_from_json(json)?;
/// let edges = [AxisEdges::one(3)];
/// assert!(Chain::bind(&list, &DataType::Uint8, &edges).is_err());
/// let options = Options::new().codecs(codecs);
/// let chain = Chain::bind_with(&list, &DataType::Uint8, &edges, options)?;
/// assert!(chain.check_writable().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Codecs {
    by_name: Arc<BTreeMap<String, Make>>,
}

impl Codecs {
    /// No codecs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a bytes-to-bytes codec with this name, replacing any other of that name. `make` gets the
    /// codec as in the document.
    pub fn with_bytes_codec<C: BytesCodec + 'static>(
        self,
        name: impl Into<String>,
        make: impl Fn(&Extension) -> Result<C, CodecError> + Send + Sync + 'static,
    ) -> Self {
        let make = move |codec: &Extension| -> Result<Box<dyn BytesCodec>, CodecError> {
            Ok(Box::new(make(codec)?))
        };
        self.with(name.into(), Make::Bytes(Arc::new(make)))
    }

    /// Adds an array-to-bytes or array-to-array codec with this name, replacing any other of that
    /// name. `make` gets the codec as in the document, and the data type that reaches it.
    pub fn with_array_codec<C: ArrayCodec + 'static>(
        self,
        name: impl Into<String>,
        make: impl Fn(&Extension, &DataType) -> Result<C, CodecError> + Send + Sync + 'static,
    ) -> Self {
        let make = move |codec: &Extension,
                         data_type: &DataType|
              -> Result<Box<dyn ArrayCodec>, CodecError> {
            Ok(Box::new(make(codec, data_type)?))
        };
        self.with(name.into(), Make::Array(Arc::new(make)))
    }

    fn with(mut self, name: String, make: Make) -> Self {
        Arc::make_mut(&mut self.by_name).insert(name, make);
        self
    }

    /// The names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Whether there are no codecs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Make> {
        self.by_name.get(name)
    }
}

impl fmt::Debug for Codecs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Whether an unknown codec may be skipped, and was not passed by the caller.
pub(crate) fn is_skipped(codec: &Codec, given: &Codecs) -> bool {
    matches!(codec, Codec::Unknown(unknown)
        if !unknown.must_understand() && given.get(unknown.name()).is_none())
}

/// Handles of the same list are equal, and so are empty lists: functions cannot be compared.
impl PartialEq for Codecs {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.by_name, &other.by_name) || (self.is_empty() && other.is_empty())
    }
}

impl Eq for Codecs {}

/// A shared codec.
impl<C: BytesCodec + ?Sized> BytesCodec for Arc<C> {
    fn encode(&self, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        (**self).encode(decoded)
    }

    fn decode(&self, encoded: &[u8], length: DecodedLength) -> Result<Vec<u8>, CodecError> {
        (**self).decode(encoded, length)
    }

    fn encoded_len(&self, decoded: u64) -> Option<u64> {
        (**self).encoded_len(decoded)
    }
}

/// A shared codec.
impl<C: ArrayCodec + ?Sized> ArrayCodec for Arc<C> {
    fn output(&self) -> ArrayOutput {
        (**self).output()
    }

    fn encode(&self, elements: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError> {
        (**self).encode(elements, shape)
    }

    fn decode(&self, encoded: &[u8], shape: &[usize]) -> Result<Vec<u8>, CodecError> {
        (**self).decode(encoded, shape)
    }
}
