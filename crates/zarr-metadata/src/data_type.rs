//! Data types: their names, and how an element lies in memory.

use std::fmt;

use crate::error::{At, MetadataError};
use crate::extension::{Extension, RawExtension};
use crate::finding::Finding;
use crate::float::{FloatFormat, Specials};
use crate::json::{Grammar, Raw, write_string};
use crate::rule::Rule;

type Result<T> = std::result::Result<T, MetadataError>;

/// How one element of a data type of fixed size lies in memory, and what its bits are.
///
/// Components of less than a byte take one byte each (SD-18). Bytes are little-endian, the real
/// part of a complex number first (SD-51).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Layout {
    /// Bits of one component: the `N` of the `packbits` document.
    pub component_bits: u32,
    /// Bytes of one component in memory.
    pub component_size: usize,
    /// 2 for complex types, 1 for all others.
    pub components: usize,
    /// Two's complement: narrower values are sign-extended.
    pub signed: bool,
    /// Bytes that a change of byte order reverses at a time; 1 where order has no meaning.
    pub swap_unit: usize,
}

impl Layout {
    /// Bytes of one element in memory.
    #[must_use]
    pub fn size(&self) -> usize {
        self.component_size.saturating_mul(self.components)
    }
}

/// What one component of an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    Bool,
    Int {
        bits: u32,
        signed: bool,
    },
    /// At most 16 bits.
    Small(FloatFormat),
    Float32,
    Float64,
    /// `r<N>`: bytes without meaning.
    Raw {
        bytes: usize,
    },
}

impl Component {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Component::Bool => 1,
            Component::Int { bits, .. } => bits,
            Component::Small(format) => format.bits(),
            Component::Float32 => 32,
            Component::Float64 => 64,
            Component::Raw { bytes } => u32::try_from(bytes).unwrap_or(u32::MAX).saturating_mul(8),
        }
    }

    pub(crate) fn size(self) -> usize {
        match self {
            Component::Raw { bytes } => bytes,
            _ => usize::try_from(self.bits().div_ceil(8)).unwrap_or(usize::MAX),
        }
    }
}

const fn int(bits: u32, signed: bool) -> Component {
    Component::Int { bits, signed }
}

const fn small(exponent: u32, mantissa: u32, bias: i32, specials: Specials) -> Component {
    Component::Small(FloatFormat::new(exponent, mantissa, bias, specials))
}

const FLOAT4_E2M1FN: Component = small(2, 1, 1, Specials::Finite);
const FLOAT6_E2M3FN: Component = small(2, 3, 1, Specials::Finite);
const FLOAT6_E3M2FN: Component = small(3, 2, 3, Specials::Finite);
const FLOAT8_E3M4: Component = small(3, 4, 3, Specials::Ieee);
const FLOAT8_E4M3: Component = small(4, 3, 7, Specials::Ieee);
const FLOAT8_E4M3B11FNUZ: Component = small(4, 3, 11, Specials::NegativeZeroNan);
const FLOAT8_E4M3FN: Component = small(4, 3, 7, Specials::AllOnesNan);
const FLOAT8_E4M3FNUZ: Component = small(4, 3, 8, Specials::NegativeZeroNan);
const FLOAT8_E5M2: Component = small(5, 2, 15, Specials::Ieee);
const FLOAT8_E5M2FNUZ: Component = small(5, 2, 16, Specials::NegativeZeroNan);
const FLOAT8_E8M0FNU: Component = small(8, 0, 127, Specials::Power);
const FLOAT16: Component = small(5, 10, 15, Specials::Ieee);
const BFLOAT16: Component = small(8, 7, 127, Specials::Ieee);

/// The data types of fixed size, from one table: variant, name, component, components.
macro_rules! data_types {
    ($($variant:ident $name:literal $component:expr, $components:literal;)*) => {
        /// What the elements of an array are.
        ///
        /// # Examples
        /// ```
        /// use zarr_metadata::DataType;
        ///
        /// let int4: DataType = "int4".parse()?;
        /// assert_eq!((int4.size(), int4.is_sub_byte()), (Some(1), true));
        /// let layout = DataType::Complex128.layout().expect("a type of fixed size");
        /// assert_eq!((layout.size(), layout.swap_unit), (16, 8));
        /// // Types whose values are not interpreted are known by name, and kept.
        /// assert_eq!(DataType::from_json(br#""string""#)?.size(), None);
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
            /// A type whose values are not interpreted: strings and other types of variable
            /// length, times and records (SD-50), and what is not known at all.
            Opaque(Extension),
        }

        impl DataType {
            /// Every type of fixed size but raw bits.
            pub const FIXED: &[DataType] = &[$(DataType::$variant),*];

            fn simple(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(DataType::$variant),)*
                    _ => None,
                }
            }

            pub(crate) fn component(&self) -> Option<(Component, usize)> {
                match self {
                    $(DataType::$variant => Some(($component, $components)),)*
                    DataType::RawBits(raw) => Some((Component::Raw { bytes: raw.bytes }, 1)),
                    DataType::Opaque(_) => None,
                }
            }

            fn simple_name(&self) -> &'static str {
                match self {
                    $(DataType::$variant => $name,)*
                    DataType::RawBits(_) | DataType::Opaque(_) => "",
                }
            }
        }

        const NAMES: &[&str] = &[$($name,)* "string", "bytes"];
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
    complex of these, r8 and so on, or a type of strings, times or records";

/// Types that are known by name and kept, their values not interpreted.
const OPAQUE: &[&str] = &[
    "string",
    "bytes",
    "variable_length_bytes",
    "fixed_length_utf32",
    "null_terminated_bytes",
    "raw_bytes",
    "numpy.datetime64",
    "numpy.timedelta64",
    "struct",
    "structured",
];

