//! The arrangement of members as people name it: axes, and numbers of members along them.

use zarr_metadata::ArrayMetadata;

use crate::error::JoinError;
use crate::group::GroupArrangement;
use crate::member::Member;
use crate::members::Arrangement;

/// An axis, by name or number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisName {
    /// Its name, or its number as text if no axis has that name.
    Text(String),
    /// Its number; negative numbers count from the last.
    Number(i64),
}

impl AxisName {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }

    /// The number of the axis of an array.
    fn of_array(&self, metadata: &ArrayMetadata) -> Result<usize, JoinError> {
        let rank = metadata.shape().len();
        let names = metadata.dimension_names().unwrap_or_default();
        let numbered = |number: i64| {
            let wide = i64::try_from(rank).unwrap_or(i64::MAX);
            usize::try_from(if number < 0 { number.saturating_add(wide) } else { number }).ok()
        };
        let (found, reason) = match self {
            Self::Number(number) => (numbered(*number), format!("the arrays have {rank} axes")),
            Self::Text(text) => {
                let named = names.iter().position(|name| name.as_ref() == Some(text));
                let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
                let reason = match known.is_empty() {
                    true => format!("the arrays have {rank} axes without names: give a number"),
                    false => format!("the arrays have the axes {}", known.join(", ")),
                };
                (named.or_else(|| text.parse().ok().and_then(numbered)), reason)
            }
        };
        found.filter(|axis| *axis < rank).ok_or_else(|| match self {
            Self::Number(number) => JoinError::AxisNumber { number: *number, rank },
            Self::Text(text) => JoinError::argument("along", text.clone(), reason),
        })
    }
}

/// The number of members along each named axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberGrid {
    /// These numbers.
    Counts(Vec<u64>),
    /// As the coordinates of groups give them.
    Auto,
}

/// The arrangement of members, as people name it.
///
/// # Examples
/// ```
/// use zarr_join::{AxisName, GroupArrangement, MemberGrid, NamedArrangement};
///
/// let names = NamedArrangement {
///     along: vec![AxisName::Text("y".to_owned()), AxisName::Text("x".to_owned())],
///     new_axis: None,
///     grid: Some(MemberGrid::Counts(vec![3, 4])),
/// };
/// let tiles = GroupArrangement::Tiles(vec![("y".to_owned(), 3), ("x".to_owned(), 4)]);
/// assert_eq!(names.of_groups()?, tiles);
/// # Ok::<(), zarr_join::JoinError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedArrangement {
    /// The axes along which members are joined: one, or one per number of the grid.
    pub along: Vec<AxisName>,
    /// The name of a new axis, in place of `along`.
    pub new_axis: Option<String>,
    /// Members along each axis.
    pub grid: Option<MemberGrid>,
}

impl NamedArrangement {
    /// The arrangement of arrays, with the axes of the first array.
    ///
    /// # Errors
    /// [`JoinError::Argument`] or [`JoinError::AxisNumber`], with the argument that does not fit.
    pub fn of_arrays(&self, members: &[Member]) -> Result<Arrangement, JoinError> {
        if self.new_axis.is_some() {
            return Ok(Arrangement::NewAxis(0));
        }
        let first = members.first().ok_or(JoinError::NoMembers)?;
        let metadata = first.array().metadata();
        let counts = match &self.grid {
            None => return Ok(Arrangement::Along(self.one()?.of_array(metadata)?)),
            Some(MemberGrid::Auto) => {
                let reason = "only groups have coordinates; give the numbers of members";
                return Err(JoinError::argument("grid", "auto".to_owned(), reason));
            }
            Some(MemberGrid::Counts(counts)) => counts,
        };
        let mut tiles = vec![1; metadata.shape().len()];
        let mut before = None;
        for (axis, count) in self.counted(counts)? {
            let axis = axis.of_array(metadata)?;
            if before.is_some_and(|before| before >= axis) {
                return Err(self.refused("of arrays, the axes are named in their order"));
            }
            before = Some(axis);
            if let Some(tile) = tiles.get_mut(axis) {
                *tile = count;
            }
        }
        Ok(Arrangement::Tiles(tiles))
    }

    /// The arrangement of groups.
    ///
    /// # Errors
    /// [`JoinError::Argument`] with the argument that does not fit.
    pub fn of_groups(&self) -> Result<GroupArrangement, JoinError> {
        if let Some(name) = &self.new_axis {
            return Ok(GroupArrangement::NewDimension(name.clone()));
        }
        Ok(match &self.grid {
            None => GroupArrangement::Along(self.one()?.text()),
            Some(MemberGrid::Auto) => {
                GroupArrangement::ByCoordinates(self.along.iter().map(AxisName::text).collect())
            }
            Some(MemberGrid::Counts(counts)) => {
                let narrow = |count| usize::try_from(count).unwrap_or(usize::MAX);
                let tiles = self.counted(counts)?;
                let tiles = tiles.map(|(axis, count)| (axis.text(), narrow(count)));
                GroupArrangement::Tiles(tiles.collect())
            }
        })
    }

    /// The only axis, as there is no grid.
    fn one(&self) -> Result<&AxisName, JoinError> {
        match &*self.along {
            [axis] => Ok(axis),
            _ => Err(self.refused("one axis is joined without a grid; with it, one per number")),
        }
    }

    /// The number of members along each axis.
    fn counted(&self, counts: &[u64]) -> Result<impl Iterator<Item = (&AxisName, u64)>, JoinError> {
        if self.along.len() != counts.len() {
            let reason = format!("the grid has {} axes, and each needs a name here", counts.len());
            return Err(self.refused(reason));
        }
        Ok(self.along.iter().zip(counts.to_vec()))
    }

    fn refused(&self, reason: impl Into<String>) -> JoinError {
        let names: Vec<String> = self.along.iter().map(AxisName::text).collect();
        JoinError::argument("along", names.join(","), reason)
    }
}
