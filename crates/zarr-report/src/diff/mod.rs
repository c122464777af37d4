//! Differences between two nodes: content, elements, and how they are stored.

mod ahead;
mod aligned;
mod documents;
mod node;
mod objects;
mod passes;
mod picked;
mod regions;
mod spool;
mod sums;
mod tasks;
mod values;

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use serde_json::{Value, json};
use zarr_array::{Array, AxisSelection};
use zarr_metadata::{ArrayMetadata, NodeMetadata};

use self::ahead::Ahead;
use self::aligned::{Axes, align};
pub use self::documents::Change;
use self::documents::{arrays, groups, short};
pub use self::node::{Coordinates, DiffError, DiffNode, Regions};
use self::node::{known, nodes};
use self::picked::Picked;
use self::values::compare;
pub use self::values::{Pair, Values};
use crate::labels::ArrayLabels;
use crate::{ReportError, words};

/// One difference between the two nodes, or between two nodes of one path below them.
#[derive(Debug)]
pub struct Difference<'a> {
    /// The path below the compared nodes; empty for the nodes themselves.
    pub path: &'a str,
    /// The kind of difference.
    pub kind: DifferenceKind<'a>,
}

/// The kind of difference.
#[derive(Debug)]
#[non_exhaustive]
pub enum DifferenceKind<'a> {
    /// The node, or the object of no node, exists only in the compared node of this name.
    OnlyIn(&'a str),
    /// The node cannot be read completely.
    NotCompared(DiffError),
    /// A difference of the documents.
    Document(Change),
    /// Differences of elements.
    Values(Box<Values>),
}

impl Difference<'_> {
    /// As one JSON document. `reason` formats the error of a node that was not compared.
    #[must_use]
    pub fn json(self, reason: impl FnOnce(DiffError) -> String) -> Value {
        let path = self.path;
        match self.kind {
            DifferenceKind::OnlyIn(name) => json!({"path": path, "what": "node", "only_in": name}),
            DifferenceKind::NotCompared(error) => {
                json!({"path": path, "what": "not compared", "reason": reason(error)})
            }
            DifferenceKind::Document(change) => json!({
                "path": path, "what": change.what, "one": change.one, "other": change.other,
                "content": change.is_content,
            }),
            DifferenceKind::Values(values) => {
                let pair = |pair: &Pair| {
                    let mut shown =
                        json!({"index": pair.index, "one": pair.one, "other": pair.other});
                    if let Some(index) = &pair.other_index {
                        shown["other_index"] = json!(index);
                    }
                    if let Some(labels) = &pair.labels {
                        shown["labels"] = json!(labels);
                    }
                    shown
                };
                let largest = values.largest.as_ref().map(|(difference, at)| {
                    let difference = values.exact.map_or((*difference).into(), Value::from);
                    json!({"difference": difference, "at": pair(at)})
                });
                let mut document = json!({
                    "path": path, "what": "values", "content": true,
                    "elements": values.elements, "different": values.different,
                    "first": values.first.as_ref().map(pair), "largest": largest,
                    "regions": values.regions.iter().map(|region| shown(region)).collect::<Vec<_>>(),
                });
                if !values.labels.is_empty() {
                    document["labels"] = json!(values.labels);
                }
                document
            }
        }
    }

    /// As one line of text. `reason` formats the error of a node that was not compared.
    #[must_use]
    pub fn line(self, reason: impl FnOnce(DiffError) -> String) -> String {
        // The root is not named.
        let label = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        match self.kind {
            DifferenceKind::OnlyIn(name) => format!("{}: only in {name}", self.path),
            DifferenceKind::NotCompared(error) => format!("{label}not compared: {}", reason(error)),
            DifferenceKind::Document(change) => {
                let stored = if change.is_content { "" } else { " (only how it is stored)" };
                let (one, other) = (short(&change.one), short(&change.other));
                format!("{label}{}: {one} | {other}{stored}", change.what)
            }
            DifferenceKind::Values(values) => format!("{label}{}", values_in_words(&values)),
        }
    }
}

/// A region as `--region` takes it.
fn shown(region: &[Range<u64>]) -> String {
    let axes = region.iter().map(|axis| format!("{}:{}", axis.start, axis.end));
    axes.collect::<Vec<_>>().join(",")
}

