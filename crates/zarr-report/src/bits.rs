//! The bits that elements use, and the number of distinct values. These show whether packing helps.

use serde_json::{Value, json};
use zarr_metadata::DataType;

use crate::words;

/// The most distinct values that are counted of elements with more than two bytes.
const MOST: usize = 4096;

/// Slots of the table of distinct values; at most a quarter is filled.
const SLOTS: usize = 4 * MOST;

/// The bits that components use, and the number of distinct values.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    /// Bytes of a component in memory.
    size: usize,
    /// Its bits by the data type.
    width: u32,
    /// Whether narrower values are sign-extended.
    signed: bool,
    /// The bits that are 1 in some component, and the bits that are 1 in all.
    any: u64,
    all: u64,
    /// The bits that differ from the sign in some component.
    differing: u64,
    distinct: Distinct,
}

/// Distinct components.
#[derive(Clone, Debug)]
enum Distinct {
    /// A bit for each pattern of at most two bytes.
    Patterns(Vec<u64>),
    /// A table by hash; a free slot is 0, which is counted apart.
    Table { slots: Vec<u64>, count: usize, has_zero: bool },
    /// More than are counted.
    Many,
}

impl Bits {
    /// `None` for types with components other than numbers of at most 8 bytes.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        let is_time =
            matches!(data_type, DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_));
        let layout = data_type.element_layout().filter(|_| data_type.is_packable() || is_time)?;
        let size = layout.component_size;
        let distinct = match size {
            1 | 2 => Distinct::Patterns(vec![0; (1 << (8 * size)) / 64]),
            4 | 8 => Distinct::Table { slots: Vec::new(), count: 0, has_zero: false },
            _ => return None,
        };
        let (width, signed) = (layout.component_bits, layout.signed);
        Some(Self { size, width, signed, any: 0, all: u64::MAX, differing: 0, distinct })
    }

    /// Adds elements.
    pub(crate) fn add(&mut self, elements: &[u8]) {
        macro_rules! each {
            ($type:ty) => {
                for bytes in elements.as_chunks::<{ size_of::<$type>() }>().0 {
                    self.one(i64::from(<$type>::from_le_bytes(*bytes)).cast_unsigned());
                }
            };
        }
        match self.size {
            1 => each!(i8),
            2 => each!(i16),
            4 => each!(i32),
            _ => each!(i64),
        }
    }

    /// Adds a component, sign-extended.
    fn one(&mut self, value: u64) {
        self.any |= value;
        self.all &= value;
        self.differing |= value ^ (value.cast_signed() >> 63).cast_unsigned();
        self.distinct.add(value);
    }

    /// Adds the counts of another thread or part.
    pub(crate) fn join(&mut self, other: &Self) {
        self.any |= other.any;
        self.all &= other.all;
        self.differing |= other.differing;
        match (&mut self.distinct, &other.distinct) {
            (Distinct::Patterns(seen), Distinct::Patterns(more)) => {
                seen.iter_mut().zip(more).for_each(|(seen, more)| *seen |= more);
            }
            (mine, Distinct::Table { slots, has_zero, .. }) => {
                slots.iter().filter(|slot| **slot != 0).for_each(|value| mine.add(*value));
                if *has_zero {
                    mine.add(0);
                }
            }
            (mine, _) => *mine = Distinct::Many,
        }
    }

    fn is_empty(&self) -> bool {
        self.all & !self.any != 0
    }

    /// The first and the last bit that packbits must keep, if there are elements: of signed integers
    /// the last one is their sign.
    pub(crate) fn kept(&self) -> Option<(u32, u32)> {
        if self.is_empty() {
            return None;
        }
        let last = match self.signed {
            true => 64 - self.differing.leading_zeros(),
            false => 63_u32.saturating_sub((self.any & self.mask()).leading_zeros()),
        };
        let last = last.min(self.width.saturating_sub(1));
        Some((self.any.trailing_zeros().min(last), last))
    }

    /// The bits of the data type.
    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    fn mask(&self) -> u64 {
        u64::MAX >> 64_u32.saturating_sub(self.width).min(63)
    }

    /// The bits that are the same in all components, ascending.
    fn constant(&self) -> Vec<u32> {
        let constant = !(self.any ^ self.all);
        (0..self.width).filter(|bit| constant >> bit & 1 == 1).collect()
    }

    /// The number of distinct components; `None` if there are more than are counted.
    pub(crate) fn distinct(&self) -> Option<u64> {
        let count = match &self.distinct {
            Distinct::Patterns(seen) => seen.iter().map(|bits| u64::from(bits.count_ones())).sum(),
            Distinct::Table { count, has_zero, .. } => {
                u64::try_from(*count).unwrap_or(u64::MAX) + u64::from(*has_zero)
            }
            Distinct::Many => return None,
        };
        Some(count)
    }

    /// The rows of a table: used and constant bits, and distinct values.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let Some((first, last)) = self.kept() else { return Vec::new() };
        let mut rows = Vec::new();
        let width = self.width;
        let used = last - first + 1;
        rows.push((
            "bits",
            match (used == width, width) {
                (true, 1) => "1 of 1 is needed".to_owned(),
                (true, _) => format!("all {width} are needed"),
                (false, _) => format!("{used} of {width} are needed: {first} to {last}"),
            },
        ));
        let constant = ranges(&self.constant());
        if !constant.is_empty() {
            rows.push(("constant", format!("bits {constant}")));
        }
        rows.push((
            "distinct",
            match self.distinct() {
                Some(count) => words::counted(count, "value"),
                None => format!("more than {} values", words::count(MOST)),
            },
        ));
        rows
    }

    /// As a document.
    pub(crate) fn json(&self) -> Value {
        json!({
            "needed_bits": self.kept().map(|(first, last)| [first, last]),
            "type_bits": self.width,
            "constant_bits": if self.is_empty() { Vec::new() } else { self.constant() },
            "distinct": self.distinct(),
            "distinct_counted_to": match self.distinct {
                Distinct::Patterns(_) => 1 << (8 * self.size),
                _ => MOST,
            },
        })
    }

    /// For the file of a part: numbers as hexadecimal digits.
    pub(crate) fn part(&self) -> Value {
        let digits = |number: &u64| format!("{number:x}");
        let distinct = match &self.distinct {
            Distinct::Patterns(seen) => {
                json!({"patterns": seen.iter().map(digits).collect::<Vec<_>>()})
            }
            Distinct::Table { slots, has_zero, .. } => {
                let mut values: Vec<u64> =
                    slots.iter().copied().filter(|slot| *slot != 0).collect();
                values.extend(has_zero.then_some(0));
                values.sort_unstable();
                json!({"values": values.iter().map(digits).collect::<Vec<_>>()})
            }
            Distinct::Many => json!("many"),
        };
        let [any, all, differing] = [self.any, self.all, self.differing].map(|n| digits(&n));
        json!({"any": any, "all": all, "differing": differing, "distinct": distinct})
    }

    /// Adds the counts in the file of a part; `None` if the value is no such counts.
    pub(crate) fn add_part(&mut self, part: &Value) -> Option<()> {
        let number = |value: &Value| u64::from_str_radix(value.as_str()?, 16).ok();
        let list =
            |value: &Value| value.as_array()?.iter().map(number).collect::<Option<Vec<u64>>>();
        let mut other = Self { distinct: Distinct::Many, ..self.clone() };
        other.any = number(part.get("any")?)?;
        other.all = number(part.get("all")?)?;
        other.differing = number(part.get("differing")?)?;
        let distinct = part.get("distinct")?;
        match (&self.distinct, distinct.get("patterns"), distinct.get("values")) {
            (Distinct::Patterns(seen), Some(patterns), _) => {
                let patterns = list(patterns)?;
                (patterns.len() == seen.len()).then_some(())?;
                other.distinct = Distinct::Patterns(patterns);
            }
            (Distinct::Table { .. } | Distinct::Many, _, Some(values)) => {
                let mut table = Distinct::Table { slots: Vec::new(), count: 0, has_zero: false };
                list(values)?.into_iter().for_each(|value| table.add(value));
                other.distinct = table;
            }
            _ => (distinct == "many").then_some(())?,
        }
        self.join(&other);
        Some(())
    }
}

