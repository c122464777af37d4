//! `--region`: numpy's syntax, by position or by the names of axes, and labels by name.

use zarr_kit::array::SelectionError;
use zarr_kit::{ArrayMetadata, AxisSelection, Selection};

use crate::error::CliError;
use crate::notation::chunks::axis_of;
use crate::notation::labels::{self, Unfound};
use crate::stores::node_store::NodeStore;

/// The region of `--region` of the array at a place, or the whole array.
pub(crate) fn region(
    place: &NodeStore,
    metadata: &ArrayMetadata,
    text: Option<&str>,
) -> Result<Selection, CliError> {
    let shape = metadata.shape();
    let Some(text) = text else { return Ok(Selection::whole(shape)) };
    let wrong = |cause| CliError::argument(OPTION, text, cause);
    let refused = |reason: String| CliError::argument(OPTION, text, reason);
    let names = metadata.dimension_names().unwrap_or_default();
    if !text.contains('=') {
        return Selection::parse(text, shape).map_err(|cause| match &cause {
            SelectionError::Syntax { axis, found } if labels::is_like_one(found) => {
                let name = names.get(*axis).cloned().flatten();
                let name = name.unwrap_or_else(|| "NAME".to_owned());
                refused(format!("{cause}; a label goes with the name of its axis: {name}={found}"))
            }
            _ => wrong(cause),
        });
    }
    by_names(place, metadata, OPTION, text)
}

const OPTION: &str = "--region";

/// The region of a text with names of axes, which is the value of an option.
pub(crate) fn by_names(
    place: &NodeStore,
    metadata: &ArrayMetadata,
    option: &'static str,
    text: &str,
) -> Result<Selection, CliError> {
    let shape = metadata.shape();
    let names = metadata.dimension_names().unwrap_or_default();
    let chosen = by_name(text, shape.len(), names);
    let chosen = chosen.map_err(|reason| CliError::argument(option, text, reason))?;
    let axes = chosen.iter().enumerate().map(|(number, entry)| {
        let length = shape.get(number).copied().unwrap_or(0);
        let Some(entry) = entry else { return Ok(AxisSelection::from(0..length)) };
        let name = names.get(number).and_then(Option::as_deref);
        NamedAxis { place, option, text, number, name, length }.select(entry)
    });
    axes.collect::<Result<Vec<_>, _>>().map(Selection::new)
}

/// An axis for which an option selects indices or labels.
pub(crate) struct NamedAxis<'a> {
    /// The array beside which its labels are.
    pub(crate) place: &'a NodeStore,
    /// The option, and its whole text.
    pub(crate) option: &'static str,
    pub(crate) text: &'a str,
    pub(crate) number: usize,
    pub(crate) name: Option<&'a str>,
    pub(crate) length: u64,
}

impl NamedAxis<'_> {
    /// The selection of an entry.
    pub(crate) fn select(&self, entry: &str) -> Result<AxisSelection, CliError> {
        let (place, length) = (self.place, self.length);
        let refused = |reason: String| CliError::argument(self.option, self.text, reason);
        let name = match index(entry, self.number, length) {
            Ok(selection) => {
                if let Some(name) = self.name {
                    self.refuse_years(name, entry)?;
                    labels::note_indices(place, name, length, entry);
                }
                return Ok(selection);
            }
            Err(cause) => match (self.name, &cause) {
                (Some(name), _) if !is_index(entry) => Ok(name),
                (Some(name), SelectionError::Syntax { .. }) => Ok(name),
                (Some(name), SelectionError::OutOfBounds { .. })
                    if labels::has(place, name, length) =>
                {
                    self.refuse_years(name, entry)?;
                    let hint = format!("{name}={}{}", labels::MARK, entry.trim());
                    Err(refused(format!("{cause}; as a label it is written {hint}")))
                }
                _ => Err(refused(cause.to_string())),
            },
        };
        labels::select(place, name?, length, entry).map_err(|unfound| match unfound {
            Unfound::Missing(reason) => refused(reason),
            Unfound::Failed(cause) => cause,
        })
    }
}

