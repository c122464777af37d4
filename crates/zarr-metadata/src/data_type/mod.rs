//! Data types: their names, and how an element lies in memory.

mod element_kind;
mod element_layout;
mod element_length;
mod element_part;
pub(crate) mod numpy;
mod optional;
mod record;
mod time;

use std::borrow::Cow;
use std::fmt;

pub(crate) use element_kind::Kind;
pub use element_layout::ElementLayout;
pub(crate) use element_layout::{Component, FLOAT32, FLOAT64};
pub use element_length::{ByteLength, RawBits, Utf32Length};
pub use element_part::ElementPart;
pub use optional::Optional;
pub use record::{Field, Struct};
pub use time::{TimeStep, TimeUnit};

use self::element_layout::{int, small};
use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::extension::{Extension, RawExtension};
use crate::float::{FloatFormat, FloatSpecials};
use crate::json::{Grammar, Outline, Raw, utf8, write_string};

const FLOAT4_E2M1FN: Component = small(2, 1, 1, FloatSpecials::Finite);
const FLOAT6_E2M3FN: Component = small(2, 3, 1, FloatSpecials::Finite);
const FLOAT6_E3M2FN: Component = small(3, 2, 3, FloatSpecials::Finite);
const FLOAT8_E3M4: Component = small(3, 4, 3, FloatSpecials::Ieee);
const FLOAT8_E4M3: Component = small(4, 3, 7, FloatSpecials::Ieee);
const FLOAT8_E4M3B11FNUZ: Component = small(4, 3, 11, FloatSpecials::NegativeZeroNan);
const FLOAT8_E4M3FN: Component = small(4, 3, 7, FloatSpecials::AllOnesNan);
const FLOAT8_E4M3FNUZ: Component = small(4, 3, 8, FloatSpecials::NegativeZeroNan);
const FLOAT8_E5M2: Component = small(5, 2, 15, FloatSpecials::Ieee);
const FLOAT8_E5M2FNUZ: Component = small(5, 2, 16, FloatSpecials::NegativeZeroNan);
const FLOAT8_E8M0FNU: Component = small(8, 0, 127, FloatSpecials::Power);
const FLOAT16: Component = small(5, 10, 15, FloatSpecials::Ieee);
const BFLOAT16: Component = small(8, 7, 127, FloatSpecials::Ieee);

