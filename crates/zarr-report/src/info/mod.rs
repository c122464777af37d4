//! The description of an array: shape, size, type, grid, codecs, attributes and stored chunks.

mod inner;
mod json;
mod stored;
mod unfinished;

use std::sync::Arc;

use zarr_array::store::Store;
use zarr_array::{Array, ArrayError, ChunkLayout};
use zarr_grid::Grid;
use zarr_metadata::{ArrayMetadata, DataType, FillValue};

use self::inner::{Inner, inner};
use self::stored::{Stored, stored};
pub use self::unfinished::{Interrupted, unfinished};
use crate::format::element;
use crate::format::quoted::unescaped;
use crate::readers::Readers;
use crate::{Table, words};

/// The most fields of a record that are listed.
const FIELDS: usize = 50;

/// The description of an array: its document in words, its compiled codecs, and its stored chunks.
pub struct ArrayInfo {
    metadata: ArrayMetadata,
    /// The array, or why it is not open, with the words for that.
    bound: Result<Array, (ArrayError, String)>,
    layout: Option<ChunkLayout>,
    stored: Option<Stored>,
    inner: Option<Inner>,
    unfinished: Option<Interrupted>,
}

impl ArrayInfo {
    /// Describes an open array and lists its stored chunks, and the inner chunks of a limited number
    /// of shards, by their indices. With `quick`, that number is larger and the sizes of the stored
    /// objects are added up: use it if a size takes no request, as in a folder.
    #[must_use]
    pub fn of(array: &Array, quick: bool) -> Self {
        let layout = Some(array.layout().clone());
        let metadata = array.metadata().clone();
        Self::new(array.store(), metadata, Ok(array.clone()), layout, quick)
    }

    /// As [`of`](Self::of), for an array that may not open: `bound` then has the reason, and
    /// `layout` the place of its chunks if known.
    #[must_use]
    pub fn new(
        store: &Arc<dyn Store>,
        metadata: ArrayMetadata,
        bound: Result<Array, ArrayError>,
        layout: Option<ChunkLayout>,
        quick: bool,
    ) -> Self {
        // A store that cannot be listed (HTTP) can still be described.
        let stored = layout.as_ref().and_then(|layout| stored(store, layout, quick).ok());
        let unfinished = layout.as_ref().and_then(|layout| unfinished(&**store, layout.prefix()));
        let inner = match (&bound, &stored) {
            (Ok(array), Some(stored)) => inner(array, stored),
            _ => None,
        };
        let bound = bound.map_err(|error| {
            let words = error.to_string();
            (error, words)
        });
        Self { metadata, bound, layout, stored, inner, unfinished }
    }

    /// With other words for why the array is not open and for what was interrupted: a program says
    /// what helps in its own.
    ///
    /// # Examples
    /// ```
    /// use zarr_array::{Array, store::MemoryStore, store::Prefix};
    /// use zarr_report::info::ArrayInfo;
    /// # use std::sync::Arc;
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([4], DataType::Uint8).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    ///
    /// let resumed = |it: &zarr_report::info::Interrupted| format!("{it}; press R");
    /// let info = ArrayInfo::of(&array, true).in_words(ToString::to_string, resumed);
    /// assert!(!info.table().text().contains("press R"));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_words(
        self,
        error: impl FnOnce(&ArrayError) -> String,
        interrupted: impl FnOnce(&Interrupted) -> String,
    ) -> Self {
        let bound = self.bound.map_err(|(cause, _)| {
            let words = error(&cause);
            (cause, words)
        });
        let unfinished = self.unfinished.map(|it| it.in_words(interrupted));
        Self { bound, unfinished, ..self }
    }

    /// In words.
    #[must_use]
    pub fn table(&self) -> Table {
        let Self { metadata, bound, layout, stored, inner, unfinished } = self;
        let stored = stored.as_ref();
        let mut table = Table::default();
        let elements =
            metadata.shape().iter().fold(1_u128, |n, size| n.saturating_mul((*size).into()));
        let mut text = words::counted(elements, "element");
        if metadata.shape().len() != 1 {
            text = format!("{} = {text}", words::shape(metadata.shape()));
        }
        table.row("shape", text);
        if let Some(size) = size(metadata, elements, stored, bound.as_ref().ok()) {
            table.row("size", size);
        }
        table.row("type", words::data_type(metadata.data_type()));
        let (fields, all) = words::fields(metadata.data_type(), FIELDS);
        let more = all.saturating_sub(fields.len());
        for (name, what) in fields {
            table.row(format_args!("  {name}"), what);
        }
        if more > 0 {
            table.row("  ...", format_args!("{} more", words::counted(more, "field")));
        }
        table.row("fill value", fill_value(metadata));
        table.row("grid", metadata.chunk_grid().name());
        if let Some(layout) = layout {
            grid_rows(metadata, layout.grid(), stored, &mut table);
        }
        if let Some(Inner { shape, all, stored }) = inner {
            let stored = match stored {
                Ok(stored) => format!("{} stored", words::count(*stored)),
                Err(why) => format!("those stored are not counted: {why}"),
            };
            let all = words::count(*all);
            table.row("  inner", format!("{all} of {}, {stored}", words::shape(shape)));
        }
        table.row("codecs", words::codecs(metadata.codecs(), metadata.data_type()));
        match bound {
            Ok(array) if array.members().is_some() => {
                let count = array.members().and_then(|members| members.grid().occupied_chunks());
                let count = words::count(count.unwrap_or(u64::MAX));
                table.row("members", format!("{count}, each read by its own codecs"));
            }
            Ok(array) => {
                let shape = words::first_chunk(array);
                let codec = shape.and_then(|shape| array.chunk_codec(&shape).ok());
                if let Some(codec) = codec.filter(|codec| codec.fixed().is_some()) {
                    table.row("compiled", words::transform(&codec));
                }
            }
            Err((_, words)) => table.row("not readable", words.clone()),
        }
        // Of version 2 and of virtual joins the table of programs says nothing.
        let is_joined = bound.as_ref().is_ok_and(|array| array.members().is_some());
        if !metadata.is_version_2() && !is_joined {
            table.row("read by", Readers::of(metadata).line());
        }
        attribute_rows(&metadata.attribute_texts(), &mut table);
        for finding in metadata.findings() {
            table.row("finding", finding.to_string());
        }
        if let Some(unfinished) = unfinished {
            table.row("unfinished", unfinished.text());
        }
        table
    }
}

