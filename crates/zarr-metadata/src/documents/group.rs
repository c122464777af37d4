//! The metadata document of a group.

use std::{fmt, ops::Deref};

use crate::documents::consolidated::{ConsolidatedMetadata, Copies};
use crate::documents::document::{self, GROUP, NodeDocument};
use crate::documents::draft::Draft;
use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, Result};
use crate::json::{Grammar, JsonType, Outline, same_value, utf8, write_string};

/// The `zarr.json` of a group, checked.
///
/// ```
/// use zarr_metadata::GroupMetadata;
///
/// let group = GroupMetadata::new().with_attributes(r#"{"station": "Seattle"}"#)?;
/// assert_eq!(group.attribute("station"), Some("\"Seattle\""));
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// Zarr v3 core 3.1, "Group metadata".
#[derive(Clone)]
pub struct GroupMetadata {
    document: NodeDocument,
    /// The copies in the consolidated metadata.
    copies: Option<Copies>,
}

impl GroupMetadata {
    /// Reads and checks a document.
    ///
    /// # Errors
    /// If the text is not JSON, or breaks a rule of the specification. The documents inside
    /// consolidated metadata are checked when they are [asked for](ConsolidatedMetadata).
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::of(Draft::read(utf8(json)?)?)
    }

    pub(crate) fn of(mut draft: Draft<'_>) -> Result<Self> {
        draft.check("group", GROUP)?;
        let copies = match draft.member("consolidated_metadata") {
            Some(raw) if raw.json_type() != JsonType::Null => {
                let read = Copies::read(raw, draft.text).breaks(Rule::CONSOLIDATED_METADATA);
                Some(read.member("consolidated_metadata")?)
            }
            // SD-44.
            _ => None,
        };
        let mut findings = std::mem::take(&mut draft.findings);
        let found = match copies {
            None | Some((_, Some(false))) => None,
            Some((_, Some(true))) => Some("\"must_understand\": true"),
            Some((_, None)) => Some("no \"must_understand\""),
        };
        if let Some(found) = found {
            let allowed =
                "\"must_understand\": false: readers that do not know it refuse the group";
            let finding = Finding::in_document(Rule::CONSOLIDATED_UNDERSTAND, found, allowed);
            findings.push(finding.under(".consolidated_metadata"));
        }
        let copies = copies.map(|(copies, _)| copies);
        Ok(GroupMetadata { document: draft.keep(findings), copies })
    }

    /// The document of a new group without attributes.
    #[must_use]
    pub fn new() -> Self {
        let members = [("zarr_format", "3".to_owned()), ("node_type", "\"group\"".to_owned())];
        GroupMetadata { document: NodeDocument::new(&members), copies: None }
    }

    /// The document with this JSON text as the value of a top-level member. Every byte outside of
    /// that value stays as it is.
    ///
    /// # Errors
    /// If the text is not strict JSON, which has no bare `NaN` (SD-43), or if the member is wrong.
    /// Members that the specification does not have need `"must_understand": false` (SD-40).
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::GroupMetadata;
    ///
    /// let hint = r#"{"must_understand": false}"#;
    /// let group = GroupMetadata::new().with_member("acme.hint", hint)?;
    /// assert_eq!(group.member("acme.hint"), Some(hint));
    /// assert!(group.with_member("attributes", "[]").is_err());
    /// # Ok::<_, zarr_metadata::MetadataError>(())
    /// ```
    pub fn with_member(&self, name: &str, json: &str) -> Result<Self> {
        let text = self.document.with_member(name, document::strict(name, json)?, GROUP);
        Self::from_json(text.as_bytes())
    }

    /// The document with these attributes, the JSON text of an object.
    ///
    /// # Errors
    /// If the text is not an object in strict JSON, which has no bare `NaN` (SD-43).
    pub fn with_attributes(&self, json: &str) -> Result<Self> {
        self.with_member("attributes", json)
    }

    /// The document with other values of attributes, each a name and a JSON text, or without those
    /// whose text is `None`. The others keep their text and order.
    ///
    /// # Errors
    /// If the text is not strict JSON, which has no bare `NaN` (SD-43).
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::GroupMetadata;
    ///
    /// let group = GroupMetadata::new().with_attributes(r#"{"a": 1.50, "b": 2}"#)?;
    /// let group = group.with_changed_attributes(&[("b", None), ("c", Some("[3]"))])?;
    /// assert_eq!((group.attribute("a"), group.attribute("b")), (Some("1.50"), None));
    /// # Ok::<_, zarr_metadata::MetadataError>(())
    /// ```
    pub fn with_changed_attributes(&self, changes: &[(&str, Option<&str>)]) -> Result<Self> {
        let text = self.document.with_changed_attributes(changes, GROUP)?;
        Self::from_json(text.as_bytes())
    }

    /// The document with these paths and documents, as JSON text, as its consolidated metadata.
    ///
    /// # Errors
    /// If a text is not JSON, or a path occurs twice. The documents themselves are checked when
    /// they are [asked for](ConsolidatedMetadata).
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::GroupMetadata;
    ///
    /// let station = GroupMetadata::new();
    /// let root = GroupMetadata::new().with_consolidated_metadata([("station", station.json())])?;
    /// assert!(root.consolidated_metadata().is_some_and(|nodes| nodes.paths().eq(["station"])));
    /// # Ok::<_, zarr_metadata::MetadataError>(())
    /// ```
    ///
    /// # Spec
    /// Zarr v3 core 3.1, "Consolidated metadata".
    pub fn with_consolidated_metadata<'n>(
        &self,
        nodes: impl IntoIterator<Item = (&'n str, &'n str)>,
    ) -> Result<Self> {
        let mut json = r#"{"kind": "inline", "must_understand": false, "metadata": {"#.to_owned();
        for (index, (path, document)) in nodes.into_iter().enumerate() {
            // Two texts that are JSON together need not be so apart.
            Outline::read(document, Grammar::WithNotFinite)
                .member(path)
                .member("metadata")
                .member("consolidated_metadata")?;
            json.push_str(if index == 0 { "" } else { ", " });
            write_string(path, &mut json);
            json.push_str(": ");
            json.push_str(document);
        }
        json.push_str("}}");
        let text = self.document.with_member("consolidated_metadata", &json, GROUP);
        Self::from_json(text.as_bytes())
    }

    /// The document without consolidated metadata. All other members keep their text.
    ///
    /// # Errors
    /// None for a document that was read.
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::GroupMetadata;
    ///
    /// let group = br#"{"zarr_format": 3, "consolidated_metadata": null, "node_type": "group"}"#;
    /// let group = GroupMetadata::from_json(group)?.without_consolidated_metadata()?;
    /// assert_eq!(group.json(), r#"{"zarr_format": 3, "node_type": "group"}"#);
    /// # Ok::<_, zarr_metadata::MetadataError>(())
    /// ```
    pub fn without_consolidated_metadata(&self) -> Result<Self> {
        Self::from_json(self.document.without_member("consolidated_metadata").as_bytes())
    }

    /// The documents of the nodes below, if the group keeps copies of them. `null` reads as
    /// absent (SD-44).
    #[must_use]
    pub fn consolidated_metadata(&self) -> Option<ConsolidatedMetadata<'_>> {
        self.copies.as_ref().map(|copies| copies.of(self.json(), self.is_version_2()))
    }

    /// The same document as one of version 3 proper, to be stored.
    #[must_use]
    pub fn into_version_3(self) -> Self {
        GroupMetadata { document: self.document.of_version_2(false), ..self }
    }

    pub(crate) fn of_version_2(self) -> Self {
        GroupMetadata { document: self.document.of_version_2(true), ..self }
    }
}

impl Deref for GroupMetadata {
    type Target = NodeDocument;

    fn deref(&self) -> &NodeDocument {
        &self.document
    }
}

impl Default for GroupMetadata {
    fn default() -> Self {
        Self::new()
    }
}

/// Compares the contents of the documents, attributes and consolidated metadata as JSON values.
impl PartialEq for GroupMetadata {
    fn eq(&self, other: &Self) -> bool {
        let copies = [self, other].map(|group| group.document.member("consolidated_metadata"));
        let [own, others] = copies.map(|copies| copies.unwrap_or("null"));
        same_value(self.attributes(), other.attributes())
            && same_value(own, others)
            && self.document.same_unknown(&other.document, GROUP)
    }
}

impl Eq for GroupMetadata {}

impl fmt::Debug for GroupMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GroupMetadata({})", self.json())
    }
}
