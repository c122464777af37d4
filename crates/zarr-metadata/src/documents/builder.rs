//! Documents of new arrays, made without JSON.

use crate::chunk_grid::ChunkGrid;
use crate::chunk_grid::edges::ChunkEdges;
use crate::chunk_key::ChunkKeyEncoding;
use crate::codec::Codec;
use crate::data_type::DataType;
use crate::documents::array::ArrayMetadata;
use crate::documents::default_chunks::default_chunk_shape;
use crate::error::rule::Rule;
use crate::error::{At as _, MetadataError};
use crate::fill_value::FillValue;
use crate::json::write_string;

/// The `zstd` level if no codecs are chosen.
const DEFAULT_ZSTD_LEVEL: i32 = 3;

/// Builds the document of a new array, part by part.
///
/// Only the shape and the data type are needed. The defaults of the others:
///
/// | part | default |
/// | --- | --- |
/// | chunks | regular, of 1 to 4 MiB unless the array is smaller: the array, its longest edge halved until a chunk has at most 4 MiB, elements of variable length counted as 16 bytes. Axes of length 0, which are meant to grow, share what the others leave of 4 MiB; shards consist of whole inner chunks |
/// | codecs | `bytes`, little-endian where bytes have an order, or `vlen-utf8` or `vlen-bytes` for `string` and `bytes`; then `zstd` at level 3, with checksums |
/// | fill value | all bits zero; NaT for times and durations; NaN for `float8_e8m0fnu` and its complex numbers, which have no zero; for `string` and `bytes` the empty one |
/// | chunk keys | `c/0/0` |
/// | dimension names, attributes | none |
///
/// Nothing is checked before [`build`](Self::build), so that calls can be chained.
///
/// # Examples
/// Days in months, 12 bits per temperature:
/// ```
/// use zarr_metadata::{ArrayBuilder, ChunkGrid, Codec, DataType};
///
/// let array = ArrayBuilder::new([90, 2], DataType::Int16)
///     .chunks([[31, 28, 31].into(), 2.into()])
///     .codecs([Codec::transpose([1, 0]), Codec::packbits(0..=11), Codec::zstd(3)])
///     .fill_value(-2048)
///     .dimension_names(["day", "range"])
///     .attribute("units", "\"Celsius\"")
///     .build()?;
/// assert_eq!(array.chunk_grid().to_json(), concat!(
///     r#"{"name": "rectilinear", "configuration": "#,
///     r#"{"kind": "inline", "chunk_shapes": [[31, 28, 31], 2]}}"#
/// ));
/// assert_eq!(array.fill_value().bytes(), Some(&(-2048_i16).to_le_bytes()[..]));
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
/// Everything chosen by default:
/// ```
/// use zarr_metadata::{ArrayBuilder, ChunkGrid, DataType};
///
/// let array = ArrayBuilder::new([10_000, 10_000], DataType::Float32).build()?;
/// let ChunkGrid::Regular { chunk_shape } = array.chunk_grid() else { panic!("regular") };
/// assert_eq!(chunk_shape, &[1250, 625]);
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// Zarr v3 core 3.1, "Array metadata".
#[derive(Debug, Clone)]
#[must_use]
pub struct ArrayBuilder {
    shape: Vec<u64>,
    data_type: DataType,
    chunk_grid: Option<ChunkGrid>,
    codecs: Option<Vec<Codec>>,
    fill_value: Option<Fill>,
    chunk_key_encoding: ChunkKeyEncoding,
    dimension_names: Option<Vec<Option<String>>>,
    attributes: Option<String>,
    changed_attributes: Vec<(String, String)>,
}

impl ArrayBuilder {
    /// Begins an array with this length along each dimension.
    pub fn new(shape: impl Into<Vec<u64>>, data_type: DataType) -> Self {
        Self {
            shape: shape.into(),
            data_type,
            chunk_grid: None,
            codecs: None,
            fill_value: None,
            chunk_key_encoding: ChunkKeyEncoding::default(),
            dimension_names: None,
            attributes: None,
            changed_attributes: Vec::new(),
        }
    }

    /// Chunks of one shape: a regular grid.
    pub fn chunk_shape(self, chunk_shape: impl Into<Vec<u64>>) -> Self {
        self.chunk_grid(ChunkGrid::Regular { chunk_shape: chunk_shape.into() })
    }

    /// The chunks of each axis: a rectilinear grid.
    ///
    /// An axis is made from a number (equal chunks), a list of lengths, or
    /// [runs](ChunkEdges::from_runs).
    pub fn chunks(self, axes: impl IntoIterator<Item = ChunkEdges>) -> Self {
        self.chunk_grid(ChunkGrid::Rectilinear { chunk_shapes: axes.into_iter().collect() })
    }

    /// Any chunk grid.
    pub fn chunk_grid(mut self, grid: ChunkGrid) -> Self {
        self.chunk_grid = Some(grid);
        self
    }

    /// The codecs of each chunk, in the order of encoding: array-to-array codecs, exactly one
    /// array-to-bytes codec, bytes-to-bytes codecs.
    pub fn codecs(mut self, codecs: impl IntoIterator<Item = Codec>) -> Self {
        self.codecs = Some(codecs.into_iter().collect());
        self
    }

