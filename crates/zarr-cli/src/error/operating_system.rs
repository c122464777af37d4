//! Errors of the operating system: a missing file, a file in place of a folder, missing
//! permission, a read-only file system.

use std::io::{self, ErrorKind};
use std::path::Path;

/// Why a file or folder could not be used, and which part of its path is the cause.
pub(crate) fn reason(path: &Path, cause: &io::Error) -> String {
    if let Some(reason) = link_on_the_way(path) {
        return reason;
    }
    match cause.kind() {
        // The library knows the format of the file.
        ErrorKind::NotADirectory if cause.get_ref().is_some() => said(cause),
        ErrorKind::NotFound => match path.parent().filter(|folder| is_missing(folder)) {
            Some(folder) => format!("there is no folder {}", folder.display()),
            None => "there is no such file".to_owned(),
        },
        // Creating a folder where there is a file is reported like a file in place of a folder.
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            match path.ancestors().find(|above| above.is_file()) {
                Some(file) if file == path => "this is a file, not a folder".to_owned(),
                Some(file) => format!("{} is a file, not a folder", file.display()),
                None => said(cause),
            }
        }
        ErrorKind::PermissionDenied => match nearest_existing(path) {
            Some(there) if there == path => "permission denied".to_owned(),
            Some(there) => format!("permission denied in {}", there.display()),
            None => "permission denied".to_owned(),
        },
        ErrorKind::ReadOnlyFilesystem => match nearest_existing(path) {
            Some(there) => format!("{} is in a read-only file system", there.display()),
            None => "this is in a read-only file system".to_owned(),
        },
        _ => said(cause),
    }
}

/// The message of the system, without its number.
fn said(cause: &io::Error) -> String {
    without_numbers(&cause.to_string())
}

/// A message without the numbers that Rust adds: `(os error 2)`.
pub(crate) fn without_numbers(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    text
}

/// Whether a folder is known not to exist; the empty path is the current one.
fn is_missing(folder: &Path) -> bool {
    folder != Path::new("") && folder.try_exists().is_ok_and(|is| !is)
}

/// The message for a dangling symbolic link in the path, including the path itself.
fn link_on_the_way(path: &Path) -> Option<String> {
    let is_link = |path: &&Path| path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    let link = path.ancestors().find(is_link)?;
    let cause = link.metadata().err()?;
    let leads = match cause.kind() {
        ErrorKind::NotFound => "is a symbolic link to a missing target".to_owned(),
        ErrorKind::PermissionDenied => return None,
        // The kind of error for a loop has no stable name.
        _ => format!("is a symbolic link that cannot be followed: {}", said(&cause)),
    };
    Some(match link == path {
        true => format!("this {leads}"),
        false => format!("{} {leads}", link.display()),
    })
}

/// The path itself, or the innermost existing folder of it.
fn nearest_existing(path: &Path) -> Option<&Path> {
    let there = path.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok())?;
    (there != Path::new("")).then_some(there)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn refusals_are_told_apart() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let root = folder.path();
        fs::write(root.join("file"), "").expect("writes");
        let said = |path: &str, kind: ErrorKind| {
            let text = reason(&root.join(path), &kind.into());
            text.replace(&root.display().to_string(), "ROOT")
        };
        let cases = [
            ("a", ErrorKind::NotFound, "there is no such file"),
            ("a/b", ErrorKind::NotFound, "there is no folder ROOT/a"),
            ("file/a/b", ErrorKind::NotADirectory, "ROOT/file is a file, not a folder"),
            ("file", ErrorKind::NotADirectory, "this is a file, not a folder"),
            ("file", ErrorKind::AlreadyExists, "this is a file, not a folder"),
            ("a/b", ErrorKind::PermissionDenied, "permission denied in ROOT"),
            ("file", ErrorKind::PermissionDenied, "permission denied"),
            ("a/b", ErrorKind::ReadOnlyFilesystem, "ROOT is in a read-only file system"),
            ("a", ErrorKind::StorageFull, "no storage space"),
        ];
        for (path, kind, expected) in cases {
            assert_eq!(said(path, kind), expected, "{path} {kind:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_nowhere_are_told() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("makes a folder");
        let root = folder.path();
        symlink("loop", root.join("loop")).expect("links");
        symlink("missing", root.join("dangling")).expect("links");
        fs::create_dir(root.join("folder")).expect("makes a folder");
        symlink("folder", root.join("good")).expect("links");
        let said = |path: &str, kind: ErrorKind| {
            let text = reason(&root.join(path), &kind.into());
            text.replace(&root.display().to_string(), "ROOT")
        };
        let text = said("loop", ErrorKind::AlreadyExists);
        assert!(text.starts_with("this is a symbolic link that cannot be followed: "), "{text}");
        let text = said("loop/a/b", ErrorKind::Other);
        assert!(text.starts_with("ROOT/loop is a symbolic link that cannot be followed"), "{text}");
        let text = said("dangling/a", ErrorKind::NotFound);
        assert_eq!(text, "ROOT/dangling is a symbolic link to a missing target");
        assert_eq!(said("good/a", ErrorKind::NotFound), "there is no such file");
    }
}
