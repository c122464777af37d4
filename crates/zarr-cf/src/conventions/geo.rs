//! `proj:` and `spatial:` of GeoZarr.

use serde_json::Value;

use super::GroupMeaning;
use super::join::{ConventionError, JoinedAxes, Joining, same_numbers};

/// Attributes that members must have in common.
const EQUAL: &[&str] = &[
    "proj:code",
    "proj:wkt2",
    "proj:projjson",
    "spatial:dimensions",
    "spatial:transform_type",
    "spatial:registration",
];

/// Attributes that follow from the others and the length of the arrays.
const EXTENT: &[&str] = &["spatial:bbox", "spatial:shape"];

/// The affine numbers `a b c d e f`, of which `c` and `f` are the origin.
const TRANSFORM: &str = "spatial:transform";

impl GroupMeaning {
    /// Whether a dimension is one of space. The number of an axis without a name may be that of any.
    fn is_spatial(&self, dimension: &str) -> bool {
        let names = self.0.get("spatial:dimensions").and_then(Value::as_array);
        let is_number = dimension.parse::<i64>().is_ok();
        names.into_iter().flatten().any(|name| is_number || name.as_str() == Some(dimension))
    }

    /// The attributes that depend on the length of a dimension.
    pub(super) fn geo_extent(&self, dimension: &str) -> Vec<&'static str> {
        if !self.is_spatial(dimension) {
            return Vec::new();
        }
        EXTENT.iter().copied().filter(|name| self.0.contains_key(*name)).collect()
    }

    /// The attribute that depends on the first index and the order of a dimension.
    pub(super) fn geo_origin(&self, dimension: &str) -> Option<&'static str> {
        (self.is_spatial(dimension) && self.0.contains_key(TRANSFORM)).then_some(TRANSFORM)
    }

    /// The attributes that a joined group does not have.
    pub(super) fn geo_joined(joining: &Joining<'_>) -> Result<Vec<&'static str>, ConventionError> {
        for name in EQUAL {
            joining.all_equal(name, |meaning| meaning.0.get(*name), Value::eq)?;
        }
        let along = match joining.axes {
            JoinedAxes::New(_) => &[][..],
            JoinedAxes::Along(names) => names,
        };
        let Some((_, first)) = joining.members.first() else { return Ok(Vec::new()) };
        // By `spatial:dimensions` the last is that of x, with the origin c; the one before is that of y,
        // with f.
        let names = first.0.get("spatial:dimensions").and_then(Value::as_array);
        let names: Vec<_> = names.into_iter().flatten().rev().map(Value::as_str).collect();
        let is_moved = |axis: usize| {
            let name = names.get(axis).copied().flatten();
            along.iter().any(|along| name == Some(along))
        };
        let without_origin = |a: &Value, b: &Value| {
            let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
            let origin = |at: &usize| match at {
                2 => is_moved(0),
                5 => is_moved(1),
                _ => false,
            };
            let pairs = all(a).into_iter().zip(all(b)).enumerate();
            all(a).len() == all(b).len()
                && pairs.into_iter().all(|(at, (a, b))| origin(&at) || same_numbers(&a, &b))
        };
        joining.all_equal(TRANSFORM, |meaning| meaning.0.get(TRANSFORM), without_origin)?;
        // The joined group has those of the first member.
        if !along.iter().any(|name| first.is_spatial(name)) {
            for name in EXTENT {
                joining.all_equal(name, |meaning| meaning.0.get(*name), same_numbers)?;
            }
        }
        Ok(along.iter().flat_map(|name| first.geo_extent(name)).collect())
    }
}
