//! `zarr-kit delete`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use zarr_kit::Prefix;
use zarr_kit::array::node::DOCUMENTS;
use zarr_kit::array::store::{Links, Place, Store, StoreError, UpdatePolicy, shown_url};
use zarr_kit::array::unfinished::{is_marker, read_marker};
use zarr_kit::array::{ArrayError, delete_node, open_node};
use zarr_kit::copy;
use zarr_kit::report::words;

use crate::args::Delete;
use crate::error::CliError;
use crate::output::print::{done, note};
use crate::stores::access::store_options;
use crate::stores::node_store::{Around, NodeStore, hierarchies, refresh_around};

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
    let place = NodeStore::open(&args.path)?;
    let failed = |cause: ArrayError| place.failed(cause);
    // Never a folder that is not a node: it may be anything. An invalid document, and the remains of an
    // unfinished copy or deletion, can be deleted.
    if !is_node(&place)? {
        // Says why a node of version 2 is not deleted.
        if let Ok(node) = open_node(&place.store, &Prefix::root())
            && node.is_version_2()
        {
            return Err(failed(ArrayError::Version2 { path: place.shown.clone() }));
        }
        return Err(failed(ArrayError::NotFound { path: place.shown.clone() }));
    }
    let found = count(&*place.store).map_err(failed)?;
    let what = format!(
        "{}: {}, {}",
        place.shown,
        words::counted(found.nodes, "node"),
        words::counted(found.objects, "object")
    );
    if !args.yes && !asked(&what)? {
        note("nothing was deleted");
        return Ok(());
    }
    let around = hierarchies(&args.path)?;
    match around.first().map(Around::open).transpose()? {
        Some(Around { top, prefix }) => {
            delete_node(&top.store, &prefix).map_err(failed)?;
            top.finish()?;
            refresh_around(Ok(around), UpdatePolicy::default());
        }
        None => {
            delete_node(&place.store, &Prefix::root()).map_err(failed)?;
            if let Some(folder) = &place.folder {
                let _stays = fs::remove_dir(folder);
            }
        }
    }
    if place.folder.as_ref().is_some_and(|folder| folder.is_dir()) {
        let is_written = place.store.list(&Prefix::root(), Links::AsObjects).next().is_some();
        let stays = match is_written {
            true => "objects were written to it meanwhile: delete it again",
            false => "files that are not objects stay",
        };
        note(format_args!("{}: {stays}", place.shown));
    }
    done(
        args.json,
        format_args!("deleted {what}"),
        || json!({"path": place.shown, "nodes": found.nodes, "objects": found.objects}),
    )
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
    let around = hierarchies(&args.path)?;
    if around.is_empty() || link.metadata().is_ok() {
        let place = NodeStore::open(&args.path)?;
        if !is_node(&place)? {
            return Err(place.failed(ArrayError::NotFound { path: place.shown.clone() }));
        }
    }
    let shown = shown_url(&args.path);
    let what = format!("{shown}: a symbolic link; its target stays");
    if !args.yes && !asked(&what)? {
        note("nothing was deleted");
        return Ok(());
    }
    let failed = |cause| CliError::File { path: link.to_owned(), cause };
    fs::remove_file(link).map_err(failed)?;
    refresh_around(Ok(around), UpdatePolicy::default());
    done(
        args.json,
        format_args!("deleted {what}"),
        || json!({"path": shown, "nodes": 0, "objects": 1}),
    )
}

/// Whether the root has a document, is an unfinished copy, or has what an interrupted deletion
/// leaves. Files of other programs with such names are none of these.
fn is_node(place: &NodeStore) -> Result<bool, CliError> {
    // A link is there also if it leads to itself.
    let is_link =
        |name: &str| place.folder.as_ref().is_some_and(|folder| folder.join(name).is_symlink());
    if is_link("zarr.json") || is_link(copy::MARKER) {
        return Ok(true);
    }
    let read = |name: &str| {
        let key = Prefix::root().key(name).map_err(StoreError::from);
        key.and_then(|key| read_marker(&*place.store, &key)).map_err(|cause| place.failed(cause))
    };
    if let Some(document) = read("zarr.json")? {
        if is_of_another_program(&document) {
            let message = format!(
                "{}: zarr.json is not a document of Zarr: it has neither zarr_format nor node_type",
                place.shown
            );
            return Err(CliError::Usage { message });
        }
        return Ok(true);
    }
    match read(copy::MARKER)? {
        Some(marker) => Ok(is_marker(&marker)),
        None => is_left_by_deletion(&*place.store).map_err(|cause| place.failed(cause)),
    }
}

/// Whether this is a JSON object that no program wrote for Zarr. A damaged document is not.
fn is_of_another_program(document: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(document).is_ok_and(|json| {
        !["zarr_format", "node_type"].iter().any(|member| json.get(member).is_some())
    })
}

/// Whether there are only nodes that have lost their group, and chunks of default keys. Another
/// object ends the listing. A file named `c` may be a program's: without any document it is a chunk
/// only where it is that of the deleted node itself.
fn is_left_by_deletion(store: &dyn Store) -> Result<bool, ArrayError> {
    let mut nodes = BTreeSet::new();
    let mut is_empty = true;
    let mut has_c_below = false;
    for key in store.list(&Prefix::root(), Links::AsObjects) {
        let key = key?;
        is_empty = false;
        let parent = key.parent();
        has_c_below |= key.name() == "c" && !parent.is_root();
        let above = || parent.ancestors().filter(|above| !above.is_root());
        if is_chunk(key.as_str()) || above().any(|above| nodes.contains(&above)) {
            continue;
        }
        let mut node = None;
        for above in above() {
            if store.head(&above.key("zarr.json").map_err(StoreError::from)?)?.is_some() {
                node = Some(above);
                break;
            }
        }
        let Some(node) = node else { return Ok(false) };
        nodes.insert(node);
    }
    let is_told = !has_c_below || !nodes.is_empty();
    Ok(!is_empty && is_told)
}

/// Whether the end of a key is a chunk's: `c/0/1`, `c.0.1` or `c`.
fn is_chunk(key: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = key.rsplit('/').next().unwrap_or_default();
    let is_dotted = name.strip_prefix("c.").is_some_and(|rest| rest.split('.').all(is_number));
    is_dotted || key.rsplit('/').find(|segment| !is_number(segment)) == Some("c")
}

/// The counts of a hierarchy.
struct Contents {
    nodes: u64,
    objects: u64,
}

fn count(store: &dyn Store) -> Result<Contents, ArrayError> {
    let mut found = Contents { nodes: 0, objects: 0 };
    for key in store.list(&Prefix::root(), Links::AsObjects) {
        found.objects += 1;
        found.nodes += u64::from(key?.name() == "zarr.json");
    }
    Ok(found)
}

/// Asks on the terminal whether to continue.
fn asked(what: &str) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        let message = format!("delete {what}? There is no terminal to ask on: give --yes");
        return Err(CliError::Usage { message });
    }
    let mut stderr = anstream::stderr();
    let question = zarr_kit::metadata::Printable(format!("delete {what}? [y/N] ")).to_string();
    let asked = write!(stderr, "{question}").and_then(|()| stderr.flush());
    asked.map_err(CliError::Output)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(CliError::Output)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
