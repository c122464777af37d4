//! How the arguments arrange the members.

use zarr_kit::ArrayMetadata;
use zarr_kit::join::{Arrangement, CombineAttributes, GroupArrangement, Member};

use crate::args::{Combine, Join};
use crate::error::CliError;

pub(super) fn combine(rule: Combine) -> CombineAttributes {
    match rule {
        Combine::Override => CombineAttributes::Override,
        Combine::DropConflicts => CombineAttributes::DropConflicts,
        Combine::NoConflicts => CombineAttributes::NoConflicts,
        Combine::Identical => CombineAttributes::Identical,
        Combine::Drop => CombineAttributes::Drop,
    }
}

/// What `--grid` says.
enum Grid {
    Auto,
    Counts(Vec<u64>),
}

fn grid(args: &Join) -> Result<Option<Grid>, CliError> {
    let Some(text) = &args.grid else { return Ok(None) };
    if text == "auto" {
        return Ok(Some(Grid::Auto));
    }
    let counts: Result<Vec<u64>, _> = text.split('x').map(str::parse).collect();
    match counts {
        Ok(counts) if !counts.contains(&0) => Ok(Some(Grid::Counts(counts))),
        _ => {
            Err(CliError::argument("--grid", text, "numbers with x between them, as 3x4, or auto"))
        }
    }
}

/// The names or numbers that `--along` lists.
fn along(args: &Join) -> Vec<&str> {
    let along = args.along.as_deref().unwrap_or_default();
    along.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

fn one<'a>(names: &[&'a str]) -> Result<&'a str, CliError> {
    match names {
        [only] => Ok(only),
        _ => Err(CliError::argument(
            "--along",
            &names.join(","),
            "one axis is joined without --grid; with it, one per axis of the grid",
        )),
    }
}

pub(super) fn arrays(args: &Join, members: &[Member]) -> Result<Arrangement, CliError> {
    if args.new_axis.is_some() {
        return Ok(Arrangement::NewAxis(0));
    }
    let names = along(args);
    let Some(first) = members.first() else { return Ok(Arrangement::Along(0)) };
    let metadata = first.array().metadata();
    let counts = match grid(args)? {
        None => return Ok(Arrangement::Along(axis(one(&names)?, metadata)?)),
        Some(Grid::Counts(counts)) => counts,
        Some(Grid::Auto) => {
            let reason = "only groups have coordinates; give the numbers of members, as 3x4";
            return Err(CliError::argument("--grid", "auto", reason));
        }
    };
    check_counts(&names, &counts)?;
    let mut tiles = vec![1; metadata.shape().len()];
    let mut before = None;
    for (name, count) in names.iter().zip(&counts) {
        let axis = axis(name, metadata)?;
        if before.is_some_and(|before| before >= axis) {
            let reason = "of arrays, the axes are named in their order";
            return Err(CliError::argument("--along", &names.join(","), reason));
        }
        before = Some(axis);
        tiles[axis] = *count;
    }
    Ok(Arrangement::Tiles(tiles))
}

pub(super) fn groups(args: &Join) -> Result<GroupArrangement, CliError> {
    if let Some(name) = &args.new_axis {
        return Ok(GroupArrangement::NewDimension(name.clone()));
    }
    let names = along(args);
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    Ok(match grid(args)? {
        None => GroupArrangement::Along(one(&names)?.to_owned()),
        Some(Grid::Auto) => GroupArrangement::ByCoordinates(owned(&names)),
        Some(Grid::Counts(counts)) => {
            check_counts(&names, &counts)?;
            let narrow = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
            GroupArrangement::Tiles(
                owned(&names).into_iter().zip(counts.into_iter().map(narrow)).collect(),
            )
        }
    })
}

fn check_counts(names: &[&str], counts: &[u64]) -> Result<(), CliError> {
    if names.len() == counts.len() {
        return Ok(());
    }
    let reason = format!("--grid has {} axes, and each needs a name here", counts.len());
    Err(CliError::argument("--along", &names.join(","), reason))
}

/// The number of the axis with this name or number.
fn axis(text: &str, metadata: &ArrayMetadata) -> Result<usize, CliError> {
    let names = metadata.dimension_names().unwrap_or_default();
    if let Some(axis) = names.iter().position(|name| name.as_deref() == Some(text)) {
        return Ok(axis);
    }
    let rank = metadata.shape().len();
    match text.parse::<usize>() {
        Ok(axis) if axis < rank => Ok(axis),
        _ => {
            let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
            let reason = match known.is_empty() {
                true => format!("the arrays have {rank} axes without names: give a number from 0"),
                false => format!("the arrays have the axes {}", known.join(", ")),
            };
            Err(CliError::argument("--along", text, reason))
        }
    }
}
