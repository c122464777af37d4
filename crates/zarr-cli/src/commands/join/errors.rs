//! The errors of joins, in the terms of the arguments.

use zarr_kit::ArrayError;
use zarr_kit::copy::TransferError;
use zarr_kit::join::JoinError;

use crate::error::CliError;

/// The error, with the place as the user wrote it.
pub(super) fn failed(error: JoinError, target: &str) -> CliError {
    match error {
        JoinError::Transfer(cause) => {
            let place = match *cause {
                // An error of a member; it has the member's path.
                TransferError::UnfinishedSource { .. } | TransferError::Source(_) => "a member",
                _ => target,
            };
            CliError::Copy { place: place.to_owned(), memory: 0, begun: None, cause }
        }
        JoinError::Target(cause) if matches!(*cause, ArrayError::Chain { .. }) => {
            let message = format!(
                "{cause}: the last chunk of a member that is not the last is cut, and the codecs do \
                 not take it; --chunks gives the joined array other chunks"
            );
            CliError::Usage { message }
        }
        cause @ JoinError::Coordinates { .. } => {
            CliError::Usage { message: format!("{cause}; --any-order joins them so") }
        }
        cause => cause.into(),
    }
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
