//! `zarr-kit info`.

mod json;

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use zarr_kit::array::store::{Store, StoreExt as _};
use zarr_kit::array::{ChunkLayout, open_node};
use zarr_kit::grid::Grid;
use zarr_kit::metadata::{ChunkGrid, DataType, FillValue, MetadataError, NodeMetadata, Printable};
use zarr_kit::{Array, ArrayError, ArrayMetadata, Group, GroupMetadata, Prefix};

use self::json::array_json;
use super::stored::{Stored, stored};
use crate::args::Info;
use crate::error::CliError;
use crate::format::element;
use crate::format::pretty::raw;
use crate::format::quoted::unescaped;
use crate::node_store::NodeStore;
use crate::print::{self, LABEL, Out, Table};
use crate::words;

/// The most fields of a record that are listed.
const FIELDS: usize = 50;

pub(super) fn run(args: &Info) -> Result<(), CliError> {
    let place = NodeStore::open(&args.path)?;
    match open_node(&place.store, &Prefix::root()) {
        Ok(NodeMetadata::Array(metadata)) => array(&place, metadata, args.json),
        Ok(NodeMetadata::Group(metadata)) => group(&place, &metadata, args.json),
        Err(ArrayError::Metadata { key, cause }) if key == ".zarray" => {
            version_2(&place, &key, &cause, args.json)
        }
        Err(cause) => Err(place.failed(cause)),
    }
}

/// What a node is, in headings.
fn kind(kind: &str, is_version_2: bool) -> String {
    match is_version_2 {
        true => format!("{kind} of Zarr version 2"),
        false => kind.to_owned(),
    }
}

/// Describes an array of Zarr version 2 that version 3 cannot express by its own text.
fn version_2(
    place: &NodeStore,
    document: &str,
    cause: &MetadataError,
    as_json: bool,
) -> Result<(), CliError> {
    const MEMBERS: [&str; 8] = [
        "shape",
        "chunks",
        "dtype",
        "compressor",
        "filters",
        "fill_value",
        "order",
        "dimension_separator",
    ];
    let key = Prefix::root()
        .key(document)
        .map_err(|cause| CliError::Key { place: place.shown.clone(), cause })?;
    let json = place.store.read(&key).map_err(|cause| place.failed(cause))?.unwrap_or_default();
    let json = String::from_utf8_lossy(&json);
    let mut out = Out::stdout();
    if as_json {
        out.json(&Version2Json {
            document: raw(&json),
            error: cause.to_string(),
            node_type: "array",
            readable: false,
            zarr_format: 2,
        })?;
        return out.finish();
    }
    heading(&mut out, place, &kind("array", true))?;
    let mut table = Table::default();
    if let Ok(Members(members)) = serde_json::from_str::<Members<'_>>(&json) {
        for (name, value) in members {
            if MEMBERS.contains(&name.as_str()) {
                table.row(name, shortened(value.get()));
            }
        }
    }
    table.row("not readable", cause.to_string());
    table.print(&mut out)?;
    out.finish()
}

/// What `--json` says of a document of Zarr version 2.
#[derive(Serialize)]
struct Version2Json {
    document: Box<RawValue>,
    error: String,
    node_type: &'static str,
    readable: bool,
    zarr_format: u8,
}

fn array(place: &NodeStore, metadata: ArrayMetadata, as_json: bool) -> Result<(), CliError> {
    let kind = kind("array", metadata.is_version_2());
    let bound = place.bind(metadata.clone());
    // Chunks can be counted even if they cannot be decoded.
    let layout = ChunkLayout::new(&Prefix::root(), &metadata).ok();
    let info = ArrayInfo::new(&place.store, metadata, bound, layout, place.is_quick);
    let mut out = Out::stdout();
    if as_json {
        out.json(&info.json())?;
        return out.finish();
    }
    heading(&mut out, place, &kind)?;
    info.table().print(&mut out)?;
    out.finish()
}

/// The description of an array.
pub(crate) struct ArrayInfo {
    metadata: ArrayMetadata,
    bound: Result<Array, ArrayError>,
    layout: Option<ChunkLayout>,
    stored: Option<Stored>,
}

impl ArrayInfo {
    /// Lists the stored chunks, and asks for the size of each if that is `quick`.
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        metadata: ArrayMetadata,
        bound: Result<Array, ArrayError>,
        layout: Option<ChunkLayout>,
        quick: bool,
    ) -> Self {
        // A store that cannot be listed (HTTP) can still be described.
        let stored = layout.as_ref().and_then(|layout| stored(store, layout, quick).ok());
        Self { metadata, bound, layout, stored }
    }

    /// In words.
    pub(crate) fn table(&self) -> Table {
        table(&self.metadata, &self.bound, self.layout.as_ref(), self.stored.as_ref())
    }

    /// As `info --json` prints it.
    pub(crate) fn json(&self) -> impl Serialize + '_ {
        array_json(&self.metadata, &self.bound, self.layout.as_ref(), self.stored.as_ref())
    }
}

fn table(
    metadata: &ArrayMetadata,
    bound: &Result<Array, ArrayError>,
    layout: Option<&ChunkLayout>,
    stored: Option<&Stored>,
) -> Table {
    let mut table = Table::default();
    let elements = metadata.shape().iter().fold(1_u128, |n, size| n.saturating_mul((*size).into()));
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
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        table.row("  ...", format_args!("{} more", words::counted(more, "field")));
    }
    table.row("fill value", fill_value(metadata));
    let grid = match metadata.chunk_grid() {
        ChunkGrid::Rectilinear { .. } => "rectilinear",
        ChunkGrid::Regular { .. } => "regular",
    };
    table.row("grid", grid);
    if let Some(layout) = layout {
        grid_rows(metadata, layout.grid(), stored, &mut table);
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
            if let Some(codec) = shape.and_then(|shape| array.chunk_codec(&shape).ok()) {
                table.row("compiled", words::transform(&codec));
            }
        }
        Err(error) => table.row("not readable", error.to_string()),
    }
    attribute_rows(metadata.attributes(), &mut table);
    for finding in metadata.findings() {
        table.row("finding", finding.to_string());
    }
    table
}

