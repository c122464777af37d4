//! `zarr-kit read`.

use std::path::Path;
use std::sync::Arc;

use zarr_kit::cf::{CfError, Decoder};
use zarr_kit::report::format::decoded;
use zarr_kit::report::format::nested::Nested;
use zarr_kit::report::format::quoted::quoted;
use zarr_kit::report::format::{npy, text, value};
use zarr_kit::report::words;

use super::explain::{Fetched, explain};
use super::variable_length;
use super::write::bytes_of;
use crate::args::{Read, ReadFormat};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::notation::labels;
use crate::notation::region::region;
use crate::notation::size::PIECE;
use crate::output::csv_table;
use crate::output::print::{self, Out};
use crate::output::progress::{Bar, Moved, Work};
use crate::stores::node_store::NodeStore;
use clap::ValueEnum;
use zarr_kit::array::ArrayError;
use zarr_kit::array::store::Key;
use zarr_kit::{Array, ArrayMetadata, AxisSelection, Codec, DataType, Selection};

/// The most elements that are printed as text.
const TEXT: u64 = 1 << 24;

/// The elements of variable length in memory at a time, although their chunk is decoded again
/// for the next ones: a chunk of a few bytes may have any number of empty strings.
const STRINGS: u64 = 1 << 24;

/// How many bytes of text are collected before they are printed.
const BLOCK: usize = 1 << 16;

pub(crate) fn run(args: &Read) -> Result<(), CliError> {
    let mut place = NodeStore::open(&args.array)?;
    let fetched = Arc::new(Fetched::default());
    if args.explain {
        place.watch(fetched.clone());
    }
    read(args, &place, &fetched)?;
    fetched.note();
    Ok(())
}

fn read(args: &Read, place: &NodeStore, fetched: &Fetched) -> Result<(), CliError> {
    let format = format_of(args.format, args.output.as_deref())?;
    let array = place.array()?;
    let region = region(place, array.metadata(), args.region.as_deref())?;
    if args.header && format != ReadFormat::Csv {
        return Err(CliError::argument("--header", "true", "only csv has a line of names"));
    }
    if args.output.is_none() && print::stdout_is_terminal() {
        match format {
            ReadFormat::Npy => return Err(CliError::Terminal { format: "npy" }),
            ReadFormat::Raw => return Err(CliError::Terminal { format: "raw" }),
            ReadFormat::Text | ReadFormat::Lines | ReadFormat::Json | ReadFormat::Csv => {}
        }
    }
    let decoding = decoding(place, array.metadata(), args.decode)?;
    let is_variable = array.data_type().is_variable_length();
    if is_variable {
        variable_length::check_format(array.data_type(), format)?;
    }
    if args.explain {
        explain(place, &array, &region)?;
        // Members of a virtual join have stores of their own, which do not count.
        if array.members().is_none() {
            fetched.begin();
        }
    }
    let failed = |cause| place.failed(cause);
    let undecoded = |cause: CfError| place.not_reported(cause.into());
    let is_whole = is_variable || matches!(format, ReadFormat::Text | ReadFormat::Csv);
    let bar = match args.output.is_some() {
        true => Bar::new(),
        // Beside elements that scroll past, a bar would only flicker.
        false => Bar::hidden(),
    };
    let _interrupt = Interrupt::saying(interrupted(args.output.as_deref()), &bar);
    let array = match is_whole {
        // How many bytes there are is not known, or they are read all at once.
        true => Moved::show(&array, Work::Reading, &bar),
        false => array,
    };
    if format == ReadFormat::Text {
        // Thousands of lines on a terminal are useless; a pipe or a file gets all of them.
        let is_to_terminal = args.output.is_none() && print::stdout_is_terminal();
        let shown = text::Shown::new(&region.shape(), args.elide || is_to_terminal && !args.all);
        // Text is laid out as a whole, so all of it must be in memory.
        if shown.elements().is_none_or(|elements| elements > TEXT) {
            let elements = shown.elements().map_or_else(|| "2^64".to_owned(), words::count);
            return Err(CliError::TooLong { elements });
        }
        let part = shown.part_of(&region);
        let text = match is_variable {
            true => {
                let elements = array.read_as::<Vec<u8>>(part).map_err(failed)?;
                text::format_variable(array.data_type(), &shown, &elements)
            }
            false => {
                let elements = array.read(part).map_err(failed)?;
                let values = decoding.values(&elements).map_err(undecoded)?;
                text::format(decoding.data_type(), &shown, &values)
            }
        };
        let mut text = text?;
        text.push('\n');
        let mut out = Out::to(args.output.as_deref())?;
        out.elements(&text)?;
        out.finish()?;
        if is_to_terminal && !args.elide && shown.elements() != region.elements() {
            let all = region.elements().map_or_else(|| "2^64".to_owned(), words::count);
            print::note(format_args!("both ends of each axis of {all} elements; --all shows all"));
        }
        return Ok(());
    }
    if format == ReadFormat::Csv {
        return print_csv(args, place, &array, &region, &decoding);
    }
    let mut nested = (format == ReadFormat::Json).then(|| Nested::new(&region.shape()));
    let mut out = Out::to(args.output.as_deref())?;
    if format == ReadFormat::Npy {
        out.raw(&npy::header(decoding.data_type(), &region.shape()))?;
    }
    let (mut done, total) = (0_u64, bytes_of(&region, array.element_size()));
    let (mut text, mut one) = (String::new(), String::new());
    for piece in array.batches(&region, PIECE).map_err(failed)? {
        let read = match format {
            ReadFormat::Npy | ReadFormat::Raw => {
                let elements = array.read(&piece).map_err(failed)?;
                out.raw(&decoding.values(&elements).map_err(undecoded)?)?;
                elements.len()
            }
            _ => each(place, &array, &piece, &decoding, |data_type, element| {
                match &mut nested {
                    Some(nested) => {
                        one.clear();
                        write(data_type, element, &mut one)?;
                        nested.element(&one, &mut text);
                    }
                    None => {
                        write(data_type, element, &mut text)?;
                        text.push('\n');
                    }
                }
                if text.len() >= BLOCK {
                    out.elements(&text)?;
                    text.clear();
                }
                Ok(())
            })?,
        };
        out.elements(&text)?;
        text.clear();
        done += u64::try_from(read).unwrap_or(u64::MAX);
        if !is_variable {
            bar.bytes("reading", done, total);
        }
    }
    if let Some(nested) = nested {
        out.elements(&nested.end())?;
    }
    out.finish()
}

