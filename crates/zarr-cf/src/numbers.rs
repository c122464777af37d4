//! Elements as numbers.

use zarr_metadata::DataType;

/// Converts the bytes of elements to numbers.
///
/// # Examples
/// ```
/// use zarr_metadata::DataType;
/// use zarr_cf::Numbers;
///
/// let mut numbers = Vec::new();
/// Numbers::of(&DataType::Int8).expect("numbers").list(&[0xff, 2], &mut numbers);
/// assert_eq!(numbers, [-1.0, 2.0]);
/// assert!(Numbers::of(&DataType::Complex64).is_none());
/// ```
pub struct Numbers(Kind);

enum Kind {
    Unsigned(usize),
    Signed(usize),
    /// Like signed integers, but the least value is not a time.
    Time,
    Float32,
    Float64,
    /// Floats of one or two bytes: the number of each bit pattern.
    Table(Vec<f64>),
}

impl Numbers {
    /// The conversion for a data type; `None` for types with elements other than real numbers and
    /// times.
    #[must_use]
    pub fn of(data_type: &DataType) -> Option<Self> {
        let layout = data_type.element_layout()?;
        if data_type.is_complex() {
            return None;
        }
        Some(Self(match data_type {
            DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_) => Kind::Time,
            DataType::Float32 => Kind::Float32,
            DataType::Float64 => Kind::Float64,
            _ if data_type.is_float() => Kind::Table(table(data_type, layout.component_size)?),
            DataType::RawBits(_)
            | DataType::FixedLengthUtf32(_)
            | DataType::NullTerminatedBytes(_)
            | DataType::RawBytes(_) => return None,
            _ if layout.signed => Kind::Signed(layout.component_size),
            _ => Kind::Unsigned(layout.component_size),
        }))
    }

    /// The bytes of an element.
    #[must_use]
    pub fn size(&self) -> usize {
        match &self.0 {
            Kind::Unsigned(size) | Kind::Signed(size) => *size,
            Kind::Time | Kind::Float64 => 8,
            Kind::Float32 => 4,
            Kind::Table(numbers) if numbers.len() <= 256 => 1,
            Kind::Table(_) => 2,
        }
    }

    /// Whether all elements are whole numbers.
    #[must_use]
    pub fn are_whole(&self) -> bool {
        matches!(self.0, Kind::Unsigned(_) | Kind::Signed(_) | Kind::Time)
    }

    /// The elements as numbers, in place of the content of the list. "NaT" becomes NaN. Integers of
    /// more than 53 bits are rounded: the order stays, but different integers may become equal.
    #[expect(clippy::cast_precision_loss, reason = "documented")]
    pub fn list(&self, elements: &[u8], list: &mut Vec<f64>) {
        list.clear();
        macro_rules! each {
            ($type:ty) => {
                list.extend(
                    elements
                        .as_chunks::<{ size_of::<$type>() }>()
                        .0
                        .iter()
                        .map(|bytes| <$type>::from_le_bytes(*bytes) as f64),
                )
            };
        }
        match &self.0 {
            Kind::Unsigned(1) => each!(u8),
            Kind::Unsigned(2) => each!(u16),
            Kind::Unsigned(4) => each!(u32),
            Kind::Unsigned(_) => each!(u64),
            Kind::Signed(1) => each!(i8),
            Kind::Signed(2) => each!(i16),
            Kind::Signed(4) => each!(i32),
            Kind::Signed(_) => each!(i64),
            Kind::Time => list.extend(elements.as_chunks().0.iter().map(|bytes| {
                match i64::from_le_bytes(*bytes) {
                    i64::MIN => f64::NAN,
                    count => count as f64,
                }
            })),
            Kind::Float32 => {
                let chunks = elements.as_chunks().0;
                list.extend(chunks.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))));
            }
            Kind::Float64 => each!(f64),
            Kind::Table(numbers) => {
                let number = |index: usize| numbers.get(index).copied().unwrap_or(f64::NAN);
                match self.size() {
                    1 => list.extend(elements.iter().map(|byte| number(usize::from(*byte)))),
                    _ => list.extend(
                        elements
                            .as_chunks()
                            .0
                            .iter()
                            .map(|bytes| number(usize::from(u16::from_le_bytes(*bytes)))),
                    ),
                }
            }
        }
    }

    /// Whether whole numbers may be negative.
    #[must_use]
    pub(crate) fn are_signed(&self) -> bool {
        !matches!(self.0, Kind::Unsigned(_))
    }

    /// An element as a whole number, exactly; `None` for floats.
    #[must_use]
    pub fn whole(&self, element: &[u8]) -> Option<i128> {
        if !self.are_whole() || element.len() != self.size() {
            return None;
        }
        let is_negative = self.are_signed() && element.last().is_some_and(|byte| *byte >= 0x80);
        let mut wide = [if is_negative { 0xff } else { 0 }; 16];
        wide.iter_mut().zip(element).for_each(|(to, from)| *to = *from);
        Some(i128::from_le_bytes(wide))
    }

    /// The number of an element of a type whose numbers are rounded: integers of 64 bits and times.
    #[must_use]
    pub fn exact(&self, element: &[u8]) -> Option<i128> {
        match &self.0 {
            Kind::Unsigned(8) | Kind::Signed(8) | Kind::Time => self.whole(element),
            _ => None,
        }
    }

    /// Whether one element is less than another with the same rounded number.
    #[must_use]
    pub fn is_less(&self, one: &[u8], other: &[u8]) -> bool {
        self.exact(one) < self.exact(other)
    }
}

