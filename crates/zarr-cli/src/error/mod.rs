//! Errors, each in one line: the fault, the place, and the remedy.

pub(crate) mod nearest;
pub(crate) mod operating_system;
pub(crate) mod remedy;
pub(crate) mod usage;

use std::io;
use std::path::PathBuf;

use zarr_kit::array::store::StoreError;
use zarr_kit::array::unfinished::{REARRANGE_MARKER, UnfinishedWork};
use zarr_kit::copy::TransferError;
use zarr_kit::join::JoinError;
use zarr_kit::metadata::{MetadataError, Printable, Rule};
use zarr_kit::report::{ReportError, words};
use zarr_kit::virtual_join::VirtualJoinError;
use zarr_kit::{ArrayError, DataType};

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{message}")]
    Usage { message: String },
    #[error("{argument} {found:?}: {reason}")]
    Argument { argument: &'static str, found: String, reason: String },
    /// A store that cannot be opened.
    #[error("{}", remedy::with(with_features_of_program(.0.to_string()), .0.remedy()))]
    Store(StoreError),
    #[error("{}", remedy::with(.0, .0.remedy()))]
    VirtualJoin(VirtualJoinError),
    #[error("{}", at(place, cause))]
    Node { place: String, cause: ArrayError },
    /// Values of a piece of a write that would change.
    #[error("{place}: {}; --allow-loss stores them anyway", loss_of_part(cause))]
    Loss { place: String, cause: ArrayError },
    #[error("{cause}{}", written_of(*written, *total))]
    Written { cause: Box<CliError>, written: u64, total: u64 },
    #[error("{place}: there is no such folder{}", near.as_ref().map_or_else(String::new, |near| {
        format!("; did you mean {near}?")
    }))]
    Missing { place: String, near: Option<String> },
    #[error(
        "{place}: names that end in .zjoin are virtual joins, which `zarr-kit join --virtual` writes; \
         choose another name"
    )]
    VirtualTarget { place: String },
    #[error("{place}: {}", operating_system::reason(folder, cause))]
    Folder { place: String, folder: PathBuf, cause: io::Error },
    #[error(
        "{place}: URLs need a build with the feature `remote`: cargo install \
         --path crates/zarr-cli --features all-codecs,remote"
    )]
    NotRemote { place: String },
    #[error("{array}: {cause}")]
    Within { array: String, cause: Box<CliError> },
    #[error("{place}: no array or group here: there is no zarr.json{hint}")]
    NotFound { place: String, hint: String },
    #[error(
        "{elements} elements are too many for text; choose a --region, --elide, or --format lines, npy or raw"
    )]
    TooLong { elements: String },
    #[error(
        "{place}: there is a node here already; `create --overwrite` replaces an array, `delete` \
         removes any node; or choose another path"
    )]
    Exists { place: String },
    #[error("{place}: this is a group, not an array; {children}")]
    Group { place: String, children: String },
    #[error("{place}: this is in an array, where no node can be")]
    InArray { place: String },
    #[error(
        "{place}: --parents needs a group around it, or a folder on the way that ends in .zarr"
    )]
    NoRoot { place: String },
    #[error("{}", transfer(place, *memory, *begun, cause))]
    Copy {
        place: String,
        memory: u64,
        /// Whether a copy was begun that can be resumed, and if so, whether with --overwrite.
        begun: Option<bool>,
        cause: Box<TransferError>,
    },
    #[error("{place}: the copy lacks {arrays}, which Zarr version 3 cannot express")]
    Incomplete { place: String, arrays: String },
    #[error("{}", remedy::with(.0, .0.remedy()))]
    Join(Box<JoinError>),
    #[error("{argument}: {}{}", within(cause), json(argument, cause))]
    Metadata { argument: &'static str, cause: MetadataError },
    #[error("{}: {}", path.display(), operating_system::reason(path, cause))]
    File { path: PathBuf, cause: io::Error },
    #[error("{}: {reason}", path.display())]
    Input { path: PathBuf, reason: String },
    #[error("cannot write the output: {0}")]
    Output(io::Error),
    #[error(
        "csv is for at most 2 axes, but the region has {axes}; leave some out by giving one index of \
         them in --region, or choose another --format"
    )]
    NoTable { axes: String },
    #[error(
        "values are drawn of two axes, and the region has {axes}; give one index of the others: \
         --region {example}"
    )]
    Plane { axes: String, example: String },
    #[error("{place}: {}", remedy::with(cause, cause.remedy()))]
    Report { place: String, cause: ReportError },
    #[error("{place}: --portable: read by {readers}{hint}")]
    NotPortable { place: String, readers: String, hint: &'static str },
    #[error("{format} is not text: use -o FILE or a pipe")]
    Terminal { format: &'static str },
}

impl CliError {
    pub(crate) fn argument(argument: &'static str, found: &str, reason: impl ToString) -> Self {
        Self::Argument { argument, found: found.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<VirtualJoinError> for CliError {
    fn from(cause: VirtualJoinError) -> Self {
        Self::VirtualJoin(cause)
    }
}

impl From<JoinError> for CliError {
    fn from(cause: JoinError) -> Self {
        Self::Join(Box::new(cause))
    }
}

impl From<MetadataError> for CliError {
    /// An element that is not a value of its data type.
    fn from(cause: MetadataError) -> Self {
        Self::Metadata { argument: "element", cause }
    }
}

/// How many chunks a write has written that failed; nothing of a write of one chunk.
fn written_of(written: u64, total: u64) -> String {
    match total {
        0 | 1 => String::new(),
        _ => format!("; {written} of {total} chunks were written"),
    }
}

/// An error of the library, with the place as the user wrote it: the library knows only the root
/// of a store.
fn at(place: &str, cause: &ArrayError) -> String {
    match cause {
        ArrayError::NotFound { .. } => {
            format!("{place}: no array or group here: there is no zarr.json")
        }
        ArrayError::Version2 { .. } => format!(
            "{place}: this is Zarr version 2, which is read and never written; `zarr-kit copy` makes \
             a copy of version 3, which can be changed"
        ),
        ArrayError::Unfinished { work: UnfinishedWork::Creation, .. } => format!(
            "{place}: an array was to be created here in place of another, and that was interrupted; \
             `create` with --overwrite starts again"
        ),
        ArrayError::Unfinished { resumable: false, .. } => format!(
            "{place}: an unfinished copy whose zarr-kit-copy.json says nothing, so that it cannot be \
             resumed; `copy` with --overwrite starts again"
        ),
        ArrayError::Unfinished { from, work: command, parts, .. } => {
            let of = from.as_ref().map_or_else(String::new, |from| format!(" of {from}"));
            if let Some(parts) = parts {
                return format!("{place}: an unfinished copy{of}: {parts}");
            }
            format!(
                "{place}: an unfinished {command}{of}; repeat the `{command}` with --resume to \
                 continue it, --overwrite starts again"
            )
        }
        ArrayError::NotGroup { .. } => format!("{place}: this is an array, not a group"),
        ArrayError::Stale { .. } => format!(
            "{place}: another process changed it meanwhile, so that nothing was changed: run the \
             same command again"
        ),
        ArrayError::DataType { data_type, .. } => {
            let names: Vec<_> = DataType::FIXED.iter().map(DataType::name).collect();
            let hint = nearest::hint(data_type, names.iter().map(AsRef::as_ref));
            format!("{place}: elements of data type {data_type} are not read here{hint}")
        }
        loss if is_loss(loss) => format!("{place}: {loss}; --allow-loss stores them anyway"),
        other => {
            let text = with_features_of_program(other.to_string());
            format!("{place}: {}", remedy::with(text, other.remedy()))
        }
    }
}

/// The text of an error of the library. The library names the feature that a build lacks; the
/// program says how to install itself with it.
fn with_features_of_program(text: String) -> String {
    let Some((before, rest)) = text.split_once("the feature `") else { return text };
    let Some((feature, after)) = rest.split_once("` adds it") else { return text };
    // A C++ compiler, which this alone needs, is not asked of all.
    let more = if feature == "snappy" { ",snappy" } else { "" };
    format!(
        "{before}`cargo install --path crates/zarr-cli --features all-codecs{more}` adds it{after}"
    )
}

/// Whether values were refused because they would not read back unchanged.
fn is_loss(cause: &ArrayError) -> bool {
    match cause {
        ArrayError::Loss { .. } => true,
        ArrayError::Incomplete { cause, .. }
        | ArrayError::Grown { cause, .. }
        | ArrayError::Undiscarded { cause, .. } => is_loss(cause),
        _ => false,
    }
}

/// The message of values that would change. Other parts may have more such values.
fn loss_of_part(cause: &ArrayError) -> String {
    match cause {
        ArrayError::Loss { key, loss } => {
            let count = words::counted(loss.count, "element");
            format!("{}: {loss}; at least {count} would change", Printable(key))
        }
        ArrayError::Incomplete { cause, .. } => loss_of_part(cause),
        other => other.to_string(),
    }
}

/// The error of an argument, with the place in it if there is one.
fn within(cause: &MetadataError) -> String {
    match cause.path() {
        "$" => cause.reason().to_string(),
        _ => cause.to_string(),
    }
}

/// An example of JSON, if an argument is not JSON.
fn json(argument: &str, cause: &MetadataError) -> &'static str {
    match argument {
        "--codecs" if cause.path() == "$" && cause.rule() == Some(Rule::NOT_JSON) => {
            "; a JSON list is allowed: [{\"name\": \"bytes\"}]"
        }
        _ => "",
    }
}

/// Memory that the process and the compressors use themselves.
const ITSELF: u64 = 8 << 20;

/// The part of `--memory` that is left for elements and chunks.
pub(crate) fn memory_for_chunks(given: u64) -> u64 {
    given.saturating_sub(ITSELF.min(given / 8))
}

/// The smallest `--memory` with this much for elements and chunks.
fn memory_to_give(needed: u64) -> u64 {
    needed.saturating_add(ITSELF).min(needed.div_ceil(7).saturating_mul(8))
}

fn transfer(place: &str, memory: u64, begun: Option<bool>, cause: &TransferError) -> String {
    let size = |bytes: u64| words::bytes(bytes.into());
    let node = |path: &str| match path {
        "the root" => place.to_owned(),
        path => format!("{place}: {path}"),
    };
    match cause {
        TransferError::Exists { .. } => format!(
            "{place}: there is a node here already; --overwrite removes it first, --resume \
             continues an interrupted copy or join"
        ),
        TransferError::Unfinished { .. } => format!(
            "{place}: there is an unfinished copy or join here; --resume continues it, --overwrite starts again"
        ),
        TransferError::OtherParts { of: Some(of), .. } => format!(
            "{place}: the unfinished copy here is in {of} parts; run the missing parts (`info` \
             lists them) with --part, or `delete` it to start again"
        ),
        TransferError::OtherParts { of: None, .. } => format!(
            "{place}: the unfinished copy here is not in parts; continue it with --resume and \
             without --part, or `delete` it to start again"
        ),
        TransferError::Overlap { .. } => format!(
            "{place}: this is the source or holds a part of it, or one of the two lies in the other; \
             choose another place"
        ),
        TransferError::UnfinishedSource { path } => {
            format!(
                "{}: this is itself an unfinished copy or join; finish that one first",
                node(path)
            )
        }
        TransferError::NotEmpty { key, .. } => format!(
            "{place}: there is no node here, but something else: {key}; remove it first, or choose \
             another path"
        ),
        TransferError::Foreign { key, .. } => format!(
            "{place}: {key} belongs to no array or group, and --overwrite would remove it; move it away \
             first"
        ),
        TransferError::Rearranging { path } => format!(
            "{}: {REARRANGE_MARKER} remains from an interrupted rearrangement; `zarr-kit check \
             --repair` undoes or completes that",
            node(path)
        ),
        TransferError::NoObject { .. } => {
            format!("{place}: {cause}; --nodes-only copies arrays and groups only")
        }
        TransferError::NotInterrupted { .. } => format!(
            "{place}: there is a node here, but no interrupted copy to continue: it may be \
             finished; --overwrite starts again"
        ),
        TransferError::OtherCopy { .. } => format!(
            "{place}: not an interrupted copy of this source with these chunks and codecs; \
             --overwrite starts again"
        ),
        TransferError::OtherDocument { path } => format!(
            "{}: another program has put zarr.json here since the unfinished copy or join began; move \
             it away and repeat the command, which then continues; --overwrite removes it and starts \
             again",
            node(path)
        ),
        TransferError::OtherIntermediates { place: Some(at), .. } => format!(
            "{place}: the unfinished copy here has an intermediate in {at}; give --intermediate with \
             that place, or --overwrite to start again"
        ),
        TransferError::OtherIntermediates { place: None, .. } => format!(
            "{place}: the unfinished copy here was begun without --intermediate; resume it without, or \
             --overwrite starts again"
        ),
        TransferError::SourceChanged { .. } => format!(
            "{place}: the source has changed since the unfinished copy or join here began, which would \
             have parts of both; --overwrite starts again"
        ),
        TransferError::ChangedMeanwhile { .. } => {
            format!("{cause}, with --overwrite if {place} has a part of the copy")
        }
        TransferError::Memory { path, by_source, needed, .. } => format!(
            "{}: the copy of one chunk needs {} of memory (its elements, the buffers to decode and \
             encode chunks, and what the program itself takes), more than the {} of --memory; give \
             more{}",
            node(path),
            size(memory_to_give(*needed)),
            size(memory),
            if *by_source { "" } else { ", or choose smaller --chunks" }
        ),
        TransferError::Object { key, size: bytes, .. } => format!(
            "object {key} needs {} of memory, more than the {} of --memory; give more",
            size(memory_to_give(*bytes)),
            size(memory)
        ),
        TransferError::Verify { path, start } => format!(
            "{}: verification failed: elements read back differ from the written elements; the \
             first is at index {start:?} or after it",
            node(path)
        ),
        TransferError::VerifyObject { key } => format!(
            "{place}: {key}: verification failed: the bytes read back differ from the written bytes"
        ),
        TransferError::Target(loss) if is_loss(loss) => match begun {
            None => format!("{place}: {}; --allow-loss stores them anyway", loss_of_part(loss)),
            Some(overwrite) => {
                let instead = if overwrite { " instead of --overwrite" } else { "" };
                let loss = loss_of_part(loss);
                format!(
                    "{place}: {loss}; repeat the command with --resume --allow-loss{instead} to \
                     continue and store them anyway"
                )
            }
        },
        TransferError::Target(cause) | TransferError::Source(cause) => at(place, cause),
        other => format!("{place}: {}", remedy::with(other, other.remedy())),
    }
}
