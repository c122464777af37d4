//! `zarr-kit draw`.
//!
//! A picture has one vertical and one horizontal axis. Axes with more chunks than a picture can
//! show are divided into cells of several chunks each, so the size of the picture does not grow
//! with the array. Stored chunks are counted per cell while the store is listed.

mod picture;
mod svg;
mod terminal;
pub(crate) mod values;

use zarr_kit::array::ChunkLayout;
use zarr_kit::{Array, ArrayError, ArrayMetadata, Selection};

use self::picture::{Axes, Drawn, Picture, SVG_CELLS};
use crate::args::Draw;
use crate::chunks::axis_of;
use crate::error::CliError;
use crate::node_store::NodeStore;
use crate::print::{Out, note};
use crate::region::region;

pub(super) fn run(args: &Draw) -> Result<(), CliError> {
    let (kind, pictures) = match args.values {
        true => ("png", "pictures of values are PNG; use a name that ends in .png"),
        false => (
            "svg",
            "pictures of chunks are SVG, those of --values PNG; use a name that ends in .svg",
        ),
    };
    if let Some(path) = &args.output
        && path.extension().is_some_and(|extension| !extension.eq_ignore_ascii_case(kind))
    {
        return Err(CliError::argument("--output", &path.display().to_string(), pictures));
    }
    if args.values {
        return values::run(args);
    }
    let place = NodeStore::open(&args.array)?;
    let metadata = place.metadata()?;
    let layout = place.layout(&metadata)?;
    let axes = match &args.axes {
        Some(text) => named_axes(text, &metadata)?,
        None => cut_axes(&layout),
    };
    let marked = args.region.as_deref();
    let marked = marked.map(|text| region(&place, &metadata, Some(text))).transpose()?;
    let in_characters = args.output.is_none() && !args.json;
    let (down, across) = match in_characters {
        true => (terminal::ROWS, terminal::columns(metadata.shape(), axes)),
        false => (SVG_CELLS, SVG_CELLS),
    };
    // In the terminal a single axis fills several lines, and so has more cells.
    let most = match axes.0 {
        None if in_characters => (down, across.saturating_mul(down)),
        _ => (down, across),
    };
    let drawn = Drawn { metadata: &metadata, layout: &layout, axes, marked: marked.as_ref(), most };
    let picture = Picture::of(&place.shown, &place.store, &drawn);
    let picture = picture.map_err(|cause| place.failed(cause))?;
    if args.json {
        let mut out = Out::stdout();
        out.json(&picture.json(&metadata, &layout))?;
        return out.finish();
    }
    match &args.output {
        Some(path) => {
            let mut out = Out::file(path)?;
            out.bytes(svg::draw(&picture).as_bytes())?;
            out.finish()?;
            note(format_args!("drew {} to {}", place.shown, path.display()));
        }
        None => {
            let mut out = Out::stdout();
            terminal::draw(&picture, across, &mut out)?;
            out.finish()?;
        }
    }
    Ok(())
}

/// The picture of an array in pixels, with a region marked.
///
/// # Errors
/// The store's error while stored chunks are listed.
pub(crate) fn svg(
    shown: &str,
    array: &Array,
    marked: Option<&Selection>,
) -> Result<String, ArrayError> {
    let axes = cut_axes(array.layout());
    let (metadata, layout) = (array.metadata(), array.layout());
    let drawn = Drawn { metadata, layout, axes, marked, most: (SVG_CELLS, SVG_CELLS) };
    Ok(svg::draw(&Picture::of(shown, array.store(), &drawn)?))
}

/// The last two axes that are divided into more than one chunk.
fn cut_axes(layout: &ChunkLayout) -> Axes {
    let axes = layout.grid().axes();
    let numbered = axes.iter().enumerate().rev();
    let mut cut = numbered.filter(|(_, axis)| axis.occupied() != 1).map(|(number, _)| number);
    let across = cut.next().or(axes.len().checked_sub(1));
    (cut.next(), across)
}

/// The axes that the user asked for.
fn named_axes(text: &str, metadata: &ArrayMetadata) -> Result<Axes, CliError> {
    let rank = metadata.shape().len();
    let names = metadata.dimension_names().unwrap_or_default();
    let wrong = |reason: String| CliError::argument("--axes", text, reason);
    let axes = text
        .split(',')
        .map(|name| axis_of(name.trim(), rank, names).map_err(|error| wrong(error.to_string())));
    let axes = axes.collect::<Result<Vec<_>, _>>()?;
    match axes.as_slice() {
        [across] => Ok((None, Some(*across))),
        [down, across] if down != across => Ok((Some(*down), Some(*across))),
        _ => Err(wrong("one axis or two different ones are allowed".to_owned())),
    }
}
