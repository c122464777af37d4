//! Writes chunks of the joined array from decoded elements of the members.

use std::ops::Range;

use zarr_array::{Array, ArrayError};
use zarr_grid::AxisSelection;
use zarr_view::{CopyElement, CopyError, View};

use crate::error::JoinError;
use crate::join::plan::{JoinPlan, Source, Written, product};
use crate::member::Member;
use crate::values::times::Conversion;

/// Writes one chunk, in one step: a chunk that is stored is complete.
pub(crate) fn write_chunk(plan: &JoinPlan, to: &Array, chunk: &Written) -> Result<(), JoinError> {
    let region = to
        .layout()
        .chunk_region(&chunk.to)
        .map_err(|cause| JoinError::target(ArrayError::Selection { cause }))?;
    let parts = parts(plan, &region);
    let written = match to.element_size() {
        0 => {
            let elements = strings(&region, &parts)?;
            check_sources(plan, &chunk.sources)?;
            to.write_as(region.as_slice(), &elements)
        }
        size => {
            let elements = bytes(&region, &parts, size)?;
            check_sources(plan, &chunk.sources)?;
            to.write(region.as_slice(), &elements)
        }
    };
    written.map_err(JoinError::target)
}

/// Refuses sources that have changed since the plan: the elements just read may then be of two
/// versions.
pub(crate) fn check_sources(plan: &JoinPlan, sources: &[Source]) -> Result<(), JoinError> {
    for source in sources {
        let Some(member) = plan.member(source) else { continue };
        let found = member.array().store().head(&source.key);
        let found = found.map_err(|cause| JoinError::member(member.name(), cause))?;
        if found.as_ref() != Some(&source.meta) {
            return Err(JoinError::changed(member.name(), &source.key));
        }
    }
    Ok(())
}

/// The part of a region that is of one member.
struct MemberPart<'a> {
    member: &'a Member,
    /// Of its times.
    conversion: Option<&'a Conversion>,
    /// Within the region.
    within: Vec<Range<u64>>,
    /// Within the member.
    selection: Vec<AxisSelection>,
}

/// The parts of a region, which cover it.
fn parts<'a>(plan: &'a JoinPlan, region: &[Range<u64>]) -> Vec<MemberPart<'a>> {
    let tiles = plan.members.tiles();
    let wide = |range: Range<usize>| {
        let wide = |at| u64::try_from(at).unwrap_or(u64::MAX);
        wide(range.start)..wide(range.end)
    };
    let ranges = region.iter().enumerate();
    let ranges: Vec<Range<u64>> =
        ranges.map(|(axis, range)| wide(tiles.overlapping(axis, range.clone()))).collect();
    let mut parts = Vec::new();
    for place in product(&ranges) {
        let place: Option<Vec<usize>> = place.iter().map(|at| usize::try_from(*at).ok()).collect();
        let number = tiles.tile(&place.unwrap_or_default());
        let member = &plan.members.members()[number];
        let conversion = plan.members.conversion(number);
        let mut part = MemberPart { member, conversion, within: Vec::new(), selection: Vec::new() };
        for (axis, (tile, range)) in tiles.region(number).iter().zip(region).enumerate() {
            let start = tile.start.max(range.start);
            let end = tile.end.min(range.end).max(start);
            part.within.push(start - range.start..end - range.start);
            if plan.members.member_axis(axis).is_some() {
                let own = start - tile.start..end - tile.start;
                part.selection.push(own.into());
            }
        }
        if part.within.iter().all(|range| !range.is_empty()) {
            parts.push(part);
        }
    }
    parts
}

fn bytes(
    region: &[Range<u64>],
    parts: &[MemberPart<'_>],
    size: usize,
) -> Result<Vec<u8>, JoinError> {
    let read = |part: &MemberPart<'_>| {
        let array = part.member.array().clone().with_threads(std::num::NonZeroUsize::MIN);
        let read = array.read(part.selection.clone());
        let mut elements = read.map_err(|cause| JoinError::member(part.member.name(), cause))?;
        if let Some(conversion) = part.conversion {
            conversion.apply(&mut elements)?;
        }
        Ok(elements)
    };
    if let [part] = parts {
        return read(part);
    }
    let narrow =
        |range: &Range<u64>| usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    let shape: Vec<usize> = region.iter().map(narrow).collect();
    let length = shape.iter().fold(size, |bytes, length| bytes.saturating_mul(*length));
    let mut out = zarr_view::zeroed(length).map_err(JoinError::target)?;
    let element = CopyElement::try_from(size).map_err(JoinError::target)?;
    for part in parts {
        let elements = read(part)?;
        let cut = part.within.iter().map(|range| {
            let narrow = |at| usize::try_from(at).unwrap_or(usize::MAX);
            narrow(range.start)..narrow(range.end)
        });
        let cut: Vec<Range<usize>> = cut.collect();
        let lengths: Vec<usize> = part.within.iter().map(narrow).collect();
        let view = |shape: &[usize]| View::contiguous(shape).map_err(CopyError::from);
        let from = view(&lengths).map_err(JoinError::target)?;
        let to = view(&shape)
            .and_then(|view| view.shrink(&cut).map_err(CopyError::from))
            .map_err(JoinError::target)?;
        zarr_view::copy(&from, &elements, &to, &mut out, element, &[])
            .map_err(JoinError::target)?;
    }
    Ok(out)
}

fn strings(region: &[Range<u64>], parts: &[MemberPart<'_>]) -> Result<Vec<Vec<u8>>, JoinError> {
    let lengths: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
    let count = lengths.iter().fold(1, |count: u64, length| count.saturating_mul(*length));
    let mut out = vec![Vec::new(); usize::try_from(count).unwrap_or(usize::MAX)];
    for part in parts {
        let read = part.member.array().read_as::<Vec<u8>>(part.selection.clone());
        let read = read.map_err(|cause| JoinError::member(part.member.name(), cause))?;
        for (index, element) in product(&part.within).iter().zip(read.iter()) {
            let at =
                index.iter().zip(&lengths).fold(0_u64, |at, (index, length)| at * length + index);
            if let Some(slot) = usize::try_from(at).ok().and_then(|at| out.get_mut(at)) {
                *slot = element.to_vec();
            }
        }
    }
    Ok(out)
}
