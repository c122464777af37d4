//! numpy's file format.
//!
//! Types that numpy has are written as such. `int2` and `int4` are written as `int8`, `uint2` and
//! `uint4` as `uint8`: that is how they lie in memory. All others (`bfloat16`, the float8, float6
//! and float4 families, their complex pairs, raw bits) are written as void of their size, as numpy
//! does with the types of ml_dtypes: `numpy.load(f).view(ml_dtypes.bfloat16)` has them back, and
//! nobody takes their codes for numbers.

use std::io::{self, Read};

use zarr_kit::metadata::DataType;

/// What the first bytes of every .npy file are.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The header of a file in C order, up to where the elements begin.
pub(crate) fn header(data_type: &DataType, shape: &[u64]) -> Vec<u8> {
    let mut sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    if sizes.len() == 1 {
        sizes.push(String::new());
    }
    let mut text = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
        type_string(data_type),
        sizes.join(", ").trim_end()
    );
    // Elements begin at a multiple of 64 bytes, the last of the header is a line feed.
    const ALIGN: usize = 64;
    const BEFORE: usize = 10;
    let length = (BEFORE + text.len() + 1).next_multiple_of(ALIGN) - BEFORE;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let mut header = MAGIC.to_vec();
    header.extend([1, 0]);
    // 65,535 bytes hold the sizes of 3,000 axes, and numpy has 64.
    header.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    header.extend(text.as_bytes());
    header
}

/// numpy's name of a type in memory's form.
pub(crate) fn type_string(data_type: &DataType) -> String {
    let size = data_type.size().unwrap_or(1);
    match kind(data_type) {
        None => format!("|V{size}"),
        Some(kind) if size == 1 => format!("|{kind}{size}"),
        Some(kind) => format!("<{kind}{size}"),
    }
}

/// The letter of numpy's type that has the same elements.
fn kind(data_type: &DataType) -> Option<char> {
    Some(match data_type {
        DataType::Bool => 'b',
        DataType::Int2 | DataType::Int4 | DataType::Int8 => 'i',
        DataType::Int16 | DataType::Int32 | DataType::Int64 => 'i',
        DataType::Uint2 | DataType::Uint4 | DataType::Uint8 => 'u',
        DataType::Uint16 | DataType::Uint32 | DataType::Uint64 => 'u',
        DataType::Float16 | DataType::Float32 | DataType::Float64 => 'f',
        DataType::Complex64 | DataType::Complex128 => 'c',
        DataType::ComplexFloat32 | DataType::ComplexFloat64 => 'c',
        _ => return None,
    })
}

/// What the header of a file says, checked against the type that is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Npy {
    pub(crate) shape: Vec<u64>,
    pub(crate) fortran: bool,
    /// Bytes of a component are in the other order than memory's.
    pub(crate) big_endian: bool,
}

/// Headers longer than this are none: numpy itself stops at 10,000 bytes.
const LONGEST: u32 = 1 << 16;

/// Reads the header; what is left in `reader` are the elements.
pub(crate) fn read_header(reader: &mut impl Read, data_type: &DataType) -> Result<Npy, String> {
    let text = header_text(reader)?;
    let header = Header::parse(&text).ok_or_else(|| {
        let shown: String = text.trim().chars().take(60).collect();
        format!("the .npy header is not that of an array: {shown}")
    })?;
    let wanted = type_string(data_type);
    // `|` and `=` leave the order open; files with them are little-endian where it matters.
    let (order, name) = header.descr.split_at_checked(1).unwrap_or_default();
    if !["<", ">", "|", "="].contains(&order) || Some(name) != wanted.get(1..) {
        return Err(format!(
            "elements of numpy type {}, but the array's data type is {data_type}, which is \
             {wanted} in numpy",
            header.descr
        ));
    }
    let swaps =
        kind(data_type).is_some() && data_type.layout().is_some_and(|layout| layout.swap_unit > 1);
    Ok(Npy { shape: header.shape, fortran: header.fortran, big_endian: swaps && order == ">" })
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
    String::from_utf8(text).map_err(|_| "the .npy header is not UTF-8".to_owned())
}

/// The header's three members: a Python dictionary of text, a truth value and a tuple.
struct Header<'a> {
    descr: &'a str,
    fortran: bool,
    shape: Vec<u64>,
}

impl<'a> Header<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (name, after) = quoted(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            let after = match name {
                "descr" => {
                    let (found, after) = quoted(value)?;
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

/// A text in quotes of either kind, and what comes after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    text.get(1..)?.split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_that_numpy_writes() {
        // What numpy 2.5 writes for numpy.save(f, numpy.zeros((3, 4), '<f4')).
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
