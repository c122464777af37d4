//! Regions by labels: `time=2015-03`, `lat=40.5:50.0`, `station=KSEA`.
//!
//! The labels of an axis are the elements of its coordinate array: the array of one axis beside the
//! array, with the name of the dimension, as in Xarray. A text that can be an index is an index,
//! with or without a coordinate array, so that the meaning of a region does not depend on other
//! arrays; `@` before it makes it a label: `year=@2015`. A label is a set of numbers: a number
//! itself, or the times from the beginning of the written period to its end. A range begins with the
//! first number of its first label and ends with the last one of its second, as in pandas; on axes
//! that fall, the labels may be in either order. Texts may be in quotes, as in JSON.

mod coordinate;

use std::io::{self, IsTerminal as _};
use std::ops::Range;

use zarr_kit::AxisSelection;
use zarr_kit::cf::{Moment, TimeAxis};
pub(crate) use zarr_kit::report::labels::MARK;
use zarr_kit::report::labels::{Label, LabelKind, marked};
use zarr_kit::report::words;

pub(crate) use self::coordinate::Unfound;
use self::coordinate::{Coordinate, Disorder, Keys, distance};
use crate::error::CliError;
use crate::output::print;
use crate::stores::node_store::NodeStore;

/// Marks a label that need not be there: the one nearest to it is taken.
const NEAREST: char = '~';

/// The indices of an entry of a region by its labels: of the axis with this name and length, of the
/// array at a place.
pub(crate) fn select(
    place: &NodeStore,
    name: &str,
    length: u64,
    entry: &str,
) -> Result<AxisSelection, Unfound> {
    let text = entry.trim();
    let marked = text.strip_prefix(NEAREST);
    let text = marked.or_else(|| text.strip_prefix(MARK)).unwrap_or(text).trim();
    let mut coordinate = Coordinate::beside(place, name, length).map_err(|cause| {
        Unfound::Missing(format!(
            "{text:?} is no index, and the labels of {name} cannot be looked up: {cause}"
        ))
    })?;
    coordinate.is_nearest = marked.is_some();
    match text.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        Some(list) => coordinate.list(list),
        None => coordinate.one_or_range(text),
    }
}

/// Whether labels of an axis can be looked up.
pub(crate) fn has(place: &NodeStore, name: &str, length: u64) -> bool {
    Coordinate::beside(place, name, length).is_ok()
}

/// Whether an axis has times as labels.
pub(crate) fn are_times(place: &NodeStore, name: &str, length: u64) -> bool {
    Coordinate::beside(place, name, length).is_ok_and(|coordinate| {
        matches!(
            coordinate.kind(),
            LabelKind::Whole { time: Some(_) } | LabelKind::Real { time: Some(_), .. }
        )
    })
}

/// Whether a text may have been meant as a label.
pub(crate) fn is_like_one(text: &str) -> bool {
    let text = text.trim().trim_start_matches(MARK);
    let first = text.split(':').next().unwrap_or_default();
    Moment::parse(first).is_some() || first.parse::<f64>().is_ok()
}

/// The labels of the selection on an axis, times in full, or the indices where it has no coordinate
/// array.
pub(crate) fn shown(
    place: &NodeStore,
    name: Option<&str>,
    length: u64,
    selected: &AxisSelection,
) -> Result<Vec<String>, CliError> {
    match name.and_then(|name| Coordinate::beside(place, name, length).ok()) {
        Some(coordinate) => coordinate.texts_in_full(selected),
        None => Ok(selected.indices().map(|index| index.to_string()).collect()),
    }
}

/// Says on a terminal that numbers were taken as indices, if the axis has numbers as labels:
/// otherwise `lat=40:50` would be misleading.
pub(crate) fn note_indices(place: &NodeStore, name: &str, length: u64, entry: &str) {
    let entry = entry.trim();
    if !io::stderr().is_terminal() || entry == ":" {
        return;
    }
    let coordinate = Coordinate::beside(place, name, length);
    if coordinate.is_ok_and(|coordinate| coordinate.is_of_numbers()) {
        print::note(format_args!(
            "{name}={entry} is by index; by the labels of {name} it is {name}={MARK}{entry}"
        ));
    }
}

impl From<CliError> for Unfound {
    fn from(cause: CliError) -> Self {
        Self::Failed(cause)
    }
}