fn values_in_words(values: &Values) -> String {
    let labelled = |labels: Option<&String>| labels.map_or_else(String::new, |l| format!(" ({l})"));
    let pair_in_words = |pair: &Pair| {
        let index = match &pair.other_index {
            Some(other) => format!("{:?} | {other:?}", pair.index),
            None => format!("{:?}", pair.index),
        };
        format!("{index}{}: {} | {}", labelled(pair.labels.as_ref()), pair.one, pair.other)
    };
    let mut line = format!(
        "values: {} of {} differ",
        words::count(values.different),
        words::counted(values.elements, "element"),
    );
    if let Some(first) = &values.first {
        line.push_str(&format!(", first at {}", pair_in_words(first)));
    }
    // Of one different element, the first says all.
    if values.different > 1 && values.regions.iter().any(|region| !region.is_empty()) {
        let regions = values.regions.iter().enumerate();
        let regions = regions.map(|(at, region)| shown(region) + &labelled(values.labels.get(at)));
        let regions: Vec<String> = regions.collect();
        line.push_str(&format!(", all in {}", regions.join(" and ")));
    }
    if let Some((difference, at)) = values.largest.as_ref().filter(|_| values.different > 1) {
        let difference = values.exact.map_or(difference.to_string(), |exact| exact.to_string());
        line.push_str(&format!(
            "; the largest difference is {difference}, at {}",
            pair_in_words(at)
        ));
    }
    line
}

/// The amount compared, and the number of differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffSummary {
    /// Groups that both have.
    pub groups: u64,
    /// Arrays that both have.
    pub arrays: u64,
    /// Elements compared.
    pub elements: u64,
    /// Differences of content.
    pub different: u64,
    /// Differences in the storage of content.
    pub stored: u64,
    /// Nodes that could not be read completely.
    pub not_compared: u64,
}

impl DiffSummary {
    /// The whole report as one JSON document, with the documents of the differences.
    #[must_use]
    pub fn json(&self, one: &str, other: &str, differences: &[Value]) -> Value {
        json!({
            "one": one, "other": other,
            "groups": self.groups, "arrays": self.arrays, "elements": self.elements,
            "differences": differences,
            "different": self.different, "stored_differently": self.stored,
            "not_compared": self.not_compared,
        })
    }

    /// The amount compared and the result, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let compared = format!(
            "compared {}, {}, {}",
            words::counted(self.groups, "group"),
            words::counted(self.arrays, "array"),
            words::counted(self.elements, "element")
        );
        // Whatever was not compared may differ.
        let among = if self.not_compared == 0 { "" } else { " in what was compared" };
        let found = match (self.different, self.stored) {
            (0, 0) => format!("no difference{among}"),
            (0, _) => format!("the same content{among}, stored differently"),
            (n, _) => words::counted(n, "difference"),
        };
        let left = match self.not_compared {
            0 => String::new(),
            n => format!("; {} not compared", words::counted(n, "node")),
        };
        format!("{compared}: {found}{left}")
    }
}

/// The events of [`diff`] for its caller during the comparison.
#[derive(Debug)]
#[non_exhaustive]
pub enum DiffEvent<'a> {
    /// A difference was found.
    Difference(Difference<'a>),
    /// The number of compared bytes of elements of the array at this path.
    Progress {
        /// The path below the compared nodes.
        path: &'a str,
        /// Bytes compared so far.
        bytes: u64,
    },
}

