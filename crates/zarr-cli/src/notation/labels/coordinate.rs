//! A coordinate array: the labels of an axis.

use std::cmp::Ordering;
use std::ops::Range;

use zarr_kit::report::labels::{Label, LabelKind, Labels};
use zarr_kit::{Array, AxisSelection, Selection};

use crate::error::CliError;
use crate::error::nearest;
use crate::notation::size::PIECE;
use crate::stores::node_store::NodeStore;

/// The distance between two labels of one type.
#[expect(clippy::cast_precision_loss, reason = "distances are compared, and need no exactness")]
pub(super) fn distance(one: Label, other: Label) -> f64 {
    match (one, other) {
        (Label::Whole(one), Label::Whole(other)) => one.abs_diff(other) as f64,
        (Label::Real(one), Label::Real(other)) => (one - other).abs(),
        _ => f64::INFINITY,
    }
}

/// An opened coordinate array.
pub(crate) struct Coordinate {
    place: NodeStore,
    labels: Labels,
    /// Whether an absent label selects the nearest label.
    pub(super) is_nearest: bool,
}

impl Coordinate {
    /// Opens the array of one axis with this name beside another, for an axis of this length.
    pub(crate) fn beside(place: &NodeStore, name: &str, length: u64) -> Result<Self, String> {
        let path =
            place.opened.beside(name).ok_or("nothing can have that name beside the array")?;
        let opened = NodeStore::open(&path);
        let (place, array) = opened
            .and_then(|place| {
                let array = place.array()?;
                Ok((place, array))
            })
            .map_err(|cause| cause.to_string())?;
        let labels =
            Labels::of(array, length).map_err(|reason| format!("{}: {reason}", place.shown))?;
        Ok(Self { place, labels, is_nearest: false })
    }

    pub(super) fn kind(&self) -> &LabelKind {
        self.labels.kind()
    }

    fn array(&self) -> &Array {
        self.labels.array()
    }

    /// Its place, for messages.
    pub(super) fn place(&self) -> &str {
        &self.place.shown
    }

    pub(super) fn length(&self) -> u64 {
        self.array().shape().first().copied().unwrap_or(0)
    }

    /// The labels of the selection, in words.
    pub(crate) fn texts(&self, selected: &AxisSelection) -> Result<Vec<String>, CliError> {
        self.labels.texts(selected).map_err(|cause| self.place.not_reported(cause))
    }

    /// As [`texts`](Self::texts), with all times in one form that other programs parse.
    pub(crate) fn texts_in_full(&self, selected: &AxisSelection) -> Result<Vec<String>, CliError> {
        self.labels.texts_in_full(selected).map_err(|cause| self.place.not_reported(cause))
    }

