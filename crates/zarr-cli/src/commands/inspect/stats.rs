//! `zarr-kit stats`.

use std::fs;
use std::path::Path;

use zarr_kit::report::stats::Stats as Statistics;

use crate::args::Stats;
use crate::commands::elements::write::bytes_of;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::notation::region::region;
use crate::output::print::{self, Out, print_table};
use crate::output::progress::Bar;
use crate::stores::node_store::NodeStore;

/// The most bytes of a file of a part: it has a few thousand.
const LONGEST: u64 = 1 << 20;

/// The message when statistics are interrupted.
fn interrupted(said: Option<String>) -> String {
    let said = said.unwrap_or_else(|| "none".to_owned());
    format!("interrupted; {said} of the elements were read; --part divides the work")
}

pub(crate) fn run(args: &Stats) -> Result<(), CliError> {
    let place = NodeStore::open(&args.array)?;
    let array = place.array()?;
    let failed = |cause| place.not_reported(cause);
    let mut stats = Statistics::new(array.metadata()).map_err(failed)?;
    let region = region(&place, array.metadata(), args.region.as_deref())?;
    if args.combine.is_empty() {
        let regions = match args.part {
            Some(part) => part.regions(&array).map_err(|cause| place.failed(cause))?,
            None => vec![region],
        };
        let bar = Bar::new();
        let _interrupt = Interrupt::saying(interrupted, &bar);
        let total = regions.iter().try_fold(0_u64, |total, region| {
            total.checked_add(bytes_of(region, array.element_size())?)
        });
        for region in &regions {
            stats
                .add(&array, region, &mut |done| bar.bytes("reading", done, total))
                .map_err(failed)?;
        }
    } else {
        let read = |path: &std::path::PathBuf| Ok((path.display().to_string(), document(path)?));
        let documents = args.combine.iter().map(read).collect::<Result<Vec<_>, CliError>>()?;
        // Without --region, which --combine excludes.
        stats.combine(&documents, region.elements().unwrap_or(u64::MAX)).map_err(failed)?;
    }
    if args.json {
        let mut document = stats.json(&place.shown).map_err(failed)?;
        if let (Some(part), Some(members)) = (args.part, document.as_object_mut()) {
            members.insert("partial".to_owned(), stats.part_json(part));
        }
        return print::json(&document);
    }
    let mut out = Out::stdout();
    print_table(&stats.table().map_err(failed)?, &mut out)?;
    let bars = stats.histogram(print::columns()).map_err(failed)?;
    if !bars.is_empty() {
        out.line("")?;
    }
    for bar in bars {
        out.line(bar)?;
    }
    out.finish()
}

/// The document of a part, as `stats --part --json` wrote it.
fn document(path: &Path) -> Result<String, CliError> {
    let failed = |cause| CliError::File { path: path.to_owned(), cause };
    if fs::metadata(path).map_err(failed)?.len() > LONGEST {
        let reason = "too long for the output of `stats --part --json`".to_owned();
        return Err(CliError::Input { path: path.to_owned(), reason });
    }
    Ok(String::from_utf8_lossy(&fs::read(path).map_err(failed)?).into_owned())
}