/// The message when a read is interrupted, with what was read by then.
fn interrupted(output: Option<&Path>) -> impl Fn(Option<String>) -> String + use<> {
    let file = output.filter(|path| *path != Path::new("-")).map(Path::to_owned);
    move |said| {
        let read = said.map(|said| format!("{said} of the elements were read, and "));
        let end = match &file {
            None => "the output is not complete".to_owned(),
            Some(file) => format!("{} is as it was", file.display()),
        };
        format!("interrupted; {}{end}", read.unwrap_or_default())
    }
}

/// How the elements are shown: as they are stored or, if that is asked for, decoded.
fn decoding(
    place: &NodeStore,
    metadata: &ArrayMetadata,
    is_asked: bool,
) -> Result<Decoder, CliError> {
    if !is_asked {
        return Ok(Decoder::stored(metadata.data_type().clone()));
    }
    let name = place.opened.name();
    let decoded = decoded::decoder(metadata, name, |name| place.opened.neighbour(name))
        .map_err(|cause| place.not_reported(cause))?;
    for note in decoded.notes() {
        print::note(format_args!("{}: {note}", place.shown));
    }
    if let Some(why) = decoded.why_plain() {
        print::note(format_args!("{}: {why}", place.shown));
    }
    Ok(decoded)
}

/// Calls `visit` for parts of at most so many elements, which together are a selection in C order.
fn in_parts(
    part: &Selection,
    most: u64,
    visit: &mut dyn FnMut(&Selection) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let elements = part.elements().unwrap_or(u64::MAX);
    let lengths = || part.axes().iter().map(AxisSelection::len);
    let Some((cut, length)) = lengths().enumerate().find(|(_, length)| *length > 1) else {
        return visit(part);
    };
    if elements <= most {
        return visit(part);
    }
    let rows = most.checked_div(elements / length).unwrap_or(0).max(1);
    let mut start = 0_u64;
    while start < length {
        let end = start.saturating_add(rows).min(length);
        let axes = part.axes().iter().enumerate();
        let few = axes.map(|(number, axis)| match number == cut {
            true => axis.slice(start..end),
            false => axis.clone(),
        });
        in_parts(&few.collect(), most, visit)?;
        start = end;
    }
    Ok(())
}

