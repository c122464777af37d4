//! `zarr-kit write`.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read as _};
use std::path::Path;

use serde_json::{Value, json};
use zarr_kit::codec::Options;
use zarr_kit::metadata::{DataType, Printable};
use zarr_kit::report::format::json;
use zarr_kit::report::format::npy::{self, Npy};
use zarr_kit::report::words;
use zarr_kit::view::{self, CopyElement, CopyError, View};
use zarr_kit::{Array, ArrayError, AxisSelection, Selection};

use super::variable_length::{self, fits};
use crate::args::{Write, Writing};
use crate::error::CliError;
use crate::notation::region::region;
use crate::notation::size::PIECE;
use crate::output::print::done;
use crate::output::progress::{Bar, Moved, Work};
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Write) -> Result<(), CliError> {
    let place = NodeStore::to_change(&args.array)?;
    let array = writer(&place, args.writing)?;
    let region = region(&place, array.metadata(), args.region.as_deref())?;
    write(args, &place, &array, &region)?;
    place.finish()?;
    // Writes of chunks do not read the document.
    if let Err(CliError::NotFound { place, .. }) = place.node() {
        let hint = "; it was deleted while it was written".to_owned();
        return Err(CliError::NotFound { place, hint });
    }
    let elements = words::counted(region.elements().unwrap_or(u64::MAX), "element");
    done(args.json, format_args!("wrote {elements} to {}", place.shown), || {
        let axes = region.axes().iter().map(axis_json);
        json!({
            "array": place.shown, "shape": region.shape(), "elements": region.elements(),
            "region": axes.collect::<Vec<_>>(),
        })
    })
}

/// The indices of an axis as JSON: start, count and step, or the list.
fn axis_json(axis: &AxisSelection) -> Value {
    let step = match axis {
        AxisSelection::Indices(indices) => return json!({ "indices": indices }),
        AxisSelection::Step { step, .. } => *step,
        _ => 1,
    };
    json!({ "start": axis.get(0).unwrap_or(0), "count": axis.len(), "step": step })
}

/// The array at a place, opened for writing with these options.
pub(crate) fn writer(place: &NodeStore, writing: Writing) -> Result<Array, CliError> {
    let Writing { allow_loss, store_empty } = writing;
    let array = place.array_with(Options::new().allow_loss(allow_loss))?;
    Ok(array.with_empty_chunks_stored(store_empty))
}

fn write(
    args: &Write,
    place: &NodeStore,
    array: &Array,
    region: &Selection,
) -> Result<(), CliError> {
    if array.data_type().is_variable_length() {
        return variable_length::write(&args.from, place, array, region);
    }
    let mut input = Input::open(&args.from)?;
    let header = input.header(array.data_type())?;
    if let Some(header) = &header {
        input.check_shape(header, region)?;
    }
    let failed = |cause| place.failed(cause);
    let size = array.element_size();
    if let Some(header) = &header
        && header.fortran
    {
        // The elements of each piece are spread over the whole file: no piece can be read alone.
        let elements = input.take(region, size)?;
        input.end()?;
        let elements = input.in_memory(elements, Some(header), &region.shape(), array)?;
        let (array, _bar) = Moved::show(array, Work::writing(array, region));
        return array.write(region, &elements).map_err(failed);
    }
    if let Some(length) = input.length {
        input.check_length(length, array, region)?;
    }
    let bar = Bar::new();
    let chunks = |part: &Selection| array.layout().plan(part).map_or(0, |plan| plan.len());
    // Pieces end where chunks end.
    let mut written = 0_u64;
    for piece in array.batches(region, PIECE).map_err(failed)? {
        let elements = input.take(&piece, size)?;
        let elements = input.in_memory(elements, header.as_ref(), &piece.shape(), array)?;
        array.write(&piece, &elements).map_err(|cause| {
            if array.store().capabilities().uncommitted {
                return place.failed(cause);
            }
            let (of_piece, cause) = match cause {
                ArrayError::Incomplete { written, cause } => (written.count(), *cause),
                cause => (0, cause),
            };
            let (written, total) = (written.saturating_add(of_piece), chunks(region));
            let cause = Box::new(match cause {
                cause @ ArrayError::Loss { .. } if piece.shape() != region.shape() => {
                    CliError::Loss { place: place.shown.clone(), cause }
                }
                cause => place.failed(cause),
            });
            CliError::Written { cause, written: written.min(total), total }
        })?;
        written = written.saturating_add(chunks(&piece));
        bar.bytes("writing", input.position, bytes_of(region, size));
    }
    input.end()
}

