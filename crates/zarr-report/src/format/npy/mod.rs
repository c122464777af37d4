//! numpy's file format.
//!
//! Types that numpy has are written as such. `int2` and `int4` are written as `int8`, `uint2` and
//! `uint4` as `uint8`, which is their form in memory. All others are written as void types of their
//! size, as numpy does with the types of ml_dtypes: `bfloat16`, the float8, float6 and float4
//! families, complex numbers of these, raw bits and bytes. `numpy.load(f).view(ml_dtypes.bfloat16)`
//! converts them back. So no reader mistakes their codes for numbers. Records are lists of their
//! fields.

mod descr;

use std::io::{self, Read};
use std::path::Path;

use zarr_array::store::Remedy;
use zarr_metadata::DataType;

use self::descr::{Descr, type_string};

/// The first bytes of every .npy file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// What is wrong with a file without them.
pub const NO_MAGIC: &str = "it does not begin as a .npy file does";

/// Whether the name of a file ends as that of a .npy file.
pub fn is_named(path: &Path) -> bool {
    path.to_string_lossy().to_ascii_lowercase().ends_with(".npy")
}

/// numpy's name of a type that is no record.
///
/// # Examples
/// ```
/// use zarr_metadata::DataType;
///
/// assert_eq!(zarr_report::format::npy::descr(&DataType::Float64), "<f8");
/// ```
#[must_use]
pub fn descr(data_type: &DataType) -> String {
    descr::plain(data_type)
}

/// The header of a file in C order, up to the first element.
pub fn header(data_type: &DataType, shape: &[u64]) -> Vec<u8> {
    let mut sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    if sizes.len() == 1 {
        sizes.push(String::new());
    }
    let mut text = format!(
        "{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}",
        type_string(data_type),
        sizes.join(", ").trim_end()
    );
    // Version 1 is Latin-1 with a length of two bytes, version 3 UTF-8 with four.
    let is_first = text.is_ascii() && text.len() <= usize::from(u16::MAX - 128);
    let before: usize = if is_first { 10 } else { 12 };
    // Elements begin at a multiple of 64 bytes; the header ends with a line feed.
    const ALIGN: usize = 64;
    let length = (before + text.len() + 1).next_multiple_of(ALIGN) - before;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let mut header = MAGIC.to_vec();
    header.extend([if is_first { 1 } else { 3 }, 0]);
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes();
    header.extend(length.iter().take(if is_first { 2 } else { 4 }));
    header.extend(text.as_bytes());
    header
}

/// The contents of a file's header, checked against the expected type.
#[derive(Debug, PartialEq, Eq)]
pub struct Npy {
    /// The shape.
    pub shape: Vec<u64>,
    /// Whether elements are in Fortran order.
    pub fortran: bool,
    /// Whether the bytes of a component are in big-endian order.
    pub big_endian: bool,
}

/// Longer headers are refused. numpy itself refuses more than 10,000 bytes by default, but
/// records with many fields need more.
const LONGEST: u32 = 1 << 20;

/// Reads the header; the rest of `reader` are the elements.
///
/// # Errors
/// The reason why it is not a header of this data type, and what helps.
pub fn read_header(
    reader: &mut impl Read,
    data_type: &DataType,
) -> Result<Npy, (String, Option<Remedy>)> {
    let text = header_text(reader).map_err(|reason| (reason, None))?;
    let header = Header::parse(&text).ok_or_else(|| {
        let shown: String = text.trim().chars().take(60).collect();
        (format!("the .npy header does not describe an array: {shown}"), None)
    })?;
    let big_endian = header.descr.matches(data_type).map_err(|found| {
        let reason = format!(
            "elements of numpy type {found}, but the array's data type is {data_type}, which is {} \
             in numpy",
            type_string(data_type).trim_matches('\'')
        );
        (reason, Some(Remedy::Cast))
    })?;
    Ok(Npy { shape: header.shape, fortran: header.fortran, big_endian })
}

/// The shape of a file of any type, and the name of its type; `None` of records.
pub fn read_shape(reader: &mut impl Read) -> Result<(Vec<u64>, Option<String>), String> {
    let mut magic = [0; MAGIC.len()];
    let mut text = None;
    if reader.read_exact(&mut magic).is_ok() && magic == MAGIC {
        let mut reader = io::Cursor::new(magic).chain(reader);
        text = Some(header_text(&mut reader)?);
    }
    let text = text.ok_or(NO_MAGIC)?;
    let header = Header::parse(&text).ok_or("the .npy header does not describe an array")?;
    let name = match header.descr {
        Descr::Plain(name) => Some(name),
        Descr::Fields(_) => None,
    };
    Ok((header.shape, name))
}

