//! Key encodings that a program adds: a name, and the template that its configuration means.
//!
//! The list is one for the process. Whatever walks a store, such as a deletion, a copy or a check,
//! reads documents; one that did not know the encoding would take chunks for objects of others.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{PoisonError, RwLock};

use super::{ChunkKeyEncoding, KNOWN, KeyTemplate};
use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::extension::{Extension, RawExtension};

type Template = fn(&Extension) -> std::result::Result<KeyTemplate, Box<dyn Error + Send + Sync>>;

static ADDED: RwLock<BTreeMap<String, Template>> = RwLock::new(BTreeMap::new());

impl ChunkKeyEncoding {
    /// Makes a key encoding known to this process: documents that are read from now on and name it
    /// have the keys of the template that `template` makes of the encoding as written.
    ///
    /// Templates can be checked: whatever `template` returns, each chunk has a valid key of its own,
    /// which is not the name of a document or of a marker. Else the document is an error.
    ///
    /// # Errors
    /// If an encoding of this name is known already.
    ///
    /// # Examples
    /// Keys such as `0003/0005`, with the number of digits in the configuration:
    /// ```
    /// use zarr_metadata::{ArrayBuilder, ChunkKeyEncoding, DataType, KeyTemplate};
    ///
    /// ChunkKeyEncoding::add("acme.padded", |encoding| {
    ///     // The configuration is JSON text, for any parser.
    ///     let json = encoding.configuration().unwrap_or("{}");
    ///     let digits = serde_json::from_str::<serde_json::Value>(json)?["digits"].as_u64();
    ///     let digits = digits.ok_or("\"digits\" is not a number")?;
    ///     Ok(KeyTemplate::new(&format!("{{*:0{digits}}}"), Some("/"))?)
    /// })?;
    ///
    /// let json = br#"{"name": "acme.padded", "configuration": {"digits": 4}}"#;
    /// let padded = ChunkKeyEncoding::from_json(json)?;
    /// assert_eq!((padded.name(), padded.encode(&[3, 5])), ("acme.padded", "0003/0005".to_owned()));
    /// assert_eq!(padded.decode("0003/0005", 2), Some(vec![3, 5]));
    /// let array = ArrayBuilder::new([10, 10], DataType::Uint8).chunk_key_encoding(padded).build()?;
    /// assert!(array.json().contains("\"acme.padded\""));
    /// # Ok::<_, zarr_metadata::MetadataError>(())
    /// ```
    pub fn add(name: &str, template: Template) -> Result<()> {
        let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
        if KNOWN.contains(&name) || added.contains_key(name) {
            let found = format!("the chunk key encoding {name:?}, which is known already");
            return Err(MetadataError::unexpected(found, "another name"));
        }
        added.insert(name.to_owned(), template);
        Ok(())
    }
}

/// The template of an encoding that was added; `None` if none has this name.
pub(super) fn template_of(
    encoding: &RawExtension<'_>,
    findings: &mut Vec<Finding>,
) -> Result<Option<KeyTemplate>> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    let Some(template) = added.get(&*encoding.name).copied() else { return Ok(None) };
    drop(added);
    let extension = encoding.keep(findings);
    let made = template(&extension).map_err(|cause| {
        let found = extension.configuration().unwrap_or("no configuration");
        MetadataError::unexpected(found, format!("a configuration of {}: {cause}", encoding.name))
            .breaks(Rule::CHUNK_KEY_FORMAT)
    });
    Ok(Some(made.member("configuration")?.of(extension)))
}
