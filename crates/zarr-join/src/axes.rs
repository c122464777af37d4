//! The names of the axes of the arrays below a group.

use std::collections::{BTreeMap, BTreeSet};

use zarr_array::store::path_below;
use zarr_cf::GroupMeaning;
use zarr_metadata::{ArrayMetadata, GroupMetadata};

/// The names of the axes of the arrays below a group: their own, or those of the image of OME-Zarr of
/// which an array is a level.
///
/// # Examples
/// Where no array has names, the number of an axis is the name of a dimension.
/// ```
/// use zarr_join::GroupAxes;
/// use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
///
/// let array = ArrayBuilder::new([4, 6], DataType::Uint8).build()?;
/// let (plain, image) = (GroupMetadata::new(), r#"{"multiscales": [{
///     "version": "0.4", "axes": [{"name": "y"}, {"name": "x"}], "datasets": [{"path": "0"}]}]}"#);
/// let mut axes = GroupAxes::of([("", &plain)], [("0", &array)]);
/// assert_eq!(axes.dimension("-1"), "-1");
/// assert_eq!(axes.numbers("0", "-1"), [1]);
///
/// let image = plain.with_attributes(image)?;
/// let mut axes = GroupAxes::of([("", &image)], [("0", &array)]);
/// assert_eq!(axes.dimension("-1"), "x");
/// assert_eq!(axes.numbers("0", "x"), [1]);
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupAxes {
    names: BTreeMap<String, Vec<Option<String>>>,
    /// Whether an array has names itself.
    are_named: bool,
}

impl GroupAxes {
    /// Of these arrays, in these groups. Both come with their paths, and the groups from the root down.
    pub fn of<'a>(
        groups: impl IntoIterator<Item = (&'a str, &'a GroupMetadata)>,
        arrays: impl IntoIterator<Item = (&'a str, &'a ArrayMetadata)>,
    ) -> Self {
        let groups = groups.into_iter().map(|(path, group)| (path, GroupMeaning::of(group)));
        let groups: Vec<_> = groups.collect();
        let (mut names, mut are_named) = (BTreeMap::new(), false);
        for (path, array) in arrays {
            // A list without a name says the same as no list.
            let own = array.dimension_names().filter(|names| names.iter().any(Option::is_some));
            are_named |= own.is_some();
            let rank = array.shape().len();
            let of_image = || -> Option<Vec<Option<String>>> {
                let all = groups.iter().filter_map(|(above, group)| {
                    let below = path_below(path, above).filter(|below| !below.is_empty())?;
                    group.axes(below).filter(|names| names.len() == rank)
                });
                all.map(|names| names.into_iter().map(Some).collect()).next()
            };
            let found =
                own.map(<[_]>::to_vec).or_else(of_image).unwrap_or_else(|| vec![None; rank]);
            names.insert(path.to_owned(), found);
        }
        Self { names, are_named }
    }

    /// The dimension that a text names. Where no array has names itself, it may be the number of an axis
    /// of each array, from the last if it is negative: then it is the name that images give this axis, or
    /// the number becomes its name.
    pub fn dimension(&mut self, text: &str) -> String {
        let Some(number) = text.parse::<i64>().ok().filter(|_| !self.are_named) else {
            return text.to_owned();
        };
        let at = |rank: usize| {
            let rank = i64::try_from(rank).unwrap_or(i64::MAX);
            let at = if number < 0 { number.saturating_add(rank) } else { number };
            usize::try_from(at).ok()
        };
        let slots = self.names.values_mut();
        let mut slots: Vec<_> =
            slots.filter_map(|names| at(names.len()).and_then(|at| names.get_mut(at))).collect();
        let found: BTreeSet<Option<String>> = slots.iter().map(|slot| (**slot).clone()).collect();
        match (found.len(), found.into_iter().next().flatten()) {
            (1, Some(name)) => return name,
            // If images name some of them only, the number is the name of none.
            (1, None) => slots.iter_mut().for_each(|slot| **slot = Some(text.to_owned())),
            _ => {}
        }
        text.to_owned()
    }

    /// The numbers of the axes of an array that are a dimension: one, or none. Two are a mistake.
    #[must_use]
    pub fn numbers(&self, path: &str, dimension: &str) -> Vec<usize> {
        let names = self.names.get(path).into_iter().flatten().enumerate();
        let found = names.filter(|(_, name)| name.as_deref() == Some(dimension));
        found.map(|(axis, _)| axis).collect()
    }

    /// The names of all dimensions, each once.
    pub(crate) fn known(&self) -> BTreeSet<&str> {
        self.names.values().flatten().flatten().map(String::as_str).collect()
    }
}
