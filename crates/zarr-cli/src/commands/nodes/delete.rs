//! `zarr-kit delete`.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use serde_json::json;
use zarr_kit::Prefix;
use zarr_kit::array::store::{Links, Store};
use zarr_kit::array::{ArrayError, delete_node, open_node};
use zarr_kit::copy;
use zarr_kit::report::words;

use crate::args::Delete;
use crate::error::CliError;
use crate::output::print::{done, note};
use crate::stores::node_store::{Around, NodeStore};

pub(crate) fn run(args: &Delete) -> Result<(), CliError> {
    let place = NodeStore::open(&args.path)?;
    let failed = |cause: ArrayError| place.failed(cause);
    // Never a folder that is not a node: it may be anything. An invalid document, and the remains of an
    // unfinished copy, can be deleted.
    let is_node = ["zarr.json", copy::MARKER].into_iter().map(|name| {
        let key = Prefix::root().key(name).map_err(ArrayError::from)?;
        Ok::<_, ArrayError>(place.store.head(&key)?.is_some())
    });
    let is_node = is_node.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    if !is_node.contains(&true) {
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
    match place.around()? {
        Some(Around { top, prefix }) => {
            delete_node(&top.store, &prefix).map_err(failed)?;
            top.finish()?;
        }
        None => {
            delete_node(&place.store, &Prefix::root()).map_err(failed)?;
            // A folder that is not empty contains files that are not objects.
            if let Some(folder) = &place.folder {
                let _stays = fs::remove_dir(folder);
            }
        }
    }
    done(
        args.json,
        format_args!("deleted {what}"),
        || json!({"path": place.shown, "nodes": found.nodes, "objects": found.objects}),
    )
}

/// What a hierarchy has.
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
        let message = format!("delete {what}? There is nobody to ask: give --yes");
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
