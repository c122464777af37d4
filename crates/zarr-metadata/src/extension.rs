//! `"name"` or `{"name", "configuration", "must_understand"}`: how every extension point is written.

use std::borrow::Cow;

use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result, describe};
use crate::json::{Grammar, JsonType, Object, Outline, Raw, same, write_string};

/// An extension that this crate does not interpret, kept as it was written.
///
/// Two are equal if their JSON texts are, ignoring space between tokens.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Extension};
///
/// let codec = Codec::Unknown(Extension::new("example.rle", Some(r#"{"runs": 3}"#))?);
/// let json = r#"{"name": "example.rle", "configuration": {"runs": 3}}"#;
/// assert_eq!(codec.to_json(), json);
/// assert_eq!(Codec::from_json(json.as_bytes())?, codec);
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Extension {
    name: Box<str>,
    configuration: Option<Box<str>>,
    must_understand: bool,
    json: Box<str>,
}

impl Extension {
    /// An extension with the JSON text of its configuration, if it has one.
    ///
    /// # Errors
    /// If the name is empty, or `configuration` is not a JSON object.
    pub fn new(name: &str, configuration: Option<&str>) -> Result<Self> {
        Self::made(name, configuration, true)
    }

    /// As [`new`](Extension::new), with `"must_understand": false`: readers that do not know the
    /// extension may continue without it.
    ///
    /// # Errors
    /// As for [`new`](Extension::new).
    pub fn optional(name: &str, configuration: Option<&str>) -> Result<Self> {
        Self::made(name, configuration, false)
    }

    fn made(name: &str, configuration: Option<&str>, must_understand: bool) -> Result<Self> {
        if name.is_empty() {
            return Err(MetadataError::unexpected("\"\"", "a name").in_member("name"));
        }
        let configuration = match configuration {
            Some(text) => {
                let outline = Outline::read(text, Grammar::Json).member("configuration")?;
                if outline.root().json_type() != JsonType::Object {
                    return Err(outline.root().expected("an object").in_member("configuration"));
                }
                Some(text.trim_ascii())
            }
            None => None,
        };
        let mut json = "{\"name\": ".to_owned();
        write_string(name, &mut json);
        if let Some(text) = configuration {
            json.push_str(", \"configuration\": ");
            json.push_str(text);
        }
        json.push_str(if must_understand { "}" } else { ", \"must_understand\": false}" });
        Ok(Extension {
            name: name.into(),
            configuration: configuration.map(Into::into),
            must_understand,
            json: json.into(),
        })
    }

    /// The name of the extension.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The JSON text of the configuration object, as written.
    #[must_use]
    pub fn configuration(&self) -> Option<&str> {
        self.configuration.as_deref()
    }

    /// False if a reader may continue without knowing the extension.
    #[must_use]
    pub fn must_understand(&self) -> bool {
        self.must_understand
    }

    /// The whole JSON text, as written.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }
}

impl PartialEq for Extension {
    fn eq(&self, other: &Self) -> bool {
        same(&self.json, &other.json)
    }
}

impl Eq for Extension {}

/// An extension as written, not yet interpreted.
#[derive(Debug)]
pub(crate) struct RawExtension<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) configuration: Option<Raw<'a>>,
    pub(crate) must_understand: bool,
    /// Written as a string alone.
    pub(crate) bare: bool,
    /// A member other than the three: an error in a known extension (SD-41).
    unknown: Option<Cow<'a, str>>,
    raw: Raw<'a>,
}

const MEMBERS: &[&str] = &["name", "configuration", "must_understand"];

impl<'a> RawExtension<'a> {
    pub(crate) fn read(raw: Raw<'a>) -> Result<Self> {
        Self::parts(raw).breaks(Rule::EXTENSION_FORM)
    }

