//! `zarr-kit delete`.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use zarr_kit::Prefix;
use zarr_kit::array::node::DOCUMENTS;
use zarr_kit::array::store::{Place, shown_url};
use zarr_kit::array::unfinished::read_marker;
use zarr_kit::array::{ArrayError, Deletion, is_of_another_program, open_node};
use zarr_kit::report::words;

use crate::args::Delete;
use crate::error::CliError;
use crate::error::operating_system::reason;
use crate::output::print::{self, done, note};
use crate::stores::access::store_options;
use crate::stores::node_store::{Around, NodeStore, hierarchies};

pub(crate) fn run(args: &Delete) -> Result<(), CliError> {
    // Other commands take it for the node.
    if is_document(&args.path) {
        let message = format!(
            "{} is the document of a node; to delete the node with all that is in it, name its folder",
            shown_url(&args.path)
        );
        return Err(CliError::Usage { message });
    }
    if let Some(link) = link_at(&args.path) {
        return delete_link(args, &link);
    }
    let place = NodeStore::to_change(&args.path)?;
    let failed = |cause: ArrayError| place.failed(cause);
    refuse_other_program(&place)?;
    let deletion = match Deletion::plan(&place.store, &Prefix::root()) {
        // Says why a node of version 2 is not deleted.
        Err(ArrayError::NotFound { .. })
            if open_node(&place.store, &Prefix::root()).is_ok_and(|node| node.is_version_2()) =>
        {
            return Err(failed(ArrayError::Version2 { path: place.shown.clone() }));
        }
        planned => planned.map_err(failed)?,
    };
    let (nodes, objects) = (deletion.nodes(), deletion.objects());
    let others = deletion.other_objects().iter();
    let others: Vec<String> = others.map(ToString::to_string).collect();
    let mut what = format!(
        "{}: {}, {}",
        place.shown,
        words::counted(nodes, "node"),
        words::counted(objects, "object")
    );
    if !others.is_empty() {
        if !args.with_other_files {
            return Err(refused(&place, &deletion, &others));
        }
        note(format_args!("{}: these belong to no node, and are deleted too:", place.shown));
        others.iter().for_each(|name| note(format_args!("  {name}")));
        what.push_str(&format!(", {}", words::counted(others.len(), "other file")));
    }
    if !args.yes && !asked(&what)? {
        note("nothing was deleted");
        return Ok(());
    }
    deletion.with_other_objects(args.with_other_files).run().map_err(failed)?;
    place.finish()?;
    if let Some(why) = place.opened.folder().and_then(why_it_stays) {
        note(format_args!("{}: the folder stays: {why}", place.shown));
    }
    done(args.json, format_args!("deleted {what}"), || {
        let mut document = json!({"path": place.shown, "nodes": nodes, "objects": objects});
        if !others.is_empty() {
            document["other_files"] = others.into();
        }
        document
    })
}

/// The most names in a message.
const NAMED: usize = 10;

/// The first of these names, for a message.
fn named(names: &[String]) -> String {
    let mut text = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED {
        text.push_str(&format!(" and {} more", names.len() - NAMED));
    }
    text
}

/// The error of a deletion that would remove objects of other programs.
fn refused(place: &NodeStore, deletion: &Deletion, others: &[String]) -> CliError {
    let count = words::counted(others.len(), "file");
    let belongs = if others.len() == 1 { "belongs" } else { "belong" };
    let why = match deletion.may_hold_chunks() {
        true => format!(
            "a chunk key encoding in it is not known, so that {count} may be chunks or not: {}",
            named(others)
        ),
        false => format!("{count} in it {belongs} to no node: {}", named(others)),
    };
    let message =
        format!("{}: {why}; nothing was deleted; --with-other-files deletes them too", place.shown);
    CliError::Usage { message }
}

