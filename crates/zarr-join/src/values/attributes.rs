//! The attributes of a joined node.

use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use serde_json::Value;
use zarr_cf::MEANING;
use zarr_metadata::same_value;

use crate::error::JoinError;

/// The rule for attributes that differ between members, as in Xarray's `combine_attrs`. The
/// attributes in [`MEANING`] must be equal under every rule, except for arrays that are
/// copied from the first member.
///
/// It is parsed from Xarray's names: `override`, `drop_conflicts`, `no_conflicts`, `identical` and
/// `drop`.
///
/// # Examples
/// ```
/// use zarr_join::CombineAttributes;
///
/// assert_eq!("no_conflicts".parse::<CombineAttributes>()?, CombineAttributes::NoConflicts);
/// assert_eq!(
///     "merge".parse::<CombineAttributes>().unwrap_err().to_string(),
///     "\"merge\" is no rule for attributes: they are override, drop_conflicts, no_conflicts, \
///      identical and drop"
/// );
/// # Ok::<(), zarr_join::JoinError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CombineAttributes {
    /// All attributes come from the first member.
    #[default]
    Override,
    /// Attributes with different values are dropped; attributes that only some members have are
    /// kept.
    DropConflicts,
    /// Attributes that only some members have are kept; different values are an error.
    NoConflicts,
    /// All members must have the same attributes.
    Identical,
    /// All attributes are dropped, except the attributes that define the meaning of values.
    Drop,
}

impl FromStr for CombineAttributes {
    type Err = JoinError;

    fn from_str(name: &str) -> Result<Self, JoinError> {
        Ok(match name {
            "override" => Self::Override,
            "drop_conflicts" => Self::DropConflicts,
            "no_conflicts" => Self::NoConflicts,
            "identical" => Self::Identical,
            "drop" => Self::Drop,
            _ => return Err(JoinError::Rule { found: name.into() }),
        })
    }
}

/// The most characters of a value in an error.
const SHOWN: usize = 200;

/// The attributes of one member.
pub(crate) struct Attributes<'a> {
    pub(crate) member: &'a str,
    /// Each with its JSON text.
    pub(crate) values: Vec<(String, &'a str)>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.values.iter().find(|(own, _)| own == name).map(|(_, json)| *json)
    }
}

