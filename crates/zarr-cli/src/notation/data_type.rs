//! Data types as they are typed: by their names in Zarr, by numpy's, or as JSON.

use zarr_kit::DataType;
use zarr_kit::metadata::{ByteLength, Endian, MAX_ELEMENT_SIZE, TimeUnit, Utf32Length};

use crate::error::CliError;

/// A data type, and the byte order that its name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) data_type: DataType,
    /// `None` if the name says none, or the elements have none.
    pub(crate) order: Option<Endian>,
}

impl From<DataType> for Typed {
    fn from(data_type: DataType) -> Self {
        Self { data_type, order: None }
    }
}

/// Parses the value of `--dtype`. A name that Zarr and numpy both have means the same in both.
pub(crate) fn parse(text: &str) -> Result<Typed, CliError> {
    let wrong = |reason: String| CliError::argument("--dtype", text, reason);
    let name = text.trim();
    let read = match name.starts_with('{') {
        true => DataType::from_json(name.as_bytes()),
        false => DataType::from_name(name),
    };
    let typed = match read {
        Ok(data_type) => data_type.into(),
        Err(cause) => match (of_numpy(name), meant(name)) {
            (Some(typed), _) => typed,
            (None, Some(meant)) => return Err(wrong(meant)),
            (None, None) => return Err(CliError::Metadata { argument: "--dtype", cause }),
        },
    };
    match typed.data_type.size().is_some() || typed.data_type.is_variable_length() {
        true => Ok(typed),
        false => Err(wrong("elements of this type are not read here".to_owned())),
    }
}

/// numpy's names of numbers, bool and strings besides their letters, such as `i4`.
const NAMES: [(&str, DataType); 32] = [
    ("?", DataType::Bool),
    ("bool_", DataType::Bool),
    ("b", DataType::Int8),
    ("byte", DataType::Int8),
    ("h", DataType::Int16),
    ("short", DataType::Int16),
    ("i", DataType::Int32),
    ("intc", DataType::Int32),
    ("q", DataType::Int64),
    ("int", DataType::Int64),
    ("longlong", DataType::Int64),
    ("B", DataType::Uint8),
    ("ubyte", DataType::Uint8),
    ("H", DataType::Uint16),
    ("ushort", DataType::Uint16),
    ("I", DataType::Uint32),
    ("uintc", DataType::Uint32),
    ("Q", DataType::Uint64),
    ("uint", DataType::Uint64),
    ("ulonglong", DataType::Uint64),
    ("e", DataType::Float16),
    ("half", DataType::Float16),
    ("f", DataType::Float32),
    ("single", DataType::Float32),
    ("d", DataType::Float64),
    ("float", DataType::Float64),
    ("double", DataType::Float64),
    ("F", DataType::Complex64),
    ("csingle", DataType::Complex64),
    ("D", DataType::Complex128),
    ("complex", DataType::Complex128),
    ("T", DataType::String),
];

/// The type with this name in numpy: `<i2`, `f4`, `double`, `>M8[10us]`, `U4`, `S5`, `V3`, `?`. Zarr's
/// names of numbers may have a byte order, too.
pub(crate) fn of_numpy(name: &str) -> Option<Typed> {
    let (order, name) = split_order(name);
    let named = NAMES.iter().find(|(known, _)| *known == name);
    let data_type = named
        .map(|(_, data_type)| data_type.clone())
        .or_else(|| DataType::from_numpy(name))
        .or_else(|| with_length(name))
        .or_else(|| DataType::from_name(name).ok())?;
    let order = order.filter(|_| data_type.has_byte_order());
    Some(Typed { data_type, order })
}

/// Whether this is the name of raw bytes under which numpy saves `bfloat16` and the small floats of
/// ml_dtypes.
pub(crate) fn is_perhaps_small_float(name: &str) -> bool {
    matches!(split_order(name).1, "V1" | "V2")
}

/// The byte order before a name. `|` and `=` do not give it.
fn split_order(name: &str) -> (Option<Endian>, &str) {
    match name.split_at_checked(1) {
        Some(("<", rest)) => (Some(Endian::Little), rest),
        Some((">", rest)) => (Some(Endian::Big), rest),
        Some(("|" | "=", rest)) => (None, rest),
        _ => (None, name),
    }
}

/// A type with a length.
fn with_length(name: &str) -> Option<DataType> {
    let (kind, length) = name.split_at_checked(1)?;
    let length = length.parse::<usize>().ok()?;
    match kind {
        "U" => Some(DataType::FixedLengthUtf32(Utf32Length::new(length)?)),
        "S" | "a" => Some(DataType::NullTerminatedBytes(ByteLength::new(length)?)),
        "V" => Some(DataType::RawBytes(ByteLength::new(length)?)),
        _ => None,
    }
}

/// The unit in brackets of the name of a type of times or durations.
fn unit(name: &str) -> Option<&str> {
    ["M8", "datetime64", "m8", "timedelta64"].iter().find_map(|known| name.strip_prefix(known))
}