/// How many elements of variable length of a part are held at a time: `few`, or a quarter of a chunk that
/// is stored. Decoding takes at least 5 bytes for each of its elements, and holding one 8: a long chunk is
/// decoded four times, in hardly more memory. A few bytes of a shard may stand for more elements.
fn held(array: &Array, part: &Selection, few: u64) -> Result<u64, ArrayError> {
    let quarter = part.elements().unwrap_or(u64::MAX).div_ceil(4);
    let is_list = matches!(array.data_type(), DataType::String | DataType::Bytes)
        && array.members().is_none()
        && !array
            .metadata()
            .codecs()
            .iter()
            .any(|codec| matches!(codec, Codec::ShardingIndexed(_)));
    let plan = array.layout().plan(part)?;
    if quarter > few && is_list && plan.len() == 1 {
        for chunk in plan.chunks(0..1)? {
            if array.store().head(&Key::new(&chunk.key)?)?.is_some() {
                return Ok(quarter);
            }
        }
    }
    Ok(few)
}

/// Reads a part of an array and visits its elements in C order; returns how many bytes they have.
fn each(
    place: &NodeStore,
    array: &Array,
    part: &Selection,
    decoding: &Decoder,
    mut visit: impl FnMut(&DataType, &[u8]) -> Result<(), CliError>,
) -> Result<usize, CliError> {
    let (data_type, failed) = (decoding.data_type(), |cause| place.failed(cause));
    if data_type.is_variable_length() {
        let mut bytes = 0_usize;
        in_parts(part, held(array, part, STRINGS).map_err(failed)?, &mut |few| {
            let elements = array.read_as::<Vec<u8>>(few).map_err(failed)?;
            bytes += elements.bytes().len();
            elements.iter().try_for_each(|element| visit(data_type, element))
        })?;
        return Ok(bytes);
    }
    let elements = array.read(part).map_err(failed)?;
    let size = data_type.size().unwrap_or(1).max(1);
    let decoded = decoding.values(&elements).map_err(|cause| place.not_reported(cause.into()))?;
    decoded.chunks_exact(size).try_for_each(|element| visit(data_type, element))?;
    Ok(elements.len())
}

/// Appends an element as JSON that a terminal may show.
fn write(data_type: &DataType, element: &[u8], text: &mut String) -> Result<(), CliError> {
    match data_type.is_variable_length() {
        true => text.push_str(&quoted(data_type, element)?),
        false => value::write(data_type, element, text)?,
    }
    Ok(())
}

/// Prints a table.
fn print_csv(
    args: &Read,
    place: &NodeStore,
    array: &Array,
    region: &Selection,
    decoding: &Decoder,
) -> Result<(), CliError> {
    let shape = region.shape();
    let columns = csv_table::columns(&shape);
    let columns = columns.ok_or_else(|| CliError::NoTable { axes: words::axes(shape.len()) })?;
    let out = Out::to(args.output.as_deref())?;
    let mut csv = csv_table::Csv::new(decoding.data_type(), columns, out);
    if args.header {
        let (names, labels) = head(place, array, region)?;
        csv.head(&names, labels)?;
    }
    for piece in array.batches(region, PIECE).map_err(|cause| place.failed(cause))? {
        each(place, array, &piece, decoding, |_, element| csv.element(element))?;
    }
    csv.finish()
}

/// The line of names of a table, and the labels of its rows.
fn head(
    place: &NodeStore,
    array: &Array,
    region: &Selection,
) -> Result<(Vec<String>, Vec<String>), CliError> {
    let name = place.shown.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let names = words::axis_names(array.metadata());
    let known = array.metadata().dimension_names().unwrap_or_default();
    // An axis with one index is dropped.
    let axes = region.axes().iter().enumerate();
    let axes = axes.filter(|(_, selected)| !matches!(selected, AxisSelection::Index(_)));
    let mut labels = axes.map(|(axis, selected)| {
        let length = array.shape().get(axis).copied().unwrap_or(0);
        let coordinate = known.get(axis).and_then(Option::as_deref);
        let title = names.get(axis).cloned().unwrap_or_default();
        Ok::<_, CliError>((title, labels::shown(place, coordinate, length, selected)?))
    });
    let rows = labels.next().transpose()?;
    let columns = labels.next().transpose()?;
    Ok(match (rows, columns) {
        (None, _) => (vec![name.to_owned()], Vec::new()),
        (Some((title, rows)), None) => (vec![title, name.to_owned()], rows),
        (Some((title, rows)), Some((_, columns))) => {
            (std::iter::once(title).chain(columns).collect(), rows)
        }
    })
}