/// The text between the magic bytes and the elements.
fn header_text(reader: &mut impl Read) -> Result<String, String> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => "ends within its .npy header".to_owned(),
        _ => error.to_string(),
    };
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(failed)?;
    let length = match start[6] {
        1 => {
            let mut length = [0; 2];
            reader.read_exact(&mut length).map_err(failed)?;
            u32::from(u16::from_le_bytes(length))
        }
        2 | 3 => {
            let mut length = [0; 4];
            reader.read_exact(&mut length).map_err(failed)?;
            u32::from_le_bytes(length)
        }
        version => return Err(format!(".npy version {version}; 1 to 3 are read")),
    };
    if length > LONGEST {
        return Err(format!("a .npy header of {length} bytes; at most {LONGEST} are read"));
    }
    let mut text = vec![0; usize::try_from(length).unwrap_or(0)];
    reader.read_exact(&mut text).map_err(failed)?;
    if start[6] < 3 {
        // Latin-1: the characters with the same numbers.
        return Ok(text.into_iter().map(char::from).collect());
    }
    String::from_utf8(text).map_err(|_| "the .npy header is not UTF-8".to_owned())
}

/// The three members of the header: a Python dictionary of a text, a truth value and a tuple.
struct Header {
    descr: Descr,
    fortran: bool,
    shape: Vec<u64>,
}

