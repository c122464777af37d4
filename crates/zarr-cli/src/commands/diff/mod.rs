//! `zarr-kit diff`.

mod documents;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use zarr_kit::array::open_node;
use zarr_kit::metadata::NodeMetadata;
use zarr_kit::{Group, Prefix};

use self::documents::{Change, arrays, groups, short};
use self::values::{OpenedArray, Pair, Values, compare};
use crate::args::Diff;
use crate::error::CliError;
use crate::node_store::NodeStore;
use crate::print::{Out, note};
use crate::progress::Bar;
use crate::words;

/// Exit status if the two have different content.
const DIFFERENT: u8 = 1;

/// Exit status if something could not be compared, as after any error.
const NOT_COMPARED: u8 = 2;

/// A node, or why it cannot be read.
type ReadNode = Result<NodeMetadata, CliError>;

/// What was compared, and what was found.
#[derive(Default)]
struct Report {
    /// Nodes in both.
    groups: u64,
    arrays: u64,
    /// Elements compared.
    elements: u64,
    /// Differences of the content, and of how it is stored.
    different: u64,
    stored: u64,
    /// Nodes of which not everything could be read.
    not_compared: u64,
    /// One document per difference, for `--json`.
    documents: Vec<Value>,
}

pub(super) fn run(args: &Diff) -> Result<u8, CliError> {
    let one = Root { place: &NodeStore::open(&args.one)?, prefix: Prefix::root() };
    let other = Root { place: &NodeStore::open(&args.other)?, prefix: Prefix::root() };
    let how = How { json: args.json, metadata_only: args.metadata_only, bar: Bar::new };
    let mut out = Out::stdout();
    let report = compared(&how, &one, &other, &mut out)?;
    report.finish(&how, &one, &other, out)
}

/// The differences as the document that `--json` prints, without a progress bar.
pub(crate) fn json_of(
    one: &Root<'_>,
    other: &Root<'_>,
    metadata_only: bool,
) -> Result<Value, CliError> {
    let how = How { json: true, metadata_only, bar: Bar::hidden };
    // Nothing is printed of what becomes a document.
    let report = compared(&how, one, other, &mut Out::stdout())?;
    Ok(report.document(one, other))
}

/// What is compared, and how it is told.
struct How {
    json: bool,
    metadata_only: bool,
    bar: fn() -> Bar,
}

/// A node, and where it is in its store.
pub(crate) struct Root<'a> {
    pub(crate) place: &'a NodeStore,
    pub(crate) prefix: Prefix,
}

impl Root<'_> {
    /// The place of the node at this path below.
    fn at(&self, path: &str) -> Result<Prefix, CliError> {
        let place = || self.place.shown.clone();
        self.prefix.join(path).map_err(|cause| CliError::Key { place: place(), cause })
    }
}

fn compared(
    how: &How,
    one: &Root<'_>,
    other: &Root<'_>,
    out: &mut Out,
) -> Result<Report, CliError> {
    let (ours, theirs) = (nodes(one)?, nodes(other)?);
    let paths: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let mut report = Report::default();
    for path in paths {
        match (ours.get(path), theirs.get(path)) {
            (Some(Ok(a)), Some(Ok(b))) => {
                node(how, path, (one, a), (other, b), &mut report, out)?;
            }
            (Some(Err(error)), Some(_)) | (Some(_), Some(Err(error))) => {
                report.not_compared(path, error, how, out)?;
            }
            (Some(_), None) => report.only(path, one.place, how, out)?,
            (None, Some(_)) => report.only(path, other.place, how, out)?,
            (None, None) => {}
        }
    }
    Ok(report)
}

/// The node and all nodes below it, by their paths; that of the node itself is empty. Of those below,
/// some may have documents that cannot be read, such as arrays of pickled objects.
fn nodes(root: &Root<'_>) -> Result<BTreeMap<String, ReadNode>, CliError> {
    let place = root.place;
    let node = open_node(&place.store, &root.prefix).map_err(|cause| place.failed(cause))?;
    let mut found = BTreeMap::new();
    let mut next = vec![(String::new(), root.prefix.clone(), Ok(node))];
    while let Some((path, prefix, node)) = next.pop() {
        if let Ok(NodeMetadata::Group(_)) = node {
            let failed = |cause| place.failed(cause);
            let group = Group::open(place.store.clone(), &prefix).map_err(failed)?;
            for name in group.children().map_err(failed)? {
                let below = prefix
                    .join(&name)
                    .map_err(|cause| CliError::Key { place: place.shown.clone(), cause })?;
                let node = open_node(&place.store, &below).map_err(failed);
                let path = if path.is_empty() { name } else { format!("{path}/{name}") };
                next.push((path, below, node));
            }
        }
        found.insert(path, node);
    }
    Ok(found)
}

