//! The command's words for what helps.

use std::fmt::Display;

use zarr_kit::array::store::Remedy;

/// A message of the library, and what helps.
pub(crate) fn with(cause: impl Display, remedy: Option<Remedy>) -> String {
    match remedy.and_then(words) {
        Some(words) => format!("{cause}; {words}"),
        None => cause.to_string(),
    }
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
