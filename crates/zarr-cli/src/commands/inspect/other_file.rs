//! Files that hold arrays and are not stores: what `info` says of them, and what makes arrays of them.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::slice;

use serde_json::{Map, Value, json};
use zarr_kit::array::store::{Links, ReadRange, StoreExt as _};
use zarr_kit::report::format::npy;
use zarr_kit::report::{Table, words};
use zarr_kit::zip::ZipStore;
use zarr_kit::{DataType, Prefix, Store as _};

use crate::error::CliError;
use crate::notation::data_type;
use crate::output::print::{self, LABEL, Out, print_table};

/// The longest header that is read.
const HEADER: u64 = 100 << 20;

/// The bytes of an array in an archive that are read: more than the longest header of .npy.
const START: u64 = 2 << 20;

/// An array in a file.
struct Held {
    /// Empty if the file is one array.
    name: String,
    data_type: String,
    shape: Vec<u64>,
}

/// What a file is.
pub(crate) struct OtherFile {
    path: String,
    format: &'static str,
    arrays: Vec<Held>,
    /// What makes an array or a group of it, one command per line.
    commands: Vec<String>,
}

impl OtherFile {
    /// What the file at a path is; `None` if there is none, or it is of no format that is known here.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let mut file = File::open(path).ok().filter(is_file)?;
        let name = path.to_ascii_lowercase();
        let (format, arrays, commands) = if name.ends_with(".npz") {
            let python = "import numpy, zarr_kit; zarr_kit.save(OUT, **numpy.load(FILE))";
            ("NumPy archive", npz(path)?, vec![python.to_owned()])
        } else if name.ends_with(".safetensors") {
            let python = "import safetensors.numpy, zarr_kit; \
                          zarr_kit.save(OUT, **safetensors.numpy.load_file(FILE))";
            ("safetensors file", safetensors(&mut file)?, vec![python.to_owned()])
        } else if name.ends_with(".csv") {
            let (table, commands) = csv(BufReader::new(file)).ok()?;
            ("table of CSV", vec![table], commands)
        } else if let Some((picture, is_cut)) = png(&mut file) {
            let python = "import numpy, PIL.Image, zarr_kit; \
                          zarr_kit.save(OUT, numpy.asarray(PIL.Image.open(FILE)))";
            let python = (!is_cut).then(|| python.to_owned());
            ("PNG picture", vec![picture], python.into_iter().collect())
        } else {
            file.seek(SeekFrom::Start(0)).ok()?;
            let (array, dtype) = of_npy(String::new(), &mut BufReader::new(file))?;
            let create = format!("zarr-kit create OUT --like FILE{dtype}");
            let write = "zarr-kit write OUT --from FILE".to_owned();
            ("NumPy file", vec![array], vec![create, write])
        };
        Some(Self { path: path.to_owned(), format, arrays, commands })
    }

    pub(crate) fn print(&self, as_json: bool) -> Result<(), CliError> {
        let commands = self.commands();
        if as_json {
            let arrays = self.arrays.iter().map(
                |held| json!({"name": held.name, "data_type": held.data_type, "shape": held.shape}),
            );
            let arrays: Vec<Value> = arrays.collect();
            return print::json(&json!({
                "node_type": Value::Null, "format": self.format, "arrays": arrays,
                "commands": commands,
            }));
        }
        let mut out = Out::stdout();
        out.styled(LABEL, &self.path, format_args!(": {}, not a Zarr store", self.format))?;
        let mut table = Table::default();
        for held in &self.arrays {
            match held.name.as_str() {
                "" => {
                    table.row("shape", words::shape(&held.shape));
                    table.row("type", &held.data_type);
                }
                name => {
                    table.row(name, format!("{} {}", held.data_type, words::shape(&held.shape)));
                }
            }
        }
        print_table(&table, &mut out)?;
        if !commands.is_empty() {
            out.styled(LABEL, "made an array by", format_args!(""))?;
        }
        commands.iter().try_for_each(|command| out.line(format_args!("  {command}")))?;
        out.finish()
    }

    /// The commands with the names of the file and of a store beside it.
    fn commands(&self) -> Vec<String> {
        // A name that shells or Python would read otherwise is not put into a command.
        let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@".contains(c);
        let is_plain = !self.path.starts_with('-') && self.path.chars().all(is_plain);
        let file = if is_plain { self.path.as_str() } else { "FILE" };
        let store = Path::new(file).with_extension("zarr").display().to_string();
        let filled = |command: &String| match command.strip_prefix("import ") {
            Some(python) => {
                let python = python.replace("OUT", &format!("\"{store}\""));
                format!("python -c 'import {}'", python.replace("FILE", &format!("\"{file}\"")))
            }
            None => command.replace("OUT", &store).replace("FILE", file),
        };
        self.commands.iter().map(filled).collect()
    }
}

