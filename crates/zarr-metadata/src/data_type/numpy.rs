//! Data types as NumPy spells them, without their byte order: `i4`, `M8[ns]`.

use super::{DataType, TimeStep, TimeUnit};

/// The letters of NumPy, each with the bytes of an element, and the type that it is here.
const TYPES: [(&str, DataType); 14] = [
    ("b1", DataType::Bool),
    ("i1", DataType::Int8),
    ("i2", DataType::Int16),
    ("i4", DataType::Int32),
    ("i8", DataType::Int64),
    ("u1", DataType::Uint8),
    ("u2", DataType::Uint16),
    ("u4", DataType::Uint32),
    ("u8", DataType::Uint64),
    ("f2", DataType::Float16),
    ("f4", DataType::Float32),
    ("f8", DataType::Float64),
    ("c8", DataType::Complex64),
    ("c16", DataType::Complex128),
];

impl DataType {
    /// The type with this name in NumPy, without its byte order. Numbers and bools have letters,
    /// such as `i4` or `c16`; times are such as `M8[10us]`, `timedelta64[D]` or, without a unit,
    /// `m8`.
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{DataType, TimeUnit};
    ///
    /// assert_eq!(DataType::from_numpy("u2"), Some(DataType::Uint16));
    /// let days = DataType::NumpyDatetime64(TimeUnit::Day.into());
    /// assert_eq!(DataType::from_numpy("M8[D]"), Some(days));
    /// assert_eq!(DataType::from_numpy("uint16"), None); // its name in Zarr
    /// ```
    #[must_use]
    pub fn from_numpy(letters: &str) -> Option<Self> {
        let found = TYPES.iter().find(|(name, _)| *name == letters);
        found.map(|(_, data_type)| data_type.clone()).or_else(|| time(letters))
    }
}

/// The type of this name in version 3, if NumPy has it under the same name.
pub(crate) fn from_name(name: &str) -> Option<DataType> {
    let found = TYPES.iter().find(|(_, data_type)| data_type.name() == name);
    found.map(|(_, data_type)| data_type.clone())
}

/// NumPy's name of a number or a bool.
pub(crate) fn letters(data_type: &DataType) -> Option<&'static str> {
    TYPES.iter().find(|(_, known)| known == data_type).map(|(letters, _)| *letters)
}

fn time(letters: &str) -> Option<DataType> {
    let (name, unit) = letters.split_once('[').unwrap_or((letters, "generic]"));
    let unit = unit.strip_suffix(']')?;
    let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
    let (scale, unit) = unit.split_at(digits);
    let scale = if scale.is_empty() { 1 } else { scale.parse().ok()? };
    let step = TimeStep::new(TimeUnit::from_name(unit)?, scale)?;
    Some(match name {
        "M8" | "datetime64" => DataType::NumpyDatetime64(step),
        "m8" | "timedelta64" => DataType::NumpyTimedelta64(step),
        _ => return None,
    })
}