/// The numbers of a label, from `start` up to `end`, exclusive; without an end, all that follow:
/// no number is above an infinite one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    start: Label,
    end: Option<Label>,
    /// Whether it is a single number, so that it selects one index.
    is_point: bool,
}

impl Coordinate {
    fn is_of_numbers(&self) -> bool {
        matches!(self.kind(), LabelKind::Whole { time: None } | LabelKind::Real { time: None, .. })
    }

    fn list(&self, list: &str) -> Result<AxisSelection, Unfound> {
        if let LabelKind::Text = self.kind() {
            let texts: Vec<String> = outside_quotes(list, ',').map(unquoted).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            return Ok(self.find(&texts)?.into());
        }
        let entries: Vec<&str> = list.split(',').map(str::trim).collect();
        let keys = self.keys()?;
        let index = |entry: &&str| {
            let span = self.span(entry)?;
            match self.indices(&keys, span, entry)? {
                range if range.end - range.start == 1 => Ok(range.start),
                _ => Err(Unfound::Missing(format!(
                    "{entry} is several labels of {}; each label of a list must be one",
                    self.place()
                ))),
            }
        };
        Ok(entries.iter().map(index).collect::<Result<Vec<u64>, Unfound>>()?.into())
    }

    fn one_or_range(&self, text: &str) -> Result<AxisSelection, Unfound> {
        if let LabelKind::Text = self.kind() {
            return self.text_or_range(text);
        }
        let not_one = match self.span(text) {
            Ok(span) => {
                let indices = self.indices(&self.keys()?, span, text)?;
                return match (span.is_point, indices.end - indices.start) {
                    (false, 1) if self.is_nearest => Ok(AxisSelection::Index(indices.start)),
                    (true, 1) => Ok(AxisSelection::Index(indices.start)),
                    (true, times) => Err(Unfound::Missing(format!(
                        "{} has {text} {times} times, at the indices {}:{}; select them by index, or \
                         all by {}:{text}",
                        self.place(),
                        indices.start,
                        indices.end,
                        marked(text.to_owned())
                    ))),
                    (false, _) => Ok(indices.into()),
                };
            }
            Err(error) => error,
        };
        // A time contains colons: a colon that divides a range has a label at either side.
        for (at, _) in text.match_indices(':') {
            let (first, last) = (text[..at].trim(), text[at + 1..].trim());
            let side = |text: &str| match text {
                "" => Some(None),
                text => self.span(text.strip_prefix(MARK).unwrap_or(text)).ok().map(Some),
            };
            let (Some(one), Some(other)) = (side(first), side(last)) else { continue };
            let keys = self.keys()?;
            let is_ascending = self.is_ascending(&keys)?;
            let (one, other) = match (one, other) {
                (None, None) => continue,
                (Some(one), Some(other)) if !is_ascending && other.is_before(&one) => {
                    (Some(other), Some(one))
                }
                (Some(one), Some(other)) if is_ascending && one.is_after(&other) => {
                    return Err(Unfound::Missing(format!(
                        "the labels of {} rise, and {first} is after {last}: write {last}:{first}",
                        self.place()
                    )));
                }
                both => both,
            };
            let (start, end) =
                (one.map_or(LEAST, |one| one.start), other.and_then(|other| other.end));
            let span = Span { start, end, is_point: false };
            return Ok(self.indices(&keys, span, text)?.into());
        }
        if text.contains(':') {
            return Err(Unfound::Missing(format!(
                "{text:?} is no range of labels; {} are allowed, without a step",
                self.examples_of_ranges()
            )));
        }
        Err(not_one)
    }

    fn is_ascending(&self, keys: &Keys<'_>) -> Result<bool, CliError> {
        Ok(match self.length().checked_sub(1) {
            Some(last) => keys.get(0)? <= keys.get(last)?,
            None => true,
        })
    }

    /// A text, or all texts from one to another.
    fn text_or_range(&self, text: &str) -> Result<AxisSelection, Unfound> {
        let not_one = match self.find(&[&unquoted(text)]) {
            Ok(found) => return Ok(AxisSelection::Index(found.first().copied().unwrap_or(0))),
            Err(unfound) => unfound,
        };
        let parts: Vec<&str> = outside_quotes(text, ':').collect();
        // A text without quotes may have colons: one that divides a range has a label at either side.
        let mut ends = (1..parts.len()).map(|at| {
            let (first, last) = parts.split_at(at);
            (unquoted(&first.join(":")), unquoted(&last.join(":")))
        });
        let (first, last) = match parts.len() {
            0 | 1 => return Err(not_one),
            2 => ends.next().unwrap_or_default(),
            _ => {
                let mut both = ends.filter(|(one, other)| self.find(&[one, other]).is_ok());
                both.next().ok_or(not_one)?
            }
        };
        let side = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (first, last) = (side(&first), side(&last));
        Ok(self.find_range(first.as_deref(), last.as_deref())?.into())
    }

