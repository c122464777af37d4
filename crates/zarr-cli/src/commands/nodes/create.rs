//! `zarr-kit create`.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use zarr_kit::array::store::shown_url;
use zarr_kit::array::{create_parents, open_node, other_names};
use zarr_kit::copy::{TransferError, create_over};
use zarr_kit::metadata::{CodecNotation, Endian, FillValue, MetadataError, Rule};
use zarr_kit::report::format::value::{count_of_time, form_of_time};
use zarr_kit::report::readers::Readers;
use zarr_kit::report::words;
use zarr_kit::{
    Array, ArrayBuilder, ArrayError, ArrayMetadata, DataType, Group, GroupMetadata, MemoryStore,
    Prefix, Store,
};

use super::like::Like;
use crate::args::{Create, dimension_names};
use crate::commands::inspect::advise::best_like;
use crate::error::CliError;
use crate::notation::chunks::{self, chunk_counts};
use crate::notation::data_type::{self, Typed};
use crate::output::print::{self, done, note};
use crate::stores::node_store::{Around, NodeStore, around_new, hierarchies};

pub(crate) fn run(args: &Create) -> Result<(), CliError> {
    if args.group {
        return group(args);
    }
    let metadata = match &args.metadata {
        Some(path) => {
            let json =
                fs::read(path).map_err(|cause| CliError::File { path: path.clone(), cause })?;
            let wrong = |cause: MetadataError| CliError::Input {
                path: path.clone(),
                reason: cause.to_string(),
            };
            ArrayMetadata::from_json(&json).map_err(wrong)?
        }
        None => metadata(args)?,
    };
    let readers = Readers::of(&metadata);
    if args.portable && !readers.are_all() {
        let (place, readers, hint) = (shown_url(&args.path), readers.line(), "");
        return Err(CliError::NotPortable { place, readers, hint });
    }
    // Find all mistakes before a folder is created.
    let checked = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata.clone());
    checked.map_err(|cause| CliError::Node { place: shown_url(&args.path), cause })?;
    let mut has_checksum = metadata.has_checksum();
    let (shown, array) = create_at(args, |shown, store, prefix| {
        has_checksum |= store.capabilities().checksums;
        match args.overwrite {
            true => overwrite(shown, store, prefix, metadata.clone()),
            false => Ok(Array::create(store, prefix, metadata.clone())?),
        }
    })?;
    let chunks = array.grid().occupied_chunks().map_or_else(
        || "more than 2^64 chunks".to_owned(),
        |chunks| words::counted(chunks, "chunk"),
    );
    let message = format!(
        "created {shown}: {} of {} in {chunks}",
        array.data_type(),
        words::shape(array.shape())
    );
    done(args.json, message, || {
        json!({
            "array": shown, "data_type": array.data_type().name(), "shape": array.shape(),
            "chunks": chunk_counts(array.grid()), "read_by": readers.json(),
            "checksum": has_checksum,
        })
    })?;
    print::readers(&readers, args.json);
    if !has_checksum && !args.json {
        note("no checksum: changed bytes are not found; zstd, gzip and crc32c store one");
    }
    Ok(())
}

fn group(args: &Create) -> Result<(), CliError> {
    let mut metadata = GroupMetadata::new();
    if let Some(json) = &args.attributes {
        metadata = metadata
            .with_attributes(json)
            .map_err(|cause| CliError::Metadata { argument: "--attributes", cause })?;
    }
    let (shown, _) =
        create_at(args, |_, store, prefix| Ok(Group::create(store, prefix, metadata.clone())?))?;
    done(args.json, format_args!("created {shown}: a group"), || json!({"group": shown}))
}

/// Creates a node in the topmost group around its path, so that the group's consolidated metadata
/// contains it; or in a separate store. Returns the path as it is shown, and the node.
fn create_at<T>(
    args: &Create,
    create: impl FnOnce(&str, Arc<dyn Store>, &Prefix) -> Result<T, Failed>,
) -> Result<(String, T), CliError> {
    let shown = shown_url(&args.path);
    let found = hierarchies(&args.path)?;
    let within = match found.first().map(Around::open).transpose()? {
        None if args.parents => Some(around_new(&args.path)?),
        within => within,
    };
    let Some(Around { top, prefix }) = within else {
        let place = NodeStore::create(&args.path)?;
        note_other_files(args, &shown, &*place.store, &Prefix::root());
        let created =
            create(&shown, Arc::clone(&place.store), &Prefix::root()).map_err(|cause| {
                place.opened.abandon();
                cause.of(|cause| place.failed(cause))
            })?;
        place.finish()?;
        return Ok((place.shown, created));
    };
    let failed = |cause| match cause {
        ArrayError::Exists { .. } => CliError::Exists { place: shown.clone() },
        ArrayError::NotGroup { .. } => CliError::InArray { place: shown.clone() },
        cause => CliError::Node { place: shown.clone(), cause },
    };
    note_other_files(args, &shown, &**top.store, &prefix);
    if args.parents {
        create_parents(&top.store, &prefix).map_err(failed)?;
    }
    let created =
        create(&shown, Arc::clone(&top.store), &prefix).map_err(|cause| cause.of(failed))?;
    top.finish()?;
    // Another hierarchy, around the folder to which links in this one lead.
    found.iter().skip(1).try_for_each(|found| Around::open(found)?.refresh())?;
    if let Some(parent) = prefix.parent()
        && matches!(open_node(&top.store, &parent), Err(ArrayError::NotFound { .. }))
    {
        note(format_args!(
            "{shown}: the folder around it is no group, so that groups above do not list it; \
             --parents creates the groups around it"
        ));
    }
    Ok((shown, created))
}