/// The bytes of all elements of a region, if a `u64` can hold them.
pub(crate) fn bytes_of(region: &Selection, size: usize) -> Option<u64> {
    region.elements()?.checked_mul(u64::try_from(size).ok()?)
}

/// File extensions of formats other than raw elements: their bytes would be read as numbers.
const OTHER_FORMATS: [&str; 13] =
    ["csv", "tsv", "txt", "xml", "npz", "zip", "gz", "h5", "hdf5", "nc", "tif", "tiff", "png"];

const STANDARD_INPUT: &str = "standard input";

/// The name of a file for messages.
pub(crate) fn shown(path: &Path) -> String {
    let name = if path == Path::new("-") { STANDARD_INPUT.into() } else { path.to_string_lossy() };
    Printable(&name).to_string()
}

/// The file with the elements.
pub(crate) struct Input<'a> {
    path: &'a Path,
    reader: Box<dyn io::Read>,
    /// Its length in bytes, if it is a file.
    length: Option<u64>,
    /// Bytes read so far.
    position: u64,
}

impl<'a> Input<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, CliError> {
        if path == Path::new("-") {
            let reader = Box::new(io::stdin().lock());
            return Ok(Self { path: Path::new(STANDARD_INPUT), reader, length: None, position: 0 });
        }
        let name = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if OTHER_FORMATS.contains(&name.as_str()) {
            return Err(CliError::Input {
                path: path.to_owned(),
                reason: format!(
                    "a .{name} file is neither .npy, .json, .jsonl nor raw elements; convert it, or \
                     give raw bytes by standard input: --from -"
                ),
            });
        }
        let failed = |cause| CliError::File { path: path.to_owned(), cause };
        let file = File::open(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if meta.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let length = meta.is_file().then_some(meta.len());
        Ok(Self { path, reader: Box::new(BufReader::new(file)), length, position: 0 })
    }

    fn failed(&self, cause: io::Error) -> CliError {
        CliError::File { path: self.path.to_owned(), cause }
    }

    pub(crate) fn wrong(&self, reason: impl Into<String>) -> CliError {
        CliError::Input { path: self.path.to_owned(), reason: reason.into() }
    }

    /// Reads the header if it is a .npy file, or makes one for the lists of a .json file.
    pub(crate) fn header(&mut self, data_type: &DataType) -> Result<Option<Npy>, CliError> {
        let end = self.path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if ["json", "jsonl", "ndjson"].contains(&end.as_str()) {
            return self.json(end == "json", data_type);
        }
        let mut first = Vec::new();
        let wanted = u64::try_from(npy::MAGIC.len()).unwrap_or(0);
        (&mut self.reader).take(wanted).read_to_end(&mut first).map_err(|e| self.failed(e))?;
        let is_npy = first == npy::MAGIC;
        let reader = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(first).chain(reader));
        if !is_npy {
            // The bytes of a damaged header would be elements.
            return match npy::is_named(self.path) {
                true => Err(self.wrong(npy::NO_MAGIC)),
                false => Ok(None),
            };
        }
        let mut counting = Counting { inner: &mut self.reader, count: 0 };
        let header = npy::read_header(&mut counting, data_type);
        let count = counting.count;
        self.length = self.length.map(|length| length.saturating_sub(count));
        header.map(Some).map_err(|reason| self.wrong(reason))
    }

    /// Reads all elements of a JSON file. They are few, because they are text.
    fn json(&mut self, is_nested: bool, data_type: &DataType) -> Result<Option<Npy>, CliError> {
        let mut text = String::new();
        self.reader.read_to_string(&mut text).map_err(|cause| self.failed(cause))?;
        let mut elements = Vec::new();
        let take = &mut |element: &[u8]| elements.extend_from_slice(element);
        let shape = match is_nested {
            true => {
                let rank = json::rank(&text, data_type);
                json::nested(&text, rank, data_type, take).map(Some)
            }
            false => json::lines(&text, data_type, take).map(|()| None),
        };
        let shape = shape.map_err(|reason| self.wrong(reason))?;
        self.length = u64::try_from(elements.len()).ok();
        self.reader = Box::new(Cursor::new(elements));
        Ok(shape.map(|shape| Npy { shape, fortran: false, big_endian: false }))
    }

    /// Checks that the shape of the file equals the region's, with or without axes that were given
    /// by one index.
    fn check_shape(&self, header: &Npy, region: &Selection) -> Result<(), CliError> {
        let whole: Vec<u64> = region.axes().iter().map(AxisSelection::len).collect();
        if fits(&header.shape, &region.shape()) || fits(&header.shape, &whole) {
            return Ok(());
        }
        Err(self.wrong(format!(
            "an array of shape {:?}, but the region has shape {:?}",
            header.shape,
            region.shape()
        )))
    }

    /// Checks, before anything is written, that the length of the file matches the region.
    fn check_length(&self, length: u64, array: &Array, region: &Selection) -> Result<(), CliError> {
        let size = u128::try_from(array.element_size()).unwrap_or(u128::MAX);
        let elements = region.elements().map_or(u128::MAX, u128::from);
        let expected = elements.saturating_mul(size);
        if u128::from(length) == expected {
            return Ok(());
        }
        Err(self.wrong(format!(
            "{} of elements, but the region has {expected}: {} of {} ({} each)",
            words::counted(length, "byte"),
            words::counted(elements, "element"),
            array.data_type(),
            words::counted(size, "byte")
        )))
    }

    /// The bytes of the next elements.
    pub(crate) fn take(&mut self, piece: &Selection, size: usize) -> Result<Vec<u8>, CliError> {
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        let wanted = piece.elements().and_then(|elements| elements.checked_mul(size));
        let wanted = wanted.ok_or_else(|| self.wrong("more elements than fit into memory"))?;
        let mut bytes = Vec::new();
        (&mut self.reader).take(wanted).read_to_end(&mut bytes).map_err(|e| self.failed(e))?;
        let found = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.position = self.position.saturating_add(found);
        if found == wanted {
            return Ok(bytes);
        }
        let missing = wanted.saturating_sub(found);
        Err(self.wrong(format!(
            "ends after {} of elements, at least {missing} too early",
            words::counted(self.position, "byte")
        )))
    }

    /// Converts elements of this shape to their form in memory: little-endian, in C order.
    pub(crate) fn in_memory(
        &self,
        mut elements: Vec<u8>,
        header: Option<&Npy>,
        shape: &[u64],
        array: &Array,
    ) -> Result<Vec<u8>, CliError> {
        let Some(header) = header else { return Ok(elements) };
        if header.fortran {
            elements = c_order(&elements, shape, array.element_size())
                .map_err(|error| self.wrong(error.to_string()))?;
        }
        if header.big_endian {
            array.data_type().swap_byte_order(&mut elements);
        }
        Ok(elements)
    }

    /// The bytes of all remaining elements.
    pub(crate) fn rest(&mut self) -> Result<Vec<u8>, CliError> {
        let mut bytes = Vec::new();
        self.reader.read_to_end(&mut bytes).map_err(|cause| self.failed(cause))?;
        Ok(bytes)
    }

    /// Checks that there are no more bytes.
    fn end(&mut self) -> Result<(), CliError> {
        let mut one = [0];
        match self.reader.read(&mut one) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.wrong(format!(
                "more than the {} of elements that the region has",
                words::counted(self.position, "byte")
            ))),
            Err(cause) => Err(self.failed(cause)),
        }
    }
}

/// Converts Fortran order to C order.
fn c_order(elements: &[u8], shape: &[u64], size: usize) -> Result<Vec<u8>, CopyError> {
    let sizes: Vec<usize> =
        shape.iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX)).collect();
    let reversed: Vec<usize> = sizes.iter().rev().copied().collect();
    let order: Vec<usize> = (0..sizes.len()).rev().collect();
    let source = View::contiguous(&reversed)?.permute(&order)?;
    let mut out = view::zeroed(elements.len())?;
    view::copy(
        &source,
        elements,
        &View::contiguous(&sizes)?,
        &mut out,
        CopyElement::try_from(size)?,
        &[],
    )?;
    Ok(out)
}

/// Counts the bytes read.
struct Counting<R> {
    inner: R,
    count: u64,
}

impl<R: io::Read> io::Read for Counting<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.count = self.count.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(read)
    }
}
