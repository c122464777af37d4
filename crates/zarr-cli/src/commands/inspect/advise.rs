//! `zarr-kit advise`.

use std::path::Path;
use std::sync::Arc;

use zarr_kit::array::store::shown_url;
use zarr_kit::metadata::Codec;
use zarr_kit::report::ReportError;
use zarr_kit::report::advise::{Advice, AdviceOptions, Shape, read_lengths, short};
use zarr_kit::report::readers::portable;
use zarr_kit::{Array, ArrayBuilder, DataType, MemoryStore, Prefix, Selection};

use crate::args::{Advise, For};
use crate::commands::elements::input::{Entry, Input};
use crate::commands::nodes::like::Like;
use crate::error::CliError;
use crate::notation::region::region;
use crate::output::print::{self, Out, print_table};
use crate::output::progress::Bar;
use crate::stores::node_store::NodeStore;

/// The most characters of a column to which others are aligned.
const COLUMN: usize = 40;

pub(crate) fn run(args: &Advise) -> Result<(), CliError> {
    let options = AdviceOptions::new().goal(args.goal.into()).sample(args.sample).rate(args.rate);
    let mut options = options.memory(args.memory);
    if let Some(latency) = args.latency {
        options = options.latency(latency);
    }
    let with_reads = |array: &Array| {
        let mut reads = args.reads.iter().map(|text| read_lengths(text, array.metadata()));
        reads.try_fold(options, |options, read| Ok::<_, ReportError>(options.read(read?)))
    };
    let bar = Bar::new();
    let mut progress = |done, all| bar.bytes("trying", done, Some(all));
    let shown = shown_url(&args.array);
    let is_npy = args.array.to_ascii_lowercase().ends_with(".npy");
    let advice = match is_npy {
        true => {
            let array = of_npy(&args.array)?;
            let whole = Selection::whole(array.shape());
            let region = match &args.region {
                Some(text) => Selection::parse(text, array.shape())
                    .map_err(|cause| CliError::argument("--region", text, cause))?,
                None => whole,
            };
            let failed = |cause| CliError::Report { place: shown.clone(), cause };
            let advice = with_reads(&array)
                .and_then(|options| Advice::of(&array, &region, &options, &mut progress));
            advice.map_err(failed)?
        }
        false => {
            let place = NodeStore::open(&args.array)?;
            let array = place.array()?;
            let region = region(&place, array.metadata(), args.region.as_deref())?;
            let advice = with_reads(&array)
                .and_then(|options| Advice::of(&array, &region, &options, &mut progress));
            advice.map_err(|cause| place.not_reported(cause))?
        }
    };
    drop(bar);
    if args.json {
        return print::json(&advice.json(&shown));
    }
    let mut out = Out::stdout();
    print_table(&advice.evidence(), &mut out)?;
    out.line("")?;
    let heading = ["codecs", "size", "of bytes", "encode", "decode", ""].map(str::to_owned);
    let rows = std::iter::once(heading).chain(advice.lines()).map(Vec::from).collect();
    print_columns(rows, 1, &mut out)?;
    let shape = advice.shapes().first();
    if shape.is_some() {
        out.line("")?;
        print_columns(advice.shape_lines(), 2, &mut out)?;
    }
    out.line("")?;
    let codecs = match shape {
        Some(_) => short(advice.chunk_codecs(), advice.data_type()),
        None => short(&advice.best().codecs, advice.data_type()),
    };
    let codecs = if codecs.starts_with('[') { format!("'{codecs}'") } else { codecs };
    // The first cells of its line, where there is one.
    let cells = shape.map(Shape::line).unwrap_or_default();
    let given = ["--chunks", "--shards"].iter().zip(&cells).filter(|(_, cell)| *cell != "-");
    let chunks: String = given.map(|(option, cell)| format!("{option} {cell} ")).collect();
    out.line(match is_npy {
        true => format!("zarr-kit create OUT.zarr --like {shown} {chunks}--codecs {codecs}"),
        false => format!("zarr-kit copy {shown} OUT.zarr {chunks}--codecs {codecs}"),
    })?;
    out.finish()
}

