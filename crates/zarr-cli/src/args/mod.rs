//! The command line's arguments.

mod advise;
mod changes;
mod check;
mod content;
mod draw;
mod export;
mod groups;
mod join;
mod rearrange;
mod rules;
mod shared;

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use zarr_kit::array::Part;
use zarr_kit::metadata::{CodecNotation, NotationError};

use crate::error::CliError;

pub(crate) use advise::{Advise, For};
pub(crate) use changes::{Append, Resize};
pub(crate) use check::Check;
pub(crate) use content::{Diff, Stats};
pub(crate) use draw::Draw;
pub(crate) use export::Export;
pub(crate) use groups::{Attrs, Consolidate, Delete, Tree};
pub(crate) use join::{Combine, Join};
pub(crate) use rearrange::Rearrange;
pub(crate) use rules::{Rules, with_layout};
pub(crate) use shared::{InputFormat, NoValue, Reading, Writing, dimension_names};
use shared::{REGION, part, value};

/// The options of all commands, which the help of the program lists.
pub(crate) const GLOBAL: &str = "Options of all commands";

/// Open, read, write and check Zarr v3 arrays: chunks of any length, values of any number of bits.
#[derive(Debug, Parser)]
#[command(name = "zarr-kit", version, max_term_width = 100, infer_subcommands = false)]
#[command(after_help = "\
Results go to standard output, messages to standard error. Exit status: 0 success, \
1 `check` found something or `diff` a difference, 2 any error.")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// For URLs: seconds after which to give up on a server that does not answer [default: 180].
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: Option<u32>,
    /// For reference files and virtual joins: another folder or URL to which they may lead. It is read
    /// with credentials. May be given several times.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "PLACE")]
    pub(crate) targets: Vec<String>,
    /// Let reference files lead only to the places of --targets, and virtual joins to no other server.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) only_targets: bool,
    /// For zip archives and reference files: the largest size, in MiB, of a document such as zarr.json
    /// [default: 256].
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "MIB")]
    pub(crate) documents: Option<NonZeroU32>,
    /// Let virtual joins name members outside of their folders.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) outside_members: bool,
    /// Follow symbolic links that lead out of the opened folder.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) outside_links: bool,
    /// Event that finished writes to local files survive: process-end, or power-failure, which flushes
    /// each file to the device before the next step.
    #[arg(long, global = true, help_heading = GLOBAL, value_enum, value_name = "EVENT",
          default_value = "process-end", hide_possible_values = true)]
    pub(crate) durability: Survives,
    /// Print no messages but errors and questions.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,
}

/// The failures that a finished write survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Survives {
    /// The end of the process.
    #[default]
    ProcessEnd,
    /// A power failure too.
    PowerFailure,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Info(Info),
    Read(Read),
    Write(Write),
    Create(Create),
    Copy(Copy),
    Join(Join),
    Check(Check),
    Locate(Locate),
    Plan(Plan),
    Draw(Draw),
    Stats(Stats),
    Advise(Advise),
    Diff(Diff),
    Resize(Resize),
    Append(Append),
    Rearrange(Rearrange),
    Tree(Tree),
    Attrs(Attrs),
    Consolidate(Consolidate),
    Export(Export),
    Delete(Delete),
    Completions(Completions),
}

