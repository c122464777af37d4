//! The values of a plane of an array as a picture, in characters or as PNG.
//!
//! Of long axes every n-th index is read: a strided read, whose memory is that of the picture and of
//! the chunks being decoded. Colours go from the least value that was read to the greatest. What is
//! missing is transparent: elements equal to the fill value or to one that the attributes declare as
//! missing, and NaN.

mod canvas;
mod colors;
mod plane;
mod png;
mod terminal;
mod text;

use zarr_kit::{Array, Selection};

use self::plane::Plane;
use crate::args::Draw;
use crate::error::CliError;
use crate::node_store::NodeStore;
use crate::print::{Out, note};
use crate::progress::Bar;
use crate::region::region;
use crate::words;

/// The most pixels on a side of a PNG picture, and of one that is made larger.
const SIDE: u64 = 1024;
const ENLARGED: u64 = 512;

/// The most pixels of a value in the terminal, where few values need no whole screen.
const LARGEST: usize = 8;

pub(super) fn run(args: &Draw) -> Result<(), CliError> {
    let place = NodeStore::open(&args.array)?;
    let array = place.array()?;
    let region = region(&place, array.metadata(), args.region.as_deref())?;
    let in_terminal = args.output.is_none();
    let (height, width) = if in_terminal { terminal::room() } else { (SIDE, SIDE) };
    let plane = Plane::read(&place, &array, &region, height, width, &Bar::new())?;
    match &args.output {
        Some(path) => {
            let mut out = Out::file(path)?;
            out.bytes(&encoded(&plane)?)?;
            out.finish()?;
            note(format_args!("drew {} to {}", place.shown, path.display()));
            plane.notes().iter().for_each(note);
        }
        None => {
            let mut out = Out::stdout();
            let title = words::shape(array.shape());
            out.line(format_args!("{}: {} of {title}", place.shown, array.data_type().name()))?;
            let (down, across) = plane.factors(height, width);
            terminal::draw(&plane, (down.min(LARGEST), across.min(LARGEST)), &mut out)?;
            for words in &plane.words {
                out.line(words)?;
            }
            out.finish()?;
        }
    }
    Ok(())
}

/// The picture as PNG of an array that is open already, and what is to be said of it.
pub(crate) fn png(
    place: &NodeStore,
    array: &Array,
    region: &Selection,
) -> Result<(Vec<u8>, Vec<String>), CliError> {
    let plane = Plane::read(place, array, region, SIDE, SIDE, &Bar::hidden())?;
    Ok((encoded(&plane)?, plane.notes()))
}

fn encoded(plane: &Plane) -> Result<Vec<u8>, CliError> {
    png::encode(plane, plane.factors(ENLARGED, ENLARGED)).map_err(CliError::Output)
}
