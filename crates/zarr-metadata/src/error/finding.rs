//! Findings, which are reported in addition to errors: in a document, or in other checked objects.

use std::fmt;
use std::ops::Range;

use crate::error::MetadataError;
use crate::error::printable::Printable;
use crate::error::rule::{Rule, Severity};

/// A broken rule, and where.
///
/// Findings of a document do not prevent reading it. They have a JSON path and no key; a check of a
/// whole store adds the key of the object.
///
/// The text is one line, escaped as by [`Printable`](crate::Printable): severity, key, JSON path,
/// message, and the rule's id in brackets.
///
/// # Examples
/// ```
/// use zarr_metadata::NodeMetadata;
///
/// let json = br#"{"zarr_format": 3, "node_type": "group", "attributes": {"x": [0, NaN]}}"#;
/// let group = NodeMetadata::from_json(json)?;
/// let [finding] = group.findings() else { panic!("one") };
/// assert_eq!((finding.rule().id(), finding.path()), ("not-finite-word", Some("$.attributes.x[1]")));
/// assert_eq!(
///     finding.clone().with_key("a/zarr.json").to_string(),
///     "warning: a/zarr.json: $.attributes.x[1]: found NaN, expected JSON, which has no such \
///      numbers [not-finite-word]"
/// );
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    rule: Rule,
    key: Option<String>,
    path: Option<String>,
    region: Option<(String, Vec<Range<u64>>)>,
    message: String,
}

/// How many findings of one part of a document are listed. In a chain of many codecs deep inside
/// shards, each would have a long path. Together they would take memory out of proportion to the
/// document.
const MOST: usize = 100;

/// Added to the message of the last of them.
const MORE: &str = ", and more that is not listed";

impl Finding {
    /// A finding without a place. `message` names the found and the allowed values.
    #[must_use]
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Finding { rule, key: None, path: None, region: None, message: message.into() }
    }

    /// The same finding, in the object of this key.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Finding { key: Some(key.into()), ..self }
    }

    /// The same finding, at this JSON path of its document.
    #[must_use]
    pub fn with_path(self, path: impl Into<String>) -> Self {
        Finding { path: Some(path.into()), ..self }
    }

    /// The same finding, about a chunk with the elements of this region of the array with this path.
    #[must_use]
    pub fn with_region(self, array: impl Into<String>, region: Vec<Range<u64>>) -> Self {
        Finding { region: Some((array.into(), region)), ..self }
    }

    /// The same finding with a text before its message.
    #[must_use]
    pub fn after(mut self, text: &str) -> Self {
        self.message.insert_str(0, text);
        self
    }

    /// The rule that is broken.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The id of the rule, such as `bare-string-codec`.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.rule.id()
    }

    /// Its severity.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.rule.severity()
    }

    /// The key of the object in a store that it is about: a document, a chunk, a stray file. `None`
    /// for a finding about a document alone.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The place inside a document as a JSON path; `None` if it is not about a document.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// The path of the array, and the indices of the elements on each of its axes, if it is about a
    /// chunk. A chunk of a joined array may be an object of another store; path and indices are the
    /// joined array's.
    #[must_use]
    pub fn region(&self) -> Option<(&str, &[Range<u64>])> {
        self.region.as_ref().map(|(array, region)| (array.as_str(), region.as_slice()))
    }

    /// The found and the allowed values.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What a writer refuses with this error, as a finding of a reader.
    pub(crate) fn of(rule: Rule, error: &MetadataError) -> Self {
        Finding::new(rule, error.reason().to_string()).with_path(error.path())
    }

    /// A finding at the root of the document.
    pub(crate) fn in_document(rule: Rule, found: impl fmt::Display, allowed: &str) -> Self {
        Finding::new(rule, format!("found {found}, expected {allowed}")).with_path("$")
    }

    /// Puts `path` before whatever `read` finds, up to a number.
    pub(crate) fn scope<T>(
        findings: &mut Vec<Finding>,
        path: impl FnOnce() -> String,
        read: impl FnOnce(&mut Vec<Finding>) -> T,
    ) -> T {
        let mut inside = Vec::new();
        let result = read(&mut inside);
        if inside.len() > MOST {
            inside.truncate(MOST);
            if let Some(last) = inside.last_mut().filter(|last| !last.message.ends_with(MORE)) {
                last.message.push_str(MORE);
            }
        }
        if !inside.is_empty() {
            let path = path();
            findings.extend(inside.into_iter().map(|finding| finding.under(&path)));
        }
        result
    }

    /// The same finding seen from a document in which this one is at `path`.
    pub(crate) fn under(mut self, path: &str) -> Self {
        self.path.get_or_insert_with(|| "$".to_owned()).insert_str(1, path);
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { rule, key, path, message, region: _ } = self;
        write!(f, "{}: ", rule.severity())?;
        for place in [key, path].into_iter().flatten() {
            write!(f, "{}: ", Printable(place))?;
        }
        write!(f, "{} [{rule}]", Printable(message))
    }
}