/// Compares two nodes and all nodes below them: their documents, and unless `metadata_only`, their
/// elements. A node or chunk that cannot be read is reported; the others are still compared. The
/// comparison ends early when `event` breaks.
///
/// Objects that belong to no node are compared byte by byte, or with `metadata_only` by their sizes, but
/// not with [regions](DiffNode::regions), nor where an unfinished copy or an error hides some of them.
///
/// Where axes of two arrays have unequal lengths and the labels of their coordinate arrays tell which
/// indices are the same, these are compared, and a difference names the labels that only one has.
///
/// # Errors
/// [`DiffError`] if one of the two nodes, or a list of nodes, cannot be read.
///
/// # Examples
/// ```
/// # use std::{ops::ControlFlow, sync::Arc};
/// # use zarr_array::Array;
/// # use zarr_array::store::{MemoryStore, Prefix, Store};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_report::diff::{DiffEvent, DiffNode, diff};
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let metadata = ArrayBuilder::new([3], DataType::Uint8).chunk_shape([2]).build()?;
/// let (a, b) = (Prefix::new("a")?, Prefix::new("b")?);
/// Array::create(store.clone(), &a, metadata.clone())?;
/// Array::create(store.clone(), &b, metadata)?.write(1..2, &[7])?;
/// let mut lines = Vec::new();
/// let (one, other) = (DiffNode::new(&store, a, "a"), DiffNode::new(&store, b, "b"));
/// let summary = diff(&one, &other, false, &mut |event| {
///     if let DiffEvent::Difference(difference) = event {
///         lines.push(difference.line(|error| error.to_string()));
///     }
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(lines, ["values: 1 of 3 elements differ, first at [1]: 0 | 7"]);
/// assert_eq!(summary.different, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn diff(
    one: &DiffNode<'_>,
    other: &DiffNode<'_>,
    metadata_only: bool,
    event: &mut dyn FnMut(DiffEvent<'_>) -> ControlFlow<()>,
) -> Result<DiffSummary, DiffError> {
    let (mut ours, mut theirs) = (nodes(one)?, nodes(other)?);
    let known = [known(one, &ours)?, known(other, &theirs)?];
    let paths: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let paths: Vec<String> = paths.into_iter().cloned().collect();
    let mut comparison = Comparison {
        one,
        other,
        metadata_only,
        event,
        summary: DiffSummary::default(),
        named: BTreeSet::new(),
        equal: None,
    };
    let mut ahead = Ahead::new(one, other, &paths, metadata_only);
    for (number, path) in paths.iter().enumerate() {
        comparison.equal = ahead.equal(number, [&ours, &theirs]);
        let flow = match (ours.remove(path), theirs.remove(path)) {
            (Some(Ok(a)), Some(Ok(b))) => comparison.nodes(path, &a, &b)?,
            (Some(Err(error)), Some(_)) | (Some(_), Some(Err(error))) => {
                comparison.not_compared(path, error)
            }
            (Some(_), None) => comparison.only_in(path, one.name),
            (None, Some(_)) => comparison.only_in(path, other.name),
            (None, None) => ControlFlow::Continue(()),
        };
        if flow.is_break() {
            return Ok(comparison.summary);
        }
    }
    if !one.has_regions() && !other.has_regions() {
        let _ended = comparison.objects(known);
    }
    Ok(comparison.summary)
}

/// What differs, and the errors of what cannot be read.
type Compared = (Values, Vec<DiffError>);

/// A comparison under way.
struct Comparison<'a> {
    one: &'a DiffNode<'a>,
    other: &'a DiffNode<'a>,
    metadata_only: bool,
    event: &'a mut dyn FnMut(DiffEvent<'_>) -> ControlFlow<()>,
    summary: DiffSummary,
    /// Labels that only one of two groups has: the group, and what is said of them.
    named: BTreeSet<(String, String)>,
    /// The number of elements of the array in turn, if they were found to be equal.
    equal: Option<u64>,
}

