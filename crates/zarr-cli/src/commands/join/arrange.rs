//! How the arguments arrange the members.

use zarr_kit::join::{
    self, AxisName, CombineAttributes, GroupMember, JoinGroups, Member, MemberGrid,
    NamedArrangement,
};

use super::errors::refused;
use crate::args::{Combine, Join};
use crate::error::CliError;

fn combine(rule: Combine) -> CombineAttributes {
    match rule {
        Combine::Override => CombineAttributes::Override,
        Combine::DropConflicts => CombineAttributes::DropConflicts,
        Combine::NoConflicts => CombineAttributes::NoConflicts,
        Combine::Identical => CombineAttributes::Identical,
        Combine::Drop => CombineAttributes::Drop,
    }
}

/// The requested join of arrays.
pub(super) fn arrays(args: &Join, members: Vec<Member>) -> Result<join::Join, CliError> {
    let arrangement = named(args)?.of_arrays(&members).map_err(refused)?;
    let join = join::Join::new(members, arrangement).attributes(combine(args.combine_attrs));
    let join = join.promote(args.promote);
    Ok(join.new_axis_name(args.new_axis.clone()))
}

/// The requested join of groups.
pub(super) fn groups(args: &Join, members: Vec<GroupMember>) -> Result<JoinGroups, CliError> {
    let arrangement = named(args)?.of_groups().map_err(refused)?;
    let join = JoinGroups::new(members, arrangement).attributes(combine(args.combine_attrs));
    Ok(join.check_coordinates(!args.any_order).promote(args.promote))
}

/// The values of `--along`, `--new-axis` and `--grid`.
fn named(args: &Join) -> Result<NamedArrangement, CliError> {
    let along = args.along.as_deref().unwrap_or_default();
    let along = along.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(NamedArrangement {
        along: along.map(|name| AxisName::Text(name.to_owned())).collect(),
        new_axis: args.new_axis.clone(),
        grid: args.grid.as_deref().map(grid).transpose()?,
    })
}

fn grid(text: &str) -> Result<MemberGrid, CliError> {
    if text == "auto" {
        return Ok(MemberGrid::Auto);
    }
    let counts: Result<Vec<u64>, _> = text.split('x').map(str::parse).collect();
    match counts {
        Ok(counts) if !counts.contains(&0) => Ok(MemberGrid::Counts(counts)),
        _ => {
            Err(CliError::argument("--grid", text, "numbers with x between them, as 3x4, or auto"))
        }
    }
}
