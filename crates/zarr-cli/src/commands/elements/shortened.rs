//! The elements that a shortened text shows, read without those in between.

use std::ops::Range;

use zarr_kit::report::format::text::Shown;
use zarr_kit::view::{self, CopyElement, CopyError, View};
use zarr_kit::{Array, Selection};

use crate::error::CliError;
use crate::stores::node_store::NodeStore;

/// Reads the shown part of a region, in C order. Each corner is a separate read, so that memory
/// holds only the shown elements and the chunks that contain them.
pub(super) fn read(
    place: &NodeStore,
    array: &Array,
    region: &Selection,
    shown: &Shown,
) -> Result<Vec<u8>, CliError> {
    let axes: Vec<Vec<Range<u64>>> =
        region.axes().iter().map(|axis| shown.blocks(axis.len())).collect();
    if axes.iter().all(|blocks| blocks.len() == 1) {
        return array.read(region).map_err(|cause| place.failed(cause));
    }
    let kept = |blocks: &Vec<Range<u64>>| -> u64 { blocks.iter().map(length).sum() };
    let shape: Vec<usize> = axes.iter().map(|blocks| narrow(kept(blocks))).collect();
    let failed = |cause: CopyError| place.failed(cause);
    let whole = View::contiguous(&shape).map_err(|cause| failed(cause.into()))?;
    let size = array.element_size();
    let element = CopyElement::try_from(size).map_err(failed)?;
    let mut out = view::zeroed(whole.len().saturating_mul(size)).map_err(failed)?;
    let corners: usize = axes.iter().map(Vec::len).product();
    for corner in 0..corners {
        let mut number = corner;
        let (mut part, mut target) = (Vec::new(), Vec::new());
        for (axis, blocks) in region.axes().iter().zip(&axes) {
            let at = number.checked_rem(blocks.len()).unwrap_or(0);
            number = number.checked_div(blocks.len()).unwrap_or(0);
            let block = blocks.get(at).cloned().unwrap_or_default();
            let before: u64 = blocks.iter().take(at).map(length).sum();
            target.push(narrow(before)..narrow(before.saturating_add(length(&block))));
            part.push(axis.slice(block));
        }
        let elements = array.read(part).map_err(|cause| place.failed(cause))?;
        let target = whole.shrink(&target).map_err(|cause| failed(cause.into()))?;
        let source = View::contiguous(target.shape()).map_err(|cause| failed(cause.into()))?;
        view::copy(&source, &elements, &target, &mut out, element, &[]).map_err(failed)?;
    }
    Ok(out)
}

fn length(block: &Range<u64>) -> u64 {
    block.end.saturating_sub(block.start)
}

/// The shown elements are known to be few.
fn narrow(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