impl Comparison<'_> {
    fn found(&mut self, path: &str, kind: DifferenceKind<'_>) -> ControlFlow<()> {
        (self.event)(DiffEvent::Difference(Difference { path, kind }))
    }

    fn only_in(&mut self, path: &str, name: &str) -> ControlFlow<()> {
        self.summary.different += 1;
        self.found(path, DifferenceKind::OnlyIn(name))
    }

    fn not_compared(&mut self, path: &str, error: DiffError) -> ControlFlow<()> {
        self.summary.not_compared += 1;
        self.found(path, DifferenceKind::NotCompared(error))
    }

    fn changes(&mut self, path: &str, changes: Vec<Change>) -> ControlFlow<()> {
        for change in changes {
            match change.is_content {
                true => self.summary.different += 1,
                false => self.summary.stored += 1,
            }
            self.found(path, DifferenceKind::Document(change))?;
        }
        ControlFlow::Continue(())
    }

    /// Compares two nodes of one path.
    fn nodes(
        &mut self,
        path: &str,
        ours: &NodeMetadata,
        theirs: &NodeMetadata,
    ) -> Result<ControlFlow<()>, DiffError> {
        let (a, b) = match (ours, theirs) {
            (NodeMetadata::Group(a), NodeMetadata::Group(b)) => {
                self.summary.groups += 1;
                return Ok(self.changes(path, groups(a, b)));
            }
            (NodeMetadata::Array(a), NodeMetadata::Array(b)) => (a, b),
            _ => {
                let kind = |node: &NodeMetadata| match node {
                    NodeMetadata::Array(_) => "an array".to_owned(),
                    NodeMetadata::Group(_) => "a group".to_owned(),
                };
                let change = Change::content("node", kind(ours), kind(theirs));
                return Ok(self.changes(path, vec![change]));
            }
        };
        self.summary.arrays += 1;
        let flow = self.changes(path, arrays(a, b));
        if flow.is_break() || self.metadata_only {
            return Ok(flow);
        }
        if a.data_type() != b.data_type() {
            // Elements are not compared, and the array has the axes all the same.
            let _named = (self.one.region(path, a).is_ok(), self.other.region(path, b).is_ok());
            return Ok(flow);
        }
        if let Some(elements) = self.equal {
            self.summary.elements = self.summary.elements.saturating_add(elements);
            let size = a.data_type().size().and_then(|size| u64::try_from(size).ok());
            let bytes = size.unwrap_or(0).saturating_mul(elements);
            return Ok((self.event)(DiffEvent::Progress { path, bytes }));
        }
        let compared = self.elements(path, a, b);
        match compared {
            Ok(ControlFlow::Continue(None)) => Ok(ControlFlow::Continue(())),
            Ok(ControlFlow::Continue(Some((values, unread)))) => {
                self.summary.elements = self.summary.elements.saturating_add(values.elements);
                self.summary.not_compared += u64::from(!unread.is_empty());
                for error in unread {
                    if self.found(path, DifferenceKind::NotCompared(error)).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                if values.first.is_none() {
                    return Ok(ControlFlow::Continue(()));
                }
                self.summary.different += 1;
                Ok(self.found(path, DifferenceKind::Values(Box::new(values))))
            }
            Ok(ControlFlow::Break(())) => Ok(ControlFlow::Break(())),
            // Of a region in a single array, the caller is told.
            Err(error)
                if matches!(
                    error.cause,
                    ReportError::Array(_)
                        | ReportError::TooMany { .. }
                        | ReportError::Labels(_)
                        | ReportError::Temporary(_)
                ) || matches!(error.cause, ReportError::Region(_)) && !path.is_empty() =>
            {
                Ok(self.not_compared(path, error))
            }
            Err(error) => Err(error),
        }
    }

    /// Compares the elements of two arrays of one type; `None` if nothing tells which are the same.
    fn elements(
        &mut self,
        path: &str,
        a: &ArrayMetadata,
        b: &ArrayMetadata,
    ) -> Result<ControlFlow<(), Option<Compared>>, DiffError> {
        let (one, other) = (self.one, self.other);
        let (ours, theirs) = (one.array(path, a)?, other.array(path, b)?);
        let regions = (one.region(path, a)?, other.region(path, b)?);
        let (one, other) = if a.shape() == b.shape() && regions == (None, None) {
            (Picked::new(one, &ours, None)?, Picked::new(other, &theirs, None)?)
        } else {
            let whole = |array: &Array| {
                let axes = array.shape().iter().map(|length| AxisSelection::from(0..*length));
                axes.collect::<Vec<_>>()
            };
            let (mine, their) = (
                regions.0.unwrap_or_else(|| whole(&ours)),
                regions.1.unwrap_or_else(|| whole(&theirs)),
            );
            let mut mine = Axes { node: one, path, array: &ours, selected: mine };
            let mut their = Axes { node: other, path, array: &theirs, selected: their };
            let Some(changes) = align(&mut mine, &mut their)? else {
                return Ok(ControlFlow::Continue(None));
            };
            // Once for all arrays of a group.
            let group = path.rsplit_once('/').map_or("", |(group, _)| group).to_owned();
            let said = |change: &Change| format!("{} {} {}", change.what, change.one, change.other);
            let mut changes = changes;
            changes.retain(|change| self.named.insert((group.clone(), said(change))));
            if self.changes(path, changes).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let (mine, their) = (mine.selected, their.selected);
            (Picked::new(one, &ours, Some(mine))?, Picked::new(other, &theirs, Some(their))?)
        };
        let event = &mut self.event;
        let compared =
            compare(&one, &other, &mut |bytes| event(DiffEvent::Progress { path, bytes }));
        Ok(compared?.map_continue(|(mut values, unread)| {
            if values.first.is_some() {
                let coordinate = |name: &str| self.one.coordinate(path, name);
                let labels = ArrayLabels::of(a, &self.one.own_name(path), coordinate);
                values.label(&labels);
            }
            Some((values, unread))
        }))
    }
}

#[cfg(test)]
mod tests {
    mod in_common;
    mod whole_arrays;

    use super::DiffSummary;

    #[test]
    fn nothing_is_said_of_what_was_not_compared() {
        let line = |stored, not_compared| {
            DiffSummary { stored, not_compared, ..DiffSummary::default() }.line()
        };
        let compared = "compared 0 groups, 0 arrays, 0 elements";
        for (stored, not_compared, found) in [
            (0, 0, "no difference"),
            (1, 0, "the same content, stored differently"),
            (0, 1, "no difference in what was compared; 1 node not compared"),
            (
                1,
                2,
                "the same content in what was compared, stored differently; 2 nodes not compared",
            ),
        ] {
            assert_eq!(line(stored, not_compared), format!("{compared}: {found}"));
        }
    }
}
