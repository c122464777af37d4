//! Files with elements, for commands that store them.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read as _, Seek as _};
use std::path::Path;

use zarr_kit::codec::convert;
use zarr_kit::metadata::{DataType, Loss, Printable};
use zarr_kit::report::format::npy::{self, Npy};
use zarr_kit::report::words;
use zarr_kit::view::{self, CopyElement, CopyError, View};
use zarr_kit::{Array, AxisSelection, Selection};

use super::text_input::{self, Wanted, is_text};
use crate::args::{InputFormat, Reading, Writing};
use crate::error::{CliError, remedy};
use crate::notation::data_type;

/// File extensions of formats that are not read: their bytes would be read as numbers.
const OTHER_FORMATS: [&str; 13] =
    ["tsv", "txt", "xml", "npz", "zip", "ozx", "gz", "h5", "hdf5", "nc", "tif", "tiff", "png"];

const STANDARD_INPUT: &str = "standard input";

/// The bytes by which the format of a file is recognised.
const BEGINNING: u64 = 8192;

/// The bytes of standard input that are kept in memory until all are known to fit. More are kept in a
/// temporary file.
const IN_MEMORY: usize = 64 << 20;

/// The name of a file for messages.
pub(crate) fn shown(path: &Path) -> String {
    let name = if path == Path::new("-") { STANDARD_INPUT.into() } else { path.to_string_lossy() };
    Printable(&name).to_string()
}

/// How elements enter the array.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Whether numbers of another type are converted.
    pub(super) cast: bool,
    /// Whether they may change.
    pub(super) loss: Loss,
}

impl Entry {
    /// Elements of the array's own type.
    pub(crate) fn exact() -> Self {
        Self { cast: false, loss: Loss::Refuse }
    }

    pub(crate) fn of(reading: Reading, writing: Writing) -> Self {
        let loss = if writing.allow_loss { Loss::Allow } else { Loss::Refuse };
        Self { cast: reading.cast, loss }
    }
}

/// The file with the elements.
pub(crate) struct Input<'a> {
    path: &'a Path,
    reader: Box<dyn io::Read>,
    /// The format, if the caller or the name of the file tells; none for text of some format.
    format: Option<InputFormat>,
    /// The length of its elements in bytes, if it is known.
    pub(super) length: Option<u64>,
    /// Whether more bytes follow, which were not read.
    is_cut: bool,
    /// Bytes of elements read so far.
    pub(super) position: u64,
}

impl<'a> Input<'a> {
    pub(crate) fn open(path: &'a Path, format: Option<InputFormat>) -> Result<Self, CliError> {
        let failed = |cause| CliError::File { path: path.to_owned(), cause };
        let mut input = if path == Path::new("-") {
            let reader = Box::new(io::stdin().lock());
            Self {
                path: Path::new(STANDARD_INPUT),
                reader,
                format,
                length: None,
                is_cut: false,
                position: 0,
            }
        } else {
            let file = File::open(path).map_err(failed)?;
            let meta = file.metadata().map_err(failed)?;
            if meta.is_dir() {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            let length = meta.is_file().then_some(meta.len());
            Self {
                path,
                reader: Box::new(BufReader::new(file)),
                format,
                length,
                is_cut: false,
                position: 0,
            }
        };
        if input.format.is_none() {
            input.format = input.named_format()?;
        }
        if input.format.is_none() {
            let first = input.beginning(BEGINNING)?;
            let is_all = u64::try_from(first.len()).unwrap_or(u64::MAX) < BEGINNING;
            input.format = match first.starts_with(npy::MAGIC) {
                true => Some(InputFormat::Npy),
                false => (!is_text(&first, is_all)).then_some(InputFormat::Raw),
            };
        }
        Ok(input)
    }

    /// The format that the name of the file tells.
    fn named_format(&self) -> Result<Option<InputFormat>, CliError> {
        let end = self.path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        Ok(Some(match end.as_str() {
            _ if npy::is_named(self.path) => InputFormat::Npy,
            "json" => InputFormat::Json,
            "jsonl" | "ndjson" => InputFormat::Lines,
            "csv" => InputFormat::Csv,
            "raw" | "bin" => InputFormat::Raw,
            other if OTHER_FORMATS.contains(&other) => {
                return Err(self.wrong(format!(
                    "a .{end} file is not .npy, .json, .jsonl, .csv or .raw; convert it, or say what \
                     it has: --format raw"
                )));
            }
            _ => return Ok(None),
        }))
    }

    /// The first bytes, which are read again afterwards.
    fn beginning(&mut self, wanted: u64) -> Result<Vec<u8>, CliError> {
        let mut first = Vec::new();
        (&mut self.reader).take(wanted).read_to_end(&mut first).map_err(|e| self.failed(e))?;
        let reader = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(first.clone()).chain(reader));
        Ok(first)
    }

    /// Reads standard input or a pipe to its end, or to one byte more than `most`, so that the length of
    /// the elements is known before any of them is stored.
    pub(super) fn settle(&mut self, most: u64) -> Result<(), CliError> {
        if self.length.is_some() {
            return Ok(());
        }
        let mut spool = tempfile::spooled_tempfile(IN_MEMORY);
        let mut limited = (&mut self.reader).take(most.saturating_add(1));
        let copied = io::copy(&mut limited, &mut spool);
        let length = copied.and_then(|length| spool.rewind().map(|()| length));
        let length = length.map_err(|cause| self.failed(cause))?;
        (self.length, self.is_cut) = (Some(length), length > most);
        self.reader = Box::new(BufReader::new(spool));
        Ok(())
    }