    fn parts(raw: Raw<'a>) -> Result<Self> {
        const ALLOWED: &str = "a name or an object with a name";
        if raw.json_type() != JsonType::Object {
            if raw.text() == "\"\"" {
                return Err(raw.expected(ALLOWED));
            }
            return Ok(RawExtension {
                name: raw.string(ALLOWED)?,
                configuration: None,
                must_understand: true,
                bare: true,
                unknown: None,
                raw,
            });
        }
        let (mut name, mut configuration, mut unknown) = (None::<Cow<'_, str>>, None, None);
        let mut must_understand = true;
        for (key, value) in raw.members() {
            if key.is("name") {
                if value.text() == "\"\"" {
                    return Err(value.expected("a name").in_member("name"));
                }
                name = Some(value.string("a name").member("name")?);
            } else if key.is("configuration") {
                if value.json_type() != JsonType::Object {
                    return Err(value.expected("an object").in_member("configuration"));
                }
                configuration = Some(value);
            } else if key.is("must_understand") {
                must_understand = value.bool().member("must_understand")?;
            } else {
                unknown.get_or_insert_with(|| key.name());
            }
        }
        let name = name.ok_or_else(|| MetadataError::missing("name", "a name"))?;
        Ok(RawExtension { name, configuration, must_understand, bare: false, unknown, raw })
    }

    /// Checks that a known extension has only the specification's three members.
    pub(crate) fn only_known_members(&self) -> Result<()> {
        match &self.unknown {
            Some(key) => Err(MetadataError::unknown_member(key, MEMBERS)),
            None => Ok(()),
        }
    }

    /// Reports `"must_understand": false` where the specification does not allow it. It is harmless
    /// on a known extension, but other readers may then ignore the extension (SD-42).
    pub(crate) fn report_optional(&self, findings: &mut Vec<Finding>) {
        if !self.must_understand {
            let allowed = "true or no such member: nothing can be read without it";
            let finding = Finding::in_document(Rule::MUST_UNDERSTAND, "false", allowed);
            findings.push(finding.under(".must_understand"));
        }
    }

    /// Reports a name that no extension can have.
    fn report_name(&self, findings: &mut Vec<Finding>) {
        if is_registrable(&self.name) || is_uri(&self.name) {
            return;
        }
        let allowed = "a lower-case letter, then lower-case letters, digits, -, _ and ., or a URI";
        let finding =
            Finding::in_document(Rule::EXTENSION_NAME, describe_name(&self.name), allowed);
        findings.push(if self.bare { finding } else { finding.under(".name") });
    }

    /// The configuration, if there is one.
    pub(crate) fn configuration(&self) -> Option<Raw<'a>> {
        self.configuration
    }

    /// The members of the configuration; none if it is left out.
    pub(crate) fn members(&self) -> Result<Object<'a>> {
        match self.configuration {
            Some(raw) => Object::read(raw, "an object").member("configuration"),
            None => Ok(Object::default()),
        }
    }

    /// The extension as an unknown one; an invalid name is reported.
    pub(crate) fn keep(&self, findings: &mut Vec<Finding>) -> Extension {
        self.report_name(findings);
        Extension {
            name: self.name.as_ref().into(),
            configuration: self.configuration.map(|raw| raw.text().into()),
            must_understand: self.must_understand,
            json: self.raw.text().into(),
        }
    }

    /// The error of an unknown name.
    pub(crate) fn unknown_name(
        &self,
        what: &'static str,
        known: &[&'static str],
        allowed: &'static str,
    ) -> MetadataError {
        let error = MetadataError::unknown_name(what, &self.name, known, allowed);
        if self.bare { error } else { error.in_member("name") }
    }

    /// How a message shows this extension.
    pub(crate) fn describe(&self) -> String {
        describe(self.raw.text())
    }
}

/// Names that can be registered: `^[a-z][a-z0-9-_.]+$`.
fn is_registrable(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && name.len() > 1
        && bytes.all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.'))
}

/// URIs, which earlier versions required as names: with `//` after the scheme, and URNs. The
/// specification gives `foo:bar` as an example of an invalid name.
fn is_uri(name: &str) -> bool {
    let Some((scheme, rest)) = name.split_once(':') else { return false };
    let mut bytes = scheme.bytes();
    let is_scheme = bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let has_place = rest.strip_prefix("//").is_some_and(|place| !place.is_empty());
    let is_urn = scheme.eq_ignore_ascii_case("urn") && rest.contains(':');
    let no_space = !name.chars().any(|c| c.is_whitespace() || c.is_control());
    is_scheme && no_space && (has_place || is_urn)
}

/// A name as messages show it.
fn describe_name(name: &str) -> String {
    let mut quoted = String::new();
    write_string(name, &mut quoted);
    describe(&quoted)
}