/// The size of the raw bits type `r<N>`: a positive number of whole bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawBits {
    bytes: usize,
}

impl RawBits {
    /// Raw bits of `bytes` bytes; `None` for 0 bytes, and from 2^29 bytes on.
    #[must_use]
    pub fn new(bytes: usize) -> Option<Self> {
        let bits = u32::try_from(bytes).ok()?.checked_mul(8)?;
        (bits > 0).then_some(RawBits { bytes })
    }

    /// Bytes of one element.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// `Some(None)` is a name that looks like raw bits but is none.
    fn from_name(name: &str) -> Option<Option<Self>> {
        let number = name.strip_prefix('r')?;
        let digits = number.strip_prefix('-').unwrap_or(number);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let bits = number.parse::<usize>().ok().filter(|n| n % 8 == 0 && !digits.starts_with('0'));
        Some(bits.and_then(|n| RawBits::new(n.div_ceil(8))))
    }
}

impl DataType {
    /// The type that a name alone says, such as `"int16"` or `"r24"`.
    ///
    /// # Errors
    /// Where the name is not known.
    pub fn from_name(name: &str) -> Result<Self> {
        let mut json = String::new();
        write_string(name, &mut json);
        let raw = Raw::parse(&json, Grammar::Json)?;
        let mut findings = Vec::new();
        let data_type = Self::read(raw, &mut findings)?;
        if findings.is_empty() { Ok(data_type) } else { Err(unknown(&RawExtension::read(raw)?)) }
    }

    /// Reads `"name"`, or the object that carries a configuration.
    ///
    /// A name that is not known gives [`DataType::Opaque`]: the document can be looked at, its
    /// elements cannot.
    ///
    /// # Errors
    /// Where a type that is not known has `"must_understand": false` (SD-42), or one that is known
    /// has a configuration that it should not have.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::read(Raw::parse(crate::json::utf8(json)?, Grammar::Json)?, &mut Vec::new())
    }

    pub(crate) fn read(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<Self> {
        let extension = RawExtension::read(raw)?;
        let name = extension.name.as_ref();
        let known = if let Some(simple) = Self::simple(name) {
            simple
        } else if let Some(raw_bits) = RawBits::from_name(name) {
            let allowed = "r and a positive multiple of 8, such as r16";
            let error =
                || MetadataError::unexpected(extension.describe(), allowed).breaks(Rule::RawBits);
            DataType::RawBits(raw_bits.ok_or_else(error)?)
        } else {
            if !OPAQUE.contains(&name) {
                if !extension.must_understand {
                    return Err(unknown(&extension));
                }
                let finding = Finding::new("unknown-data-type", extension.describe(), ALLOWED);
                findings.push(finding);
            }
            extension.only_known_members()?;
            return Ok(DataType::Opaque(extension.keep()));
        };
        extension.only_known_members()?;
        extension.no_configuration()?;
        Ok(known)
    }

    /// The name, as the specification spells it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            DataType::RawBits(raw) => format!("r{}", raw.bytes.saturating_mul(8)),
            DataType::Opaque(extension) => extension.name().to_owned(),
            _ => self.simple_name().to_owned(),
        }
    }

    /// How an element lies in memory; `None` for types that are not interpreted.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        let (component, components) = self.component()?;
        let component_size = component.size();
        let raw = matches!(component, Component::Raw { .. });
        Some(Layout {
            component_bits: component.bits(),
            component_size,
            components,
            signed: matches!(component, Component::Int { signed: true, .. }),
            swap_unit: if raw { 1 } else { component_size },
        })
    }

    /// Bytes of an element in memory; `None` for types that are not interpreted.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        self.layout().map(|layout| layout.size())
    }

    /// Components narrower than a byte, which take one byte each in memory. Bool is none (SD-18).
    #[must_use]
    pub fn is_sub_byte(&self) -> bool {
        match self.component() {
            Some((Component::Bool, _)) | None => false,
            Some((component, _)) => component.bits() < 8,
        }
    }

    /// A pair of components, real and imaginary.
    #[must_use]
    pub fn is_complex(&self) -> bool {
        self.component().is_some_and(|(_, components)| components == 2)
    }

    /// Floating point, real or complex.
    #[must_use]
    pub fn is_float(&self) -> bool {
        matches!(
            self.component(),
            Some((Component::Small(_) | Component::Float32 | Component::Float64, _))
        )
    }

    /// Whether the `packbits` codec takes the type: all of fixed size but raw bits (SD-50).
    #[must_use]
    pub fn is_packable(&self) -> bool {
        !matches!(self.component(), Some((Component::Raw { .. }, _)) | None)
    }

    /// The JSON text: a string where the type has no configuration.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            DataType::Opaque(extension) => extension.json().to_owned(),
            _ => {
                let mut json = String::new();
                write_string(&self.name(), &mut json);
                json
            }
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl std::str::FromStr for DataType {
    type Err = MetadataError;

    fn from_str(name: &str) -> Result<Self> {
        Self::from_name(name)
    }
}

/// Reads a data type as the member of a document.
pub(crate) fn read_member(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<DataType> {
    Finding::scope(findings, || ".data_type".to_owned(), |findings| DataType::read(raw, findings))
        .member("data_type")
}

fn unknown(extension: &RawExtension<'_>) -> MetadataError {
    let error = extension.unknown_name("data type", NAMES, ALLOWED);
    error.breaks(Rule::UnderstandDataType)
}
