//! Statistics: counts, range, mean, deviation and histogram of the elements of a region.

mod histogram;
mod partial;
mod summary;

use serde_json::{Value, json};
use zarr_array::{Array, Part, Selection};
use zarr_cf::{Numbers, Packing, element_type, missing, text};
use zarr_metadata::{ArrayMetadata, DataType};

use self::summary::{Apart, Extreme, Summary, Totals};
use crate::bits::Bits;
use crate::format::{element, value};
use crate::pieces::{elements, pieces};
use crate::{Progress, ReportError, Table, words};

/// The most rows of the histogram.
const ROWS: u64 = 20;

/// Statistics of elements of one array, read in pieces of 64 MiB. Of an array that stores few of its
/// chunks, only these are read.
///
/// Missing values (declared by attributes), NaN and NaT are counted, but not included in range,
/// mean, deviation and histogram.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, Selection};
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// let metadata = ArrayBuilder::new([3], DataType::Uint8).chunk_shape([2]).build()?;
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// array.write(0..2, &[3, 5])?;
/// let mut stats = zarr_report::stats::Stats::new(array.metadata())?;
/// stats.add(&array, &Selection::whole(&[3]), &mut |_bytes| {})?;
/// let json = stats.json("a")?;
/// assert_eq!((&json["max"], &json["fill"]), (&5.into(), &1.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stats {
    /// By `_Unsigned`, the type that is meant.
    data_type: DataType,
    /// The fill value in words.
    fill: String,
    packing: Packing,
    units: Option<String>,
    summary: Summary,
    /// Bytes of elements added by [`Stats::add`].
    bytes: u64,
}

impl Stats {
    /// Statistics without elements, for an array with this metadata.
    ///
    /// # Errors
    /// [`ReportError::NotNumbers`].
    pub fn new(metadata: &ArrayMetadata) -> Result<Self, ReportError> {
        let data_type = element_type(metadata);
        let Some(numbers) = Numbers::of(&data_type) else {
            return Err(ReportError::NotNumbers { data_type: words::data_type(&data_type) });
        };
        let bytes = metadata.fill_value().bytes();
        let mut fill = String::new();
        if let Some(bytes) = bytes {
            element::format(metadata.data_type(), bytes, &mut fill)?;
        }
        let apart = Apart { fill: bytes.unwrap_or_default().to_vec(), missing: missing(metadata) };
        Ok(Self {
            fill,
            packing: Packing::of(metadata),
            units: text(metadata, "units"),
            summary: Summary::new(numbers, apart, Bits::of(&data_type)),
            data_type,
            bytes: 0,
        })
    }

    /// Adds the elements of a region. `progress` is called with the bytes added so far by all calls.
    ///
    /// # Errors
    /// The array's error while it is read; [`ReportError::TooMany`].
    pub fn add(
        &mut self,
        array: &Array,
        region: &Selection,
        progress: Progress<'_>,
    ) -> Result<(), ReportError> {
        let mut left = elements(region)?;
        let mut count = |elements: u64| {
            left = left.saturating_sub(elements);
            let size = u64::try_from(array.element_size()).unwrap_or(u64::MAX);
            self.bytes = self.bytes.saturating_add(elements.saturating_mul(size));
            progress(self.bytes);
            left
        };
        for piece in pieces(array, region)? {
            let piece = piece?;
            self.summary.add(&array.read(&piece)?);
            count(elements(&piece)?);
        }
        let absent = count(0);
        if absent > 0 {
            self.summary.add_repeated(array.fill(), absent);
            count(absent);
        }
        Ok(())
    }

    /// Adds the documents of all parts of an array of `elements` elements, made by
    /// [`part_json`](Self::part_json). Errors use the name of each. The result is equal, bit by
    /// bit, to the result of one process, in any order of the documents.
    ///
    /// # Errors
    /// [`ReportError::Parts`] if a document is not of a part, or if parts are missing, given twice
    /// or of another array.
    pub fn combine(
        &mut self,
        documents: &[(String, String)],
        elements: u64,
    ) -> Result<(), ReportError> {
        let name = words::data_type(&self.data_type);
        partial::combine(documents, &name, elements, &mut self.summary).map_err(ReportError::Parts)
    }

    /// The member `partial` of the document of one part, for [`combine`](Self::combine).
    #[must_use]
    pub fn part_json(&self, part: Part) -> Value {
        partial::document(part, &words::data_type(&self.data_type), &self.summary)
    }

    /// In words, without the histogram.
    ///
    /// # Errors
    /// [`ReportError::Element`] if an element cannot be formatted.
    pub fn table(&self) -> Result<Table, ReportError> {
        let Self { data_type, fill, packing, units, summary, .. } = self;
        let totals = &summary.totals;
        let mut table = Table::default();
        let share = |n: u64| match totals.elements {
            0 => words::count(n),
            all => format!("{} ({}%)", words::count(n), percent(n, all)),
        };
        table.row("elements", words::count(totals.elements));
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
        let decoded = |number: f64| match packing.is_identity() {
            true => String::new(),
            false => format!(" ({})", short(packing.unpacked(number))),
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
            let scaled = match packing.is_identity() {
                true => String::new(),
                false => format!(" ({})", short(deviation * packing.scale().abs())),
            };
            table.row("std", format_args!("{}{scaled}", short(deviation)));
        }
        if let Some(units) = units.as_ref().filter(|_| totals.least.is_some()) {
            let which = if packing.is_identity() { "" } else { ", in brackets" };
            table.row("units", format_args!("{units}{which}"));
        }
        for (name, row) in summary.bits.iter().flat_map(Bits::rows) {
            table.row(name, row);
        }
        Ok(table)
    }