/// Describe an array or group.
///
/// For an array: type, shape, chunks along each axis, codecs, the view that the codecs compile
/// to, and the number of stored chunks. For a group: its members.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit info weather.zarr/temp_max")]
pub(crate) struct Info {
    /// An array or group: a folder or a URL.
    pub(crate) path: String,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Read an array, or a region of it.
///
/// Chunks that are not stored read as the fill value.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Regions are written as in numpy, without brackets around them: 0:10,5,::2. A list in brackets
selects its indices: [0,3,5],1:4. Omitted axes are read whole.

After the name of an axis, text selects labels from the coordinate array, which is the array with
that name in the same group: time=2015-03 is all of March, time=2015-03-01:2015-04-15 includes both
days, lat=40.5:50.0 is all labels between the two, station=KSEA is one text. A range is written in
the order of the axis; on an axis that falls, in either order. Texts may be in quotes.
Integers are indices; @ makes them labels: year=@2015, lat=@40:50. ~ selects the nearest label:
lat=~51.3.

Formats:
  text   nested lists, aligned
  lines  one element per line, in C order, as the JSON of a fill value
  csv    one row per line; at most two dimensions
  npy    numpy's file format; types that numpy lacks as void (V2), int2 and int4 as int8,
         uint2 and uint4 as uint8
  raw    elements in C order, little endian; one byte per component of fewer than 8 bits

Examples:
  zarr-kit read weather.zarr/temp_max --region 28:34
  zarr-kit read weather.zarr/temp_max -o temp_max.npy")]
pub(crate) struct Read {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    #[arg(long, short, help = REGION, value_name = "R")]
    #[arg(allow_hyphen_values = true, value_parser = value)]
    pub(crate) region: Option<String>,
    /// How to print the elements [default: by the extension of FILE: .txt, .json, .jsonl, .csv,
    /// .npy, .raw, .bin; else text].
    #[arg(long, short, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReadFormat>,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// In CSV, write a first line of names, and begin each row with its label from the coordinate array,
    /// or its index.
    #[arg(long)]
    pub(crate) header: bool,
    /// Apply the attributes, as Xarray does: scale_factor and add_offset give float64, missing values NaN,
    /// _Unsigned other integers, `days since ..` dates. Dates of calendars that numpy lacks are text.
    #[arg(long)]
    pub(crate) decode: bool,
    /// In text, show only both ends of long axes, as numpy does. This is the default on a terminal, for
    /// more than 1,000 elements.
    #[arg(long)]
    pub(crate) elide: bool,
    /// In text on a terminal, show all elements, however many.
    #[arg(long, conflicts_with = "elide")]
    pub(crate) all: bool,
    /// Print on standard error which chunks are read, the codecs that decode them, and how long it took
    /// to fetch them.
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadFormat {
    /// Nested lists, aligned.
    Text,
    /// One element per line, as the JSON of a fill value.
    Lines,
    /// One JSON document: nested lists of elements.
    Json,
    /// Comma-separated values.
    Csv,
    /// numpy's file format.
    Npy,
    /// Elements in C order, little endian.
    Raw,
}

/// Write elements from a file into an array, or into a region of it.
///
/// Chunks that the region covers only in part are read, changed and written back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Formats:
  lines  one element per line, in C order, as the JSON of a fill value
  json   nested lists of elements
  csv    one row per line; with a line of names and a column of labels, as `read --header` writes
         them, if there is one row and one column more than the region has
  npy    either byte order, C or Fortran order; the shape of the region, and its type, or --cast
  raw    elements in C order, little endian

Text is not taken for raw elements unless --format says so. Nothing is written before the whole \
input is known to fit. Integers are exact, also in floats; fractions are rounded to the nearest float.

Examples:
  zarr-kit write weather.zarr/temp_max --region 31:60 --from february.npy
  zarr-kit read a.zarr -f lines | zarr-kit write b.zarr --from -")]
pub(crate) struct Write {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    /// A .npy, .json, .jsonl, .csv or .raw file; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) from: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[arg(long, short, help = REGION, value_name = "R")]
    #[arg(allow_hyphen_values = true, value_parser = value)]
    pub(crate) region: Option<String>,
    /// No other program writes to the array at the same time. Needed for chunks that the region covers
    /// only in part, on stores without locks and conditional writes, such as plain HTTP.
    #[arg(long)]
    pub(crate) sole_writer: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Create an array or a group.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Chunks:
  100,64                 regular: all chunks 100 by 64
  time=31|28|31x2,x=100  by axis: edges with | between them, xN repeats an edge
  [[31,28,[31,2]],100]   as in zarr.json: a shape, edges of each axis, or a chunk_grid

Codecs are names with commas between them, with their main setting: transpose, delta,
packbits:12 (the lowest 12 bits), shuffle, zstd:3, gzip:6, blosc:lz4:5, pcodec:8, crc32c;
or the JSON list of zarr.json. The default is bytes (little endian) and zstd.

Examples:
  zarr-kit create weather.zarr/temp --shape 90 --dtype int16 --chunks '31|28|31'
  zarr-kit create frames.zarr --like frames.npy --chunks 10,512,640 --preset size
  zarr-kit create camera.zarr --shape 100,512,640 --dtype uint16 --codecs packbits:12,zstd:3
  zarr-kit create time.zarr --shape 90 --dtype 'M8[s]'
  zarr-kit create copy.zarr --metadata zarr.json
  zarr-kit create weather.zarr/temp --like temp.npy --chunks 365,100,100
  zarr-kit create weather.zarr --group --attributes '{\"title\": \"Weather\"}'
  zarr-kit create weather.zarr/2015/rain --parents --shape 365 --dtype float32")]
pub(crate) struct Create {
    /// The new array or group: a folder or a URL.
    pub(crate) path: String,
    /// The length of each axis: 1461,4.
    #[arg(
        long,
        value_name = "N,N",
        required_unless_present_any = ["metadata", "group", "like"],
        allow_hyphen_values = true, value_parser = value
    )]
    pub(crate) shape: Option<String>,
    /// The type of the elements: float32, int16, bool, uint4, string, ..., as numpy calls it (f4, >i2,
    /// M8[s], U5), or as the JSON object in zarr.json.
    #[arg(long, alias = "data-type", value_name = "TYPE", required_unless_present_any = ["metadata", "group", "like"])]
    pub(crate) dtype: Option<String>,
    /// The lengths of the chunks [default: regular, of 1 to 4 MiB].
    #[arg(long, value_name = "CHUNKS", allow_hyphen_values = true, value_parser = value)]
    pub(crate) chunks: Option<String>,
    /// The lengths of shards: objects that hold many chunks each.
    #[arg(long, value_name = "SHARDS", allow_hyphen_values = true, value_parser = value)]
    pub(crate) shards: Option<String>,
    #[command(flatten)]
    pub(crate) encoding: Encoding,
    /// The value of elements that were never written, as JSON, or for times in the form that
    /// `read` prints [default: 0, false, NaT or NaN].
    #[arg(long, value_name = "JSON", allow_hyphen_values = true, value_parser = value)]
    pub(crate) fill: Option<String>,
    /// A name for each axis: time,x.
    #[arg(long, value_name = "NAME,NAME")]
    pub(crate) dims: Option<String>,
    /// Attributes, as a JSON object.
    #[arg(long, value_name = "JSON")]
    pub(crate) attributes: Option<String>,
    /// A zarr.json that contains all of this.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["shape", "dtype", "chunks", "shards",
        "codecs", "preset", "fill", "dims", "attributes", "like"])]
    pub(crate) metadata: Option<PathBuf>,
    /// Take omitted options from this file or array: the shape and type of a .npy file, or all metadata
    /// of another array, without its codecs if the type or the number of axes differs.
    #[arg(long, value_name = "FILE|ARRAY")]
    pub(crate) like: Option<String>,
    /// First remove the array at this place.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Create a group, not an array.
    #[arg(long, conflicts_with_all = ["shape", "dtype", "chunks", "shards", "codecs", "preset", "fill",
        "dims", "metadata", "like", "overwrite"])]
    pub(crate) group: bool,
    /// Also create the missing groups above it, from the folder that ends in .zarr, or from the nearest
    /// group, down.
    #[arg(long)]
    pub(crate) parents: bool,
    /// Refuse an array that another program does not read: a rectilinear grid, packbits, or a type that
    /// zarr-python, Xarray, zarrs, TensorStore or GDAL lacks.
    #[arg(long, conflicts_with = "group")]
    pub(crate) portable: bool,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How chunks are encoded.
