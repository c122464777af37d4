//! The attributes of groups that become one.

use serde_json::Value;

use super::GroupMeaning;

/// The axes along which groups are joined.
#[derive(Clone, Copy, Debug)]
pub enum JoinedAxes<'a> {
    /// Dimensions that arrays have.
    Along(&'a [String]),
    /// A new first dimension of each array.
    New(&'a str),
}

/// Attributes of a known convention that do not allow a join.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", zarr_metadata::Printable(member), zarr_metadata::Printable(reason))]
pub struct ConventionError {
    /// The name of the group.
    pub member: String,
    /// What was found, what would be right, and what can be done.
    pub reason: String,
}

/// As the text.
impl std::fmt::Debug for ConventionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Members with their names.
pub(super) struct Joining<'a> {
    pub(super) members: &'a [(&'a str, GroupMeaning)],
    pub(super) axes: JoinedAxes<'a>,
}

impl<'a> Joining<'a> {
    /// Refuses members with another value than the first, which may be none.
    pub(super) fn all_equal(
        &self,
        what: &str,
        value: impl Fn(&'a GroupMeaning) -> Option<&'a Value>,
        same: impl Fn(&Value, &Value) -> bool,
    ) -> Result<(), ConventionError> {
        let Some((first, expected)) = self.members.first() else { return Ok(()) };
        let expected = value(expected);
        for (member, meaning) in self.members {
            let found = value(meaning);
            let is_same = match (found, expected) {
                (Some(found), Some(expected)) => same(found, expected),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            if !is_same {
                return Err(differs(member, what, found, first, expected));
            }
        }
        Ok(())
    }
}

/// The most characters of a value in an error.
const SHOWN: usize = 200;

pub(super) fn differs(
    member: &str,
    what: &str,
    found: Option<&Value>,
    first: &str,
    expected: Option<&Value>,
) -> ConventionError {
    let text = |value: Option<&Value>| {
        let text = value.map_or("absent".to_owned(), Value::to_string);
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text,
        }
    };
    let (found, expected) = (text(found), text(expected));
    let reason = format!(
        "{what} is {found}, but {expected} in {first}: make them equal, or leave such attributes out \
         by the rule drop_conflicts"
    );
    ConventionError { member: member.to_owned(), reason }
}

/// Whether two values are equal, if `1` and `1.0` are.
pub(super) fn same_numbers(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_numbers(a, b))
        }
        _ => a == b,
    }
}

impl GroupMeaning {
    /// The attributes that differ in the joined group from those of the first member: each with its JSON
    /// text, or `None` if it is left out. Members come with their names.
    ///
    /// The axis of a new dimension is added to `multiscales` with the scale 1. `omero` gets the channels
    /// of all members that are joined along channels. `spatial:bbox` and `spatial:shape` are left out if
    /// a dimension of them gets longer.
    ///
    /// # Errors
    /// [`ConventionError`] with a member whose pixels have another size, another place on an axis along
    /// which they are not joined, or another projection; or if a new axis cannot be the first.
    ///
    /// # Examples
    /// ```
    /// use zarr_cf::{GroupMeaning, JoinedAxes};
    /// use zarr_metadata::GroupMetadata;
    ///
    /// let image = |pixel: f64| {
    ///     let text = format!(
    ///         r#"{{"ome": {{"version": "0.5", "multiscales": [{{"axes": [{{"name": "x", "type": "space"}}],
    ///             "datasets": [{{"path": "0", "coordinateTransformations":
    ///                 [{{"type": "scale", "scale": [{pixel}]}}]}}]}}]}}}}"#
    ///     );
    ///     GroupMetadata::new().with_attributes(&text).map(|group| GroupMeaning::of(&group))
    /// };
    /// let (time, same) = (JoinedAxes::New("t"), [("a", image(0.5)?), ("b", image(0.5)?)]);
    /// let changes = GroupMeaning::joined(&same, time)?;
    /// assert!(changes[0].1.as_ref().is_some_and(|ome| ome.contains(r#""scale":[1.0,0.5]"#)));
    ///
    /// let other = GroupMeaning::joined(&[("a", image(0.5)?), ("b", image(0.4)?)], time);
    /// assert!(other.is_err_and(|error| error.to_string().starts_with("b: multiscales[0]")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn joined(
        members: &[(&str, Self)],
        axes: JoinedAxes<'_>,
    ) -> Result<Vec<(&'static str, Option<String>)>, ConventionError> {
        let joining = Joining { members, axes };
        let mut changes = Self::ome_joined(&joining)?;
        changes.extend(Self::geo_joined(&joining)?.into_iter().map(|name| (name, None)));
        Ok(changes)
    }
}