/// The data types of fixed size, from one table: variant, name, component, components.
macro_rules! data_types {
    ($($variant:ident $name:literal $component:expr, $components:literal;)*) => {
        /// The data type of the elements.
        ///
        /// # Examples
        /// ```
        /// use zarr_metadata::DataType;
        ///
        /// let int4: DataType = "int4".parse()?;
        /// assert_eq!((int4.size(), int4.is_sub_byte()), (Some(1), true));
        /// let layout = DataType::Complex128.element_layout().expect("a type of fixed size");
        /// assert_eq!((layout.size(), layout.swap_unit), (16, 8));
        /// // The elements of strings have lengths of their own.
        /// assert!(DataType::String.is_variable_length() && DataType::String.size().is_none());
        /// # Ok::<_, zarr_metadata::MetadataError>(())
        /// ```
        ///
        /// # Spec
        /// Zarr v3 core 3.1, "Data types"; zarr-extensions `data-types/*`.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum DataType {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
            /// `r<N>`: raw bits, never byte-swapped (SD-54).
            RawBits(RawBits),
            /// `numpy.datetime64`: a time, counted from 1970 on in UTC.
            NumpyDatetime64(TimeStep),
            /// `numpy.timedelta64`: a duration.
            NumpyTimedelta64(TimeStep),
            /// `fixed_length_utf32`: strings of at most this many code points, padded with U+0000.
            FixedLengthUtf32(Utf32Length),
            /// `null_terminated_bytes`: at most this many bytes, padded with 0.
            NullTerminatedBytes(ByteLength),
            /// `raw_bytes`: exactly this many bytes.
            RawBytes(ByteLength),
            /// `struct`: a record of fields.
            Struct(Struct),
            /// `string`: UTF-8 text of any length.
            String,
            /// `bytes`, or `variable_length_bytes` as zarr-python spells it: bytes, any number of
            /// them.
            Bytes,
            /// `zarrs.optional`: elements that may be missing, of another type.
            ZarrsOptional(Optional),
            /// An unknown type, or a record with a field of an unknown type. It is kept, but its
            /// values are not interpreted.
            Opaque(Extension),
        }

        impl DataType {
            /// Every type of fixed size that has only a name, without raw bits.
            pub const FIXED: &[DataType] = &[$(DataType::$variant),*];

            fn simple(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(DataType::$variant),)*
                    "string" => Some(DataType::String),
                    "bytes" | "variable_length_bytes" => Some(DataType::Bytes),
                    _ => None,
                }
            }

            /// The kind of an element; `None` for types that are not interpreted.
            pub(crate) fn kind(&self) -> Option<Kind<'_>> {
                Some(match self {
                    $(DataType::$variant => {
                        Kind::Numbers { component: $component, components: $components }
                    })*
                    DataType::RawBits(raw) => Kind::RawBits { bytes: raw.bytes() },
                    DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_) => Kind::Time,
                    DataType::FixedLengthUtf32(length) => {
                        Kind::Text { code_points: length.code_points() }
                    }
                    DataType::NullTerminatedBytes(length) => {
                        Kind::Bytes { bytes: length.bytes(), null_terminated: true }
                    }
                    DataType::RawBytes(length) => {
                        Kind::Bytes { bytes: length.bytes(), null_terminated: false }
                    }
                    DataType::Struct(fields) => Kind::Struct(fields),
                    DataType::String
                    | DataType::Bytes
                    | DataType::ZarrsOptional(_)
                    | DataType::Opaque(_) => return None,
                })
            }

            /// The name, as the specification spells it. It is borrowed, except the name of raw
            /// bits.
            #[must_use]
            pub fn name(&self) -> Cow<'_, str> {
                Cow::Borrowed(match self {
                    $(DataType::$variant => $name,)*
                    DataType::RawBits(raw) => {
                        return Cow::Owned(format!("r{}", raw.bytes().saturating_mul(8)));
                    }
                    DataType::NumpyDatetime64(_) => DATETIME64,
                    DataType::NumpyTimedelta64(_) => TIMEDELTA64,
                    DataType::FixedLengthUtf32(_) => UTF32,
                    DataType::NullTerminatedBytes(_) => NULL_TERMINATED_BYTES,
                    DataType::RawBytes(_) => RAW_BYTES,
                    DataType::Struct(_) => STRUCT,
                    DataType::String => "string",
                    DataType::Bytes => "bytes",
                    DataType::ZarrsOptional(_) => ZARRS_OPTIONAL,
                    DataType::Opaque(extension) => extension.name(),
                })
            }
        }

        const NAMES: &[&str] = &[
            $($name,)* DATETIME64, TIMEDELTA64, UTF32, NULL_TERMINATED_BYTES, RAW_BYTES, STRUCT,
            "string", "bytes", ZARRS_OPTIONAL,
        ];
    };
}