/// Prints rows whose first columns are aligned on the left. A longer text makes only its own line longer.
fn print_columns(rows: Vec<Vec<String>>, left: usize, out: &mut Out) -> Result<(), CliError> {
    let columns = rows.first().map_or(0, Vec::len).saturating_sub(1);
    let lengths = |column: usize| rows.iter().map(move |row| row[column].chars().count());
    let width = |column| lengths(column).filter(|length| *length <= COLUMN).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line.push_str(&match at < left {
                true => format!("{cell:width$}  "),
                false => format!("{cell:>width$}  "),
            });
        }
        line.push_str(row.last().map_or("", |remark| remark));
        out.line(line.trim_end())?;
    }
    Ok(())
}

/// The best chain for a goal among chains that store every value of the type: untried values must
/// fit as well. All programs read a portable chain. `None` if no element was written.
pub(crate) fn best(
    array: &Array,
    goal: For,
    is_portable: bool,
) -> Result<Option<Vec<Codec>>, ReportError> {
    let options = AdviceOptions::new().goal(goal.into());
    let whole = Selection::whole(array.shape());
    let advice = match Advice::of(array, &whole, &options, &mut |_, _| {}) {
        Err(ReportError::Nothing { .. }) => return Ok(None),
        advice => advice?,
    };
    let cuts = |codec: &Codec| matches!(codec, Codec::Packbits(bits) if bits.last_bit.is_some() || bits.first_bit.is_some());
    let is_read = |codecs: &[Codec]| {
        let changed = array.metadata().with_codecs(codecs);
        changed.is_ok_and(|new| portable(&new).is_ok_and(|new| new.codecs() == codecs))
    };
    let mut chains = advice.trials().iter().map(|trial| &trial.codecs);
    let is_fit =
        |codecs: &&Vec<Codec>| !codecs.iter().any(cuts) && (!is_portable || is_read(codecs));
    Ok(chains.find(is_fit).cloned())
}

/// As [`best`], of the array or file that `create --like` names, which has elements of this type.
pub(crate) fn best_like(
    path: &str,
    data_type: &DataType,
    goal: For,
    is_portable: bool,
) -> Result<Option<Vec<Codec>>, CliError> {
    let array = match path.to_ascii_lowercase().ends_with(".npy") {
        true => of_npy(path)?,
        false => NodeStore::open(path)?.array()?,
    };
    if array.data_type() != data_type {
        let reason =
            format!("its elements are {}, and the array's are {data_type}", array.data_type());
        return Err(CliError::argument("--preset", path, reason));
    }
    best(&array, goal, is_portable)
        .map_err(|cause| CliError::Report { place: shown_url(path), cause })
}

/// The elements of a file as an array in memory, with the chunks that `create --like` gives it.
fn of_npy(path: &str) -> Result<Array, CliError> {
    let like = Like::open(path)?;
    let path = Path::new(path);
    let entry = Entry::exact();
    let mut input = Input::open(path, None)?;
    let data_type = like.data_type.clone();
    let data_type = data_type.ok_or_else(|| input.wrong("its type is none of Zarr's"))?;
    let metadata = ArrayBuilder::new(like.shape.clone(), data_type.clone())
        .codecs([Codec::array_to_bytes(&data_type)])
        .build()
        .map_err(|cause| input.wrong(cause.to_string()))?;
    let failed = |cause| CliError::Node { place: path.display().to_string(), cause };
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata);
    let array = array.map_err(failed)?;
    let header = input.header(&data_type, like.shape.iter().copied().map(Some).collect(), entry)?;
    let header = header.ok_or_else(|| input.wrong("this is no .npy file"))?;
    let whole = Selection::whole(&like.shape);
    let elements = input.take(&whole, array.element_size())?;
    let elements = input.in_memory(elements, Some(&header), &like.shape, array.data_type())?;
    array.write(whole, &elements).map_err(failed)?;
    Ok(array)
}
