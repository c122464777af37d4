//! `zarr-kit export`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};

use serde_json::json;
use zarr_kit::Prefix;
use zarr_kit::references::{Exported, export};
use zarr_kit::report::words;

use crate::args::Export;
use crate::error::CliError;
use crate::output::print::done;
use crate::stores::node_store::NodeStore;

pub(crate) fn run(args: &Export) -> Result<(), CliError> {
    let extension = args.output.extension().and_then(|extension| extension.to_str());
    if extension.is_some_and(|extension| ["parq", "parquet"].contains(&extension)) {
        return Err(CliError::Input {
            path: args.output.clone(),
            reason: "a table of references is not written, only JSON: choose a name such as \
                     year.json"
                .to_owned(),
        });
    }
    let place = NodeStore::open(&args.path)?;
    // An error if there is no node.
    place.node()?;
    let Exported { json, chunks, .. } =
        export(&**place.store, &Prefix::root()).map_err(|cause| place.failed(cause))?;
    let path = &args.output;
    let failed = |cause: io::Error| match cause.kind() {
        io::ErrorKind::AlreadyExists => CliError::Input {
            path: path.clone(),
            reason: "there is something here already; remove it, or choose another name".to_owned(),
        },
        _ => CliError::File { path: path.clone(), cause },
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    if let Err(cause) = writeln!(file, "{json}") {
        // A part of the references must not stay, nor be in the way of the next try. If it cannot
        // be removed, the error that led here is reported.
        let _left = fs::remove_file(path);
        return Err(failed(cause));
    }
    let (from, shown) = (&place.shown, path.display());
    let message = format!("{shown}: references to {} of {from}", words::counted(chunks, "chunk"));
    done(
        args.json,
        message,
        || json!({"references": shown.to_string(), "of": from, "chunks": chunks}),
    )
}