/// What the elements take, in memory and as they are stored. The ratio is of the chunks that are
/// stored: those that are not would make it as good as one likes.
fn size(
    metadata: &ArrayMetadata,
    elements: u128,
    stored: Option<&Stored>,
    array: Option<&Array>,
) -> Option<String> {
    let of_one = metadata.data_type().size().and_then(|size| u128::try_from(size).ok());
    let whole = of_one.map(|size| elements.saturating_mul(size));
    // The chunks of a virtual join are those of others.
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
            format!("{}, of which {} are {ratio}", words::bytes(whole), words::bytes(held))
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

fn attribute_rows(attributes: &str, table: &mut Table) {
    let attributes = raw(attributes);
    let Ok(Members(members)) = serde_json::from_str::<Members<'_>>(attributes.get()) else {
        return;
    };
    for (at, (name, value)) in members.iter().enumerate() {
        if at == 0 {
            table.row("attributes", "");
        }
        table.row(format!("  {name}"), shortened(&unescaped(value.get())));
    }
}

/// The members of an object, in the order and spelling of the document.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> serde::de::Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// Shortens a text to one line of a terminal.
fn shortened(text: &str) -> String {
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

/// What `--json` says of a group.
#[derive(Serialize)]
struct GroupJson {
    attributes: Box<RawValue>,
    members: Vec<Value>,
    node_type: &'static str,
    /// Only for version 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    zarr_format: Option<u8>,
}

/// The most characters of a column to which others are aligned.
const COLUMN: usize = 32;

/// A member of a group: one line or object.
struct Child {
    name: String,
    node: Result<NodeMetadata, String>,
}

fn children(place: &NodeStore) -> Result<Vec<Child>, CliError> {
    let failed = |cause| place.failed(cause);
    let group = Group::open(place.store.clone(), &Prefix::root()).map_err(failed)?;
    let mut children = Vec::new();
    for name in group.children().map_err(failed)? {
        let prefix = Prefix::new(&name)
            .map_err(|cause| CliError::Key { place: place.shown.clone(), cause })?;
        let node = open_node(&place.store, &prefix).map_err(|error| error.to_string());
        children.push(Child { name, node });
    }
    Ok(children)
}

fn group(place: &NodeStore, metadata: &GroupMetadata, as_json: bool) -> Result<(), CliError> {
    let children = children(place)?;
    let mut out = Out::stdout();
    if as_json {
        let members: Vec<Value> = children.iter().map(child_json).collect();
        let attributes = raw(metadata.attributes());
        let zarr_format = metadata.is_version_2().then_some(2);
        out.json(&GroupJson { attributes, members, node_type: "group", zarr_format })?;
        return out.finish();
    }
    heading(&mut out, place, &kind("group", metadata.is_version_2()))?;
    let mut table = Table::default();
    attribute_rows(metadata.attributes(), &mut table);
    table.row("members", words::count(u64::try_from(children.len()).unwrap_or(u64::MAX)));
    table.print(&mut out)?;
    let rows: Vec<[String; 4]> = children.iter().map(child_row).collect();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|text| text.chars().count()).max()
    };
    // A longer entry makes only its own line longer.
    let widths: Vec<usize> = (0..3).map(|column| width(column).unwrap_or(0).min(COLUMN)).collect();
    // Two spaces before each column.
    let before: usize = widths.iter().map(|width| width + 2).sum::<usize>() + 2;
    let room = print::room_after(before);
    for [name, data_type, shape, codecs] in &rows {
        let mut line = String::new();
        for (text, width) in [name, data_type, shape].into_iter().zip(&widths) {
            line.push_str(&format!("  {text:width$}"));
        }
        let mut lines = print::wrapped(codecs, room).into_iter();
        line.push_str(&format!("  {}", lines.next().unwrap_or_default()));
        out.line(line.trim_end())?;
        for line in lines {
            out.line(format_args!("{:before$}{line}", ""))?;
        }
    }
    out.finish()
}

fn child_row(child: &Child) -> [String; 4] {
    let name = child.name.clone();
    let row = match &child.node {
        Ok(NodeMetadata::Array(array)) => [
            name,
            array.data_type().name().into_owned(),
            words::shape(array.shape()),
            words::codecs(array.codecs(), array.data_type()),
        ],
        Ok(NodeMetadata::Group(_)) => [name, "group".to_owned(), String::new(), String::new()],
        Err(error) => [name, "error".to_owned(), String::new(), error.clone()],
    };
    // Escaped before columns are measured.
    row.map(|text| Printable(text).to_string())
}

fn child_json(child: &Child) -> Value {
    let name = &child.name;
    match &child.node {
        Ok(NodeMetadata::Array(array)) => json!({
            "name": name, "node_type": "array",
            "data_type": array.data_type().name(), "shape": array.shape(),
        }),
        Ok(NodeMetadata::Group(_)) => json!({"name": name, "node_type": "group"}),
        Err(error) => json!({"name": name, "error": error}),
    }
}

fn heading(out: &mut Out, place: &NodeStore, kind: &str) -> Result<(), CliError> {
    out.styled(LABEL, &place.shown, format_args!(": {kind}"))
}
