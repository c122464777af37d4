//! `zarr-kit check`.

use std::process::ExitCode;

use serde_json::json;
use zarr_kit::Prefix;
use zarr_kit::array::check::{self, CheckOptions, Finding, Severity};
use zarr_kit::array::store::LocalStore;

use crate::args::Check;
use crate::error::CliError;
use crate::place::Place;
use crate::print::{Out, note};
use crate::words;

/// `check` found something.
const FOUND: u8 = 1;

pub(super) fn run(args: &Check) -> Result<ExitCode, CliError> {
    let place = Place::open(&args.path)?;
    let mut out = Out::stdout();
    let mut failed = None;
    let mut found: Vec<Finding> = Vec::new();
    let mut any = false;
    let options = CheckOptions::default().with_data(args.data);
    let mut report = |finding: Finding| {
        any = true;
        if args.json {
            found.push(finding);
        } else if failed.is_none() {
            failed = line(&mut out, &finding).err();
        }
    };
    let summary = check::check(&place.store, &Prefix::root(), &options, &mut report);
    let mut summary = summary.map_err(|source| place.failed(source))?;
    if let Some(folder) = &place.folder {
        let store = LocalStore::open(folder)?;
        let mut more = 0;
        check::leftovers(&store, &mut |finding| {
            more += 1;
            report(finding);
        })
        .map_err(|source| place.failed(source))?;
        summary.warnings += more;
    }
    if let Some(error) = failed {
        return Err(error);
    }
    if args.json {
        let findings: Vec<_> = found
            .iter()
            .map(|finding| {
                json!({
                    "id": finding.id, "severity": finding.severity.to_string(),
                    "key": finding.key, "path": finding.path, "message": finding.message,
                    "help": format!("docs/check.md#{}", finding.id),
                })
            })
            .collect();
        out.json(&json!({
            "findings": findings,
            "groups": summary.groups, "arrays": summary.arrays, "chunks": summary.chunks,
            "bytes_read": summary.bytes, "errors": summary.errors, "warnings": summary.warnings,
        }))?;
    }
    out.finish()?;
    if !args.json {
        let read = match args.data {
            true => format!(" ({} read)", words::bytes(summary.bytes.into())),
            false => String::new(),
        };
        note(format_args!(
            "checked {}, {}, {}{read}: {}, {}",
            words::counted(summary.groups, "group"),
            words::counted(summary.arrays, "array"),
            words::counted(summary.chunks, "stored chunk"),
            words::counted(summary.errors, "error"),
            words::counted(summary.warnings, "warning"),
        ));
    }
    Ok(if any { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
}

fn line(out: &mut Out, finding: &Finding) -> Result<(), CliError> {
    use anstyle::AnsiColor;
    if !out.color() {
        return out.line(finding);
    }
    let style = match finding.severity {
        Severity::Error => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
    };
    let text = finding.to_string();
    let name = finding.severity.to_string();
    let rest = text.strip_prefix(&name).unwrap_or(&text);
    out.line(format_args!("{style}{name}{style:#}{rest}"))
}
