//! The command's words for what helps.

use std::fmt::Display;

use zarr_kit::ArrayError;
use zarr_kit::array::store::Remedy;
use zarr_kit::array::unfinished::UnfinishedWork;
use zarr_kit::report::info::Interrupted;

/// A message of the library, and what helps.
pub(crate) fn with(cause: impl Display, remedy: Option<Remedy>) -> String {
    match remedy.and_then(words) {
        Some(words) => format!("{cause}; {words}"),
        None => cause.to_string(),
    }
}

/// Why an array is not open, and what helps.
pub(crate) fn of_array(cause: &ArrayError) -> String {
    with(cause, cause.remedy())
}

/// What was interrupted, and the command that goes on.
pub(crate) fn of_interrupted(found: &Interrupted) -> String {
    let (command, option) = match (found.work(), found.is_resumable()) {
        (UnfinishedWork::Creation, _) => ("create".to_owned(), "--overwrite"),
        (_, false) => ("copy".to_owned(), "--overwrite"),
        (work, true) => (work.to_string(), "--resume"),
    };
    format!("{found} (`{command}` with {option})")
}

fn words(remedy: Remedy) -> Option<&'static str> {
    Some(match remedy {
        Remedy::OutsideLinks => "--outside-links allows it",
        Remedy::OutsideMembers => "--outside-members allows it",
        Remedy::Target => "if you trust the document, allow the place by --targets",
        Remedy::LongerDocuments => "if you trust it, allow more by --documents",
        Remedy::ChangingChunks => {
            "join again, with --chunks-may-change if its chunks are meant to change"
        }
        Remedy::SoleWriter => "commands with --sole-writer allow it while nobody else writes",
        Remedy::Promote => "--promote converts them",
        Remedy::PromoteIntoNew => "a join into a new array, with --promote, converts them",
        Remedy::JoinOfCopies => "a join without --virtual does, or write them with the same units",
        Remedy::Cast => "--cast converts numbers",
        _ => return None,
    })
}