#[derive(Debug, clap::Args)]
pub(crate) struct Encoding {
    /// The codec chain: transpose,packbits:12,zstd:3, or the JSON list of zarr.json.
    #[arg(long, value_name = "CODECS")]
    pub(crate) codecs: Option<String>,
    /// Try codecs on the data of --like and take the best one, as `advise --for` does.
    #[arg(long, value_enum, value_name = "GOAL", conflicts_with = "codecs", requires = "like")]
    pub(crate) preset: Option<For>,
}

/// The codec chain in the value of `--codecs`.
pub(crate) fn parse_codecs(text: &str) -> Result<CodecNotation, CliError> {
    let argument = "--codecs";
    text.parse().map_err(|cause| match cause {
        NotationError::Json(cause) => CliError::Metadata { argument, cause },
        cause => CliError::argument(argument, text, cause),
    })
}

impl Encoding {
    /// The chosen codec chain, if any.
    pub(crate) fn codecs(&self) -> Result<Option<CodecNotation>, CliError> {
        self.codecs.as_deref().map(parse_codecs).transpose()
    }
}

/// Copy an array or group into other chunks, other codecs or another store.
///
/// Copies whole chunks of the target at a time, within --memory. --resume continues an interrupted
/// copy, with the same result. Without --chunks, --shards and --codecs, objects are copied unchanged,
/// even if this program cannot read the array's elements. Chunks that only move into, out of or between
/// shards are copied as they are stored, also damaged ones; --verify refuses those.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Chunks, shards and codecs are written as for `create`; axes that are not named keep theirs.

