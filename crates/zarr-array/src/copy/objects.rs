//! Objects as they are.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::error::{TransferError, source};
use super::marker::{Found, Marker};
use super::{CopyOptions, CopySummary, Progress};
use crate::node::METADATA_KEY;
use crate::store::{Key, Prefix, Store};

/// Copies every object of an array, its document last.
///
/// Objects of an interrupted copy are there if they are as long as the source's: a put is whole or
/// not at all.
pub(super) fn copy_objects(
    from: (&Arc<dyn Store>, &Prefix),
    to: (&Arc<dyn Store>, &Prefix),
    document: &str,
    options: &CopyOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<CopySummary, TransferError> {
    let mut summary = CopySummary { arrays: 1, ..CopySummary::default() };
    let (marker, found) = Marker::begin(to.0, to.1, document, document, options)?;
    if found == Found::Finished {
        return Ok(summary);
    }
    progress(Progress::default());
    let mut result = Ok(());
    let mut buffer = Vec::new();
    let mut one = |key: &Key| -> Result<(), TransferError> {
        let name = from.1.strip(key).unwrap_or_default();
        if name == METADATA_KEY {
            return Ok(());
        }
        let Some(meta) = from.0.head(key).map_err(source)? else { return Ok(()) };
        let target = to.1.key(name)?;
        if found == Found::Interrupted && to.0.size(&target)? == Some(meta.size) {
            summary.skipped = summary.skipped.saturating_add(1);
        } else {
            if meta.size > options.memory {
                let (size, limit) = (meta.size, options.memory);
                return Err(TransferError::Object { key: key.to_string(), size, limit });
            }
            if !from.0.get_into(key, &mut buffer).map_err(source)? {
                return Ok(());
            }
            to.0.put(&target, &buffer)?;
            summary.tasks = summary.tasks.saturating_add(1);
        }
        summary.bytes = summary.bytes.saturating_add(meta.size);
        progress(Progress { done: summary.bytes, total: None });
        Ok(())
    };
    from.0
        .list(from.1, &mut |key| match one(&key) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                result = Err(error);
                ControlFlow::Break(())
            }
        })
        .map_err(source)?;
    result?;
    to.0.put(&to.1.key(METADATA_KEY)?, document.as_bytes())?;
    marker.remove()?;
    Ok(summary)
}