data_types! {
    Bool "bool" Component::Bool, 1;
    Int2 "int2" int(2, true), 1;
    Int4 "int4" int(4, true), 1;
    Int8 "int8" int(8, true), 1;
    Int16 "int16" int(16, true), 1;
    Int32 "int32" int(32, true), 1;
    Int64 "int64" int(64, true), 1;
    Uint2 "uint2" int(2, false), 1;
    Uint4 "uint4" int(4, false), 1;
    Uint8 "uint8" int(8, false), 1;
    Uint16 "uint16" int(16, false), 1;
    Uint32 "uint32" int(32, false), 1;
    Uint64 "uint64" int(64, false), 1;
    Float4E2m1fn "float4_e2m1fn" FLOAT4_E2M1FN, 1;
    Float6E2m3fn "float6_e2m3fn" FLOAT6_E2M3FN, 1;
    Float6E3m2fn "float6_e3m2fn" FLOAT6_E3M2FN, 1;
    Float8E3m4 "float8_e3m4" FLOAT8_E3M4, 1;
    Float8E4m3 "float8_e4m3" FLOAT8_E4M3, 1;
    Float8E4m3b11fnuz "float8_e4m3b11fnuz" FLOAT8_E4M3B11FNUZ, 1;
    Float8E4m3fn "float8_e4m3fn" FLOAT8_E4M3FN, 1;
    Float8E4m3fnuz "float8_e4m3fnuz" FLOAT8_E4M3FNUZ, 1;
    Float8E5m2 "float8_e5m2" FLOAT8_E5M2, 1;
    Float8E5m2fnuz "float8_e5m2fnuz" FLOAT8_E5M2FNUZ, 1;
    Float8E8m0fnu "float8_e8m0fnu" FLOAT8_E8M0FNU, 1;
    Float16 "float16" FLOAT16, 1;
    Bfloat16 "bfloat16" BFLOAT16, 1;
    Float32 "float32" Component::Float32, 1;
    Float64 "float64" Component::Float64, 1;
    ComplexFloat4E2m1fn "complex_float4_e2m1fn" FLOAT4_E2M1FN, 2;
    ComplexFloat6E2m3fn "complex_float6_e2m3fn" FLOAT6_E2M3FN, 2;
    ComplexFloat6E3m2fn "complex_float6_e3m2fn" FLOAT6_E3M2FN, 2;
    ComplexFloat8E3m4 "complex_float8_e3m4" FLOAT8_E3M4, 2;
    ComplexFloat8E4m3 "complex_float8_e4m3" FLOAT8_E4M3, 2;
    ComplexFloat8E4m3b11fnuz "complex_float8_e4m3b11fnuz" FLOAT8_E4M3B11FNUZ, 2;
    ComplexFloat8E4m3fn "complex_float8_e4m3fn" FLOAT8_E4M3FN, 2;
    ComplexFloat8E4m3fnuz "complex_float8_e4m3fnuz" FLOAT8_E4M3FNUZ, 2;
    ComplexFloat8E5m2 "complex_float8_e5m2" FLOAT8_E5M2, 2;
    ComplexFloat8E5m2fnuz "complex_float8_e5m2fnuz" FLOAT8_E5M2FNUZ, 2;
    ComplexFloat8E8m0fnu "complex_float8_e8m0fnu" FLOAT8_E8M0FNU, 2;
    ComplexFloat16 "complex_float16" FLOAT16, 2;
    ComplexBfloat16 "complex_bfloat16" BFLOAT16, 2;
    ComplexFloat32 "complex_float32" Component::Float32, 2;
    ComplexFloat64 "complex_float64" Component::Float64, 2;
    Complex64 "complex64" Component::Float32, 2;
    Complex128 "complex128" Component::Float64, 2;
}

const ALLOWED: &str = "bool, int2 to int64, uint2 to uint64, float4_e2m1fn to float64, bfloat16, \
    complex of these, r8 and so on, string, bytes, or a type of times or records";

const DATETIME64: &str = "numpy.datetime64";
const TIMEDELTA64: &str = "numpy.timedelta64";
const UTF32: &str = "fixed_length_utf32";
const NULL_TERMINATED_BYTES: &str = "null_terminated_bytes";
const RAW_BYTES: &str = "raw_bytes";
const STRUCT: &str = "struct";
const ZARRS_OPTIONAL: &str = "zarrs.optional";

impl DataType {
    /// The type of this name without configuration, such as `"int16"` or `"r24"`.
    ///
    /// # Errors
    /// If the name is not known.
    pub fn from_name(name: &str) -> Result<Self> {
        let mut json = String::new();
        write_string(name, &mut json);
        let outline = Outline::read(&json, Grammar::Json)?;
        let mut findings = Vec::new();
        let data_type = Self::read(outline.root(), &mut findings)?;
        match findings.is_empty() {
            true => Ok(data_type),
            false => Err(unknown(&RawExtension::read(outline.root())?)),
        }
    }

