//! `zarr-kit read`.

use zarr_kit::{Array, Region};

use super::{PIECE, explain};
use crate::args::{Read, ReadFormat};
use crate::error::CliError;
use crate::format::{lines, npy, text};
use crate::place::Place;
use crate::print::{self, Out};
use crate::words;

/// Elements that are printed as text.
const TEXT: u64 = 1 << 24;

pub(super) fn run(args: &Read) -> Result<(), CliError> {
    let place = Place::open(&args.array)?;
    let array = place.array()?;
    let region = region(&array, args.region.as_deref())?;
    let format = args.format.unwrap_or_else(|| default_format(args));
    if args.output.is_none() && print::stdout_is_terminal() {
        match format {
            ReadFormat::Npy => return Err(CliError::Terminal { format: "npy" }),
            ReadFormat::Raw => return Err(CliError::Terminal { format: "raw" }),
            ReadFormat::Text | ReadFormat::Lines => {}
        }
    }
    if args.explain {
        explain::explain(&place, &array, &region)?;
    }
    let failed = |cause| place.failed(cause);
    if format == ReadFormat::Text {
        // Text is laid out as a whole, so that all of it has to be in memory.
        if region.elements().is_none_or(|elements| elements > TEXT) {
            let elements = region.elements().map_or_else(|| "2^64".to_owned(), words::count);
            return Err(CliError::TooLong { elements });
        }
        let elements = array.read(&region).map_err(failed)?;
        let text = text::format(array.data_type(), &region.shape(), &elements, args.elide)
            .map_err(wrong_element)?;
        let mut out = Out::to(args.output.as_deref())?;
        out.line(text)?;
        return out.finish();
    }
    let mut out = Out::to(args.output.as_deref())?;
    if format == ReadFormat::Npy {
        out.bytes(&npy::header(array.data_type(), &region.shape()))?;
    }
    for piece in array.pieces(&region, PIECE).map_err(failed)? {
        let elements = array.read(&piece).map_err(failed)?;
        if format == ReadFormat::Lines {
            lines::format(array.data_type(), &elements, |text| out.bytes(text))?;
        } else {
            out.bytes(&elements)?;
        }
    }
    out.finish()
}

/// The region that `--region` says, or all of the array.
pub(super) fn region(array: &Array, text: Option<&str>) -> Result<Region, CliError> {
    match text {
        None => Ok(Region::whole(array.shape())),
        Some(text) => Region::parse(text, array.shape())
            .map_err(|cause| CliError::Region { text: text.to_owned(), cause }),
    }
}

fn default_format(args: &Read) -> ReadFormat {
    let extension = args.output.as_ref().and_then(|path| path.extension());
    if extension.is_some_and(|extension| extension.eq_ignore_ascii_case("npy")) {
        ReadFormat::Npy
    } else {
        ReadFormat::Text
    }
}

fn wrong_element(cause: zarr_kit::metadata::MetadataError) -> CliError {
    CliError::Metadata { argument: "element", cause }
}

impl From<zarr_kit::metadata::MetadataError> for CliError {
    fn from(cause: zarr_kit::metadata::MetadataError) -> Self {
        wrong_element(cause)
    }
}
