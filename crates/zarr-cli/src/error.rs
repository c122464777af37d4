//! What can go wrong, each in one line: what, where, what to do.

use std::io;
use std::path::{Path, PathBuf};

use zarr_kit::array::RegionError;
use zarr_kit::array::copy::TransferError;
use zarr_kit::array::store::{KeyError, StoreError};
use zarr_kit::metadata::{MetadataError, Rule};
use zarr_kit::{ArrayError, DataType};

use zarr_kit::codec::ChainErrorKind;

use crate::chunks::ChunksError;
use crate::{nearest, usage};

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{message}")]
    Usage { message: String },
    #[error("{argument} {found:?}: {reason}")]
    Argument { argument: &'static str, found: String, reason: String },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}", at(place, cause))]
    Node { place: String, cause: ArrayError },
    #[error("{place}: {cause}")]
    Key { place: String, cause: KeyError },
    #[error("{place}: there is no such folder{}", near.as_ref().map_or_else(String::new, |near| {
        format!("; did you mean {near}?")
    }))]
    Missing { place: String, near: Option<String> },
    #[error(
        "{place}: URLs of object storage need a build with the feature `remote`: cargo install \
         --path crates/zarr-cli --features remote"
    )]
    NotRemote { place: String },
    #[error("{array}: {cause}")]
    Within { array: String, cause: Box<CliError> },
    #[error("{place}: no array or group here: there is no zarr.json{hint}")]
    NotFound { place: String, hint: String },
    #[error(
        "{elements} elements are too many for text; choose a --region, or --format lines, npy or raw"
    )]
    TooLong { elements: String },
    #[error("{place}: there is a node here already; remove it first, or choose another path")]
    Exists { place: String },
    #[error("{place}: this is a group, not an array; {children}")]
    Group { place: String, children: String },
    #[error("--region {text:?}: {cause}")]
    Region { text: String, cause: RegionError },
    #[error("--chunks {text:?}: {cause}")]
    Chunks { text: String, cause: ChunksError },
    #[error("{}", transfer(place, cause))]
    Copy { place: String, cause: Box<TransferError> },
    #[error("--edges {text:?}: {cause}")]
    Edges { text: String, cause: ChunksError },
    #[error("{argument}: {}{}", within(cause), json(argument, cause))]
    Metadata { argument: &'static str, cause: MetadataError },
    #[error("{}: {}", path.display(), file(path, cause))]
    File { path: PathBuf, cause: io::Error },
    #[error("{}: {reason}", path.display())]
    Input { path: PathBuf, reason: String },
    #[error("cannot write the output: {0}")]
    Output(io::Error),
    #[error("{format} is no text: give a file with -o, or a pipe")]
    Terminal { format: &'static str },
}

impl CliError {
    /// A mistake in the arguments, as clap found it.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let message = usage::message(error).unwrap_or_else(|| Self::clap_says(error));
        // A question is not followed by more to read.
        Self::Usage {
            message: match message.ends_with('?') {
                true => message,
                false => format!("{message}; see {} --help", usage::command()),
            },
        }
    }

    /// What clap prints, in one line.
    fn clap_says(error: &clap::Error) -> String {
        let text = error.render().to_string();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut message = String::new();
        for line in lines {
            if line.starts_with("Usage: ") || line.starts_with("For more information") {
                break;
            }
            let line = line.strip_prefix("error: ").unwrap_or(line);
            let joint = match (message.is_empty(), message.ends_with(':')) {
                (true, _) => "",
                (false, true) => " ",
                (false, false) => "; ",
            };
            message.push_str(joint);
            message.push_str(line);
        }
        message
    }

    pub(crate) fn argument(argument: &'static str, found: &str, reason: impl ToString) -> Self {
        Self::Argument { argument, found: found.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// The codecs that are read here.
const CODECS: [&str; 9] = [
    "blosc",
    "bytes",
    "crc32c",
    "gzip",
    "packbits",
    "reshape",
    "sharding_indexed",
    "transpose",
    "zstd",
];

/// A library error, with the place as the user wrote it: the library knows only the root of a
/// store.
fn at(place: &str, cause: &ArrayError) -> String {
    match cause {
        ArrayError::NotFound { .. } => {
            format!("{place}: no array or group here: there is no zarr.json")
        }
        ArrayError::Version2 { found, .. } => format!(
            "{place}: this is Zarr version 2 ({found}); only version 3 is read, and zarr-python's \
             `zarr migrate` converts it"
        ),
        ArrayError::Unfinished { from, .. } => {
            let of = from.as_ref().map_or_else(String::new, |from| format!(" of {from}"));
            format!(
                "{place}: an unfinished copy{of}; the same `copy` with --resume goes on with it, \
                 --overwrite begins anew"
            )
        }
        ArrayError::NotGroup { .. } => format!("{place}: this is an array, not a group"),
        ArrayError::DataType { data_type, .. } => {
            let names: Vec<String> = DataType::FIXED.iter().map(DataType::name).collect();
            let hint = nearest::hint(data_type, names.iter().map(String::as_str));
            format!("{place}: elements of data type {data_type} are not read here{hint}")
        }
        ArrayError::Chain { cause: chain, .. }
            if matches!(chain.kind(), ChainErrorKind::Unsupported) =>
        {
            format!("{place}: {cause}{}", nearest::hint(chain.codec(), CODECS))
        }
        ArrayError::Region(cause) => format!("{place}: {cause}"),
        other => format!("{place}: {other}"),
    }
}

/// What the system says of a file; of one that is not there, what is not.
fn file(path: &Path, cause: &io::Error) -> String {
    if cause.kind() != io::ErrorKind::NotFound {
        return cause.to_string();
    }
    match path.parent().filter(|folder| *folder != Path::new("") && !folder.exists()) {
        Some(folder) => format!("there is no folder {}", folder.display()),
        None => "there is no such file".to_owned(),
    }
}

/// What is wrong with an argument: where, if not with all of it.
fn within(cause: &MetadataError) -> String {
    match cause.path() {
        "$" => cause.reason().to_string(),
        _ => cause.to_string(),
    }
}

/// What JSON looks like, where an argument is none.
fn json(argument: &str, cause: &MetadataError) -> &'static str {
    match argument {
        "--codecs" if cause.path() == "$" && cause.rule() == Some(Rule::NotJson) => {
            "; a JSON list is allowed: [{\"name\": \"bytes\"}]"
        }
        _ => "",
    }
}

fn transfer(place: &str, cause: &TransferError) -> String {
    match cause {
        TransferError::Exists { .. } => format!(
            "{place}: there is a node here already; --overwrite removes it first, --resume goes on \
             with an interrupted copy"
        ),
        TransferError::Unfinished { .. } => format!(
            "{place}: an unfinished copy is here; --resume goes on with it, --overwrite begins anew"
        ),
        TransferError::Overlap { .. } => format!(
            "{place}: this is the source, or one of the two lies in the other; choose another place"
        ),
        TransferError::UnfinishedSource { path } => match path.as_str() {
            "the root" => format!("{place}: itself an unfinished copy; finish that one first"),
            path => format!("{place}: {path} is itself an unfinished copy; finish that one first"),
        },
        TransferError::NotEmpty { key, .. } => format!(
            "{place}: there is no node here, but something else: {key}; remove it first, or choose \
             another path"
        ),
        TransferError::NotInterrupted { .. } => format!(
            "{place}: there is a node here, but no interrupted copy to go on with: it may be \
             finished; --overwrite begins anew"
        ),
        TransferError::OtherCopy { .. } => format!(
            "{place}: not an interrupted copy of this source with these chunks and codecs; \
             --overwrite begins anew"
        ),
        TransferError::Memory { needed, limit } => format!(
            "one chunk of the target needs {} of memory (its elements, and the buffers to decode \
             and encode them), more than the {} allowed; give more with --memory, or choose \
             smaller --chunks",
            crate::words::bytes((*needed).into()),
            crate::words::bytes((*limit).into())
        ),
        TransferError::Target(cause) => at(place, cause),
        other => other.to_string(),
    }
}