/// The format of `--format`, or of the file's extension; otherwise text.
fn format_of(chosen: Option<ReadFormat>, output: Option<&Path>) -> Result<ReadFormat, CliError> {
    let Some((path, end)) = output.and_then(|path| Some((path, path.extension()?))) else {
        return Ok(chosen.unwrap_or(ReadFormat::Text));
    };
    let end = end.to_string_lossy().to_ascii_lowercase();
    // The formats that a file with this extension may have.
    let holds: Option<&[ReadFormat]> = match end.as_str() {
        "txt" => Some(&[ReadFormat::Text, ReadFormat::Lines, ReadFormat::Csv]),
        "json" => Some(&[ReadFormat::Json]),
        "jsonl" => Some(&[ReadFormat::Lines]),
        "csv" => Some(&[ReadFormat::Csv]),
        "npy" => Some(&[ReadFormat::Npy]),
        "raw" | "bin" => Some(&[ReadFormat::Raw]),
        // An archive of several arrays.
        "npz" => Some(&[]),
        _ => None,
    };
    let refused = |reason| Err(CliError::Input { path: path.to_owned(), reason });
    match (chosen, holds) {
        (None, Some([first, ..])) => Ok(*first),
        (None, Some([]) | None) => refused(format!(
            "no format is known by the ending .{end}; .txt, .json, .jsonl, .csv, .npy, .raw and \
             .bin are, or choose a --format"
        )),
        (Some(chosen), Some(formats)) if !formats.contains(&chosen) => {
            let name = chosen
                .to_possible_value()
                .map_or_else(String::new, |value| value.get_name().to_owned());
            refused(format!(
                "--format {name} is not what a file that ends in .{end} holds; choose another name, \
                 or leave out --format"
            ))
        }
        (Some(chosen), _) => Ok(chosen),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarr_kit::{ArrayBuilder, MemoryStore, Prefix};

    use super::{Array, Codec, DataType, Selection, held, in_parts};

    /// A long chunk is decoded four times. A chunk that is not stored takes no memory.
    #[test]
    fn quarters_of_stored_chunks_are_held_and_few_elements_of_others() {
        let of = |codecs: Vec<Codec>, held_of: &str| {
            let builder = ArrayBuilder::new([3000], DataType::String).chunk_shape([1000]);
            let metadata = builder.codecs(codecs).build().expect("valid");
            let store = Arc::new(MemoryStore::new());
            let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
            array.write_as(0..1000, &vec!["text"; 1000]).expect("writes");
            let part = Selection::parse(held_of, array.shape()).expect("valid");
            held(&array, &part, 100).expect("looks")
        };
        let plain = || vec![Codec::VlenUtf8, Codec::gzip(1)];
        assert_eq!(of(plain(), "0:1000"), 250);
        assert_eq!(of(plain(), "100:900"), 200);
        assert_eq!(of(plain(), "0:300"), 100);
        assert_eq!(of(plain(), "1000:2000"), 100);
        assert_eq!(of(plain(), "0:2000"), 100);
        assert_eq!(of(vec![Codec::sharding([10], [Codec::VlenUtf8])], "0:1000"), 100);
    }

    /// The indices of a selection of two axes in C order.
    fn indices(part: &Selection) -> Vec<(u64, u64)> {
        let [rows, columns] = part.axes() else { unreachable!("two axes") };
        let row = |row| columns.indices().map(move |column| (row, column));
        rows.indices().flat_map(row).collect()
    }

    #[test]
    fn parts_are_the_selection_in_c_order() {
        for text in ["3:9,:", "::-2,[5, 1, 1, 0]", "4,1:", "5:5,:", "7,3", "8:10,2:3"] {
            let whole = Selection::parse(text, &[10, 7]).expect("valid");
            for most in [1, 2, 3, 6, 7, 20, 1000] {
                let mut found = Vec::new();
                in_parts(&whole, most, &mut |part| {
                    assert!(part.elements().is_some_and(|count| count <= most), "{text} {most}");
                    found.extend(indices(part));
                    Ok(())
                })
                .expect("visits");
                assert_eq!(found, indices(&whole), "{text} {most}");
            }
        }
    }
}
