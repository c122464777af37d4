//! `--region`: numpy's syntax, by position or by the names of axes.

use std::borrow::Cow;

use zarr_kit::{ArrayMetadata, Selection};

use crate::chunks::axis_of;
use crate::error::CliError;

/// The region of `--region`, or the whole array.
pub(crate) fn region(metadata: &ArrayMetadata, text: Option<&str>) -> Result<Selection, CliError> {
    let shape = metadata.shape();
    let Some(text) = text else { return Ok(Selection::whole(shape)) };
    let names = metadata.dimension_names().unwrap_or_default();
    let by_position = by_position(text, shape.len(), names)
        .map_err(|reason| CliError::argument("--region", text, reason))?;
    Selection::parse(&by_position, shape)
        .map_err(|cause| CliError::Region { text: text.to_owned(), cause })
}

/// `x=5,time=0:2` as `0:2,5`. Axes that are not named are whole.
fn by_position<'t>(
    text: &'t str,
    rank: usize,
    names: &[Option<String>],
) -> Result<Cow<'t, str>, String> {
    if !text.contains('=') {
        return Ok(Cow::Borrowed(text));
    }
    let mut chosen: Vec<Option<&str>> = vec![None; rank];
    for entry in entries(text) {
        let (name, selection) = entry.split_once('=').ok_or_else(|| {
            format!("{:?} has no name, but others have; name all entries or none", entry.trim())
        })?;
        let name = name.trim();
        let axis = axis_of(name, rank, names).map_err(|cause| cause.to_string())?;
        match chosen.get_mut(axis) {
            Some(slot @ None) => *slot = Some(selection),
            _ => return Err(format!("axis {name} is selected twice")),
        }
    }
    let all: Vec<&str> = chosen.into_iter().map(|selection| selection.unwrap_or(":")).collect();
    Ok(Cow::Owned(all.join(",")))
}

/// The entries of a region: the parts between commas that are not within brackets.
fn entries(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::by_position;

    fn read(text: &str) -> Result<String, String> {
        let names = [Some("time".to_owned()), None, Some("x".to_owned())];
        by_position(text, 3, &names).map(|text| text.into_owned())
    }

    #[test]
    fn names_give_positions() {
        for (text, expected) in [
            ("0:2,5", "0:2,5"),
            ("x=5", ":,:,5"),
            ("x = [0,3], time=-2:", "-2:,:, [0,3]"),
            ("1=4,x=::2", ":,4,::2"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(read("y=5").unwrap_err(), "no axis is named \"y\"; the axes are time, x");
        assert_eq!(read("x=5,x=6").unwrap_err(), "axis x is selected twice");
        assert!(read("x=5,3").unwrap_err().contains("\"3\" has no name"));
    }
}