In a group, these options apply to all arrays. After a --for, they apply to arrays with a
name that matches its pattern, or with a path that matches it if the pattern has a /. If several
match, the last one counts, for each of these options separately. Arrays that lack the axes, that
cannot be read, or that the codecs do not fit are copied unchanged; the latter two are named.

Examples:
  zarr-kit copy weather.zarr/temp monthly.zarr --chunks '31|28|31'
  zarr-kit copy tiles.zarr sharded.zarr --shards 2048,2048
  zarr-kit copy weather.zarr yearly.zarr --chunks time=365 --for 'rain*' --chunks time=31
  zarr-kit copy weather.zarr yearly.zarr --chunks time=365 --part \"$SLURM_ARRAY_TASK_ID/16\"
  zarr-kit copy old.zarr new.zarr --memory 512MiB --verify \\
    --codecs '[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": \"crc32c\"}]'")]
pub(crate) struct Copy {
    /// The source: a folder or a URL.
    pub(crate) source: String,
    /// The target: a folder or a URL.
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) rules: Rules,
    /// Memory for elements and chunks: 64MiB, 2GiB.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = crate::notation::size::parse)]
    pub(crate) memory: u64,
    /// Print the planned reads and their memory, and copy nothing.
    #[arg(long, conflicts_with_all = ["resume", "overwrite"])]
    pub(crate) dry_run: bool,
    /// Folder or URL for intermediate arrays [default: beside the chunks of the target]. If --memory
    /// would require many reads of a chunk, the array is copied in two passes, and needs its size there
    /// meanwhile.
    #[arg(long, value_name = "PLACE", conflicts_with = "part")]
    pub(crate) intermediate: Option<String>,
    /// Copy one part: run the same command for all parts, from 1/16 to 16/16, on machines that reach
    /// both places. Parts may run in any order, at the same time, twice, and be killed. The last part
    /// completes the copy.
    #[arg(long, value_name = "K/N", conflicts_with = "overwrite", value_parser = part)]
    pub(crate) part: Option<Part>,
    /// Continue an interrupted copy.
    #[arg(long, conflicts_with = "overwrite")]
    pub(crate) resume: bool,
    /// Remove the array or group at the target first.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Read the whole copy, and compare it with the source.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Copy values even if packbits drops some of their bits. They then read back as other values. By
    /// default they are refused.
    #[arg(long)]
    pub(crate) allow_loss: bool,
    /// Make arrays that other programs read without a setting: chunks of one length, and codecs that
    /// all programs have.
    #[arg(long)]
    pub(crate) portable: bool,
    /// Omit objects that belong to no node, such as a README beside an array.
    #[arg(long)]
    pub(crate) nodes_only: bool,
    /// Make groups of OME-Zarr 0.4, which is of Zarr version 2, groups of 0.5: their attributes move into
    /// `ome`, and arrays get the names of their axes.
    #[arg(long, value_name = "VERSION", value_parser = ["0.5"])]
    pub(crate) ome: Option<String>,
    /// Print the result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Find where an element is stored.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit locate weather.zarr/daily 59,1
  zarr-kit locate weather.zarr/daily time=2012-02-29,station=@1")]
pub(crate) struct Locate {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    /// The index of the element: 59,1. Negative numbers count from the end. After names of axes, labels
    /// are allowed as for `read`: time=2012-02-29,x=1.
    #[arg(allow_hyphen_values = true, value_parser = value)]
    pub(crate) index: String,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// List the chunks of a read: keys, sizes, and the part of each that is needed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  zarr-kit plan weather.zarr/daily --region 28:34")]
pub(crate) struct Plan {
    /// The array: a folder or a URL.
    pub(crate) array: String,
    #[arg(long, short, help = REGION, value_name = "R")]
    #[arg(allow_hyphen_values = true, value_parser = value)]
    pub(crate) region: Option<String>,
    /// Print one JSON document, with each chunk in a line of its own.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print shell completions, or write them with the man pages.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zarr-kit completions bash > ~/.local/share/bash-completion/completions/zarr-kit
  zarr-kit completions --into ~/.local/share")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum, required_unless_present = "into", conflicts_with = "into")]
    pub(crate) shell: Option<clap_complete::Shell>,
    /// Write the man pages, and the completions of bash, zsh and fish, to their places in this folder:
    /// ~/.local/share or /usr/local/share.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) into: Option<PathBuf>,
}