    /// The value of elements that were never written.
    pub fn fill_value(mut self, value: impl Into<Fill>) -> Self {
        self.fill_value = Some(value.into());
        self
    }

    /// The encoding of chunk keys in the store.
    pub fn chunk_key_encoding(mut self, encoding: ChunkKeyEncoding) -> Self {
        self.chunk_key_encoding = encoding;
        self
    }

    /// A name for each dimension.
    pub fn dimension_names(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.dimension_names_or_none(names.into_iter().map(Some))
    }

    /// A name or `None` for each dimension.
    pub fn dimension_names_or_none(
        mut self,
        names: impl IntoIterator<Item = Option<impl Into<String>>>,
    ) -> Self {
        self.dimension_names = Some(names.into_iter().map(|name| name.map(Into::into)).collect());
        self
    }

    /// All attributes, as the JSON text of an object; [`attribute`](Self::attribute) adds to them.
    pub fn attributes(mut self, json: impl Into<String>) -> Self {
        self.attributes = Some(json.into());
        self
    }

    /// One attribute, its value as JSON text.
    pub fn attribute(mut self, name: impl Into<String>, json: impl Into<String>) -> Self {
        self.changed_attributes.push((name.into(), json.into()));
        self
    }

    /// The document, checked.
    ///
    /// # Errors
    /// If a part is wrong or does not fit another; the error has its path in the document. See
    /// [`ArrayMetadata::new`].
    pub fn build(self) -> Result<ArrayMetadata, MetadataError> {
        let Self { shape, data_type, chunk_grid, codecs, fill_value, .. } = &self;
        let default = || vec![Codec::array_to_bytes(data_type), Codec::zstd(DEFAULT_ZSTD_LEVEL)];
        let codecs = codecs.clone().unwrap_or_else(default);
        let grid = match chunk_grid {
            Some(grid) => grid.clone(),
            None => {
                ChunkGrid::Regular { chunk_shape: default_chunk_shape(shape, data_type, &codecs) }
            }
        };
        let fill = match fill_value {
            Some(Fill(FillSource::Value(value))) => value.clone(),
            Some(Fill(FillSource::Json(json))) => FillValue::parse(data_type, json)
                .breaks(Rule::FILL_VALUE_KIND)
                .member("fill_value")?,
            None => FillValue::default_for(data_type).member("fill_value")?,
        };
        let mut metadata = ArrayMetadata::new(shape, data_type, &grid, &fill, &codecs)?;
        if self.chunk_key_encoding != ChunkKeyEncoding::default() {
            metadata = metadata.with_chunk_key_encoding(&self.chunk_key_encoding)?;
        }
        if let Some(names) = &self.dimension_names {
            let names: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
            metadata = metadata.with_dimension_names(&names)?;
        }
        if let Some(json) = &self.attributes {
            metadata = metadata.with_attributes(json)?;
        }
        let changes = &self.changed_attributes;
        let changes: Vec<_> =
            changes.iter().map(|(name, json)| (name.as_str(), Some(json.as_str()))).collect();
        match changes.is_empty() {
            true => Ok(metadata),
            false => metadata.with_changed_attributes(&changes),
        }
    }
}

/// The argument of [`ArrayBuilder::fill_value`]: a bool, an integer, a float, a string or a
/// [`FillValue`].
///
/// It must be a value of the array's data type: not 1.5 for an integer type, nor -1 for an
/// unsigned one. Floats are rounded to the data type (SD-45). Complex numbers, raw bits, `bytes` and
/// NaN payloads are given as [`FillValue`].
///
/// # Examples
/// ```
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let builder = ArrayBuilder::new([10], DataType::Float32);
/// assert!(builder.clone().fill_value(f32::NAN).build().is_ok());
/// assert!(builder.fill_value("text").build().is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Fill(FillSource);

/// A fill value before it meets the data type.
#[derive(Debug, Clone)]
enum FillSource {
    Json(String),
    Value(FillValue),
}

impl From<FillValue> for Fill {
    fn from(value: FillValue) -> Self {
        Self(FillSource::Value(value))
    }
}

impl From<&str> for Fill {
    fn from(value: &str) -> Self {
        let mut json = String::new();
        write_string(value, &mut json);
        Self(FillSource::Json(json))
    }
}

macro_rules! shown_as_json {
    ($($type:ident)*) => {$(
        impl From<$type> for Fill {
            fn from(value: $type) -> Self {
                Self(FillSource::Json(value.to_string()))
            }
        }
    )*};
}

shown_as_json!(bool i8 u8 i16 u16 i32 u32 i64 u64);

macro_rules! float {
    ($($type:ident)*) => {$(
        impl From<$type> for Fill {
            fn from(value: $type) -> Self {
                Self(FillSource::Json(if value.is_nan() {
                    "\"NaN\"".to_owned()
                } else if value.is_infinite() {
                    format!("\"{}Infinity\"", if value < 0.0 { "-" } else { "" })
                } else {
                    // The shortest digits that give the value, with an exponent: no integer.
                    format!("{value:e}")
                }))
            }
        }
    )*};
}

float!(f32 f64);
