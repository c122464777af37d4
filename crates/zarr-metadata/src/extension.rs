//! `"name"` or `{"name", "configuration", "must_understand"}`: how every extension point is written.

use std::borrow::Cow;

use crate::error::{At, MetadataError, describe};
use crate::json::{Grammar, JsonType, Object, Raw, same, write_string};
use crate::rule::Rule;

type Result<T> = std::result::Result<T, MetadataError>;

/// An extension that this crate knows by name at most, kept as it was written.
///
/// Two are equal if their JSON texts are, but for the space between tokens.
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
    /// Where the name is empty, or `configuration` is no JSON object.
    pub fn new(name: &str, configuration: Option<&str>) -> Result<Self> {
        Self::made(name, configuration, true)
    }

    /// As [`new`](Extension::new), with `"must_understand": false`: readers that do not know the
    /// extension may go on without it.
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
                let raw = Raw::parse(text, Grammar::Json).member("configuration")?;
                if raw.json_type() != JsonType::Object {
                    return Err(raw.expected("an object").in_member("configuration"));
                }
                Some(raw.text())
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

    /// The name that says what the extension is.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The JSON text of the configuration object, as written.
    #[must_use]
    pub fn configuration(&self) -> Option<&str> {
        self.configuration.as_deref()
    }

    /// False where a reader may go on without knowing the extension.
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

/// An extension as written, not yet looked into.
#[derive(Debug)]
pub(crate) struct RawExtension<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) configuration: Option<Raw<'a>>,
    pub(crate) must_understand: bool,
    /// Written as a string alone.
    pub(crate) bare: bool,
    /// Members other than the three; errors in what is known (SD-41).
    unknown: Option<Cow<'a, str>>,
    raw: Raw<'a>,
}

pub(crate) const MEMBERS: &[&str] = &["name", "configuration", "must_understand"];

impl<'a> RawExtension<'a> {
    pub(crate) fn read(raw: Raw<'a>) -> Result<Self> {
        Self::parts(raw).breaks(Rule::ExtensionForm)
    }

    fn parts(raw: Raw<'a>) -> Result<Self> {
        const ALLOWED: &str = "a name or an object with a name";
        if raw.text() == "\"\"" {
            return Err(raw.expected(ALLOWED));
        }
        if raw.json_type() == JsonType::String {
            return Ok(RawExtension {
                name: raw.string(ALLOWED)?,
                configuration: None,
                must_understand: true,
                bare: true,
                unknown: None,
                raw,
            });
        }
        let mut object = Object::read(raw, ALLOWED)?;
        let name = object.require("name", "a name")?.string("a name").member("name")?;
        let configuration = object.take("configuration");
        if let Some(value) = configuration
            && value.json_type() != JsonType::Object
        {
            return Err(value.expected("an object").in_member("configuration"));
        }
        let must_understand = match object.take("must_understand") {
            Some(value) => value.bool().member("must_understand")?,
            None => true,
        };
        if name.is_empty() {
            return Err(MetadataError::unexpected("\"\"", "a name").in_member("name"));
        }
        let unknown = object.rest().into_iter().next().map(|(key, _)| key);
        Ok(RawExtension { name, configuration, must_understand, bare: false, unknown, raw })
    }

    /// The members are the three that the specification has, for an extension that is known.
    pub(crate) fn only_known_members(&self) -> Result<()> {
        match &self.unknown {
            Some(key) => Err(MetadataError::unknown_member(key, MEMBERS)),
            None => Ok(()),
        }
    }

    /// The members of the configuration; none where it is left out.
    pub(crate) fn members(&self) -> Result<Object<'a>> {
        let raw = match self.configuration {
            Some(raw) => raw,
            None => Raw::parse("{}", Grammar::Json)?,
        };
        Object::read(raw, "an object").member("configuration")
    }

    /// No configuration, or an empty one.
    pub(crate) fn no_configuration(&self) -> Result<()> {
        self.members()?.check_known(&[]).member("configuration")
    }

    pub(crate) fn keep(&self) -> Extension {
        Extension {
            name: self.name.as_ref().into(),
            configuration: self.configuration.map(|raw| raw.text().into()),
            must_understand: self.must_understand,
            json: self.raw.text().into(),
        }
    }

    /// What is wrong with a name that nothing here goes by.
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