/// Says that a new node will have files of other programs in its folder, before it is created.
fn note_other_files(args: &Create, shown: &str, store: &dyn Store, prefix: &Prefix) {
    const NAMED: usize = 3;
    // It refuses them itself.
    if args.overwrite {
        return;
    }
    // A store that fails says so when the node is created.
    let names = other_names(store, prefix, NAMED + 1).unwrap_or_default();
    if !names.is_empty() {
        let more = if names.len() > NAMED { " and more" } else { "" };
        note(format_args!(
            "{shown}: there are files in it that belong to no node: {}{more}; `zarr-kit delete` \
             removes them only with --with-other-files",
            names[..names.len().min(NAMED)].join(", ")
        ));
    }
}

/// Why a node was not created.
enum Failed {
    Array(ArrayError),
    /// A whole message.
    Said(CliError),
}

impl From<ArrayError> for Failed {
    fn from(cause: ArrayError) -> Self {
        Self::Array(cause)
    }
}

impl Failed {
    fn of(self, failed: impl FnOnce(ArrayError) -> CliError) -> CliError {
        match self {
            Self::Array(cause) => failed(cause),
            Self::Said(error) => error,
        }
    }
}

/// Creates an array in place of another. A group is not removed: it may contain more than the new
/// array replaces.
fn overwrite(
    shown: &str,
    store: Arc<dyn Store>,
    prefix: &Prefix,
    metadata: ArrayMetadata,
) -> Result<Array, Failed> {
    create_over(store, prefix, metadata).map_err(|cause| match cause {
        TransferError::Target(ArrayError::NotArray { .. }) => Failed::Said(CliError::argument(
            "--overwrite",
            shown,
            "this is a group with all that is in it; `zarr-kit delete` removes it",
        )),
        TransferError::Target(cause) => Failed::Array(cause),
        cause => Failed::Said(CliError::Copy {
            place: shown.to_owned(),
            memory: 0,
            begun: None,
            cause: Box::new(cause),
        }),
    })
}