    /// The labels. A coordinate of more than [`PIECE`] bytes is not read yet.
    pub(super) fn keys(&self) -> Result<Keys<'_>, CliError> {
        let size = u64::try_from(self.array().element_size()).unwrap_or(u64::MAX);
        let read = match self.length().checked_mul(size) {
            Some(..=PIECE) => Some(self.read(Selection::whole(self.array().shape()))?),
            _ => None,
        };
        Ok(Keys { of: self, read })
    }

    /// Why the labels are in no order, of a coordinate that may not fit in memory. Chunks that are
    /// not stored hold one value, so the time follows the stored chunks.
    fn unsorted(&self, is_ascending: bool) -> Result<Option<Disorder>, CliError> {
        let failed = |cause| self.place.failed(cause);
        let axis = self.array().grid().axes().first();
        let stored = self.array().stored_chunks().map(|chunk| {
            let index = chunk.map_err(failed)?.index;
            let range = axis.zip(index.first()).and_then(|(axis, chunk)| axis.clipped(*chunk));
            Ok(range.unwrap_or_default())
        });
        let mut ranges = stored.collect::<Result<Vec<_>, CliError>>()?;
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.push(self.length()..self.length());
        let mut order = Order { labels: &self.labels, is_ascending, last: None };
        let mut next = 0;
        for range in ranges {
            if next < range.start
                && let Some(wrong) = order.continued(&self.read((next..next + 1).into())?)
            {
                return Ok(Some(wrong));
            }
            next = range.end;
            let pieces = self.array().batches(range, PIECE).map_err(failed)?;
            for piece in pieces {
                if let Some(wrong) = order.continued(&self.read(piece)?) {
                    return Ok(Some(wrong));
                }
            }
        }
        Ok(None)
    }

    fn read(&self, region: Selection) -> Result<Vec<Label>, CliError> {
        self.labels.read(region).map_err(|cause| self.place.failed(cause))
    }

    /// Whether a label is missing.
    pub(super) fn is_missing(&self, label: Label) -> bool {
        self.labels.is_missing(label)
    }

    /// A label in words.
    pub(super) fn shown(&self, label: Label) -> String {
        self.labels.shown(label)
    }

    /// The indices of texts from one to another, which are none of an open end: between them in the
    /// order of the texts, if these are sorted, otherwise from the one to the other.
    pub(super) fn find_range(
        &self,
        first: Option<&str>,
        last: Option<&str>,
    ) -> Result<Range<u64>, Unfound> {
        let missing = |why: String| Err(Unfound::Missing(format!("{} {why}", self.place())));
        if self.length() > MOST_TEXTS {
            return missing("has too many texts for a range; select by index".to_owned());
        }
        let texts = self.texts(&AxisSelection::from(0..self.length()))?;
        let index = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
        let from = |at: Option<usize>, open: usize| index(at.unwrap_or(open));
        let below = |text: &str| texts.partition_point(|own| own.as_str() < text);
        let up_to = |text: &str| texts.partition_point(|own| own.as_str() <= text);
        let is_rising = texts.is_sorted();
        let is_falling = !is_rising && texts.iter().rev().is_sorted();
        let found = if is_rising {
            from(first.map(below), 0)..from(last.map(up_to), texts.len())
        } else if is_falling {
            // Both spellings select what lies between, and an open end what lies above or below.
            let (low, high) = match (first, last) {
                (Some(one), Some(other)) if one > other => (Some(other), Some(one)),
                both => both,
            };
            let above = |text: &str| texts.partition_point(|own| own.as_str() > text);
            let down_to = |text: &str| texts.partition_point(|own| own.as_str() >= text);
            from(high.map(above), 0)..from(low.map(down_to), texts.len())
        } else {
            let at = |text: Option<&str>| match text {
                Some(text) => self.find(&[text]).map(|found| found.first().copied()),
                None => Ok(None),
            };
            let last = at(last)?.map_or(self.length(), |last| last + 1);
            at(first)?.unwrap_or(0)..last
        };
        let shown = |text: Option<&str>| text.map_or_else(String::new, |text| format!("{text:?}"));
        let (one, other) = (shown(first), shown(last));
        match found.is_empty() {
            false => Ok(found),
            true if !is_falling && (found.start > found.end || first > last && last.is_some()) => {
                missing(format!("has {one} after {other}: a range is written in the array's order"))
            }
            true => missing(format!("has no text from {one} to {other}")),
        }
    }

    /// The index of each of these texts.
    pub(super) fn find(&self, texts: &[&str]) -> Result<Vec<u64>, Unfound> {
        let is_variable = self.array().data_type().is_variable_length();
        // A text that is too long for the type is none of its elements.
        let wanted: Vec<Option<Vec<u8>>> =
            texts.iter().map(|text| self.labels.element_of(text)).collect();
        let mut found: Vec<Vec<u64>> = vec![Vec::new(); wanted.len()];
        let mut times = vec![0_u64; wanted.len()];
        let mut known = Vec::new();
        let mut index = 0_u64;
        let mut look = |element: &[u8]| {
            for ((found, times), wanted) in found.iter_mut().zip(&mut times).zip(&wanted) {
                if wanted.as_deref() == Some(element) {
                    *times += 1;
                    if *times <= SHOWN {
                        found.push(index);
                    }
                }
            }
            if known.len() < LOOKED_AT {
                known.extend(self.labels.text(element).ok());
            }
            index += 1;
        };
        let failed = |cause| Unfound::Failed(self.place.failed(cause));
        let whole = Selection::whole(self.array().shape());
        for piece in self.array().batches(whole, PIECE).map_err(failed)? {
            if is_variable {
                self.array().read_as::<Vec<u8>>(piece).map_err(failed)?.iter().for_each(&mut look);
            } else {
                let elements = self.array().read(piece).map_err(failed)?;
                elements.chunks_exact(self.array().element_size().max(1)).for_each(&mut look);
            }
        }
        let found = found.iter().zip(times).zip(texts);
        let index = |((found, times), text): ((&Vec<u64>, u64), &&str)| match found.as_slice() {
            [index] => Ok(*index),
            [] => {
                let hint = nearest::hint(text, known.iter().map(String::as_str));
                Err(Unfound::Missing(format!("{} has no {text:?}{hint}", self.place())))
            }
            at => {
                let at = at.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                let more = if times > SHOWN { ", .." } else { "" };
                Err(Unfound::Missing(format!(
                    "{} has {text:?} {times} times, at the indices {at}{more}; select them by \
                     index",
                    self.place()
                )))
            }
        };
        found.map(index).collect()
    }
}