/// The number of each bit pattern of a small float. Patterns that are no value of the type, because
/// bits above it are set, are NaN.
fn table(data_type: &DataType, size: usize) -> Option<Vec<f64>> {
    let format = data_type.float_format().filter(|_| size <= 2)?;
    let patterns = 1_u64 << (8 * size);
    let number = |code: u64| match code >> format.bits() {
        0 => format.value(code).to_f64(),
        _ => f64::NAN,
    };
    Some((0..patterns).map(number).collect())
}

#[cfg(test)]
mod tests {
    use zarr_metadata::DataType;
    use zarr_metadata::parse_element;

    use super::Numbers;

    fn list(name: &str, elements: &[u8]) -> Vec<f64> {
        let data_type: DataType = name.parse().expect("a type");
        let mut list = vec![9.0];
        Numbers::of(&data_type).expect("numbers").list(elements, &mut list);
        list
    }

    #[test]
    fn elements_are_the_numbers_that_they_are_written_as() {
        let numbers = ["0", "1", "-1.5", "2", "-4"];
        for name in ["float64", "float32", "float16", "bfloat16", "float8_e4m3", "float6_e3m2fn"] {
            let data_type: DataType = name.parse().expect("a type");
            let mut elements = Vec::new();
            for number in numbers {
                parse_element(&data_type, number, &mut elements).expect("an element");
            }
            assert_eq!(list(name, &elements), [0.0, 1.0, -1.5, 2.0, -4.0], "{name}");
        }
        assert_eq!(list("int16", &[0xff, 0xff, 1, 0]), [-1.0, 1.0]);
        assert_eq!(list("uint16", &[0xff, 0xff, 1, 0]), [65_535.0, 1.0]);
        assert_eq!(list("int4", &[0xf9, 7]), [-7.0, 7.0]);
        assert_eq!(list("bool", &[0, 1]), [0.0, 1.0]);
        assert!(list("float16", &[0x01, 0x7e])[0].is_nan());
        assert_eq!(list("float16", &[0x00, 0xfc]), [f64::NEG_INFINITY]);
    }

    /// Their shortest decimals are other numbers: 65500 and 33300.
    #[test]
    fn floats_of_16_bits_are_exact() {
        let cases = [
            (0x7bff, 65_504.0),
            (0x0001, 2.0_f64.powi(-24)),
            (0x83ff, -1023.0 * 2.0_f64.powi(-24)),
            (0x0400, 2.0_f64.powi(-14)),
            (0x2e66, 0.099_975_585_937_5),
            (0x7c00, f64::INFINITY),
        ];
        for (bits, number) in cases {
            assert_eq!(list("float16", &u16::to_le_bytes(bits)), [number], "{bits:#x}");
        }
        assert_eq!(list("bfloat16", &0x4702_u16.to_le_bytes()), [33_280.0]);
        let patterns = || 0..=u16::MAX;
        let elements: Vec<u8> = patterns().flat_map(u16::to_le_bytes).collect();
        for (bits, number) in patterns().zip(list("bfloat16", &elements)) {
            let expected = f64::from(f32::from_bits(u32::from(bits) << 16));
            let is_same =
                number.is_nan() && expected.is_nan() || number.to_bits() == expected.to_bits();
            assert!(is_same, "{bits:#x}: {number}");
        }
    }

    #[test]
    fn other_types_are_not_numbers() {
        for name in ["complex64", "r16", "string"] {
            assert!(Numbers::of(&name.parse().expect("a type")).is_none(), "{name}");
        }
    }

    #[test]
    fn large_integers_keep_their_order() {
        let numbers = Numbers::of(&DataType::Uint64).expect("numbers");
        let [one, two] = [u64::MAX - 1, u64::MAX].map(u64::to_le_bytes);
        assert!(numbers.is_less(&one, &two) && !numbers.is_less(&two, &one));
    }
}