/// A suggestion for an unknown name: the intended name, or its spelling.
fn meant(name: &str) -> Option<String> {
    let (_, bare) = split_order(name);
    let did = |known: &str| Some(format!("did you mean {known}?"));
    match bare.to_ascii_lowercase().as_str() {
        "boolean" => return did("bool"),
        "integer" | "long" | "bigint" => return did("int64"),
        "ulong" => return did("uint64"),
        "str" | "text" | "object" | "o" | "unicode" => {
            return Some("did you mean string, or U5 for 5 characters each?".to_owned());
        }
        "u" | "s" | "v" => return Some(format!("its length is missing, as in {bare}5")),
        _ => {}
    }
    if let Some(step) = unit(bare) {
        let units = TimeUnit::ALL.iter().filter(|unit| **unit != TimeUnit::Generic);
        let units: Vec<&str> = units.map(|unit| unit.name()).collect();
        let example = bare.strip_suffix(step).unwrap_or(bare);
        return Some(format!(
            "a time has its unit in brackets, as in {example}[s] or {example}[10us]: {}",
            units.join(", ")
        ));
    }
    let (kind, size) = bare.split_at_checked(1)?;
    if size.is_empty() || !size.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let known = match kind {
        "i" => "i1, i2, i4 and i8",
        "u" => "u1, u2, u4 and u8",
        "f" => "f2, f4 and f8",
        "c" => "c8 and c16",
        "U" => return Some(format!("1 to {} characters are allowed", MAX_ELEMENT_SIZE / 4)),
        "S" | "V" | "a" => return Some(format!("1 to {MAX_ELEMENT_SIZE} bytes are allowed")),
        _ => return None,
    };
    Some(format!("the number counts bytes, as in numpy: {known} are known"))
}

#[cfg(test)]
mod tests {
    use zarr_kit::DataType;

    use super::{NAMES, of_numpy, parse};

    fn json(name: &str) -> String {
        let typed = parse(name).expect(name);
        format!("{} {:?}", typed.data_type.to_json(), typed.order)
    }

    #[test]
    fn names_of_numpy() {
        for (name, expected) in [
            ("int16", r#""int16" None"#),
            (" float32 ", r#""float32" None"#),
            ("f4", r#""float32" None"#),
            ("<u2", r#""uint16" Some(Little)"#),
            (">u2", r#""uint16" Some(Big)"#),
            ("=u2", r#""uint16" None"#),
            (">int16", r#""int16" Some(Big)"#),
            // One byte has no order.
            (">i1", r#""int8" None"#),
            ("|b1", r#""bool" None"#),
            ("?", r#""bool" None"#),
            ("T", r#""string" None"#),
            ("c16", r#""complex128" None"#),
        ] {
            assert_eq!(json(name), expected, "{name}");
        }
        let parts = [
            ("M8[s]", "numpy.datetime64", r#""unit": "s", "scale_factor": 1"#, "None"),
            (">m8[10us]", "numpy.timedelta64", r#""unit": "us", "scale_factor": 10"#, "Some(Big)"),
            ("datetime64[D]", "numpy.datetime64", r#""unit": "D", "scale_factor": 1"#, "None"),
            ("m8", "numpy.timedelta64", r#""unit": "generic""#, "None"),
            ("U5", "fixed_length_utf32", r#""length_bytes": 20"#, "None"),
            (">U5", "fixed_length_utf32", r#""length_bytes": 20"#, "Some(Big)"),
            ("S3", "null_terminated_bytes", r#""length_bytes": 3"#, "None"),
            ("|V3", "raw_bytes", r#""length_bytes": 3"#, "None"),
        ];
        for (name, zarr, configuration, order) in parts {
            let found = json(name);
            for part in [zarr, configuration] {
                assert!(found.contains(part), "{name}: {found}");
            }
            assert!(found.ends_with(order), "{name}: {found}");
        }
    }

    /// A name with a size in bytes, or in bits as in Zarr, has that size.
    #[test]
    fn sizes_are_those_of_the_names() {
        let letters =
            ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"];
        let letters = letters.map(|name| (name, DataType::from_numpy(name).expect(name)));
        for (name, data_type) in NAMES.iter().chain(&letters) {
            let size = name.trim_start_matches(|c: char| !c.is_ascii_digit());
            if let Ok(size) = size.parse::<usize>() {
                assert_eq!(data_type.size(), Some(size), "{name}");
            }
            // None of them is a name of another type in Zarr.
            assert!(DataType::from_name(name).is_err(), "{name}");
            assert_eq!(of_numpy(name).map(|typed| typed.data_type).as_ref(), Some(data_type));
        }
    }

    #[test]
    fn mistakes_say_what_is_known() {
        let names = [
            "f3",
            "<i16",
            "c4",
            "u0",
            "U",
            "S0",
            "U99999999999",
            "M8[x]",
            "M8[",
            "datetime64[0s]",
            "boolean",
            "long",
            "str",
            "O",
            "flaot32",
            "int9",
            ">",
            "",
            "<<f4",
            "[('a', '<i4')]",
            "{",
        ];
        let said = names.map(|name| format!("{name}: {}", parse(name).expect_err(name)));
        insta::assert_snapshot!(said.join("\n"));
    }
}