impl NamedAxis<'_> {
    /// Refuses a number that may be a year, of an axis with times as labels.
    fn refuse_years(&self, name: &str, entry: &str) -> Result<(), CliError> {
        let entry = entry.trim();
        let is_year = entry.len() == 4 && entry.bytes().all(|byte| byte.is_ascii_digit());
        if is_year && labels::are_times(self.place, name, self.length) {
            let next = entry.parse::<u64>().unwrap_or_default().saturating_add(1);
            let reason = format!(
                "{name} has times as labels: {name}={}{entry} is the year, {name}={entry}:{next} the \
                 index",
                labels::MARK
            );
            return Err(CliError::argument(self.option, self.text, reason));
        }
        Ok(())
    }
}

/// Whether an entry has only characters of indices, ranges and lists of them.
fn is_index(entry: &str) -> bool {
    entry.chars().all(|c| c.is_ascii_digit() || c.is_whitespace() || "+-:[],".contains(c))
}

/// One entry in numpy's syntax.
fn index(entry: &str, axis: usize, length: u64) -> Result<AxisSelection, SelectionError> {
    // Errors have the number of the axis: the axes before it are whole.
    let text = format!("{}{entry}", ":,".repeat(axis));
    let mut shape = vec![0; axis];
    shape.push(length);
    let selection = Selection::parse(&text, &shape)?;
    let found = selection.axes().get(axis).cloned();
    found.ok_or(SelectionError::Rank { found: axis, rank: axis })
}

/// The entry of each axis in `x=5,time=0:2`; none for unnamed axes.
fn by_name<'t>(
    text: &'t str,
    rank: usize,
    names: &[Option<String>],
) -> Result<Vec<Option<&'t str>>, String> {
    let mut chosen: Vec<Option<&str>> = vec![None; rank];
    for entry in entries(text) {
        let (name, selection) = entry.split_once('=').ok_or_else(|| {
            format!("{:?} has no name, but others have; name all entries or none", entry.trim())
        })?;
        let name = name.trim();
        let axis = axis_of(name, rank, names).map_err(|cause| cause.to_string())?;
        if selection.trim().is_empty() {
            return Err(format!("nothing is selected of axis {name}; {name}=: is all of it"));
        }
        match chosen.get_mut(axis) {
            Some(slot @ None) => *slot = Some(selection),
            _ => return Err(format!("axis {name} is selected twice")),
        }
    }
    Ok(chosen)
}

/// The names of axes in a region.
pub(crate) fn names(text: &str) -> impl Iterator<Item = String> {
    entries(text).into_iter().filter_map(|entry| Some(entry.split_once('=')?.0.trim().to_owned()))
}

/// The entries of a region that name an axis of the array.
pub(crate) fn entries_of(text: &str, metadata: &ArrayMetadata) -> Result<String, String> {
    let axes = metadata.dimension_names().unwrap_or_default();
    let mut kept = Vec::new();
    for entry in entries(text) {
        let (name, _) = entry.split_once('=').ok_or_else(|| {
            format!("{:?} has no name; of the arrays in a group, axes are named", entry.trim())
        })?;
        if axes.iter().flatten().any(|axis| axis == name.trim()) {
            kept.push(entry);
        }
    }
    Ok(kept.join(","))
}

/// The entries of a region: the parts between commas that are not within brackets or quotes.
fn entries(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    text.split(|c: char| {
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        match c {
            _ if quoted => {}
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0 && !quoted
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::by_name;

    fn read(text: &str) -> Result<String, String> {
        let names = [Some("time".to_owned()), None, Some("x".to_owned())];
        let chosen = by_name(text, 3, &names)?;
        Ok(chosen.into_iter().map(|entry| entry.unwrap_or(":")).collect::<Vec<_>>().join(","))
    }

    #[test]
    fn names_give_positions() {
        for (text, expected) in
            [("x=5", ":,:,5"), ("x = [0,3], time=-2:", "-2:,:, [0,3]"), ("1=4,x=::2", ":,4,::2")]
        {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(read("y=5").unwrap_err(), "no axis is named \"y\"; the axes are time, x");
        assert_eq!(read("x=5,x=6").unwrap_err(), "axis x is selected twice");
        assert!(read("x=5,3").unwrap_err().contains("\"3\" has no name"));
        assert_eq!(read("x=").unwrap_err(), "nothing is selected of axis x; x=: is all of it");
    }
}
