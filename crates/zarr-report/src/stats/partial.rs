//! Statistics of one part of an array, written and combined without a loss: numbers are the
//! hexadecimal digits of their bits.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use zarr_array::Part;

use super::histogram::Histogram;
use super::summary::{Extreme, Moments, Summary, Totals};
use crate::bits::Bits;

fn digits(number: f64) -> Value {
    format!("{:016x}", number.to_bits()).into()
}

fn number(value: &Value) -> Option<f64> {
    Some(f64::from_bits(u64::from_str_radix(value.as_str()?, 16).ok()?))
}

fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let list = value.as_array()?.iter().map(number).collect::<Option<Vec<_>>>()?;
    list.try_into().ok()
}

fn extreme(extreme: &Option<Extreme>) -> Value {
    let Some(Extreme { number, element }) = extreme else { return Value::Null };
    let element: String = element.iter().map(|byte| format!("{byte:02x}")).collect();
    json!([digits(*number), element])
}

fn parse_extreme(value: &Value, size: usize) -> Option<Option<Extreme>> {
    if value.is_null() {
        return Some(None);
    }
    let number = number(value.get(0)?)?;
    let text = value.get(1)?.as_str()?;
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let element: Vec<u8> = (0..text.len()).step_by(2).map(byte).collect::<Option<_>>()?;
    (element.len() == size).then_some(Some(Extreme { number, element }))
}

/// The content of the file of a part, besides the statistics for people.
pub(super) fn document(part: Part, data_type: &str, summary: &Summary) -> Value {
    let totals = &summary.totals;
    json!({
        "part": part.to_string(),
        "data_type": data_type,
        "elements": totals.elements, "fill": totals.fill, "missing": totals.missing,
        "nan": totals.nan, "infinite": totals.infinite,
        "least": extreme(&totals.least), "greatest": extreme(&totals.greatest),
        "finite": totals.finite.map(|(low, high)| json!([digits(low), digits(high)])),
        "moments": totals.moments.as_array().map(digits),
        "histogram": summary.histogram.as_ref().map(|histogram| {
            let (power, first, counts) = histogram.bins();
            json!({"power": power, "first": first, "counts": counts})
        }),
        "bits": summary.bits.as_ref().map(Bits::part),
    })
}

/// One part, as a file has it.
struct Partial {
    part: Part,
    totals: Totals,
    histogram: Option<Histogram>,
    bits: Value,
}

impl Partial {
    fn parse(document: &Value, data_type: &str, size: usize) -> Option<Self> {
        let partial = document.get("partial")?;
        let of = |name: &str| partial.get(name);
        let count = |name: &str| of(name)?.as_u64();
        if of("data_type")?.as_str()? != data_type {
            return None;
        }
        let finite = match of("finite")? {
            Value::Null => None,
            value => Some(numbers::<2>(value)?.into()),
        };
        let histogram = match of("histogram")? {
            Value::Null => None,
            value => {
                let counts = value.get("counts")?.as_array()?.iter().map(Value::as_u64);
                let power = i32::try_from(value.get("power")?.as_i64()?).ok()?;
                let first = value.get("first")?.as_i64()?;
                Some(Histogram::of_bins(power, first, counts.collect::<Option<_>>()?)?)
            }
        };
        let totals = Totals {
            elements: count("elements")?,
            fill: count("fill")?,
            missing: count("missing")?,
            nan: count("nan")?,
            infinite: count("infinite")?,
            least: parse_extreme(of("least")?, size)?,
            greatest: parse_extreme(of("greatest")?, size)?,
            finite,
            moments: Moments::of_array(numbers(of("moments")?)?),
        };
        let bits = of("bits")?.clone();
        Some(Self { part: of("part")?.as_str()?.parse().ok()?, totals, histogram, bits })
    }
}

/// The document of a part.
fn read(name: &str, text: &str, data_type: &str, size: usize) -> Result<Partial, String> {
    let document = serde_json::from_str::<Value>(text).ok();
    let partial = document.and_then(|document| Partial::parse(&document, data_type, size));
    partial.ok_or_else(|| refused(name, data_type))
}

fn refused(name: &str, data_type: &str) -> String {
    format!("{name}: not the statistics of a part, in JSON, of an array of {data_type}")
}

/// Combines the documents of all parts, in the order of the parts, of an array of so many elements.
pub(super) fn combine(
    documents: &[(String, String)],
    data_type: &str,
    elements: u64,
    summary: &mut Summary,
) -> Result<(), String> {
    let mut parts = BTreeMap::new();
    for (name, text) in documents {
        let partial = read(name, text, data_type, summary.element_size())?;
        if let Some((other, _)) = parts.insert(partial.part.number(), (name, partial)) {
            return Err(format!("{name}: the same part as {other}"));
        }
    }
    let of = parts.values().next().map_or(0, |(_, partial)| partial.part.of());
    for (name, Partial { part, .. }) in parts.values() {
        if part.of() != of {
            return Err(format!("{name}: part {part}, where another file has one of {of}"));
        }
    }
    if let Some(missing) = (1..=of).find(|part| !parts.contains_key(part)) {
        return Err(format!("part {missing}/{of} is missing"));
    }
    for (name, partial) in parts.into_values() {
        if let Some(bits) = &mut summary.bits {
            bits.add_part(&partial.bits).ok_or_else(|| refused(name, data_type))?;
        }
        summary.join(partial.totals, partial.histogram);
    }
    if summary.totals.elements != elements {
        let found = summary.totals.elements;
        return Err(format!(
            "the parts have {found} elements, but the array {elements}: they are of \
             another array, or it has changed"
        ));
    }
    Ok(())
}