/// The most texts among which a range is looked up.
const MOST_TEXTS: u64 = 1 << 24;

/// The most texts that are compared with a text that is not found.
const LOOKED_AT: usize = 10_000;

/// The most indices of one text that a message names.
const SHOWN: u64 = 4;

/// Why a text has no index.
pub(crate) enum Unfound {
    Missing(String),
    Failed(CliError),
}

/// The labels of a coordinate.
pub(super) struct Keys<'a> {
    of: &'a Coordinate,
    /// All of them, if they are few enough.
    read: Option<Vec<Label>>,
}

/// Why labels are in no order.
pub(super) enum Disorder {
    /// There is a missing label among them.
    Missing,
    /// The first two neighbours that are not in order.
    Neighbours(Label, Label),
}

/// The order of labels that are read piece by piece.
struct Order<'a> {
    labels: &'a Labels,
    is_ascending: bool,
    last: Option<Label>,
}

impl Order<'_> {
    /// Why there is no order, where these keys follow.
    fn continued(&mut self, keys: &[Label]) -> Option<Disorder> {
        if keys.iter().any(|key| self.labels.is_missing(*key)) {
            return Some(Disorder::Missing);
        }
        let before = self.last.into_iter().chain(keys.iter().copied());
        self.last = keys.last().copied().or(self.last);
        let after = before.clone().skip(1);
        let mut wrong = before.zip(after).filter(|(one, next)| match one.partial_cmp(next) {
            Some(Ordering::Less) => !self.is_ascending,
            Some(Ordering::Equal) => false,
            Some(Ordering::Greater) => self.is_ascending,
            // NaN is in no order.
            None => true,
        });
        wrong.next().map(|(before, after)| Disorder::Neighbours(before, after))
    }
}

impl Keys<'_> {
    /// Why the labels are in no order.
    pub(super) fn unsorted(&self, is_ascending: bool) -> Result<Option<Disorder>, CliError> {
        match &self.read {
            Some(keys) => {
                let labels = &self.of.labels;
                Ok(Order { labels, is_ascending, last: None }.continued(keys))
            }
            None => self.of.unsorted(is_ascending),
        }
    }

    /// Whether all of them were read.
    pub(super) fn all(&self) -> Option<&[Label]> {
        self.read.as_deref()
    }

    pub(super) fn get(&self, index: u64) -> Result<Label, CliError> {
        let read = match &self.read {
            Some(read) => usize::try_from(index).ok().and_then(|index| read.get(index)).copied(),
            None => self.of.read((index..index + 1).into())?.first().copied(),
        };
        Ok(read.unwrap_or(Label::Real(f64::NAN)))
    }
}