impl Header {
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (name, after) = descr::quoted(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            let after = match name.as_str() {
                "descr" => {
                    let (found, after) = Descr::parse(value)?;
                    descr = Some(found);
                    after
                }
                "fortran_order" => {
                    let after = value.strip_prefix("True").or(value.strip_prefix("False"))?;
                    fortran = Some(value.starts_with('T'));
                    after
                }
                "shape" => {
                    let (sizes, after) = value.strip_prefix('(')?.split_once(')')?;
                    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
                    // Python 2 wrote 3L.
                    let sizes = sizes.map(|size| size.trim_end_matches('L').parse().ok());
                    shape = Some(sizes.collect::<Option<_>>()?);
                    after
                }
                _ => return None,
            };
            rest = after.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Self { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_that_numpy_writes() {
        // The output of numpy 2.5 for numpy.save(f, numpy.zeros((3, 4), '<f4')).
        let mut expected = MAGIC.to_vec();
        expected.extend([1, 0, 0x76, 0]);
        expected.extend(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
        expected.resize(127, b' ');
        expected.push(b'\n');
        assert_eq!(header(&DataType::Float32, &[3, 4]), expected);
        let text = |shape: &[u64]| {
            let header = header(&DataType::Bool, shape);
            assert!(header.len().is_multiple_of(64));
            String::from_utf8_lossy(&header[10..]).trim_end().to_owned()
        };
        assert_eq!(text(&[]), "{'descr': '|b1', 'fortran_order': False, 'shape': (), }");
        assert_eq!(text(&[5]), "{'descr': '|b1', 'fortran_order': False, 'shape': (5,), }");
    }

    #[test]
    fn every_type_has_a_header_that_is_read_back() {
        for data_type in DataType::FIXED {
            let bytes = header(data_type, &[2, 3]);
            let read = read_header(&mut bytes.as_slice(), data_type);
            let expected = Npy { shape: vec![2, 3], fortran: false, big_endian: false };
            assert_eq!(read, Ok(expected), "{data_type}");
        }
    }

    fn configured(name: &str, configuration: &str) -> DataType {
        let json = format!(r#"{{"name": "{name}", "configuration": {configuration}}}"#);
        DataType::from_json(json.as_bytes()).expect("a type")
    }

    /// The `descr` that numpy 2.5.5 writes for each of these types.
    #[test]
    fn times_strings_bytes_and_records_are_numpys() {
        let record = r#"{"fields": [{"name": "a", "data_type": "int32"},
            {"name": "p", "data_type": {"name": "struct", "configuration": {"fields": [
                {"name": "x", "data_type": "float32"},
                {"name": "s", "data_type": {"name": "fixed_length_utf32",
                    "configuration": {"length_bytes": 8}}}]}}},
            {"name": "t", "data_type": {"name": "numpy.datetime64",
                "configuration": {"unit": "ns", "scale_factor": 10}}},
            {"name": "it's \\", "data_type": "bool"}, {"name": "ünï", "data_type": "int4"}]}"#;
        let cases = [
            ("numpy.datetime64", r#"{"unit": "s", "scale_factor": 1}"#, "'<M8[s]'"),
            ("numpy.timedelta64", r#"{"unit": "us", "scale_factor": 10}"#, "'<m8[10us]'"),
            ("numpy.datetime64", r#"{"unit": "generic", "scale_factor": 1}"#, "'<M8'"),
            ("fixed_length_utf32", r#"{"length_bytes": 16}"#, "'<U4'"),
            ("null_terminated_bytes", r#"{"length_bytes": 5}"#, "'|S5'"),
            ("raw_bytes", r#"{"length_bytes": 8}"#, "'|V8'"),
            (
                "struct",
                record,
                "[('a', '<i4'), ('p', [('x', '<f4'), ('s', '<U2')]), ('t', '<M8[10ns]'), \
                 ('it\\'s \\\\', '|b1'), ('ünï', '|i1')]",
            ),
        ];
        for (name, configuration, expected) in cases {
            let data_type = configured(name, configuration);
            assert_eq!(type_string(&data_type), expected);
            let read = read_header(&mut header(&data_type, &[2]).as_slice(), &data_type);
            assert_eq!(read, Ok(Npy { shape: vec![2], fortran: false, big_endian: false }));
        }
    }

    #[test]
    fn records_of_other_writers_are_read() {
        let record = configured(
            "struct",
            r#"{"fields": [{"name": "ü\"", "data_type": "int16"}, {"name": "b", "data_type": "uint8"}]}"#,
        );
        let read = |descr: &str| {
            let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}");
            let mut bytes = MAGIC.to_vec();
            bytes.extend([3, 0]);
            bytes.extend(u32::try_from(text.len()).expect("short").to_le_bytes());
            bytes.extend(text.as_bytes());
            read_header(&mut bytes.as_slice(), &record)
        };
        let npy = |big_endian| Ok(Npy { shape: vec![1], fortran: false, big_endian });
        assert_eq!(read(r#"[('ü"', '<i2'), ('b', '|u1')]"#), npy(false));
        assert_eq!(read(r#"[("\xfc\"", '>i2'), ("b", '|u1'),]"#), npy(true));
        assert_eq!(read(r"[('\u00fc\x22', '=i2'), ('b', '>u1')]"), npy(false));
        for wrong in [
            "'<i2'",
            "'|V3'",
            r#"[('ü"', '<i2')]"#,
            r#"[('ü"', '<i2'), ('c', '|u1')]"#,
            r#"[('ü"', '<u2'), ('b', '|u1')]"#,
            r#"[('ü"', '<i2'), ('b', '|u1', (2,))]"#,
            r#"[('ü"', '<i2'), ('b', '|u1'), ('', '|V1')]"#,
            r#"[('ü"', [('x', '<i2')]), ('b', '|u1')]"#,
            "[",
            "[('a'",
            r"[('\q', '<i2')]",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        // Fields of different byte orders would each need a swap.
        let two = configured(
            "struct",
            r#"{"fields": [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "int16"}]}"#,
        );
        let text = "{'descr': [('a', '<i2'), ('b', '>i2')], 'fortran_order': False, 'shape': ()}";
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(u16::try_from(text.len()).expect("short").to_le_bytes());
        bytes.extend(text.as_bytes());
        assert!(read_header(&mut bytes.as_slice(), &two).is_err());
    }

    #[test]
    fn headers_of_other_writers_are_read() {
        let read = |text: &str| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend([2, 0]);
            bytes.extend(u32::try_from(text.len()).expect("short").to_le_bytes());
            bytes.extend(text.as_bytes());
            read_header(&mut bytes.as_slice(), &DataType::Int32)
        };
        let npy = |shape: &[u64], fortran, big_endian| {
            Ok(Npy { shape: shape.to_vec(), fortran, big_endian })
        };
        let one = "{\"shape\": (3L,), 'fortran_order':True,'descr': '>i4'}";
        assert_eq!(read(one), npy(&[3], true, true));
        let scalar = "{'descr': '=i4', 'fortran_order': False, 'shape': ()}\n";
        assert_eq!(read(scalar), npy(&[], false, false));
        for wrong in [
            "",
            "{}",
            "{'descr': '<i4', 'fortran_order': False}",
            "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<i4', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), 'x': 1}",
            "{'descr': '<i8', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': 'é4', 'fortran_order': False, 'shape': (3,)}",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