fn is_file(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// The array of a `.npy` file, and the option that its type needs.
fn of_npy(name: String, file: &mut impl Read) -> Option<(Held, String)> {
    let (shape, numpy) = npy::read_shape(file).ok()?;
    let known = numpy.as_deref().and_then(|numpy| Some(data_type::of_numpy(numpy)?.data_type));
    let (data_type, option) = match (&numpy, known) {
        (Some(numpy), _) if data_type::is_perhaps_small_float(numpy) => (
            format!("{numpy}: raw bytes, or bfloat16 or a small float, which numpy saves so"),
            format!(" --dtype {}", if numpy.ends_with('1') { "float8_e4m3fn" } else { "bfloat16" }),
        ),
        (_, Some(known)) => (words::data_type(&known), String::new()),
        (Some(numpy), None) => (format!("{numpy} of numpy, which is not read here"), String::new()),
        (None, None) => ("a record".to_owned(), " --dtype '{\"name\": \"struct\", ..}'".to_owned()),
    };
    Some((Held { name, data_type, shape }, option))
}

fn npz(path: &str) -> Option<Vec<Held>> {
    let store = ZipStore::open(path).ok()?;
    let keys = store.list(&Prefix::root(), Links::Follow);
    let mut arrays = Vec::new();
    for key in keys {
        let key = key.ok()?;
        let Some(name) = key.as_str().strip_suffix(".npy") else { continue };
        let mut start = Vec::new();
        let range = 0..store.size(&key).ok()??.min(START);
        store.get(&key, ReadRange::Ranges(slice::from_ref(&range)), &mut start).ok()??;
        arrays.push(of_npy(name.to_owned(), &mut io::Cursor::new(start))?.0);
    }
    Some(arrays)
}

/// The arrays by the header of the file: its length, and JSON.
fn safetensors(file: &mut File) -> Option<Vec<Held>> {
    let mut length = [0; 8];
    file.read_exact(&mut length).ok()?;
    let length = u64::from_le_bytes(length);
    if length > HEADER {
        return None;
    }
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header).ok()?;
    let header: Map<String, Value> = serde_json::from_slice(&header).ok()?;
    let held = |(name, value): (&String, &Value)| {
        let shape = value.get("shape")?.as_array()?.iter().map(Value::as_u64);
        let known = match value.get("dtype")?.as_str()? {
            "BOOL" => DataType::Bool,
            "BF16" => DataType::Bfloat16,
            "F8_E4M3" => DataType::Float8E4m3fn,
            "F8_E5M2" => DataType::Float8E5m2,
            other => {
                let bits = other.trim_start_matches(['I', 'U', 'F', 'C']);
                let kind = match other.strip_suffix(bits)? {
                    "I" => "int",
                    "U" => "uint",
                    "F" => "float",
                    "C" => "complex",
                    _ => return None,
                };
                DataType::from_name(&format!("{kind}{bits}")).ok()?
            }
        };
        let (name, data_type) = (name.clone(), words::data_type(&known));
        Some(Held { name, data_type, shape: shape.collect::<Option<_>>()? })
    };
    header.iter().filter(|(name, _)| *name != "__metadata__").map(held).collect()
}

/// The shape of a table, and what makes arrays of it: of a table of numbers alone one array, of columns
/// with names a group.
fn csv(reader: impl io::BufRead) -> io::Result<(Held, Vec<String>)> {
    let (mut rows, mut columns) = (0_u64, 0_u64);
    let (mut are_numbers, mut are_integers) = (true, true);
    for line in reader.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        if rows == 0 {
            columns = line.split(',').fold(0, |count, _| count + 1);
        }
        rows += 1;
        let mut cells = line.split(',').map(str::trim);
        are_numbers = are_numbers && cells.clone().all(|cell| cell.parse::<f64>().is_ok());
        are_integers = are_integers && cells.all(|cell| cell.parse::<i64>().is_ok());
    }
    let numpy = if are_integers { "int64" } else { "float64" };
    if are_numbers {
        let create = format!("zarr-kit create OUT --shape {rows},{columns} --dtype {numpy}");
        let held =
            Held { name: String::new(), data_type: numpy.to_owned(), shape: vec![rows, columns] };
        return Ok((held, vec![create, "zarr-kit write OUT --from FILE".to_owned()]));
    }
    let data_type = "text and numbers, in columns with names".to_owned();
    let shape = vec![rows.saturating_sub(1), columns];
    let python = "import pandas, zarr_kit.xarray; \
                  zarr_kit.xarray.to_zarr(pandas.read_csv(FILE).to_xarray(), OUT)";
    Ok((Held { name: String::new(), data_type, shape }, vec![python.to_owned()]))
}

/// The array of a picture, by its first chunk, and whether the usual reader cuts its values off.
fn png(file: &mut File) -> Option<(Held, bool)> {
    let mut start = [0_u8; 26];
    file.read_exact(&mut start).ok()?;
    let [size @ .., depth, color] = start.strip_prefix(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")? else {
        return None;
    };
    let (width, height) = size.split_first_chunk::<4>()?;
    let mut shape = vec![
        u64::from(u32::from_be_bytes(height.try_into().ok()?)),
        u64::from(u32::from_be_bytes(*width)),
    ];
    let channels = match color {
        2 => Some(3),
        4 => Some(2),
        6 => Some(4),
        _ => None,
    };
    shape.extend(channels);
    let data_type = match (*color, *depth) {
        (3, _) => "uint8 (indices of colours)",
        (_, 1) => "bool",
        (_, 16) => "uint16",
        _ => "uint8",
    };
    let is_cut = *depth == 16 && channels.is_some();
    Some((Held { name: String::new(), data_type: data_type.to_owned(), shape }, is_cut))
}
