//! `zarr-kit draw`.

use zarr_kit::ArrayMetadata;
use zarr_kit::report::draw::{
    Axes, ChunkPicture, ChunksToDraw, ROWS, SVG_CELLS, ValuePicture, columns_for, divided_axes,
};
use zarr_kit::report::labels::ArrayLabels;
use zarr_kit::report::words;

use crate::args::Draw;
use crate::error::CliError;
use crate::notation::chunks::axis_of;
use crate::notation::region::region;
use crate::output::print::{self, Out, note, screen};
use crate::output::progress::Bar;
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Draw) -> Result<(), CliError> {
    let (kind, pictures) = match args.values {
        true => ("png", "pictures of values are PNG; use a name that ends in .png"),
        false => (
            "svg",
            "pictures of chunks are SVG, pictures of --values are PNG; use a name that ends in .svg",
        ),
    };
    if let Some(path) = &args.output
        && path.extension().is_some_and(|extension| !extension.eq_ignore_ascii_case(kind))
    {
        return Err(CliError::argument("--output", &path.display().to_string(), pictures));
    }
    let place = NodeStore::open(&args.array)?;
    if args.values { values(args, &place) } else { chunks(args, &place) }
}

fn chunks(args: &Draw, place: &NodeStore) -> Result<(), CliError> {
    let metadata = place.metadata()?;
    let layout = place.layout(&metadata)?;
    let axes = match &args.axes {
        Some(text) => named_axes(text, &metadata)?,
        None => divided_axes(&layout),
    };
    let marked = args.region.as_deref();
    let marked = marked.map(|text| region(place, &metadata, Some(text))).transpose()?;
    let screen = screen();
    let in_characters = args.output.is_none() && !args.json;
    let (down, across) = match in_characters {
        true => (ROWS, columns_for(metadata.shape(), axes, screen.columns)),
        false => (SVG_CELLS, SVG_CELLS),
    };
    // In the terminal a single axis fills several lines, and so has more cells.
    let most = match axes.0 {
        None if in_characters => (down, across.saturating_mul(down)),
        _ => (down, across),
    };
    let chunks =
        ChunksToDraw { metadata: &metadata, layout: &layout, axes, marked: marked.as_ref(), most };
    let picture = ChunkPicture::new(&place.shown, &place.store, &chunks);
    let picture = picture.map_err(|cause| place.failed(cause))?;
    if args.json {
        return print::json(&picture.json(&metadata, &layout));
    }
    match &args.output {
        Some(path) => {
            let mut out = Out::file(path)?;
            let labels = labels(place, &metadata);
            out.raw(picture.svg(&labels).as_bytes())?;
            out.finish()?;
            note(format_args!("drew {} to {}", place.shown, path.display()));
        }
        None => {
            let mut out = Out::stdout();
            out.raw(picture.text(across, screen).as_bytes())?;
            out.finish()?;
        }
    }
    Ok(())
}

fn values(args: &Draw, place: &NodeStore) -> Result<(), CliError> {
    let array = place.array()?;
    let region = region(place, array.metadata(), args.region.as_deref())?;
    let failed = |cause| place.not_reported(cause);
    let bar = Bar::new();
    let mut progress = |done, total| bar.bytes("reading", done, Some(total));
    let shape = words::shape(array.shape());
    let title = format!("{}: {} of {shape}", place.shown, array.data_type().name());
    match &args.output {
        Some(path) => {
            let picture = ValuePicture::read(&array, &region, &mut progress).map_err(failed)?;
            let mut out = Out::file(path)?;
            let labels = labels(place, array.metadata());
            out.raw(&picture.png(&title, &labels).map_err(failed)?)?;
            out.finish()?;
            note(format_args!("drew {} to {}", place.shown, path.display()));
            picture.notes().iter().for_each(note);
        }
        None => {
            let screen = screen();
            let picture = ValuePicture::read_for_screen(&array, &region, screen, &mut progress)
                .map_err(failed)?;
            bar.clear();
            let mut out = Out::stdout();
            out.line(title)?;
            out.raw(picture.text(screen).as_bytes())?;
            out.finish()?;
        }
    }
    Ok(())
}

/// Looks up the labels of an axis by its name.
fn labels(place: &NodeStore, metadata: &ArrayMetadata) -> impl Fn(&str, u64) -> Option<String> {
    let labels = ArrayLabels::of(metadata, "", |name| place.opened.neighbour(name));
    move |name, index| labels.text(name, index)
}

/// The axes that the user requested.
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
