//! The labels of axes: the elements of coordinate arrays, as in Xarray.
//!
//! A coordinate array has one axis, and the name of the dimension that it labels.

use std::ops::Range;

use zarr_array::{Array, ArrayError, AxisSelection, Selection};
use zarr_metadata::cf::{TimeAxis, missing, text};
use zarr_metadata::{ArrayMetadata, DataType, format_element};

use crate::{Numbers, ReportError, words};

/// A label as a number of the coordinate's type: integers are exact, other numbers are rounded to
/// the type.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Label {
    /// An integer.
    Whole(i128),
    /// Any other number.
    Real(f64),
}

/// The type of labels.
pub enum LabelKind {
    /// Integers.
    Whole {
        /// Their meaning as times, if they are times.
        time: Option<TimeAxis>,
    },
    /// Numbers with a fraction.
    Real {
        /// Their meaning as times, if they are times.
        time: Option<TimeAxis>,
        /// Whether they have 32 bits.
        single: bool,
    },
    /// Texts.
    Text,
}

/// The labels of one axis.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::Array;
/// use zarr_array::store::{MemoryStore, Prefix};
/// use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_report::labels::Labels;
///
/// let metadata = ArrayBuilder::new([2], DataType::Int32)
///     .attributes(r#"{"units": "days since 2012-02-28"}"#)
///     .build()?;
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::new("time")?, metadata)?;
/// array.write_as::<i32>(0..2, &[1, 2])?;
/// let labels = Labels::of(array, 2)?;
/// assert_eq!(labels.texts(&(0..2).into())?, ["2012-02-29", "2012-03-01"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Labels {
    array: Array,
    numbers: Option<Numbers>,
    kind: LabelKind,
    /// The labels that stand for a time that is missing.
    missing: Vec<Label>,
}

impl Labels {
    /// The labels of a coordinate array, for an axis of this length.
    ///
    /// # Errors
    /// The reason why it has no labels for the axis, without its name.
    pub fn of(array: Array, length: u64) -> Result<Self, String> {
        let shape = array.shape();
        if shape != [length] {
            return Err(format!(
                "the shape {} does not fit an axis of length {}",
                words::shape(shape),
                words::count(length)
            ));
        }
        let data_type = array.data_type();
        let numbers = Numbers::of(data_type);
        if ["scale_factor", "add_offset"]
            .iter()
            .any(|name| array.metadata().attribute(name).is_some())
        {
            return Err("labels with a scale_factor or add_offset are not looked up here".into());
        }
        let text = |name: &str| text(array.metadata(), name);
        let time = || match text("units") {
            Some(units) => TimeAxis::cf(&units, text("calendar").as_deref()),
            None => Ok(None),
        };
        let unsuited = || format!("labels of type {data_type} are not looked up here");
        let kind = match (data_type, &numbers) {
            (DataType::String | DataType::FixedLengthUtf32(_), _) => LabelKind::Text,
            (DataType::NumpyDatetime64(step), _) => {
                LabelKind::Whole { time: Some(TimeAxis::numpy(*step).ok_or_else(unsuited)?) }
            }
            (DataType::NumpyTimedelta64(_) | DataType::Bool, _) | (_, None) => {
                return Err(unsuited());
            }
            (_, Some(numbers)) if numbers.are_whole() => LabelKind::Whole { time: time()? },
            (DataType::Float32, _) => LabelKind::Real { time: time()?, single: true },
            _ => LabelKind::Real { time: time()?, single: false },
        };
        let mut absent = Vec::new();
        if let LabelKind::Whole { time: Some(_) } | LabelKind::Real { time: Some(_), .. } = kind
            && let Some(numbers) = &numbers
        {
            absent = labels(numbers, &missing(array.metadata()).concat());
            absent.push(NOT_A_TIME);
        }
        Ok(Self { array, numbers, kind, missing: absent })
    }

    /// The coordinate array.
    #[must_use]
    pub fn array(&self) -> &Array {
        &self.array
    }

    /// The kind of the labels.
    #[must_use]
    pub fn kind(&self) -> &LabelKind {
        &self.kind
    }

    /// The labels of a region that are numbers; none of texts.
    ///
    /// # Errors
    /// Errors of the read.
    pub fn read(&self, region: impl Into<Selection>) -> Result<Vec<Label>, ArrayError> {
        let Some(numbers) = &self.numbers else { return Ok(Vec::new()) };
        Ok(labels(numbers, &self.array.read(region.into())?))
    }

    /// Whether a label stands for a time that is missing: numpy's "not a time", and what the
    /// attributes declare. It is before and after none, whatever its number is. NaN, which is
    /// not among them, is in no order anyway.
    #[must_use]
    pub fn is_missing(&self, label: Label) -> bool {
        self.missing.contains(&label)
    }

    /// A label in words.
    #[must_use]
    pub fn shown(&self, label: Label) -> String {
        match (label, &self.kind) {
            (NOT_A_TIME, LabelKind::Whole { time: Some(_) }) => "NaT".to_owned(),
            (Label::Whole(label), LabelKind::Whole { time: Some(time) }) => time.shown_whole(label),
            (Label::Real(label), LabelKind::Real { time: Some(time), .. }) => time.shown(label),
            #[expect(clippy::cast_possible_truncation, reason = "it was made of 32 bits")]
            (Label::Real(label), LabelKind::Real { single: true, .. }) => {
                format!("{:?}", label as f32)
            }
            (Label::Real(label), _) => format!("{label:?}"),
            (Label::Whole(label), _) => label.to_string(),
        }
    }