    fn failed(&self, cause: io::Error) -> CliError {
        CliError::File { path: self.path.to_owned(), cause }
    }

    pub(crate) fn wrong(&self, reason: impl Into<String>) -> CliError {
        CliError::Input { path: self.path.to_owned(), reason: reason.into() }
    }

    /// Reads the header of a .npy file, or all elements of a text, of which lines have no shape. `shape` is
    /// that of the elements, as far as it is known.
    pub(crate) fn header(
        &mut self,
        data_type: &DataType,
        shape: Vec<Option<u64>>,
        entry: Entry,
    ) -> Result<Option<Npy>, CliError> {
        match self.format {
            Some(InputFormat::Raw) => return Ok(None),
            Some(InputFormat::Npy) => {}
            _ => {
                let mut elements = Vec::new();
                let take = &mut |element: &[u8]| elements.extend_from_slice(element);
                let shape = self.text(data_type, shape, entry.loss, take)?;
                self.length = u64::try_from(elements.len()).ok();
                self.reader = Box::new(Cursor::new(elements));
                return Ok(shape.map(|shape| Npy { shape, fortran: false, big_endian: false }));
            }
        }
        if self.beginning(u64::try_from(npy::MAGIC.len()).unwrap_or(0))? != npy::MAGIC {
            // The bytes of a damaged header would be elements.
            return Err(self.wrong(npy::NO_MAGIC));
        }
        let mut reader = (&mut self.reader).take(u64::MAX);
        let header = npy::read_header(&mut reader, data_type);
        let count = u64::MAX.saturating_sub(reader.limit());
        self.length = self.length.map(|length| length.saturating_sub(count));
        header.map(Some).map_err(|(reason, remedy)| self.wrong(remedy::with(reason, remedy)))
    }

    /// The numbers of a .npy file of another type as elements of this one, and their shape.
    pub(super) fn converted(
        &mut self,
        data_type: &DataType,
        loss: Loss,
    ) -> Result<(Vec<u8>, Vec<u64>), CliError> {
        let all = self.rest()?;
        let found = npy::read_shape(&mut all.as_slice()).map_err(|reason| self.wrong(reason))?;
        let given = found.1.and_then(|name| Some(data_type::of_numpy(&name)?.data_type));
        let given = given.ok_or_else(|| self.wrong("--cast: its elements are not numbers"))?;
        self.reader = Box::new(Cursor::new(all));
        self.length = None;
        let header = npy::read_header(&mut self.reader, &given);
        let header = header.map_err(|(reason, _)| self.wrong(reason))?;
        let size = given.size().unwrap_or(1);
        let elements = self.take(&Selection::whole(&header.shape), size)?;
        self.end()?;
        let elements = self.reordered(elements, &header, &given)?;
        let converted = convert(&elements, &given, data_type, loss);
        converted
            .map(|elements| (elements, header.shape.clone()))
            .map_err(|error| self.wrong(error.within(&header.shape)))
    }

    /// Whether the elements are those of a .npy file.
    pub(super) fn is_npy(&self) -> bool {
        self.format == Some(InputFormat::Npy)
    }

    /// Reads all elements of a text, which are few, and returns the shape that it gives them.
    pub(super) fn text(
        &mut self,
        data_type: &DataType,
        shape: Vec<Option<u64>>,
        loss: Loss,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<Vec<u64>>, CliError> {
        let is_binary = matches!(self.format, Some(InputFormat::Npy | InputFormat::Raw));
        let bytes = self.rest()?;
        let text = match is_binary && !bytes.is_empty() || self.is_npy() {
            true => None,
            false => String::from_utf8(bytes).ok(),
        };
        let text = text.ok_or_else(|| {
            self.wrong(format!(
                "not text; elements of type {data_type} are given as lines, JSON or CSV"
            ))
        })?;
        let format = self.format.filter(|_| !is_binary);
        text_input::elements(&text, format, &Wanted { data_type, shape, loss }, take)
            .map_err(|reason| self.wrong(reason))
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
        let found = match self.is_cut {
            true => format!("more than {}", words::counted(length.saturating_sub(1), "byte")),
            false => words::counted(length, "byte"),
        };
        Err(self.wrong(format!(
            "{found} of elements, but the region has {expected}: {} of {} ({} each)",
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
        self.position += found;
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
        elements: Vec<u8>,
        header: Option<&Npy>,
        shape: &[u64],
        data_type: &DataType,
    ) -> Result<Vec<u8>, CliError> {
        let Some(header) = header else { return Ok(elements) };
        let Npy { fortran, big_endian, .. } = *header;
        self.reordered(elements, &Npy { shape: shape.to_vec(), fortran, big_endian }, data_type)
    }

    /// Elements with this header in their form in memory.
    fn reordered(
        &self,
        mut elements: Vec<u8>,
        header: &Npy,
        data_type: &DataType,
    ) -> Result<Vec<u8>, CliError> {
        if header.fortran {
            elements = c_order(&elements, &header.shape, data_type.size().unwrap_or(1))
                .map_err(|error| self.wrong(error.to_string()))?;
        }
        if header.big_endian {
            data_type.swap_byte_order(&mut elements);
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