    /// Reads `"name"`, or the object that carries a configuration.
    ///
    /// An unknown name gives [`DataType::Opaque`]: the document can be read, but not its elements.
    /// So does a record with a field of an unknown type.
    ///
    /// # Errors
    /// If an unknown type has `"must_understand": false` (SD-42), or if a known type has a
    /// configuration that it must not have, or lacks a required one.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::read(Outline::read(utf8(json)?, Grammar::Json)?.root(), &mut Vec::new())
    }

    pub(crate) fn read(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<Self> {
        let extension = RawExtension::read(raw)?;
        let name = extension.name.as_ref();
        let configured = match name {
            DATETIME64 => TimeStep::read(&extension).map(DataType::NumpyDatetime64),
            TIMEDELTA64 => TimeStep::read(&extension).map(DataType::NumpyTimedelta64),
            UTF32 => Utf32Length::read(&extension).map(DataType::FixedLengthUtf32),
            NULL_TERMINATED_BYTES => {
                ByteLength::read(&extension).map(DataType::NullTerminatedBytes)
            }
            RAW_BYTES => ByteLength::read(&extension).map(DataType::RawBytes),
            STRUCT | record::LEGACY => Struct::read(&extension, findings).map(|fields| {
                fields.map_or_else(|| DataType::Opaque(extension.keep(findings)), DataType::Struct)
            }),
            ZARRS_OPTIONAL | optional::EARLIER => {
                Optional::read(&extension, findings).map(|optional| {
                    let unknown = || DataType::Opaque(extension.keep(findings));
                    optional.map_or_else(unknown, DataType::ZarrsOptional)
                })
            }
            _ => return Self::read_plain(&extension, findings),
        };
        extension.only_known_members()?;
        extension.report_optional(findings);
        configured
    }

    /// A type without a configuration, or an unknown type.
    fn read_plain(extension: &RawExtension<'_>, findings: &mut Vec<Finding>) -> Result<Self> {
        let name = extension.name.as_ref();
        let known = if let Some(simple) = Self::simple(name) {
            simple
        } else if let Some(raw_bits) = RawBits::from_name(name) {
            let allowed = "r and a positive multiple of 8, such as r16";
            let error =
                || MetadataError::unexpected(extension.describe(), allowed).breaks(Rule::RAW_BITS);
            DataType::RawBits(raw_bits?.ok_or_else(error)?)
        } else {
            if !extension.must_understand {
                return Err(unknown(extension));
            }
            let finding =
                Finding::in_document(Rule::UNKNOWN_DATA_TYPE, extension.describe(), ALLOWED);
            findings.push(finding);
            return Ok(DataType::Opaque(extension.keep(findings)));
        };
        extension.only_known_members()?;
        extension.report_optional(findings);
        extension.members()?.check_known(&[]).member("configuration")?;
        Ok(known)
    }

    /// Whether the type is unknown, or a record with a field of an unknown type.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, DataType::Opaque(_))
    }

    /// Whether each element has its own length: `string`, `bytes` and optional elements.
    #[must_use]
    pub fn is_variable_length(&self) -> bool {
        matches!(self, DataType::String | DataType::Bytes | DataType::ZarrsOptional(_))
    }

    /// The layout of an element in memory, if all its components are of one kind.
    ///
    /// `None` for records (each of their [`parts`](Self::parts) has a layout), for types of
    /// variable length and for uninterpreted types.
    #[must_use]
    pub fn element_layout(&self) -> Option<ElementLayout> {
        self.kind()?.layout()
    }

    /// Bytes of an element in memory; `None` for types of variable length and for uninterpreted
    /// types.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        match self {
            DataType::Struct(record) => Some(record.size()),
            _ => self.element_layout().map(|layout| layout.size()),
        }
    }

    /// Whether elements or their fields have components of several bytes, so that byte order
    /// matters.
    #[must_use]
    pub fn has_byte_order(&self) -> bool {
        match self {
            DataType::Struct(record) => {
                record.fields().iter().any(|field| field.data_type().has_byte_order())
            }
            _ => self.element_layout().is_some_and(|layout| layout.swap_unit > 1),
        }
    }

    /// Changes the byte order of elements in place: reverses the bytes of each component that has an
    /// order. Each field of a record is reversed separately.
    ///
    /// ```
    /// use zarr_metadata::{DataType, Struct};
    ///
    /// let record = Struct::new([("flag", DataType::Uint8), ("value", DataType::Uint16)])?;
    /// let mut elements = [1, 2, 3, 4, 5, 6];
    /// DataType::Struct(record).swap_byte_order(&mut elements);
    /// assert_eq!(elements, [1, 3, 2, 4, 6, 5]);
    /// # Ok::<_, zarr_metadata::MetadataError>(())
    /// ```
    pub fn swap_byte_order(&self, elements: &mut [u8]) {
        let swap = |bytes: &mut [u8], unit: usize| {
            if unit > 1 {
                bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
            }
        };
        if let Some(layout) = self.element_layout() {
            return swap(elements, layout.swap_unit);
        }
        let parts = self.parts();
        for element in elements.chunks_exact_mut(self.size().unwrap_or(1).max(1)) {
            for part in &parts {
                swap(part.of(element), part.layout.swap_unit);
            }
        }
    }

    /// Whether components are narrower than a byte; each takes one byte in memory. False for bool
    /// (SD-18), and for records, even if their fields are.
    #[must_use]
    pub fn is_sub_byte(&self) -> bool {
        self.component().is_some_and(Component::is_sub_byte)
    }

    /// The component of a number.
    pub(crate) fn component(&self) -> Option<Component> {
        match self.kind() {
            Some(Kind::Numbers { component, .. }) => Some(component),
            _ => None,
        }
    }

    /// Whether an element is a pair of components, real and imaginary.
    #[must_use]
    pub fn is_complex(&self) -> bool {
        matches!(self.kind(), Some(Kind::Numbers { components: 2, .. }))
    }

    /// Whether the type is floating point, real or complex.
    #[must_use]
    pub fn is_float(&self) -> bool {
        self.float_format().is_some()
    }

    /// The format of a float, or of each component of a complex number; `None` for other types.
    #[must_use]
    pub fn float_format(&self) -> Option<FloatFormat> {
        self.component()?.float_format()
    }

    /// Whether the `packbits` codec takes the type: bool, integers, floats and complex numbers
    /// (SD-50).
    #[must_use]
    pub fn is_packable(&self) -> bool {
        self.component().is_some()
    }

    /// The JSON text: a string if the type has no configuration.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut configuration = String::new();
        match self {
            DataType::Opaque(extension) => return extension.json().to_owned(),
            DataType::NumpyDatetime64(step) | DataType::NumpyTimedelta64(step) => {
                let (unit, scale) = (step.unit().name(), step.scale_factor());
                configuration = format!(r#"{{"unit": "{unit}", "scale_factor": {scale}}}"#);
            }
            DataType::FixedLengthUtf32(length) => {
                configuration = format!(r#"{{"length_bytes": {}}}"#, length.bytes());
            }
            DataType::NullTerminatedBytes(length) | DataType::RawBytes(length) => {
                configuration = format!(r#"{{"length_bytes": {}}}"#, length.bytes());
            }
            DataType::Struct(record) => record.write(&mut configuration),
            DataType::ZarrsOptional(optional) => optional.write(&mut configuration),
            _ => {}
        }
        let mut name = String::new();
        write_string(&self.name(), &mut name);
        match configuration.is_empty() {
            true => name,
            false => format!(r#"{{"name": {name}, "configuration": {configuration}}}"#),
        }
    }
}

/// The name, with what tells it from other types of this name: `numpy.datetime64[10us]`,
/// `fixed_length_utf32 (5 code points)`, `struct (x: int16, y: int16)`.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |count: usize| if count == 1 { "" } else { "s" };
        f.write_str(&self.name())?;
        match self {
            DataType::ZarrsOptional(optional) => write!(f, " of {}", optional.inner()),
            DataType::NumpyDatetime64(step) | DataType::NumpyTimedelta64(step) => {
                match step.scale_factor() {
                    1 => write!(f, "[{}]", step.unit().name()),
                    scale => write!(f, "[{scale}{}]", step.unit().name()),
                }
            }
            DataType::FixedLengthUtf32(length) => {
                let points = length.code_points();
                write!(f, " ({points} code point{})", s(points))
            }
            DataType::NullTerminatedBytes(length) | DataType::RawBytes(length) => {
                write!(f, " ({} byte{})", length.bytes(), s(length.bytes()))
            }
            DataType::Struct(record) => record.fmt_fields(f),
            _ => Ok(()),
        }
    }
}

impl std::str::FromStr for DataType {
    type Err = MetadataError;

    fn from_str(name: &str) -> Result<Self> {
        Self::from_name(name)
    }
}

/// Whether the text has the name that records had before `struct`.
pub(crate) fn is_legacy(raw: Raw<'_>) -> bool {
    RawExtension::read(raw).is_ok_and(|extension| extension.name == record::LEGACY)
}

fn unknown(extension: &RawExtension<'_>) -> MetadataError {
    let error = extension.unknown_name("data type", NAMES, ALLOWED);
    error.breaks(Rule::UNDERSTAND_DATA_TYPE)
}