    /// The labels of the selection, in words.
    ///
    /// # Errors
    /// [`ReportError::Array`] if they cannot be read, [`ReportError::Element`] if one is not valid.
    pub fn texts(&self, selected: &AxisSelection) -> Result<Vec<String>, ReportError> {
        // As an array of one axis, also of one index.
        let selected = match selected {
            AxisSelection::Index(index) => AxisSelection::from(*index..index.saturating_add(1)),
            other => other.clone(),
        };
        let region = Selection::new(vec![selected]);
        if !matches!(self.kind, LabelKind::Text) {
            return Ok(self.read(region)?.into_iter().map(|label| self.shown(label)).collect());
        }
        let data_type = self.array.data_type();
        if data_type.is_variable_length() {
            let elements = self.array.read_as::<Vec<u8>>(&region)?;
            let texts = elements.iter().map(|text| String::from_utf8_lossy(text).into_owned());
            return Ok(texts.collect());
        }
        let text = |element: &[u8]| {
            let mut text = String::new();
            format_element(data_type, element, &mut text)?;
            Ok(serde_json::from_str(&text).unwrap_or(text))
        };
        let elements = self.array.read(&region)?;
        elements.chunks_exact(self.array.element_size().max(1)).map(text).collect()
    }

    /// The labels of a range as an entry of a region.
    fn entry(&self, range: &Range<u64>) -> Option<String> {
        if let LabelKind::Text = self.kind {
            return self.entry_of_texts(range);
        }
        let at = |index| Some(marked(self.texts(&AxisSelection::Index(index)).ok()?.pop()?));
        let (first, last) = (range.start, range.end.checked_sub(1)?);
        // A label that several indices have is a range, too.
        if first == last { at(first) } else { Some(format!("{}:{}", at(first)?, at(last)?)) }
    }

    /// One text or a list of them: texts have no ranges. The indices, if there are many texts, or
    /// if an entry cannot have one of them.
    fn entry_of_texts(&self, range: &Range<u64>) -> Option<String> {
        let indices = Some(format!("{}:{}", range.start, range.end));
        if range.end.saturating_sub(range.start) > MOST_LISTED {
            return indices;
        }
        let texts = self.texts(&AxisSelection::from(range.clone())).ok()?;
        let fits = |text: &String| {
            text.trim() == text && !text.is_empty() && !text.contains([',', '[', ']'])
        };
        if !texts.iter().all(fits) {
            return indices;
        }
        let is_plain = texts.iter().all(|text| text.starts_with(char::is_alphabetic));
        let mark = if is_plain { String::new() } else { MARK.to_string() };
        Some(match texts.as_slice() {
            [text] => mark + text,
            texts => format!("{mark}[{}]", texts.join(",")),
        })
    }
}

/// The most texts of an entry.
const MOST_LISTED: u64 = 8;

/// numpy's "not a time".
const NOT_A_TIME: Label = Label::Whole(-(1 << 63));

/// Elements as labels.
fn labels(numbers: &Numbers, elements: &[u8]) -> Vec<Label> {
    if !numbers.are_whole() {
        let mut reals = Vec::new();
        numbers.list(elements, &mut reals);
        return reals.into_iter().map(Label::Real).collect();
    }
    let signed = numbers.are_signed();
    let whole = |bytes: &[u8]| {
        let negative = signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
        let mut wide = [if negative { 0xff } else { 0 }; 16];
        wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Label::Whole(i128::from_le_bytes(wide))
    };
    elements.chunks_exact(numbers.size()).map(whole).collect()
}

/// The labels of an array's axes, if they have some.
#[derive(Default)]
pub struct ArrayLabels {
    axes: Vec<Option<(String, Labels)>>,
}

impl ArrayLabels {
    /// The labels of an array with this document; `coordinate` opens an array of its group by name.
    /// An array with the name of its own single axis has no other labels.
    pub fn of(
        metadata: &ArrayMetadata,
        own_name: &str,
        coordinate: impl Fn(&str) -> Option<Array>,
    ) -> Self {
        let names = metadata.dimension_names().unwrap_or_default();
        let is_itself = |name: &str| metadata.shape().len() == 1 && name == own_name;
        let axes = names.iter().zip(metadata.shape()).map(|(name, length)| {
            let name = name.clone().filter(|name| !is_itself(name))?;
            let labels = Labels::of(coordinate(&name)?, *length).ok()?;
            Some((name, labels))
        });
        Self { axes: axes.collect() }
    }

    /// The label of an index on the axis of this name, if it has one.
    #[must_use]
    pub fn text(&self, axis: &str, index: u64) -> Option<String> {
        let (_, labels) = self.axes.iter().flatten().find(|(name, _)| name == axis)?;
        labels.texts(&AxisSelection::Index(index)).ok()?.pop()
    }

    /// The labels of a region on axes with labels, in the form of `zarr-kit read --region`:
    /// `time=2012-03-01:2012-03-31,lat=51.5`. Many texts, and texts that `--region` cannot take, are
    /// given by their indices. The region has at least one element on each axis.
    #[must_use]
    pub fn region(&self, region: &[Range<u64>]) -> Option<String> {
        let axes = self.axes.iter().zip(region).filter_map(|(labels, axis)| {
            let (name, labels) = labels.as_ref()?;
            Some(format!("{name}={}", labels.entry(axis)?))
        });
        let text = axes.collect::<Vec<_>>().join(",");
        (!text.is_empty()).then_some(text)
    }
}

/// The mark of a label that could be an index.
pub const MARK: char = '@';

/// A label as an entry of a region. A plain number would be an index there, so it gets the mark.
#[must_use]
pub fn marked(label: String) -> String {
    match label.parse::<i128>() {
        Ok(_) => format!("{MARK}{label}"),
        Err(_) => label,
    }
}
