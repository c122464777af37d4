//! `.zgroup`: the document of a group of version 2.

use super::attributes::Attributes;
use super::consolidated::Consolidated;
use super::{Version2Error, check_format, members, of, outline};
use crate::documents::group::GroupMetadata;
use crate::error::MetadataError;

impl GroupMetadata {
    /// Reads a group of Zarr version 2 from its documents `.zgroup`, `.zattrs` and `.zmetadata`.
    /// The first or the last must be given.
    ///
    /// The result is the document that the group would have in version 3. The documents of
    /// `.zmetadata` become consolidated metadata, each as in version 3; a document that cannot be
    /// translated becomes `{"zarr_format": 2}`.
    ///
    /// # Errors
    /// If a text is not JSON, or breaks a rule of the specification; not for a fault of a single node
    /// in `.zmetadata`.
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{GroupMetadata, NodeMetadata};
    ///
    /// let group = GroupMetadata::from_version_2(
    ///     Some(br#"{"zarr_format": 2}"#),
    ///     Some(br#"{"title": "Seattle"}"#),
    ///     Some(br#"{"zarr_consolidated_format": 1, "metadata": {
    ///       ".zgroup": {"zarr_format": 2}, "station/.zgroup": {"zarr_format": 2}}}"#),
    /// )?;
    /// assert_eq!(group.attribute("title"), Some("\"Seattle\""));
    /// let nodes = group.consolidated_metadata().expect("copies of the documents below");
    /// assert!(matches!(nodes.node("station"), Some(Ok(NodeMetadata::Group(_)))));
    /// # Ok::<_, zarr_metadata::Version2Error>(())
    /// ```
    ///
    /// # Spec
    /// Zarr version 2, "Groups"; `.zmetadata` as zarr-python 2.18 writes it.
    pub fn from_version_2(
        zgroup: Option<&[u8]>,
        zattrs: Option<&[u8]>,
        zmetadata: Option<&[u8]>,
    ) -> Result<Self, Version2Error> {
        let copies = zmetadata.map(outline).transpose().map_err(of(".zmetadata"))?;
        let consolidated = copies.as_ref().map(|copies| Consolidated::read(copies.root()));
        let consolidated = consolidated.transpose().map_err(of(".zmetadata"))?;
        match (zgroup, &consolidated) {
            (Some(json), _) => outline(json)
                .and_then(|outline| check_format(&mut members(outline.root())?))
                .map_err(of(".zgroup"))?,
            (None, Some(consolidated)) => {
                consolidated.check_root().map_err(of(".zmetadata"))?;
            }
            (None, None) => {
                let error = MetadataError::unexpected("no document", "a JSON object");
                return Err(of(".zgroup")(error));
            }
        }
        let attributes = match (zattrs, zgroup, &consolidated) {
            // The copy replaces the group's document, if the group has none.
            (None, None, Some(consolidated)) => {
                consolidated.root_attributes().map_err(of(".zmetadata"))?
            }
            _ => Attributes::read(zattrs).map_err(of(".zattrs"))?,
        };
        let group = attributes.group().map_err(of(".zattrs"))?;
        let Some(consolidated) = consolidated else { return Ok(group) };
        let entries = consolidated.entries();
        let entries = entries.iter().map(|(path, json)| (path.as_str(), json.as_str()));
        let group = group.with_consolidated_metadata(entries).map_err(of(".zmetadata"))?;
        Ok(group.of_version_2())
    }
}
