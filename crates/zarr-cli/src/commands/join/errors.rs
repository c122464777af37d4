//! The errors of joins, in the terms of the arguments.

use zarr_kit::ArrayError;
use zarr_kit::codec::ChainError;
use zarr_kit::copy::TransferError;
use zarr_kit::join::JoinError;

use crate::args::Join;
use crate::error::CliError;

/// The error, with the place as the user wrote it.
pub(super) fn failed(error: JoinError, args: &Join) -> CliError {
    let target = args.output.as_deref().unwrap_or_default();
    let is_chosen = args.chunks.is_some() || args.shards.is_some();
    match error {
        JoinError::Transfer(cause) => {
            let place = match *cause {
                // An error of a member; it has the member's path.
                TransferError::UnfinishedSource { .. } | TransferError::Source(_) => "a member",
                _ => target,
            };
            CliError::Copy { place: place.to_owned(), memory: 0, begun: None, cause }
        }
        JoinError::Target(cause) => match &*cause {
            ArrayError::Chain { cause: chain, .. } => {
                CliError::Usage { message: format!("{cause}: {}", help(chain, is_chosen)) }
            }
            _ => JoinError::Target(cause).into(),
        },
        cause @ JoinError::Coordinates { .. } => {
            CliError::Usage { message: format!("{cause}; --any-order joins them so") }
        }
        cause => cause.into(),
    }
}

/// What helps if the codecs of the first member do not make the joined array.
fn help(error: &ChainError, is_chosen: bool) -> &'static str {
    if error.is_read_only() {
        return "not all chunks can be moved unchanged: copy the members, and join the copies";
    }
    if is_chosen {
        return "--shards gives the lengths of the joined array's shards, and --chunks then those of the \
                chunks within";
    }
    // Shards, for example, if a member that is not the last ends within one.
    "the codecs do not take the chunks that the members make; --chunks gives the joined array others"
}

/// The error, with the argument as it is written.
pub(super) fn refused(error: JoinError) -> CliError {
    match error {
        JoinError::Argument { argument: "grid", found, reason } => {
            CliError::argument("--grid", &found, reason)
        }
        JoinError::Argument { found, reason, .. } => CliError::argument("--along", &found, reason),
        error => error.into(),
    }
}
