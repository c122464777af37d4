//! `zarr-kit stats`.

mod histogram;
mod partial;
mod summary;

use serde_json::{Value, json};
use zarr_kit::metadata::{DataType, FillValue};
use zarr_kit::{Array, ArrayMetadata, Selection};

use self::summary::{Apart, Extreme, Summary, Totals};
use super::write::bytes_of;
use crate::args::Stats;
use crate::error::CliError;
use crate::format::{element, value};
use crate::node_store::NodeStore;
use crate::number::Numbers;
use crate::print::{self, Out, Table};
use crate::progress::Bar;
use crate::region::region;
use crate::sizes::PIECE;
use crate::words;

/// The most rows of the histogram.
const ROWS: u64 = 20;

/// The attributes that declare values as missing, by the CF conventions.
const MISSING: [&str; 2] = ["_FillValue", "missing_value"];

pub(super) fn run(args: &Stats) -> Result<(), CliError> {
    let place = NodeStore::open(&args.array)?;
    let array = place.array()?;
    let (metadata, data_type) = (array.metadata(), array.data_type());
    let mut summary = begun(&place, metadata)?;
    let region = region(&place, metadata, args.region.as_deref())?;
    let name = words::data_type(data_type);
    match args.part {
        _ if !args.combine.is_empty() => {
            // Without --region, which --combine excludes.
            let all = region.elements().unwrap_or(u64::MAX);
            partial::combine(&args.combine, &name, all, &mut summary)?;
        }
        Some(part) => {
            let regions = part.regions(&array).map_err(|cause| place.failed(cause))?;
            add_all(&place, &array, &regions, &mut summary, &Bar::new())?;
        }
        None => add_all(&place, &array, &[region], &mut summary, &Bar::new())?,
    }
    let scale = Scale::of(metadata);
    let mut out = Out::stdout();
    if args.json {
        let mut document = document(&place.shown, data_type, &summary, &scale)?;
        if let (Some(part), Some(members)) = (args.part, document.as_object_mut()) {
            members.insert("partial".to_owned(), partial::document(part, &name, &summary));
        }
        out.json(&document)?;
    } else {
        text(data_type, &summary, &scale, metadata, &mut out)?;
    }
    out.finish()
}

/// The document of an array that is open already, without a progress bar.
pub(crate) fn json_of(
    place: &NodeStore,
    array: &Array,
    region: &Selection,
) -> Result<Value, CliError> {
    let mut summary = begun(place, array.metadata())?;
    add_all(place, array, std::slice::from_ref(region), &mut summary, &Bar::hidden())?;
    document(&place.shown, array.data_type(), &summary, &Scale::of(array.metadata()))
}

/// A summary without elements.
fn begun(place: &NodeStore, metadata: &ArrayMetadata) -> Result<Summary, CliError> {
    let data_type = metadata.data_type();
    let Some(numbers) = Numbers::of(data_type) else {
        return Err(CliError::NotNumbers {
            place: place.shown.clone(),
            data_type: words::data_type(data_type),
        });
    };
    let apart = Apart {
        fill: metadata.fill_value().bytes().unwrap_or_default().to_vec(),
        missing: missing(metadata),
    };
    Ok(Summary::new(numbers, apart))
}

fn add_all(
    place: &NodeStore,
    array: &Array,
    regions: &[Selection],
    summary: &mut Summary,
    bar: &Bar,
) -> Result<(), CliError> {
    let failed = |cause| place.failed(cause);
    let total = regions.iter().try_fold(0_u64, |total, region| {
        total.checked_add(bytes_of(region, array.element_size())?)
    });
    let mut done = 0_u64;
    for region in regions {
        for piece in array.pieces(region, PIECE).map_err(failed)? {
            let elements = array.read(&piece).map_err(failed)?;
            summary.add(&elements);
            done = done.saturating_add(u64::try_from(elements.len()).unwrap_or(u64::MAX));
            bar.bytes("reading", done, total);
        }
    }
    Ok(())
}

/// The elements that the attributes declare as missing. A value that the type does not have is
/// none of its elements.
pub(super) fn missing(metadata: &ArrayMetadata) -> Vec<Vec<u8>> {
    let data_type = metadata.data_type();
    let values = MISSING.iter().filter_map(|name| metadata.attribute(name)).flat_map(|json| {
        match serde_json::from_str(json) {
            Ok(Value::Array(values)) => values.iter().map(ToString::to_string).collect(),
            _ => vec![json.to_owned()],
        }
    });
    let elements = values.filter_map(|json| {
        let value = FillValue::parse(data_type, &json).ok()?;
        value.bytes().map(<[u8]>::to_vec)
    });
    elements.collect()
}

