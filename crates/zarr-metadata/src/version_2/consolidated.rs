//! `.zmetadata`: copies of the documents below a group of version 2.

use std::collections::BTreeMap;

use super::attributes::Attributes;
use super::{array, check_format, members};
use crate::error::{At, Result};
use crate::json::{Object, Raw};

/// The entry of a node with documents that cannot be translated. Readers then read the node's own
/// documents and report their fault.
const NOT_TRANSLATED: &str = r#"{"zarr_format": 2}"#;

/// The most bytes of an element. A few characters can declare a fill value of a megabyte, and there may
/// be many such arrays; arrays of larger elements are read from their own documents.
const LARGEST: usize = 1 << 10;

/// The documents, by the path of their node.
pub(super) struct Consolidated<'a> {
    nodes: BTreeMap<String, Documents<'a>>,
}

#[derive(Default)]
struct Documents<'a> {
    zarray: Option<Raw<'a>>,
    zgroup: Option<Raw<'a>>,
    zattrs: Option<Raw<'a>>,
}

impl<'a> Consolidated<'a> {
    pub(super) fn read(raw: Raw<'a>) -> Result<Self> {
        const METADATA: &str = "an object of documents by their keys";
        let mut members = members(raw)?;
        let raw = members.require("zarr_consolidated_format", "1")?;
        if raw.text() != "1" {
            return Err(raw.expected("the integer 1").in_member("zarr_consolidated_format"));
        }
        let raw = members.require("metadata", METADATA)?;
        let mut nodes: BTreeMap<String, Documents<'a>> = BTreeMap::new();
        for (key, raw) in Object::read(raw, METADATA).member("metadata")?.rest() {
            let (path, name) = key.rsplit_once('/').unwrap_or(("", &key));
            if !matches!(name, ".zarray" | ".zgroup" | ".zattrs") {
                continue;
            }
            let documents = nodes.entry(path.to_owned()).or_default();
            match name {
                ".zarray" => documents.zarray = Some(raw),
                ".zgroup" => documents.zgroup = Some(raw),
                _ => documents.zattrs = Some(raw),
            }
        }
        Ok(Consolidated { nodes })
    }

    fn root(&self) -> Option<&Documents<'a>> {
        self.nodes.get("")
    }

    /// Checks the document of the group itself, which may be left out.
    pub(super) fn check_root(&self) -> Result<()> {
        let Some(raw) = self.root().and_then(|root| root.zgroup) else { return Ok(()) };
        members(raw)
            .and_then(|mut members| check_format(&mut members))
            .member(".zgroup")
            .member("metadata")
    }

    /// The attributes of the group itself.
    pub(super) fn root_attributes(&self) -> Result<Attributes<'a>> {
        let raw = self.root().and_then(|root| root.zattrs);
        Attributes::of(raw).member(".zattrs").member("metadata")
    }

    /// The path of each node below, and its document in version 3.
    pub(super) fn entries(&self) -> Vec<(String, String)> {
        let below = self.nodes.iter().filter(|(path, _)| !path.is_empty());
        let nodes = below.filter(|(_, node)| node.zarray.is_some() || node.zgroup.is_some());
        let text =
            |node: &Documents<'_>| node.translate().unwrap_or_else(|_| NOT_TRANSLATED.to_owned());
        nodes.map(|(path, node)| (path.clone(), text(node))).collect()
    }
}

impl Documents<'_> {
    fn translate(&self) -> Result<String> {
        let attributes = Attributes::of(self.zattrs)?;
        let Some(raw) = self.zarray else {
            return attributes.group().map(|group| group.json().to_owned());
        };
        array::translate(members(raw)?, attributes, LARGEST).map(|array| array.json().to_owned())
    }
}