fn metadata(args: &Create) -> Result<ArrayMetadata, CliError> {
    let mut like = args.like.as_deref().map(Like::open).transpose()?;
    if let (Some(_), Some(like)) = (&args.shards, &mut like) {
        like.leave_shards()?;
    }
    let shape = match (&args.shape, &like) {
        (None, Some(like)) => like.shape.clone(),
        (shape, _) => numbers("--shape", shape.as_deref().unwrap_or_default())?,
    };
    let Typed { data_type, order } = match (&args.dtype, &like) {
        (None, Some(Like { data_type: Some(data_type), .. })) => data_type.clone().into(),
        (None, Some(_)) => {
            let (path, reason) = (
                args.like.clone().unwrap_or_default(),
                "its type is not known here, or raw bytes, as which numpy saves bfloat16 and small floats; \
                 give --dtype, such as bfloat16 or V2",
            );
            return Err(CliError::Input { path: path.into(), reason: reason.to_owned() });
        }
        (text, _) => data_type::parse(text.as_deref().unwrap_or_default())?,
    };
    let other = like.as_ref().and_then(|like| like.metadata.as_ref());
    let mut names = names(args.dims.as_deref(), shape.len())?;
    if let (None, Some(other)) = (&args.dims, other)
        && other.shape().len() == shape.len()
    {
        names = other.dimension_names().map(<[_]>::to_vec);
    }
    let mut builder = ArrayBuilder::new(shape.clone(), data_type.clone());
    if let Some(text) = &args.chunks {
        let grid = chunks::parse(text, &shape, names.as_deref().unwrap_or_default())
            .map_err(|cause| CliError::argument("--chunks", text, cause))?;
        builder = builder.chunk_grid(grid);
    } else if let Some(other) = other
        && other.shape().len() == shape.len()
    {
        // The edges of another length may not reach its end, which the document then says.
        builder = builder.chunk_grid(other.chunk_grid().clone());
    }
    let same = like.as_ref().and_then(|like| like.codecs(&data_type, shape.len()));
    let same = same.filter(|codecs| CodecNotation::check_order(codecs, order).is_ok());
    let chosen = match (args.encoding.codecs()?, order) {
        // The codecs of an array without --codecs, in another order.
        (None, Some(Endian::Big)) if same.is_none() => Some(CodecNotation::usual()),
        (chosen, _) => chosen,
    };
    let rank = shape.len();
    let chosen = match (args.encoding.preset, &args.like) {
        (Some(goal), Some(like)) => best_like(like, &data_type, goal, args.portable)?,
        _ => chosen.map(|codecs| codecs.codecs(&data_type, rank, order.unwrap_or(Endian::Little))),
    };
    if let Some(codecs) = chosen {
        CodecNotation::check_order(&codecs, order).map_err(|reason| {
            CliError::argument("--dtype", args.dtype.as_deref().unwrap_or_default(), reason)
        })?;
        builder = builder.codecs(codecs);
    } else if let Some(codecs) = same {
        builder = builder.codecs(codecs.to_vec());
    }
    if let Some(text) = &args.fill {
        builder = builder.fill_value(fill(&data_type, text)?);
    } else if let Some(other) = other
        && *other.data_type() == data_type
    {
        builder = builder.fill_value(other.fill_value().clone());
    }
    if let Some(names) = names {
        builder = builder.dimension_names_or_none(names);
    }
    let mut metadata = builder
        .build()
        .map_err(|cause| CliError::Metadata { argument: "zarr.json would not be valid", cause })?;
    if let Some(text) = &args.shards {
        let names = metadata.dimension_names().unwrap_or_default();
        let shards = chunks::parse(text, &shape, names)
            .map_err(|cause| CliError::argument("--shards", text, cause))?;
        metadata = metadata
            .with_layout(None, None, Some(&shards))
            .map_err(|cause| CliError::Metadata { argument: "--shards", cause })?;
    }
    let attributes = args.attributes.as_deref().or(other.map(|array| array.attributes()));
    if let Some(json) = attributes {
        metadata = metadata
            .with_attributes(json)
            .map_err(|cause| CliError::Metadata { argument: "--attributes", cause })?;
    }
    Ok(metadata)
}

/// Parses `1461,4`; an empty text is the shape of a single element.
pub(crate) fn numbers(argument: &'static str, text: &str) -> Result<Vec<u64>, CliError> {
    let inside = text.trim().trim_start_matches(['[', '(']).trim_end_matches([']', ')', ',']);
    if inside.trim().is_empty() {
        return Ok(Vec::new());
    }
    let number = |entry: &str| {
        let entry = entry.trim();
        let digits = entry.strip_prefix('-').unwrap_or(entry);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        entry.parse::<u64>().map_err(|_| match (is_number, entry.starts_with('-')) {
            (true, true) => format!("{entry} is negative; a length must be at least 0"),
            (true, false) => format!("{entry} is too large; a length is at most {}", u64::MAX),
            _ => "lengths with commas between them are allowed: 1461,4".to_owned(),
        })
    };
    let numbers = inside.split(',').map(number);
    numbers.collect::<Result<_, _>>().map_err(|reason| CliError::argument(argument, text, reason))
}

fn names(text: Option<&str>, rank: usize) -> Result<Option<Vec<Option<String>>>, CliError> {
    let Some(text) = text else { return Ok(None) };
    let names: Vec<Option<String>> = match (text.trim(), rank) {
        ("", 0) => Vec::new(),
        _ => dimension_names(text).map(|name| name.map(str::to_owned)).collect(),
    };
    if names.len() == rank {
        return Ok(Some(names));
    }
    let names = words::counted(names.len(), "name");
    let reason = format!("{names}, but --shape has {}", words::axes(rank));
    Err(CliError::argument("--dims", text, reason))
}

/// Parses JSON, or a bare word as a text: NaN, 0x7fc00000, and for times 2020-01-01.
fn fill(data_type: &DataType, text: &str) -> Result<FillValue, CliError> {
    // A bare number is a year if it is written like one and the unit is years: `read` prints these.
    // Any other number is a count of the unit, as in a document.
    let count = count_of_time(data_type, text.trim_matches('"'));
    let count = count.map(|count| count.to_string());
    let text = count.as_deref().unwrap_or(text);
    let quoted = serde_json::Value::from(text).to_string();
    FillValue::parse(data_type, text)
        .or_else(|error| match FillValue::parse(data_type, &quoted) {
            // If it is not JSON at all, it was meant as a text: report the error of the text.
            Err(as_text) if error.rule() == Some(Rule::NOT_JSON) => Err(as_text),
            Err(_) => Err(error),
            Ok(fill) => Ok(fill),
        })
        .map_err(|cause| match form_of_time(data_type) {
            None => CliError::Metadata { argument: "--fill", cause },
            Some(form) => CliError::Usage { message: format!("--fill: {}{form}", cause.reason()) },
        })
}
