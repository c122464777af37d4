//! numpy's type names: `'<i4'`, or the list of the fields of a record.

use zarr_metadata::{DataType, TimeStep, TimeUnit};

/// numpy's name of a type in its in-memory form, as a Python literal.
pub(super) fn type_string(data_type: &DataType) -> String {
    if let DataType::Struct(record) = data_type {
        let fields = record.fields().iter().map(|field| {
            format!("({}, {})", literal(field.name()), type_string(field.data_type()))
        });
        return format!("[{}]", fields.collect::<Vec<_>>().join(", "));
    }
    format!("'{}'", plain(data_type))
}

/// The name of a type that is not a record, without quotes.
pub(super) fn plain(data_type: &DataType) -> String {
    let size = data_type.size().unwrap_or(1);
    let order = if size == 1 { '|' } else { '<' };
    match data_type {
        DataType::NumpyDatetime64(step) => format!("<M8{}", step_string(step)),
        DataType::NumpyTimedelta64(step) => format!("<m8{}", step_string(step)),
        DataType::FixedLengthUtf32(length) => format!("<U{}", length.code_points()),
        DataType::NullTerminatedBytes(length) => format!("|S{}", length.bytes()),
        _ => match kind(data_type) {
            None => format!("|V{size}"),
            Some(kind) => format!("{order}{kind}{size}"),
        },
    }
}

/// Formats `[10us]`; empty if the unit is generic.
fn step_string(step: &TimeStep) -> String {
    match (step.unit(), step.scale_factor()) {
        (TimeUnit::Generic, _) => String::new(),
        (unit, 1) => format!("[{}]", unit.name()),
        (unit, scale) => format!("[{scale}{}]", unit.name()),
    }
}

/// The letter of numpy's type with the same elements.
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

/// Types that are voids in numpy have no byte order there, even if they have one here.
fn has_order(data_type: &DataType) -> bool {
    data_type.has_byte_order() && !plain(data_type).starts_with('|')
}

/// The type in a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Descr {
    Plain(String),
    Fields(Vec<(String, Descr)>),
}

impl Descr {
    /// Parses the type at the beginning of `text`; returns it and the rest of the text.
    pub(super) fn parse(text: &str) -> Option<(Self, &str)> {
        Self::parse_within(text, 0)
    }

    fn parse_within(text: &str, depth: usize) -> Option<(Self, &str)> {
        // As deep as documents may be.
        const DEEPEST: usize = 128;
        let Some(mut rest) = text.strip_prefix('[') else {
            let (name, after) = quoted(text)?;
            return Some((Self::Plain(name), after));
        };
        if depth > DEEPEST {
            return None;
        }
        let mut fields = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(']') {
                return Some((Self::Fields(fields), after));
            }
            let (name, after) = quoted(rest.strip_prefix('(')?.trim_start())?;
            let after = after.trim_start().strip_prefix(',')?.trim_start();
            let (descr, after) = Self::parse_within(after, depth + 1)?;
            // A third member is a shape, which fields do not have here.
            rest = after.trim_start().strip_prefix(')')?.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest);
            fields.push((name, descr));
        }
    }

    /// Whether the elements are big-endian, if they have this type; otherwise an error that
    /// describes their type.
    pub(super) fn matches(&self, data_type: &DataType) -> Result<bool, String> {
        let mut orders = Vec::new();
        if !self.collect(data_type, &mut orders) {
            return Err(self.shown());
        }
        match (orders.contains(&true), orders.contains(&false)) {
            (true, true) => Err(format!("{}, of both byte orders", self.shown())),
            (big_endian, _) => Ok(big_endian),
        }
    }

    /// Whether the types are equal. Collects for each type with a byte order whether it is
    /// big-endian.
    fn collect(&self, data_type: &DataType, big_endian: &mut Vec<bool>) -> bool {
        match (self, data_type) {
            (Self::Fields(fields), DataType::Struct(record)) => {
                fields.len() == record.fields().len()
                    && fields.iter().zip(record.fields()).all(|((name, descr), field)| {
                        name == field.name() && descr.collect(field.data_type(), big_endian)
                    })
            }
            (Self::Plain(name), _) if !matches!(data_type, DataType::Struct(_)) => {
                // `|` and `=` do not give the order; such files are little-endian if it matters.
                let (order, name) = name.split_at_checked(1).unwrap_or_default();
                if has_order(data_type) {
                    big_endian.push(order == ">");
                }
                let wanted = plain(data_type);
                ["<", ">", "|", "="].contains(&order) && Some(name) == wanted.get(1..)
            }
            _ => false,
        }
    }

    /// The type in a message, cut if it is long.
    fn shown(&self) -> String {
        const SHOWN: usize = 100;
        let mut text = String::new();
        self.write(&mut text);
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
            None => text,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Plain(name) => out.push_str(name),
            Self::Fields(fields) => {
                for (index, (name, descr)) in fields.iter().enumerate() {
                    out.push_str(if index == 0 { "[(" } else { "), (" });
                    out.push_str(&literal(name));
                    out.push_str(", ");
                    descr.write(out);
                }
                out.push_str(")]");
            }
        }
    }
}

/// A text as Python writes it, in single quotes.
fn literal(text: &str) -> String {
    let mut literal = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => literal.extend(['\\', c]),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            c if c.is_control() => literal.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => literal.push(c),
        }
    }
    literal.push('\'');
    literal
}

/// A text in quotes of either kind, with its escapes resolved, and the rest after it.
pub(super) fn quoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.chars();
    let quote = letters.next().filter(|c| ['\'', '"'].contains(c))?;
    let mut found = String::new();
    loop {
        match letters.next()? {
            c if c == quote => return Some((found, letters.as_str())),
            '\\' => {
                let digits = match letters.next()? {
                    'n' => {
                        found.push('\n');
                        continue;
                    }
                    'r' => {
                        found.push('\r');
                        continue;
                    }
                    't' => {
                        found.push('\t');
                        continue;
                    }
                    c @ ('\'' | '"' | '\\') => {
                        found.push(c);
                        continue;
                    }
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => return None,
                };
                let code = letters.as_str().get(..digits)?;
                found.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
                letters = letters.as_str().get(digits..)?.chars();
            }
            c => found.push(c),
        }
    }
}
