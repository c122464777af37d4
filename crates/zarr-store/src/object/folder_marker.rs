//! Objects whose names end in "/": consoles of services make them for folders.

use object_store::path::Path;

/// The last name in the path of such an object, in place of the empty name that a [`Path`] drops. It
/// is in no key.
pub(super) const FOLDER_MARKER: &str = r"\marker of a folder";

/// Whether the name of a listed object ends in "/".
pub(super) fn is_folder_marker(path: &Path) -> bool {
    path.filename() == Some(FOLDER_MARKER)
}