    fn examples_of_ranges(&self) -> &'static str {
        match self.kind() {
            LabelKind::Whole { time: Some(_) } | LabelKind::Real { time: Some(_), .. } => {
                "2015-03:2015-04, 2015-03-01T06:2015-03-02 and 2015-03:"
            }
            _ => "40.5:50.0 and 40.5:",
        }
    }

    /// The numbers of one label.
    fn span(&self, text: &str) -> Result<Span, Unfound> {
        let span = match self.kind() {
            LabelKind::Whole { time: Some(time) } => moment(text, time).map(|(start, end)| {
                let from = time.whole_from(start);
                // The next instant, for a time that is one.
                let to = time.whole_from(end.unwrap_or(start + 1));
                let is_point = end.is_none() || to - from <= 1;
                Span { start: Label::Whole(from), end: Some(Label::Whole(to)), is_point }
            }),
            LabelKind::Real { time: Some(time), single } => {
                moment(text, time).map(|(start, end)| {
                    let from = rounded(time.number(start), *single);
                    match end {
                        Some(end) => {
                            let (start, to) =
                                (Label::Real(from), rounded(time.number(end), *single));
                            Span { start, end: Some(Label::Real(to)), is_point: false }
                        }
                        None => point(from),
                    }
                })
            }
            LabelKind::Whole { time: None } => whole(text),
            LabelKind::Real { time: None, single } => real(text, *single),
            LabelKind::Text => None,
        };
        let allowed = match self.kind() {
            LabelKind::Whole { time: Some(_) } | LabelKind::Real { time: Some(_), .. } => {
                "a date such as 2015, 2015-03 or 2015-03-01, or a time such as 2015-03-01T06:30"
            }
            _ => "a number",
        };
        span.ok_or_else(|| {
            let place = self.place();
            Unfound::Missing(format!("{text:?} is no label of {place}; {allowed} is allowed"))
        })
    }

    /// The indices of the labels in a span: at least one.
    fn indices(&self, keys: &Keys<'_>, span: Span, text: &str) -> Result<Range<u64>, Unfound> {
        let missing =
            |more: String| Unfound::Missing(format!("{} has no {text}{more}", self.place()));
        let Some(last) = self.length().checked_sub(1) else {
            return Err(missing(": it is empty".to_owned()));
        };
        let is_past = |key: Label| span.end.is_some_and(|end| key >= end);
        let within = |key: Label| span.start <= key && !is_past(key) && !self.is_missing(key);
        let is_ascending = self.is_ascending(keys)?;
        if let Some(disorder) = keys.unsorted(is_ascending)? {
            let why = match disorder {
                Disorder::Missing if self.is_of_numbers() => {
                    "has missing labels (_FillValue or missing_value)".to_owned()
                }
                Disorder::Missing => {
                    "has missing times (NaT, _FillValue or missing_value)".to_owned()
                }
                Disorder::Neighbours(before, after) => format!(
                    "is not sorted ({} is followed by {})",
                    self.shown(before),
                    self.shown(after)
                ),
            };
            // A single label needs no order.
            let all = keys.all().unwrap_or_default();
            let mut found = all.iter().zip(0_u64..).filter(|(key, _)| within(**key));
            return match (span.is_point, found.next(), found.next()) {
                (true, Some((_, index)), None) => Ok(index..index + 1),
                (true, None, _) if !self.is_nearest && !all.is_empty() => {
                    Err(missing(String::new()))
                }
                _ => Err(Unfound::Missing(format!(
                    "{} {why}, so that {text} is no range of indices; select by index",
                    self.place()
                ))),
            };
        }
        let (start, end) = match is_ascending {
            true => (self.first(keys, |key| key >= span.start)?, self.first(keys, is_past)?),
            false => {
                (self.first(keys, |key| !is_past(key))?, self.first(keys, |key| key < span.start)?)
            }
        };
        if start < end {
            return Ok(start..end);
        }
        let around = [start.checked_sub(1), Some(start).filter(|start| *start <= last)];
        if self.is_nearest {
            let mut nearest: Option<(f64, u64)> = None;
            for index in around.into_iter().flatten() {
                let far = distance(keys.get(index)?, span.start);
                if nearest.is_none_or(|(least, _)| far < least) {
                    nearest = Some((far, index));
                }
            }
            let index = nearest.map_or(0, |(_, index)| index);
            return Ok(index..index + 1);
        }
        let around = around.into_iter().flatten().map(|index| {
            Ok(format!("{} at index {}", self.shown(keys.get(index)?), words::count(index)))
        });
        let around = around.collect::<Result<Vec<_>, CliError>>()?;
        // A range has no nearest label.
        let hint = match self.span(text) {
            Ok(_) => format!("; {NEAREST}{text} takes the nearest"),
            Err(_) => String::new(),
        };
        let nearest = match around.len() {
            1 => {
                if start == 0 {
                    "; its first is"
                } else {
                    "; its last is"
                }
            }
            _ => "; the nearest are",
        };
        Err(missing(format!("{nearest} {}{hint}", around.join(" and "))))
    }

    /// The first index with a label that satisfies the predicate. Labels are sorted: all labels
    /// after it satisfy it, too.
    fn first(&self, keys: &Keys<'_>, is_so: impl Fn(Label) -> bool) -> Result<u64, CliError> {
        let (mut low, mut high) = (0, self.length());
        while low < high {
            let middle = low + (high - low) / 2;
            match is_so(keys.get(middle)?) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(low)
    }
}