/// Refuses members that differ in an attribute that defines the meaning of values.
pub(crate) fn check_values(members: &[Attributes<'_>]) -> Result<(), JoinError> {
    // Times of one calendar are converted to other units: of others, the calendar differs.
    let is_time = |json: &str| json.contains(" since ");
    if members.iter().all(|member| member.get("units").is_some_and(is_time)) {
        check_equal(members, "calendar")?;
    }
    MEANING.iter().try_for_each(|name| check_equal(members, name))
}

/// The attributes of the joined node, by name and JSON text, in the order in which they appear.
pub(crate) fn combine<'a>(
    members: &[Attributes<'a>],
    rule: CombineAttributes,
) -> Result<Vec<(String, &'a str)>, JoinError> {
    let Some(first) = members.first() else { return Ok(Vec::new()) };
    let says_values = |name: &str| MEANING.contains(&name);
    if rule == CombineAttributes::Override {
        return Ok(first.values.clone());
    }
    if rule == CombineAttributes::Drop {
        let kept = first.values.iter().filter(|(name, _)| says_values(name));
        return Ok(kept.cloned().collect());
    }
    let mut names: Vec<&String> = Vec::new();
    let mut seen = HashSet::new();
    for member in members {
        let new = member.values.iter().map(|(name, _)| name);
        names.extend(new.filter(|name| seen.insert(name.as_str())));
    }
    let by_name: Vec<HashMap<&str, &'a str>> = members
        .iter()
        .map(|member| member.values.iter().map(|(name, json)| (name.as_str(), *json)).collect())
        .collect();
    let mut combined = Vec::new();
    for name in names {
        let mut values = by_name.iter().filter_map(|own| own.get(name.as_str()).copied());
        let Some(value) = values.next() else { continue };
        let same = values.all(|other| same_value(value, other));
        match rule {
            CombineAttributes::Identical
                if !same || by_name.iter().any(|own| !own.contains_key(name.as_str())) =>
            {
                check_equal(members, name)?;
            }
            CombineAttributes::NoConflicts if !same => {
                let having: Vec<Attributes<'_>> = members
                    .iter()
                    .filter_map(|member| {
                        let values = vec![(name.clone(), member.get(name)?)];
                        Some(Attributes { member: member.member, values })
                    })
                    .collect();
                check_equal(&having, name)?;
            }
            CombineAttributes::DropConflicts if !same => continue,
            _ => {}
        }
        combined.push((name.clone(), value));
    }
    Ok(combined)
}

/// Refuses members if one has another value than the first, or if only one of the two has a value.
fn check_equal(members: &[Attributes<'_>], name: &str) -> Result<(), JoinError> {
    let Some(first) = members.first() else { return Ok(()) };
    let expected = first.get(name);
    for member in members {
        let found = member.get(name);
        let same = match (found, expected) {
            (Some(found), Some(expected)) => same_value(found, expected),
            (None, None) => true,
            _ => false,
        };
        if !same {
            let json = |text: Option<&str>| serde_json::from_str::<Value>(text?).ok();
            let both = json(found).zip(json(expected)).filter(|(found, _)| !is_leaf(found));
            let mut differing = Vec::new();
            if let Some((found, expected)) = &both {
                differences(name.to_owned(), Some(found), Some(expected), &mut differing);
            }
            let text = |value: Option<String>| shortened(value.unwrap_or("absent".to_owned()));
            let (attribute, found, expected) = match differing.as_slice() {
                [] => (name.to_owned(), found.map(str::to_owned), expected.map(str::to_owned)),
                [(path, found, expected), more @ ..] => {
                    let attribute =
                        match more.iter().map(|(path, ..)| path.as_str()).collect::<Vec<_>>() {
                            more if more.is_empty() => path.clone(),
                            more => format!("{path} (and {})", shortened(more.join(", "))),
                        };
                    let text = |value: &Option<&Value>| value.map(Value::to_string);
                    (attribute, text(found), text(expected))
                }
            };
            let (found, expected, first) = (text(found), text(expected), first.member);
            let reason = format!("the attribute {attribute} is {found}, but {expected} in {first}");
            return Err(JoinError::unfit(member.member, reason));
        }
    }
    Ok(())
}

fn is_leaf(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// A part of an attribute that differs: its path, and both values.
pub(crate) type Difference<'v> = (String, Option<&'v Value>, Option<&'v Value>);

/// The innermost members in which two values differ.
pub(crate) fn differences<'v>(
    path: String,
    found: Option<&'v Value>,
    expected: Option<&'v Value>,
    out: &mut Vec<Difference<'v>>,
) {
    match (found, expected) {
        _ if found == expected => {}
        (Some(Value::Object(found)), Some(Value::Object(expected))) => {
            let only = expected.keys().filter(|name| !found.contains_key(*name));
            for name in found.keys().chain(only) {
                differences(format!("{path}.{name}"), found.get(name), expected.get(name), out);
            }
        }
        (Some(Value::Array(found)), Some(Value::Array(expected)))
            if found.len() == expected.len() && !found.iter().all(is_leaf) =>
        {
            for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                differences(format!("{path}[{at}]"), Some(found), Some(expected), out);
            }
        }
        _ => out.push((path, found, expected)),
    }
}

/// The first characters of a text, as many as an error shows.
fn shortened(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The JSON text of an object with these members.
pub(crate) fn to_json(attributes: &[(String, &str)]) -> String {
    let member = |(name, json): &(String, &str)| format!("{}:{json}", Value::from(name.as_str()));
    format!("{{{}}}", attributes.iter().map(member).collect::<Vec<_>>().join(","))
}