/// Why the folder of a deleted node is still there, if it is; folders that are empty are removed.
fn why_it_stays(folder: &Path) -> Option<String> {
    let mut names = Vec::new();
    let mut cause = None;
    let mut waiting = vec![folder.to_owned()];
    let mut seen = Vec::new();
    while let Some(at) = waiting.pop() {
        match fs::read_dir(&at) {
            Ok(entries) => {
                for entry in entries.flatten() {
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                        _ => {
                            let path = entry.path();
                            let name = path.strip_prefix(folder).unwrap_or(&path);
                            names.push(name.display().to_string());
                        }
                    }
                }
                seen.push(at);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => cause = cause.or_else(|| Some(reason(&at, &error))),
        }
    }
    // The innermost first.
    for at in seen.iter().rev() {
        match fs::remove_dir(at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                cause =
                    cause.or_else(|| Some(format!("permission denied to remove {}", at.display())));
            }
            Err(error) => cause = cause.or_else(|| Some(format!("{}: {}", at.display(), error))),
            Ok(()) => {}
        }
    }
    folder.is_dir().then(|| {
        names.sort();
        match (names.is_empty(), cause) {
            (false, _) => format!("files in it are not objects: {}", named(&names)),
            (true, Some(cause)) => cause,
            (true, None) => "something was written to it meanwhile: delete it again".to_owned(),
        }
    })
}

/// Whether a path ends with the name of a node's document.
fn is_document(path: &str) -> bool {
    let name = path.trim_end_matches('/').rsplit('/').next();
    name.is_some_and(|name| DOCUMENTS.contains(&name))
}

/// The symbolic link that this path is.
fn link_at(path: &str) -> Option<PathBuf> {
    let place = Place::parse(path.trim_end_matches('/'), &store_options()).ok()?;
    let folder = place.folder()?;
    folder.symlink_metadata().is_ok_and(|found| found.is_symlink()).then(|| folder.to_owned())
}

/// Deletes a link that leads to a node, or that leads nowhere and is in a group.
fn delete_link(args: &Delete, link: &Path) -> Result<(), CliError> {
    // Opened before the link is gone.
    let around: Vec<Around> =
        hierarchies(&args.path)?.iter().map(Around::open).collect::<Result<_, _>>()?;
    if around.is_empty() || link.metadata().is_ok() {
        let place = NodeStore::open(&args.path)?;
        refuse_other_program(&place)?;
        Deletion::plan(&place.store, &Prefix::root()).map_err(|cause| place.failed(cause))?;
    }
    let shown = shown_url(&args.path);
    let what = format!("{shown}: a symbolic link; its target stays");
    if !args.yes && !asked(&what)? {
        note("nothing was deleted");
        return Ok(());
    }
    let failed = |cause| CliError::File { path: link.to_owned(), cause };
    fs::remove_file(link).map_err(failed)?;
    around.iter().try_for_each(Around::refresh)?;
    done(
        args.json,
        format_args!("deleted {what}"),
        || json!({"path": shown, "nodes": 0, "objects": 1}),
    )
}

/// Refuses a folder in which a file of another program has the name of a document.
fn refuse_other_program(place: &NodeStore) -> Result<(), CliError> {
    // A link is there also if it leads to itself.
    if place.opened.folder().is_some_and(|folder| folder.join("zarr.json").is_symlink()) {
        return Ok(());
    }
    let key = Prefix::root().key("zarr.json").map_err(|cause| place.failed(cause))?;
    let document = read_marker(&*place.store, &key).map_err(|cause| place.failed(cause))?;
    if document.is_some_and(|document| is_of_another_program(&document)) {
        let message = format!(
            "{}: zarr.json is not a document of Zarr: it has neither zarr_format nor node_type",
            place.shown
        );
        return Err(CliError::Usage { message });
    }
    Ok(())
}

/// Asks on the terminal whether to continue.
fn asked(what: &str) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        let message = format!("delete {what}? There is no terminal to ask on: give --yes");
        return Err(CliError::Usage { message });
    }
    print::question(format_args!("delete {what}? [y/N]")).map_err(CliError::Output)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(CliError::Output)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
