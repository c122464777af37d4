//! `zarr-kit read`.

use std::path::Path;

use zarr_kit::Region;

use super::{PIECE, corners, explain};
use crate::args::{Read, ReadFormat};
use crate::error::CliError;
use crate::format::{csv, lines, npy, text};
use crate::place::Place;
use crate::print::{self, Out};
use crate::words;

/// Elements that are printed as text.
const TEXT: u64 = 1 << 24;

pub(super) fn run(args: &Read) -> Result<(), CliError> {
    let format = match args.format {
        Some(format) => format,
        None => format_of(args.output.as_deref())?,
    };
    let place = Place::open(&args.array)?;
    let array = place.array()?;
    let region = region(array.shape(), args.region.as_deref())?;
    if args.output.is_none() && print::stdout_is_terminal() {
        match format {
            ReadFormat::Npy => return Err(CliError::Terminal { format: "npy" }),
            ReadFormat::Raw => return Err(CliError::Terminal { format: "raw" }),
            ReadFormat::Text | ReadFormat::Lines | ReadFormat::Csv => {}
        }
    }
    if args.explain {
        explain::explain(&place, &array, &region)?;
    }
    let failed = |cause| place.failed(cause);
    if format == ReadFormat::Text {
        let shown = text::Shown::new(&region.shape(), args.elide);
        // Text is laid out as a whole, so that all of it has to be in memory.
        if shown.elements().is_none_or(|elements| elements > TEXT) {
            let elements = shown.elements().map_or_else(|| "2^64".to_owned(), words::count);
            return Err(CliError::TooLong { elements });
        }
        let elements = corners::read(&place, &array, &region, &shown)?;
        let mut text = text::format(array.data_type(), &shown, &elements).map_err(wrong_element)?;
        text.push('\n');
        let mut out = Out::to(args.output.as_deref())?;
        out.bytes(text.as_bytes())?;
        return out.finish();
    }
    let mut csv = match format {
        ReadFormat::Csv => {
            let shape = region.shape();
            let table = csv::Csv::new(array.data_type(), &shape);
            Some(table.ok_or_else(|| CliError::NoTable { axes: words::axes(shape.len()) })?)
        }
        _ => None,
    };
    let mut out = Out::to(args.output.as_deref())?;
    if format == ReadFormat::Npy {
        out.bytes(&npy::header(array.data_type(), &region.shape()))?;
    }
    for piece in array.pieces(&region, PIECE).map_err(failed)? {
        let elements = array.read(&piece).map_err(failed)?;
        if let Some(csv) = &mut csv {
            out.bytes(csv.format(&elements)?.as_bytes())?;
        } else if format == ReadFormat::Lines {
            lines::format(array.data_type(), &elements, |text| out.bytes(text))?;
        } else {
            out.bytes(&elements)?;
        }
    }
    out.finish()
}

/// The region that `--region` says, or all of the array.
pub(super) fn region(shape: &[u64], text: Option<&str>) -> Result<Region, CliError> {
    match text {
        None => Ok(Region::whole(shape)),
        Some(text) => Region::parse(text, shape)
            .map_err(|cause| CliError::Region { text: text.to_owned(), cause }),
    }
}

/// The format that the end of a file's name asks for; text without one.
fn format_of(output: Option<&Path>) -> Result<ReadFormat, CliError> {
    let Some((path, end)) = output.and_then(|path| Some((path, path.extension()?))) else {
        return Ok(ReadFormat::Text);
    };
    match end.to_string_lossy().to_ascii_lowercase().as_str() {
        "txt" => Ok(ReadFormat::Text),
        "csv" => Ok(ReadFormat::Csv),
        "npy" => Ok(ReadFormat::Npy),
        "raw" | "bin" => Ok(ReadFormat::Raw),
        end => Err(CliError::Input {
            path: path.to_owned(),
            reason: format!(
                "no format is known by the ending .{end}; .txt, .csv, .npy, .raw and .bin are, or \
                 choose a --format"
            ),
        }),
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
