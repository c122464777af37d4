//! The arguments of advice on codecs, chunks and shards.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_kit::report::ReportError;
use zarr_kit::report::advise::{Advice, AdviceOptions, Goal, read_lengths};
use zarr_kit::{Array, Selection};

/// A read: as text, or the length on each axis.
#[derive(FromPyObject)]
pub(crate) enum Read {
    Text(String),
    Lengths(Vec<u64>),
}

/// The goal, the bytes of the sample, the store's bytes per second, the reads, the seconds of a request,
/// and the most bytes of a chunk or shard.
pub(crate) type Asked = (String, u64, u64, Vec<Read>, Option<f64>, u64);

pub(crate) fn options((goal, sample, rate, _, latency, memory): &Asked) -> PyResult<AdviceOptions> {
    let goal = match goal.as_str() {
        "both" => Goal::Both,
        "read" => Goal::Read,
        "write" => Goal::Write,
        "size" => Goal::Size,
        other => {
            let text = format!("goal is {other:?}; 'both', 'read', 'write' or 'size' is allowed");
            return Err(PyValueError::new_err(text));
        }
    };
    let options = AdviceOptions::new().goal(goal).sample(*sample).rate(*rate).memory(*memory);
    let Some(seconds) = latency else { return Ok(options) };
    let time = Duration::try_from_secs_f64(*seconds)
        .map_err(|cause| PyValueError::new_err(format!("latency is {seconds} seconds: {cause}")))?;
    Ok(options.latency(time))
}

/// The document of `zarr-kit advise --json`.
pub(crate) fn advised(
    array: &Array,
    selection: &Selection,
    options: AdviceOptions,
    (_, _, _, reads, ..): &Asked,
    title: &str,
) -> Result<String, ReportError> {
    let options = reads.iter().try_fold(options, |options, read| {
        Ok::<_, ReportError>(options.read(match read {
            Read::Text(text) => read_lengths(text, array.metadata())?,
            Read::Lengths(lengths) => lengths.clone(),
        }))
    })?;
    let advice = Advice::of(array, selection, &options, &mut |_done, _all| {})?;
    Ok(advice.json(title).to_string())
}