impl Distinct {
    fn add(&mut self, value: u64) {
        match self {
            Self::Patterns(seen) => {
                let pattern = usize::from(value as u16) & (seen.len() * 64 - 1);
                if let Some(bits) = seen.get_mut(pattern / 64) {
                    *bits |= 1 << (pattern % 64);
                }
            }
            Self::Many => {}
            Self::Table { has_zero, .. } if value == 0 => *has_zero = true,
            Self::Table { slots, count, .. } => {
                if slots.is_empty() {
                    *slots = vec![0; SLOTS];
                }
                // Fibonacci hashing: the upper bits of the product.
                let hash = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                let mut at = hash as usize % SLOTS;
                while slots[at] != 0 && slots[at] != value {
                    at = (at + 1) % SLOTS;
                }
                if slots[at] == 0 {
                    slots[at] = value;
                    *count += 1;
                    if *count > MOST {
                        *self = Self::Many;
                    }
                }
            }
        }
    }
}

/// Ascending numbers as `0, 12 to 15`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let words = runs.filter_map(|run| match (run.first()?, run.last()?) {
        (first, last) if first == last => Some(first.to_string()),
        (first, last) => Some(format!("{first} to {last}")),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(data_type: &DataType, elements: &[i64]) -> Bits {
        let mut bits = Bits::of(data_type).expect("numbers");
        let size = bits.size;
        for element in elements {
            bits.add(&element.to_le_bytes()[..size]);
        }
        bits
    }

    #[test]
    fn the_bits_that_packing_keeps() {
        for (data_type, elements, kept) in [
            (DataType::Uint16, &[0, 4095, 7][..], (0, 11)),
            (DataType::Uint16, &[0xfff0, 0x10], (4, 15)),
            (DataType::Uint16, &[0], (0, 0)),
            (DataType::Int16, &[-2048, 2047], (0, 11)),
            (DataType::Int16, &[-4, 4], (2, 3)),
            (DataType::Int8, &[0, -1], (0, 0)),
            (DataType::Int64, &[i64::MIN, 1], (0, 63)),
            (DataType::Uint64, &[-1], (0, 63)),
            (DataType::Bool, &[0, 1], (0, 0)),
            (DataType::Int4, &[-8, 7], (0, 3)),
            // 1.0 and -2.0: the lower bits of the mantissa are not used, the sign is.
            (DataType::Float32, &[0x3f80_0000, 0xc000_0000], (23, 31)),
        ] {
            assert_eq!(of(&data_type, elements).kept(), Some(kept), "{data_type} {elements:?}");
        }
        assert_eq!(of(&DataType::Uint8, &[]).kept(), None);
        assert!(Bits::of(&DataType::String).is_none());
    }

    /// Packbits refuses exactly the values that do not fit into these bits.
    #[test]
    fn packing_loses_nothing_with_these_bits_and_something_with_fewer() {
        use zarr_codec::{AxisEdges, Chain};
        use zarr_metadata::Codec;
        for (data_type, elements) in [
            (DataType::Int16, [-300, 12, 0]),
            (DataType::Uint32, [0x00ff_00f0, 0x10, 0x20]),
            (DataType::Int32, [-64, 32, 96]),
        ] {
            let bits = of(&data_type, &elements);
            let size = bits.size;
            let bytes: Vec<u8> =
                elements.iter().flat_map(|n: &i64| n.to_le_bytes()[..size].to_vec()).collect();
            let (first, last) = bits.kept().expect("elements");
            let lost = |first: u32, last: u32| {
                let codecs = [Codec::packbits(first.into()..=last.into())];
                let chain = Chain::bind(&codecs, &data_type, &[AxisEdges::one(3)]).expect("binds");
                chain.lost(&bytes).expect("elements")
            };
            assert_eq!(lost(first, last), None, "{data_type}");
            assert!(lost(first, last - 1).is_some(), "{data_type}");
            assert!(lost(first + 1, last).is_some(), "{data_type}");
        }
    }

    #[test]
    fn distinct_values_and_constant_bits() {
        let bits = of(&DataType::Uint8, &[0b1000_0001, 0b1000_0011, 0b1000_0001]);
        assert_eq!((bits.distinct(), bits.constant()), (Some(2), vec![0, 2, 3, 4, 5, 6, 7]));
        assert_eq!(ranges(&bits.constant()), "0, 2 to 7");
        let many: Vec<i64> = (0..4096).collect();
        assert_eq!(of(&DataType::Float64, &many).distinct(), Some(4096));
        let more: Vec<i64> = (0..4098).collect();
        assert_eq!(of(&DataType::Int32, &more).distinct(), None);
        assert_eq!(of(&DataType::Int16, &more).distinct(), Some(4098));
    }

    #[test]
    fn parts_make_the_whole() {
        for (data_type, count) in
            [(DataType::Uint16, 9_i64), (DataType::Int64, 500), (DataType::Int64, 9000)]
        {
            let elements: Vec<i64> = (0..count).map(|n| n * n - 40).collect();
            let whole = of(&data_type, &elements);
            let mut joined = Bits::of(&data_type).expect("numbers");
            for part in elements.chunks(7) {
                let text = of(&data_type, part).part().to_string();
                let part = serde_json::from_str(&text).expect("JSON");
                joined.add_part(&part).expect("a part");
            }
            assert_eq!(joined.part(), whole.part());
            assert_eq!(joined.json(), whole.json());
            assert!(joined.add_part(&json!({"any": "0", "all": "0"})).is_none());
        }
    }
}