/// The attributes `scale_factor`, `add_offset` and `units` of the CF conventions.
pub(super) struct Scale {
    factor: f64,
    offset: f64,
    pub(super) units: Option<String>,
}

impl Scale {
    pub(super) fn of(metadata: &ArrayMetadata) -> Self {
        let attribute = |name| metadata.attribute(name);
        let number =
            |name, default| attribute(name).and_then(|json| json.parse().ok()).unwrap_or(default);
        let units = attribute("units").and_then(|json| serde_json::from_str(json).ok());
        Self { factor: number("scale_factor", 1.0), offset: number("add_offset", 0.0), units }
    }

    pub(super) fn is_one(&self) -> bool {
        self.factor == 1.0 && self.offset == 0.0
    }

    pub(super) fn of_number(&self, number: f64) -> f64 {
        number.mul_add(self.factor, self.offset)
    }
}

/// Seven digits: enough to compare, and without the noise of rounding.
pub(super) fn short(number: f64) -> String {
    let text = format!("{number:.6e}");
    let rounded: f64 = text.parse().unwrap_or(number);
    match rounded.abs() {
        0.0 => "0".to_owned(),
        size if (1e-4..1e12).contains(&size) => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

fn text(
    data_type: &DataType,
    summary: &Summary,
    scale: &Scale,
    metadata: &ArrayMetadata,
    out: &mut Out,
) -> Result<(), CliError> {
    let totals = &summary.totals;
    let mut table = Table::default();
    let share = |n: u64| match totals.elements {
        0 => words::count(n),
        all => format!("{} ({}%)", words::count(n), percent(n, all)),
    };
    table.row("elements", words::count(totals.elements));
    let mut fill = String::new();
    if let Some(bytes) = metadata.fill_value().bytes() {
        element::format(data_type, bytes, &mut fill)?;
    }
    table.row("fill", format_args!("{} equal the fill value {fill}", share(totals.fill)));
    if totals.missing > 0 {
        table.row(
            "missing",
            format_args!("{} by attributes, left out below", share(totals.missing)),
        );
    }
    let (name, can) = match data_type {
        DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_) => ("NaT", true),
        other => ("NaN", other.is_float()),
    };
    if can {
        table.row(name, share(totals.nan));
    }
    if totals.infinite > 0 {
        let of = "in min and max only";
        table.row("infinite", format_args!("{}, {of}", share(totals.infinite)));
    }
    let decoded = |number: f64| match scale.is_one() {
        true => String::new(),
        false => format!(" ({})", short(scale.of_number(number))),
    };
    for (name, extreme) in [("min", &totals.least), ("max", &totals.greatest)] {
        if let Some(Extreme { number, element }) = extreme {
            let mut text = String::new();
            element::format(data_type, element, &mut text)?;
            table.row(name, format_args!("{text}{}", decoded(*number)));
        }
    }
    if let (Some(mean), Some(deviation)) = (totals.mean(), totals.deviation()) {
        table.row("mean", format_args!("{}{}", number(data_type, mean)?, decoded(mean)));
        let scaled = match scale.is_one() {
            true => String::new(),
            false => format!(" ({})", short(deviation * scale.factor.abs())),
        };
        table.row("std", format_args!("{}{scaled}", short(deviation)));
    }
    if let Some(units) = scale.units.as_ref().filter(|_| totals.least.is_some()) {
        let which = if scale.is_one() { "" } else { ", in brackets" };
        table.row("units", format_args!("{units}{which}"));
    }
    table.print(out)?;
    match &summary.histogram {
        // Elements that are all alike need no picture.
        Some(histogram) if totals.deviation() > Some(0.0) => {
            out.line("")?;
            bars(data_type, &histogram.rows(ROWS), out)
        }
        _ => Ok(()),
    }
}

/// A share in percent, but never 0 for some or 100 for not all.
fn percent(n: u64, all: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
    let share = n as f64 * 100.0 / all as f64;
    match share {
        _ if n == 0 || n == all => format!("{share:.0}"),
        share if share < 0.01 => "less than 0.01".to_owned(),
        share if share > 99.99 => "more than 99.99".to_owned(),
        share => format!("{share:.2}"),
    }
}

/// A number that need not be an element: of a time, the time.
pub(super) fn number(data_type: &DataType, number: f64) -> Result<String, CliError> {
    match data_type {
        DataType::NumpyDatetime64(_) => {
            #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
            let count = number.round() as i64;
            let mut text = String::new();
            element::format(data_type, &count.to_le_bytes(), &mut text)?;
            Ok(text)
        }
        _ => Ok(short(number)),
    }
}

/// The histogram: one bar per row, as long as the terminal allows.
fn bars(data_type: &DataType, rows: &[(f64, f64, u64)], out: &mut Out) -> Result<(), CliError> {
    let most = rows.iter().map(|row| row.2).max().unwrap_or(0).max(1);
    let labels = rows.iter().map(|row| number(data_type, row.0));
    let labels = labels.collect::<Result<Vec<_>, _>>()?;
    let counts: Vec<String> = rows.iter().map(|row| words::count(row.2)).collect();
    let width = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let (label, count) = (width(&labels), width(&counts));
    let room = print::columns().saturating_sub(label + count + 8).clamp(8, 60);
    for ((row, from), n) in rows.iter().zip(&labels).zip(&counts) {
        let bar = bar(row.2, most, room);
        out.line(
            format_args!("{from:>label$} \u{2264}  {n:>count$}  {bar}").to_string().trim_end(),
        )?;
    }
    let last = rows.last().map_or(Ok(String::new()), |row| number(data_type, row.1))?;
    out.line(format_args!("{last:>label$} >"))
}

/// A bar of `n` of `most`, in eighths of a character. Something is never nothing.
fn bar(n: u64, most: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let room = u64::try_from(room).unwrap_or(0).saturating_mul(8);
    let length = u128::from(n) * u128::from(room) / u128::from(most.max(1));
    let length = usize::try_from(length).unwrap_or(0).max(usize::from(n > 0));
    format!("{}{}", "█".repeat(length / 8), EIGHTHS[length % 8])
}

fn document(
    place: &str,
    data_type: &DataType,
    summary: &Summary,
    scale: &Scale,
) -> Result<Value, CliError> {
    let totals: &Totals = &summary.totals;
    let of_element = |extreme: &Option<Extreme>| -> Result<Value, CliError> {
        let Some(extreme) = extreme else { return Ok(Value::Null) };
        let mut text = String::new();
        value::write(data_type, &extreme.element, &mut text)?;
        Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
    };
    let rows = summary.histogram.as_ref().map(|histogram| histogram.rows(ROWS));
    let rows: Vec<Value> = rows
        .unwrap_or_default()
        .iter()
        .map(|(from, to, count)| json!({"from": from, "to": to, "count": count}))
        .collect();
    let mut document = json!({
        "array": place,
        "elements": totals.elements, "fill": totals.fill, "missing": totals.missing,
        "nan": totals.nan, "infinite": totals.infinite,
        "min": of_element(&totals.least)?, "max": of_element(&totals.greatest)?,
        "mean": totals.mean(), "std": totals.deviation(),
        "histogram": rows,
    });
    if let (false, Some(members)) = (scale.is_one(), document.as_object_mut()) {
        let of = |extreme: &Option<Extreme>| {
            extreme.as_ref().map(|extreme| scale.of_number(extreme.number))
        };
        members.insert(
            "decoded".to_owned(),
            json!({
                "min": of(&totals.least), "max": of(&totals.greatest),
                "mean": totals.mean().map(|mean| scale.of_number(mean)),
                "std": totals.deviation().map(|deviation| deviation * scale.factor.abs()),
                "units": scale.units,
            }),
        );
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::{bar, percent, short};

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0.1 + 0.2, "0.3"),
            (-1234.56789, "-1234.568"),
            (1e-9, "1e-9"),
            (2e15, "2e15"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn some_is_never_shown_as_none_or_all() {
        assert_eq!(percent(0, 7), "0");
        assert_eq!(percent(7, 7), "100");
        assert_eq!(percent(1, 3), "33.33");
        assert_eq!(percent(1, 1 << 40), "less than 0.01");
        assert_eq!(percent((1 << 40) - 1, 1 << 40), "more than 99.99");
        assert_eq!(bar(0, 100, 10), "");
        assert_eq!(bar(1, 100_000, 10), "▏");
        assert_eq!(bar(100, 100, 3), "███");
    }
}