/// Below all labels: of a real number as well, as all integers are.
const LEAST: Label = Label::Whole(i128::MIN);

impl Span {
    /// Whether it begins before another or, if they begin together, ends before it.
    fn is_before(&self, other: &Self) -> bool {
        (self.start, self.end) < (other.start, other.end)
    }

    /// Whether it begins after another has begun, and not before the other ends.
    fn is_after(&self, other: &Self) -> bool {
        self.start > other.start && other.end.is_some_and(|end| end <= self.start)
    }
}

/// The parts of a text between separators that are not within quotes.
fn outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |c: char| {
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        c == separator && !quoted
    })
}

/// A text without its quotes, if it has some.
fn unquoted(text: &str) -> String {
    let text = text.trim();
    match text {
        quoted if quoted.starts_with('"') => {
            serde_json::from_str(quoted).unwrap_or_else(|_| quoted.to_owned())
        }
        plain => plain.to_owned(),
    }
}

/// The beginning and the end of a date or time of the calendar.
fn moment(text: &str, time: &TimeAxis) -> Option<(i128, Option<i128>)> {
    let moment = Moment::parse(text).filter(|moment| time.calendar.has(moment.date()))?;
    Some((moment.start(time.calendar), moment.end(time.calendar)))
}

fn point(number: f64) -> Span {
    let (start, end) = (Label::Real(number), Label::Real(number.next_up()));
    Span { start, end: Some(end), is_point: true }
}

/// A number as a coordinate stores it: rounded if that has single precision.
#[expect(clippy::cast_possible_truncation, reason = "rounded")]
fn rounded(number: f64, single: bool) -> f64 {
    if single { f64::from(number as f32) } else { number }
}

fn real(text: &str, single: bool) -> Option<Span> {
    let number = match single {
        // Rounded once.
        true => text.parse::<f32>().ok().map(f64::from),
        false => text.parse::<f64>().ok(),
    };
    number.filter(|number| number.is_finite()).map(point)
}

/// A number among whole labels: exactly that label, or the gap between two.
fn whole(text: &str) -> Option<Span> {
    if let Ok(number) = text.parse::<i64>().map(i128::from).or(text.parse::<u64>().map(i128::from))
    {
        let (start, end) = (Label::Whole(number), Label::Whole(number + 1));
        return Some(Span { start, end: Some(end), is_point: true });
    }
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    #[expect(clippy::cast_possible_truncation, reason = "it saturates, and no label is beyond")]
    let (start, end) = (number.ceil() as i128, (number.floor() as i128).saturating_add(1));
    Some(Span { start: Label::Whole(start), end: Some(Label::Whole(end)), is_point: true })
}
