//! `zarr-kit info`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use zarr_kit::array::store::StoreExt as _;
use zarr_kit::array::{ChunkLayout, open_node};
use zarr_kit::cf::GroupMeaning;
use zarr_kit::metadata::{MetadataError, NodeMetadata, Printable};
use zarr_kit::report::format::pretty::raw;
use zarr_kit::report::info::{ArrayInfo, attribute_rows, shortened, unfinished};
use zarr_kit::report::readers::Readers;
use zarr_kit::report::{Table, words, wrapped};
use zarr_kit::{ArrayError, ArrayMetadata, Group, GroupMetadata, Prefix};

use crate::args::Info;
use crate::commands::inspect::other_file::OtherFile;
use crate::error::{CliError, remedy};
use crate::output::print::{self, LABEL, Out, print_table};
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Info) -> Result<(), CliError> {
    let place = match NodeStore::open(&args.path) {
        Ok(place) => place,
        Err(cause) => {
            let file = OtherFile::of(&args.path).ok_or(cause)?;
            return file.print(args.json);
        }
    };
    match open_node(&place.store, &Prefix::root()) {
        Ok(NodeMetadata::Array(metadata)) => array(&place, metadata, args.json),
        Ok(NodeMetadata::Group(metadata)) => group(&place, &metadata, args.json),
        Err(ArrayError::Metadata { key, cause }) if key == ".zarray" => {
            version_2(&place, &key, &cause, args.json)
        }
        Err(cause) => Err(place.failed(cause)),
    }
}

/// The kind of a node, in headings.
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
    let key = Prefix::root().key(document).map_err(|cause| place.failed(cause))?;
    let json = place.store.read(&key).map_err(|cause| place.failed(cause))?.unwrap_or_default();
    let json = String::from_utf8_lossy(&json);
    if as_json {
        return print::json(&Version2Json {
            document: raw(&json),
            error: cause.to_string(),
            node_type: "array",
            readable: false,
            zarr_format: 2,
        });
    }
    let mut out = Out::stdout();
    heading(&mut out, place, &kind("array", true))?;
    let mut table = Table::default();
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(&json).unwrap_or_default();
    for name in MEMBERS {
        if let Some(value) = members.get(name) {
            table.row(name, shortened(value.get()));
        }
    }
    table.row("not readable", cause.to_string());
    print_table(&table, &mut out)?;
    out.finish()
}

/// The content of `--json` for a document of Zarr version 2.
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
    let info = ArrayInfo::new(&place.store, metadata, bound, layout, place.opened.is_quick());
    let info = info.in_words(remedy::of_array, remedy::of_interrupted);
    if as_json {
        return print::json(&info.json());
    }
    let mut out = Out::stdout();
    heading(&mut out, place, &kind)?;
    print_table(&info.table(), &mut out)?;
    out.finish()
}

/// The content of `--json` for a group.
#[derive(Serialize)]
struct GroupJson {
    attributes: Box<RawValue>,
    members: Vec<Value>,
    node_type: &'static str,
    /// Who reads all arrays below the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_by: Option<Value>,
    /// A copy or join that was interrupted at this place.
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<String>,
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

/// The result of `describe` for each member.
fn children<T>(
    place: &NodeStore,
    metadata: &GroupMetadata,
    mut describe: impl FnMut(&Child) -> T,
) -> Result<Vec<T>, CliError> {
    let group = Group::with_metadata(place.store.clone(), &Prefix::root(), metadata.clone());
    let nodes = group.nodes().map_err(|cause| place.failed(cause))?;
    let child = |(name, node): (_, Result<_, ArrayError>)| Child {
        name,
        node: node.map_err(|error| remedy::of_array(&error)),
    };
    Ok(nodes.map(|node| describe(&child(node))).collect())
}

fn group(place: &NodeStore, metadata: &GroupMetadata, as_json: bool) -> Result<(), CliError> {
    let mut readers = None;
    let is_virtual = place.opened.is_virtual_join();
    let mut read = |child: &Child| match &child.node {
        Ok(NodeMetadata::Array(array)) if !is_virtual => Readers::add_to(&mut readers, array),
        Ok(NodeMetadata::Group(group)) if !is_virtual => {
            read_below(place, &child.name, group, &mut readers);
        }
        _ => {}
    };
    let unfinished = unfinished(&**place.store, &Prefix::root());
    let unfinished = unfinished.as_ref().map(remedy::of_interrupted);
    if as_json {
        let members = children(place, metadata, |child| (read(child), child_json(child)).1)?;
        let attributes = raw(metadata.attributes());
        let zarr_format = metadata.is_version_2().then_some(2);
        let read_by = readers.map(|readers| readers.json());
        let node_type = "group";
        return print::json(&GroupJson {
            attributes,
            members,
            node_type,
            read_by,
            unfinished,
            zarr_format,
        });
    }
    let mut out = Out::stdout();
    heading(&mut out, place, &kind("group", metadata.is_version_2()))?;
    let mut table = Table::default();
    let conventions = GroupMeaning::of(metadata).conventions();
    if !conventions.is_empty() {
        table.row("conventions", conventions.join(", "));
    }
    attribute_rows(&metadata.attribute_texts(), &mut table);
    if let Some(unfinished) = unfinished {
        table.row("unfinished", unfinished);
    }
    let rows = children(place, metadata, |child| (read(child), child_row(child)).1)?;
    table.row("members", words::count(rows.len()));
    print_table(&table, &mut out)?;
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
        let mut lines = wrapped(codecs, room).into_iter();
        line.push_str(&format!("  {}", lines.next().unwrap_or_default()));
        out.line(line.trim_end())?;
        for line in lines {
            out.line(format_args!("{:before$}{line}", ""))?;
        }
    }
    if let Some(readers) = readers {
        let mut table = Table::default();
        table.row("read by", readers.line());
        print_table(&table, &mut out)?;
    }
    out.finish()
}

/// Adds all arrays below a member that is a group, as `check` does.
fn read_below(
    place: &NodeStore,
    name: &str,
    metadata: &GroupMetadata,
    readers: &mut Option<Readers>,
) {
    let at = |prefix: &Prefix, name: &str, metadata: GroupMetadata| {
        Some(Group::with_metadata(place.store.clone(), &prefix.join(name).ok()?, metadata))
    };
    let mut waiting: Vec<Group> = at(&Prefix::root(), name, metadata.clone()).into_iter().collect();
    while let Some(group) = waiting.pop() {
        // `check` names what cannot be read.
        for (name, node) in group.nodes().into_iter().flatten() {
            match node {
                Ok(NodeMetadata::Array(array)) => Readers::add_to(readers, &array),
                Ok(NodeMetadata::Group(group_below)) => {
                    waiting.extend(at(group.prefix(), &name, group_below));
                }
                Err(_) => {}
            }
        }
    }
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