/// Compares two nodes of one path.
fn node(
    how: &How,
    path: &str,
    (one, ours): (&Root<'_>, &NodeMetadata),
    (other, theirs): (&Root<'_>, &NodeMetadata),
    report: &mut Report,
    out: &mut Out,
) -> Result<(), CliError> {
    let (a, b) = match (ours, theirs) {
        (NodeMetadata::Group(a), NodeMetadata::Group(b)) => {
            report.groups += 1;
            return report.changes(path, &groups(a, b), how, out);
        }
        (NodeMetadata::Array(a), NodeMetadata::Array(b)) => (a, b),
        _ => {
            let kind = |node: &NodeMetadata| match node {
                NodeMetadata::Array(_) => "an array".to_owned(),
                NodeMetadata::Group(_) => "a group".to_owned(),
            };
            let change = Change::content("node", kind(ours), kind(theirs));
            return report.changes(path, &[change], how, out);
        }
    };
    report.arrays += 1;
    report.changes(path, &arrays(a, b), how, out)?;
    if how.metadata_only || a.shape() != b.shape() || a.data_type() != b.data_type() {
        return Ok(());
    }
    let bar = (how.bar)();
    let name = if path.is_empty() { "comparing" } else { path };
    let values = opened(one, path, a)
        .and_then(|one| Ok((one, opened(other, path, b)?)))
        .and_then(|(one, other)| compare(name, &one, &other, &bar));
    drop(bar);
    match values {
        Ok(values) => report.values(path, &values, how, out),
        Err(error @ CliError::Node { .. }) => report.not_compared(path, &error, how, out),
        Err(error) => Err(error),
    }
}

fn opened<'a>(
    root: &Root<'a>,
    path: &str,
    metadata: &zarr_kit::ArrayMetadata,
) -> Result<OpenedArray<'a>, CliError> {
    let place = root.place;
    let array = zarr_kit::Array::with_metadata(
        place.store.clone(),
        &root.at(path)?,
        metadata.clone(),
        zarr_kit::codec::Options::new(),
    );
    Ok(OpenedArray { place, array: array.map_err(|cause| place.failed(cause))? })
}

/// The path as it begins a line; the root is not named.
fn label(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

impl Report {
    fn only(
        &mut self,
        path: &str,
        place: &NodeStore,
        how: &How,
        out: &mut Out,
    ) -> Result<(), CliError> {
        self.different += 1;
        if how.json {
            self.documents.push(json!({"path": path, "what": "node", "only_in": place.shown}));
            return Ok(());
        }
        out.line(format_args!("{path}: only in {}", place.shown))
    }

    /// A node that cannot be read, or not to its end. The others are compared all the same.
    fn not_compared(
        &mut self,
        path: &str,
        error: &CliError,
        how: &How,
        out: &mut Out,
    ) -> Result<(), CliError> {
        self.not_compared += 1;
        if how.json {
            let reason = error.to_string();
            self.documents.push(json!({"path": path, "what": "not compared", "reason": reason}));
            return Ok(());
        }
        out.line(format_args!("{}not compared: {error}", label(path)))
    }

    fn changes(
        &mut self,
        path: &str,
        changes: &[Change],
        how: &How,
        out: &mut Out,
    ) -> Result<(), CliError> {
        for change in changes {
            let stored = match change.is_content {
                true => {
                    self.different += 1;
                    ""
                }
                false => {
                    self.stored += 1;
                    " (only how it is stored)"
                }
            };
            if how.json {
                self.documents.push(json!({
                    "path": path, "what": change.what, "one": change.one, "other": change.other,
                    "content": change.is_content,
                }));
                continue;
            }
            out.line(format_args!(
                "{}{}: {} | {}{stored}",
                label(path),
                change.what,
                short(&change.one),
                short(&change.other)
            ))?;
        }
        Ok(())
    }

    fn values(
        &mut self,
        path: &str,
        values: &Values,
        how: &How,
        out: &mut Out,
    ) -> Result<(), CliError> {
        self.elements = self.elements.saturating_add(values.elements);
        let Some(first) = &values.first else { return Ok(()) };
        self.different += 1;
        if how.json {
            let pair =
                |pair: &Pair| json!({"index": pair.index, "one": pair.one, "other": pair.other});
            let largest = values
                .largest
                .as_ref()
                .map(|(difference, at)| json!({"difference": difference, "at": pair(at)}));
            self.documents.push(json!({
                "path": path, "what": "values", "content": true,
                "elements": values.elements, "different": values.different,
                "first": pair(first), "largest": largest,
            }));
            return Ok(());
        }
        let shown = |pair: &Pair| format!("{:?}: {} | {}", pair.index, pair.one, pair.other);
        let mut line = format!(
            "{}values: {} of {} differ, first at {}",
            label(path),
            words::count(values.different),
            words::counted(values.elements, "element"),
            shown(first)
        );
        // Of one different element, the first says all.
        if let Some((difference, at)) = values.largest.as_ref().filter(|_| values.different > 1) {
            line.push_str(&format!("; the largest difference is {difference}, at {}", shown(at)));
        }
        out.line(line)
    }

    fn document(&self, one: &Root<'_>, other: &Root<'_>) -> Value {
        json!({
            "one": one.place.shown, "other": other.place.shown,
            "groups": self.groups, "arrays": self.arrays, "elements": self.elements,
            "differences": self.documents,
            "different": self.different, "stored_differently": self.stored,
            "not_compared": self.not_compared,
        })
    }

    fn finish(
        self,
        how: &How,
        one: &Root<'_>,
        other: &Root<'_>,
        mut out: Out,
    ) -> Result<u8, CliError> {
        if how.json {
            out.json(&self.document(one, other))?;
        }
        out.finish()?;
        if !how.json {
            let compared = format!(
                "compared {}, {}, {}",
                words::counted(self.groups, "group"),
                words::counted(self.arrays, "array"),
                words::counted(self.elements, "element")
            );
            let found = match (self.different, self.stored) {
                (0, 0) => "no difference".to_owned(),
                (0, _) => "the same content, stored differently".to_owned(),
                (n, _) => words::counted(n, "difference"),
            };
            let left = match self.not_compared {
                0 => String::new(),
                n => format!("; {} not compared", words::counted(n, "node")),
            };
            note(format_args!("{compared}: {found}{left}"));
        }
        Ok(match (self.not_compared, self.different) {
            (0, 0) => 0,
            (0, _) => DIFFERENT,
            _ => NOT_COMPARED,
        })
    }
}