    /// The histogram: one bar per line of at most `columns` characters. If all elements are equal,
    /// there is none.
    ///
    /// # Errors
    /// [`ReportError::Element`] if an element cannot be formatted.
    pub fn histogram(&self, columns: usize) -> Result<Vec<String>, ReportError> {
        let Self { data_type, summary, .. } = self;
        let rows = match &summary.histogram {
            Some(histogram) if summary.totals.deviation() > Some(0.0) => histogram.rows(ROWS),
            _ => return Ok(Vec::new()),
        };
        let most = rows.iter().map(|row| row.2).max().unwrap_or(0).max(1);
        let labels = rows.iter().map(|row| number(data_type, row.0));
        let labels = labels.collect::<Result<Vec<_>, _>>()?;
        let counts: Vec<String> = rows.iter().map(|row| words::count(row.2)).collect();
        let width =
            |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let (label, count) = (width(&labels), width(&counts));
        let room = columns.saturating_sub(label + count + 8).clamp(8, 60);
        let mut lines = Vec::new();
        for ((row, from), n) in rows.iter().zip(&labels).zip(&counts) {
            let bar = bar(row.2, most, room);
            let line = format!("{from:>label$} \u{2264}  {n:>count$}  {bar}");
            lines.push(line.trim_end().to_owned());
        }
        let last = rows.last().map_or(Ok(String::new()), |row| number(data_type, row.1))?;
        lines.push(format!("{last:>label$} >"));
        Ok(lines)
    }

    /// The statistics as one JSON document; `name` is the name of the array in it.
    ///
    /// # Errors
    /// [`ReportError::Element`] if an element cannot be formatted.
    pub fn json(&self, name: &str) -> Result<Value, ReportError> {
        let Self { data_type, packing, units, summary, .. } = self;
        let totals: &Totals = &summary.totals;
        let of_element = |extreme: &Option<Extreme>| -> Result<Value, ReportError> {
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
            "array": name,
            "elements": totals.elements, "fill": totals.fill, "missing": totals.missing,
            "nan": totals.nan, "infinite": totals.infinite,
            "min": of_element(&totals.least)?, "max": of_element(&totals.greatest)?,
            "mean": totals.mean(), "std": totals.deviation(),
            "histogram": rows,
            "bits": summary.bits.as_ref().map(Bits::json),
        });
        if let (false, Some(members)) = (packing.is_identity(), document.as_object_mut()) {
            let of = |extreme: &Option<Extreme>| {
                extreme.as_ref().map(|extreme| packing.unpacked(extreme.number))
            };
            members.insert(
                "decoded".to_owned(),
                json!({
                    "min": of(&totals.least), "max": of(&totals.greatest),
                    "mean": totals.mean().map(|mean| packing.unpacked(mean)),
                    "std": totals.deviation().map(|deviation| deviation * packing.scale().abs()),
                    "units": units,
                }),
            );
        }
        Ok(document)
    }
}

/// Seven digits: enough to compare, and without the noise of rounding.
pub(crate) fn short(number: f64) -> String {
    let text = format!("{number:.6e}");
    let rounded: f64 = text.parse().unwrap_or(number);
    match rounded.abs() {
        0.0 => "0".to_owned(),
        size if (1e-4..1e12).contains(&size) => rounded.to_string(),
        _ => format!("{rounded:e}"),
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
pub(crate) fn number(data_type: &DataType, number: f64) -> Result<String, ReportError> {
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

/// A bar of `n` of `most`, in eighths of a character. Something is never nothing.
fn bar(n: u64, most: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let room = u64::try_from(room).unwrap_or(0).saturating_mul(8);
    let length = u128::from(n) * u128::from(room) / u128::from(most.max(1));
    let length = usize::try_from(length).unwrap_or(0).max(usize::from(n > 0));
    format!("{}{}", "█".repeat(length / 8), EIGHTHS[length % 8])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarr_array::store::{MemoryStore, Prefix};
    use zarr_array::{Array, Selection};
    use zarr_metadata::{ArrayBuilder, DataType};

    use super::{Stats, bar, percent, short};

    /// `serde_json` rounds some floats to a neighbour, unless a feature of it is enabled.
    #[test]
    fn the_extremes_of_a_document_are_elements() {
        let elements = [-5.338_722_882_562_4e-206, 9.969_209_968_386_869e36_f64];
        let metadata = ArrayBuilder::new([2], DataType::Float64).build().expect("a document");
        let store = Arc::new(MemoryStore::new());
        let array = Array::create(store, &Prefix::root(), metadata).expect("is new");
        array.write(0..2, &elements.map(f64::to_le_bytes).concat()).expect("writes");
        let mut stats = Stats::new(array.metadata()).expect("numbers");
        stats.add(&array, &Selection::whole(&[2]), &mut |_| {}).expect("reads");
        let json = stats.json("a").expect("JSON");
        assert_eq!((&json["min"], &json["max"]), (&elements[0].into(), &elements[1].into()));
    }

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
