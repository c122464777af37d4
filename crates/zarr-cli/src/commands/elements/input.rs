//! Files with elements, for commands that store them.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read as _};
use std::path::Path;

use zarr_kit::metadata::{DataType, Printable};
use zarr_kit::report::format::json;
use zarr_kit::report::format::npy::{self, Npy};
use zarr_kit::report::words;
use zarr_kit::view::{self, CopyElement, CopyError, View};
use zarr_kit::{Array, AxisSelection, Selection};

use crate::error::CliError;

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
    /// The length of its elements in bytes, if it is a file.
    pub(super) length: Option<u64>,
    /// Bytes of elements read so far.
    pub(super) position: u64,
}

impl<'a> Input<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, CliError> {
        if path == Path::new("-") {
            let reader = Box::new(io::stdin().lock());
            return Ok(Self { path: Path::new(STANDARD_INPUT), reader, length: None, position: 0 });
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

    pub(super) fn is_named_npy(&self) -> bool {
        npy::is_named(self.path)
    }

    /// The extension of its name, in lower case.
    pub(super) fn extension(&self) -> String {
        self.path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
    }

    /// Reads the header if it is a .npy file, or makes one for the lists of a .json file.
    pub(crate) fn header(&mut self, data_type: &DataType) -> Result<Option<Npy>, CliError> {
        let end = self.extension();
        if OTHER_FORMATS.contains(&end.as_str()) {
            return Err(self.wrong(format!(
                "a .{end} file is neither .npy, .json, .jsonl nor raw elements; convert it, or give \
                 raw bytes by standard input: --from -"
            )));
        }
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
            return match self.is_named_npy() {
                true => Err(self.wrong(npy::NO_MAGIC)),
                false => Ok(None),
            };
        }
        let mut reader = (&mut self.reader).take(u64::MAX);
        let header = npy::read_header(&mut reader, data_type);
        let count = u64::MAX.saturating_sub(reader.limit());
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

    /// Checks that the shape of the elements in the file equals the region's, with or without axes
    /// that were given by one index.
    pub(super) fn check_shape(&self, found: &[u64], region: &Selection) -> Result<(), CliError> {
        let whole: Vec<u64> = region.axes().iter().map(AxisSelection::len).collect();
        if fits(found, &region.shape()) || fits(found, &whole) {
            return Ok(());
        }
        let shape = region.shape();
        Err(self.wrong(format!("an array of shape {found:?}, but the region has shape {shape:?}")))
    }

    /// The shape of elements that are appended to an axis: the array's, but on the axis as long as
    /// these units are enough for. `per_element` units make an element. `found` is the shape of the
    /// elements, if the file has one.
    pub(super) fn appended(
        &self,
        array: &Array,
        axis: usize,
        found: Option<&[u64]>,
        (units, per_element, unit): (usize, usize, &str),
    ) -> Result<Vec<u64>, CliError> {
        let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let mut shape = array.shape().to_vec();
        let others = shape.iter().enumerate().filter(|(other, _)| *other != axis);
        let row = others.fold(wide(per_element), |row, (_, length)| row.saturating_mul(*length));
        let (Some(count), Some(rest)) =
            (wide(units).checked_div(row), wide(units).checked_rem(row))
        else {
            let reason = "there is nothing to append: another axis of the array is empty";
            return Err(self.wrong(reason));
        };
        if rest > 0 {
            let units = words::counted(wide(units), unit);
            let names = words::axis_names(array.metadata());
            let name = names.get(axis).map_or("the axis", String::as_str);
            return Err(self.wrong(format!("{units}, but one index of {name} has {row}")));
        }
        if let Some(length) = shape.get_mut(axis) {
            *length = count;
        }
        match found.filter(|found| !fits(found, &shape)) {
            Some(found) => Err(self.wrong(format!(
                "an array of shape {found:?}, but the data appended to {} has the shape {shape:?}",
                words::shape(array.shape())
            ))),
            None => Ok(shape),
        }
    }

    /// Checks, before anything is written, that the length of the file matches the region.
    pub(super) fn check_length(
        &self,
        length: u64,
        array: &Array,
        region: &Selection,
    ) -> Result<(), CliError> {
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
    pub(super) fn end(&mut self) -> Result<(), CliError> {
        let mut one = [0];
        match self.reader.read(&mut one) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.wrong(format!(
                "more than the {} of elements to be stored",
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

/// Whether lists of this shape have the elements of a region of another: within an empty list there
/// is none that could have a size.
fn fits(found: &[u64], region: &[u64]) -> bool {
    found == region || found.ends_with(&[0]) && region.starts_with(found)
}
