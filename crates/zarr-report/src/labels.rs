//! The labels of axes: the elements of coordinate arrays, as in Xarray.
//!
//! A coordinate array has one axis, and the name of the dimension that it labels.

use std::ops::Range;

use zarr_array::{Array, ArrayError, AxisSelection, Selection};
use zarr_cf::{Kind, Meaning, Numbers, Packing, TimeAxis};
use zarr_metadata::{ArrayMetadata, DataType, format_element, parse_element};

use crate::{ReportError, words};

/// A label as a number of the coordinate's type: integers are exact, other numbers are rounded to
/// the type.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Label {
    /// Missing: "not a time", and what the attributes declare.
    Missing,
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
    packing: Packing,
    /// The elements that are missing.
    missing: Vec<Vec<u8>>,
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
        let texts = |array| {
            let (numbers, packing, missing) = (None, Packing::default(), Vec::new());
            Ok(Self { array, numbers, kind: LabelKind::Text, packing, missing })
        };
        let unsuited = || format!("labels of type {data_type} are not looked up here");
        match data_type {
            DataType::String
            | DataType::Bytes
            | DataType::FixedLengthUtf32(_)
            | DataType::NullTerminatedBytes(_) => return texts(array),
            DataType::NumpyTimedelta64(_) | DataType::Bool => return Err(unsuited()),
            _ => {}
        }
        let meaning = Meaning::of(array.metadata(), None).map_err(|cause| cause.to_string())?;
        let numbers = Numbers::of(&meaning.data_type).ok_or_else(unsuited)?;
        let time = match (data_type, meaning.kind) {
            (DataType::NumpyDatetime64(step), _) => {
                Some(TimeAxis::numpy(*step).ok_or_else(unsuited)?)
            }
            (_, Kind::Times(axis)) => Some(axis),
            (_, Kind::Numbers) => None,
            _ => return Err(unsuited()),
        };
        let is_whole = numbers.are_whole() && meaning.packing.is_identity();
        let kind = match is_whole {
            true => LabelKind::Whole { time },
            false => {
                let single = *data_type == DataType::Float32 && !meaning.packing.is_given();
                LabelKind::Real { time, single }
            }
        };
        let Meaning { packing, missing, .. } = meaning;
        Ok(Self { array, numbers: Some(numbers), kind, packing, missing })
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
        if self.numbers.is_none() {
            return Ok(Vec::new());
        }
        Ok(self.labels(&self.array.read(region.into())?))
    }

    /// Elements as labels; none of texts.
    fn labels(&self, elements: &[u8]) -> Vec<Label> {
        let Some(numbers) = &self.numbers else { return Vec::new() };
        let (is_whole, is_time) = match &self.kind {
            LabelKind::Whole { time } => (true, time.is_some()),
            _ => (false, false),
        };
        let mut reals = Vec::new();
        if !is_whole {
            numbers.list(elements, &mut reals);
        }
        let elements = elements.chunks_exact(numbers.size()).enumerate();
        let label = |(index, element): (usize, &[u8])| {
            if self.missing.iter().any(|missing| missing == element) {
                return Label::Missing;
            }
            if !is_whole {
                let real = reals.get(index).copied().unwrap_or(f64::NAN);
                return Label::Real(self.packing.unpacked(real));
            }
            match numbers.whole(element) {
                Some(NOT_A_TIME) if is_time => Label::Missing,
                whole => whole.map_or(Label::Missing, Label::Whole),
            }
        };
        elements.map(label).collect()
    }

    /// Whether a label is missing: numpy's "not a time", and what the attributes declare. It is before
    /// and after none, whatever its number is. NaN, which is not among them, is in no order anyway.
    #[must_use]
    pub fn is_missing(&self, label: Label) -> bool {
        label == Label::Missing
    }

    /// A label in words.
    #[must_use]
    pub fn shown(&self, label: Label) -> String {
        match (label, &self.kind) {
            (
                Label::Missing,
                LabelKind::Whole { time: Some(_) } | LabelKind::Real { time: Some(_), .. },
            ) => "NaT".to_owned(),
            (Label::Missing, _) => "NaN".to_owned(),
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

    /// As [`texts`](Self::texts), with all times in one form that other programs parse.
    ///
    /// # Errors
    /// As of [`texts`](Self::texts).
    pub fn texts_in_full(&self, selected: &AxisSelection) -> Result<Vec<String>, ReportError> {
        let (LabelKind::Whole { time: Some(axis) } | LabelKind::Real { time: Some(axis), .. }) =
            &self.kind
        else {
            return self.texts(selected);
        };
        let selected = match selected {
            AxisSelection::Index(index) => AxisSelection::from(*index..index.saturating_add(1)),
            other => other.clone(),
        };
        let labels = self.read(Selection::new(vec![selected]))?;
        let time = |label: &Label| match label {
            Label::Missing => None,
            Label::Whole(number) => axis.time_of(*number),
            Label::Real(number) => axis.time_of_real(*number),
        };
        Ok(axis.in_full(&labels.iter().map(time).collect::<Vec<_>>()))
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
        if self.array.data_type().is_variable_length() {
            let elements = self.array.read_as::<Vec<u8>>(&region)?;
            return elements.iter().map(|element| self.text(element)).collect();
        }
        let elements = self.array.read(&region)?;
        let elements = elements.chunks_exact(self.array.element_size().max(1));
        elements.map(|element| self.text(element)).collect()
    }

    /// A label that is a text, of an element. Bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    /// [`ReportError::Element`] if the element is not valid.
    pub fn text(&self, element: &[u8]) -> Result<String, ReportError> {
        let data_type = self.array.data_type();
        let bytes = match data_type {
            DataType::NullTerminatedBytes(_) => {
                let end = element.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                element.get(..end).unwrap_or_default()
            }
            _ if data_type.is_variable_length() => element,
            _ => {
                let mut text = String::new();
                format_element(data_type, element, &mut text)?;
                return Ok(serde_json::from_str(&text).unwrap_or(text));
            }
        };
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// The element of a label that is a text; `None` of one that is too long for the type.
    #[must_use]
    pub fn element_of(&self, text: &str) -> Option<Vec<u8>> {
        let data_type = self.array.data_type();
        let mut element = text.as_bytes().to_vec();
        match data_type {
            DataType::NullTerminatedBytes(_) => {
                let size = self.array.element_size();
                (element.len() <= size).then(|| {
                    element.resize(size, 0);
                    element
                })
            }
            _ if data_type.is_variable_length() => Some(element),
            _ => {
                element.clear();
                let json = serde_json::Value::from(text).to_string();
                parse_element(data_type, &json, &mut element).ok().map(|()| element)
            }
        }
    }

    /// The labels of a range as an entry of a region.
    pub(crate) fn entry(&self, range: &Range<u64>) -> Option<String> {
        if let LabelKind::Text = self.kind {
            return self.entry_of_texts(range);
        }
        let at = |index| Some(marked(self.texts(&AxisSelection::Index(index)).ok()?.pop()?));
        let (first, last) = (range.start, range.end.checked_sub(1)?);
        // A label that several indices have is a range, too.
        if first == last { at(first) } else { Some(format!("{}:{}", at(first)?, at(last)?)) }
    }

    /// One text or a list of them. The indices, if there are many texts, or if one of them would need
    /// quotes.
    fn entry_of_texts(&self, range: &Range<u64>) -> Option<String> {
        let indices = Some(format!("{}:{}", range.start, range.end));
        if range.end - range.start > MOST_LISTED {
            return indices;
        }
        let texts = self.texts(&AxisSelection::from(range.clone())).ok()?;
        let fits = |text: &String| {
            text.trim() == text && !text.is_empty() && !text.contains([',', '[', ']', '"'])
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
const NOT_A_TIME: i128 = -(1 << 63);

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
    /// `time=2012-03-01:2012-03-31,lat=51.5`. Many texts, and texts that need quotes, are
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
