//! The object that tells an unfinished copy.

use std::fmt::Write;
use std::sync::Arc;

use super::CopyOptions;
use super::error::TransferError;
use crate::node::{self, METADATA_KEY};
use crate::store::{Key, Prefix, Store};

/// The object beside a target's `zarr.json` while a copy into it is not finished.
pub const MARKER: &str = "zarr-kit-copy.json";

/// What a target was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing, or what may be replaced and is gone now. The marker has been put.
    Fresh,
    /// This copy, interrupted.
    Interrupted,
    /// This copy, finished.
    Finished,
}

/// A copy's marker at its target.
pub(super) struct Marker<'a> {
    store: &'a Arc<dyn Store>,
    key: Key,
    text: String,
}

impl<'a> Marker<'a> {
    /// Looks at the target and puts the marker where there is nothing.
    ///
    /// `from` and `to` are the documents of source and target.
    pub(super) fn begin(
        store: &'a Arc<dyn Store>,
        prefix: &Prefix,
        from: &str,
        to: &str,
        options: &CopyOptions,
    ) -> Result<(Self, Found), TransferError> {
        let key = prefix.key(MARKER)?;
        let document = prefix.key(METADATA_KEY)?;
        let marker = Self { store, key, text: text(from, to) };
        let found = store.get(&marker.key)?;
        let existing = store.get(&document)?;
        if found.is_none() && existing.is_none() || options.overwrite && !options.resume {
            if existing.is_some() || found.is_some() {
                store.delete_prefix(prefix)?;
            }
            store.put(&marker.key, marker.text.as_bytes())?;
            return Ok((marker, Found::Fresh));
        }
        let path = || node::display(prefix);
        if !options.resume {
            return Err(TransferError::Exists { path: path() });
        }
        match (found, existing) {
            (Some(found), _) if found == marker.text.as_bytes() => Ok((marker, Found::Interrupted)),
            (None, Some(existing)) if existing == to.as_bytes() => Ok((marker, Found::Finished)),
            _ => Err(TransferError::OtherCopy { path: path() }),
        }
    }

    /// The copy is finished.
    pub(super) fn remove(self) -> Result<(), TransferError> {
        Ok(self.store.delete(&self.key)?)
    }
}

/// Both documents by their hash: the same in every process and version.
fn text(from: &str, to: &str) -> String {
    let mut text = String::new();
    let _infallible = writeln!(
        text,
        "{{\"unfinished copy\": {{\"source\": \"{:016x}\", \"target\": \"{:016x}\"}}}}",
        fnv1a(from.as_bytes()),
        fnv1a(to.as_bytes())
    );
    text
}

/// FNV-1a.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
