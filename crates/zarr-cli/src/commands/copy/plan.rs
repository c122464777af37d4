//! `copy --dry-run`, and the note of a copy before it reads its source many times.

use serde_json::{Value, json};
use zarr_kit::Prefix;
use zarr_kit::copy::{CopyPlan, Route, Why};
use zarr_kit::report::words;

use crate::error::CliError;
use crate::output::print::{self, Out};

/// Prints the plan of each array.
pub(super) fn print(plans: &[(Prefix, Option<CopyPlan>)], is_json: bool) -> Result<(), CliError> {
    if is_json {
        let arrays: Vec<Value> =
            plans.iter().map(|(at, plan)| document(at, plan.as_ref())).collect();
        return print::json(&json!({ "arrays": arrays }));
    }
    let mut out = Out::stdout();
    for (prefix, plan) in plans {
        let name = if prefix.is_root() { String::new() } else { format!("{prefix}: ") };
        match plan {
            None => out.line(format_args!("{name}copied object by object, as it is"))?,
            Some(plan) => out.line(format_args!("{name}{}", sentence(plan)))?,
        }
    }
    out.finish()
}

fn sentence(plan: &CopyPlan) -> String {
    let size = |bytes: u64| words::bytes(bytes.into());
    let head = format!(
        "{} in {}, {} of memory",
        size(plan.bytes),
        words::counted(plan.tasks, "task"),
        size(plan.memory)
    );
    // Where the codecs find each element, these are counted, and none is read again.
    let reads = |plan: &CopyPlan| match plan.reads == plan.chunks {
        true => "the source is read once".to_owned(),
        false => format!(
            "{} of {} of the source: each {}",
            words::counted(plan.reads, "read"),
            words::counted(plan.chunks, "chunk"),
            times(plan.times())
        ),
    };
    match plan.route {
        Route::Moved => format!("{head}; chunks move as they are stored"),
        Route::Sparse => format!("{head}; only stored chunks are read"),
        Route::Intermediate { bytes, chunks } => format!(
            "{head}; {}; by way of an intermediate of {} in {}",
            reads(plan),
            size(bytes),
            words::counted(chunks, "chunk")
        ),
        route => match warning(route, plan.times()) {
            Some(said) => format!("{head}; {}; {said}", reads(plan)),
            None => format!("{head}; {}", reads(plan)),
        },
    }
}

fn times(times: u64) -> String {
    if times == 1 { "once".to_owned() } else { format!("{} times", words::count(times)) }
}

/// The note before a copy that reads its source many times.
pub(super) fn warning(route: Route, read: u64) -> Option<String> {
    let Route::Repeated(why) = route else { return None };
    let advice = match why {
        Why::Room { .. } => "give --intermediate with another place, or more --memory",
        Why::Archive => "give --intermediate, or more --memory",
        Why::Part => "give more --memory, or copy the whole",
        _ => "give more --memory",
    };
    let why = match why {
        Why::Room { needed, free } => format!(
            "an intermediate needs {}, and {} are free",
            words::bytes(needed.into()),
            words::bytes(free.into())
        ),
        why => why.to_string(),
    };
    Some(format!("chunks of the source are read {}, since {why}: {advice}", times(read)))
}

fn document(prefix: &Prefix, plan: Option<&CopyPlan>) -> Value {
    let Some(plan) = plan else {
        return json!({"array": prefix.as_str(), "route": "objects"});
    };
    let (bytes, chunks) = plan.route.intermediate().unzip();
    json!({
        "array": prefix.as_str(), "route": plan.route.name(), "bytes": plan.bytes,
        "source_chunks": plan.chunks, "reads": plan.reads, "tasks": plan.tasks, "memory": plan.memory,
        "intermediate_bytes": bytes, "intermediate_chunks": chunks,
        "why": warning(plan.route, plan.times()),
    })
}