/// The size of the elements, in memory and stored. The ratio counts only stored chunks: absent
/// chunks would make it arbitrarily good.
fn size(
    metadata: &ArrayMetadata,
    elements: u128,
    stored: Option<&Stored>,
    array: Option<&Array>,
) -> Option<String> {
    let of_one = metadata.data_type().size().and_then(|size| u128::try_from(size).ok());
    let whole = of_one.map(|size| elements.saturating_mul(size));
    // The chunks of a virtual join belong to other arrays.
    let stored = stored.filter(|_| array.is_none_or(|array| array.members().is_none()));
    let taken = stored.and_then(|stored| Some((stored, stored.bytes?[0])));
    let taken = taken.filter(|(_, bytes)| *bytes > 0);
    let (Some(whole), Some((stored, bytes))) = (whole, taken) else {
        let taken = taken.map(|(_, bytes)| format!("stored in {}", words::bytes(bytes.into())));
        return whole.map(words::bytes).or(taken);
    };
    let held = stored.elements.saturating_mul(of_one.unwrap_or(1));
    let ratio = format!("stored in {}: ratio", words::bytes(bytes.into()));
    let ratio = format!("{ratio} {}", words::ratio(held, bytes.into()));
    Some(match (bytes, held) {
        (0, _) => words::bytes(whole),
        (_, held) if held == whole => format!("{}, {ratio}", words::bytes(whole)),
        (_, held) => {
            format!("{}; {} {ratio}", words::bytes(whole), words::bytes(held))
        }
    })
}

fn grid_rows(metadata: &ArrayMetadata, grid: &Grid, stored: Option<&Stored>, table: &mut Table) {
    for (name, axis) in words::axis_names(metadata).iter().zip(grid.axes()) {
        table.row(format!("  {name}"), words::axis(axis));
    }
    let number = |n: Option<u64>| n.map_or_else(|| "more than 2^64".to_owned(), words::count);
    let mut chunks = number(grid.occupied_chunks());
    if grid.declared_chunks() != grid.occupied_chunks() {
        chunks.push_str(&format!(" (declared: {})", number(grid.declared_chunks())));
    }
    if let Some(stored) = stored {
        let size = |bytes: u64| match bytes {
            0 => String::new(),
            bytes => format!(" in {}", words::bytes(bytes.into())),
        };
        let [inside, beyond] = stored.bytes.unwrap_or_default().map(size);
        chunks.push_str(&format!(", {} stored{inside}", words::count(stored.occupied)));
        if stored.beyond > 0 {
            let more = words::count(stored.beyond);
            chunks.push_str(&format!("; {more} more stored past the end{beyond}"));
        }
    }
    table.row("chunks", chunks);
}

/// Adds the attributes of a node, each shortened to a line.
pub fn attribute_rows(attributes: &[(String, &str)], table: &mut Table) {
    if !attributes.is_empty() {
        table.row("attributes", "");
    }
    for (name, value) in attributes {
        table.row(format!("  {name}"), shortened(&unescaped(value)));
    }
}

/// Shortens a text to one line of a terminal.
#[must_use]
pub fn shortened(text: &str) -> String {
    const SHOWN: usize = 72;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// The fill value as written, in one line, with the time that it means.
fn fill_value(metadata: &ArrayMetadata) -> String {
    shortened(&unescaped(&long_fill_value(metadata)))
}

fn long_fill_value(metadata: &ArrayMetadata) -> String {
    let (data_type, fill) = (metadata.data_type(), metadata.fill_value());
    let Some(bytes) = fill.bytes() else { return fill.json().to_owned() };
    let mut json = fill.json().to_owned();
    if json.contains('\n')
        && let Ok(canonical) = FillValue::from_bytes(data_type, bytes)
    {
        json = canonical.json().to_owned();
    }
    if !matches!(data_type, DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_)) {
        return json;
    }
    let mut time = String::new();
    match element::format(data_type, bytes, &mut time) {
        Ok(()) if json.trim_matches('"') != time => format!("{json} ({time})"),
        _ => json,
    }
}
