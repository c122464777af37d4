//! Listing, a page at a time.

use std::ops::ControlFlow;

use futures_util::StreamExt;
use object_store::list::PaginatedListOptions;
use object_store::path::Path;

use super::client::{Client, remote};
use crate::runtime::Task;
use crate::{DirEntry, Key, Operation, Prefix, StoreError};

/// Keys that are handed over at a time: as many as S3 sends in a page.
const BATCH: usize = 1000;

pub(super) fn list(
    client: &Client,
    prefix: &Prefix,
    visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let path = client.path(Operation::List, prefix.as_str())?;
    // A batch may end where the stream does: the next one asks again.
    let mut stream = client.backend.list(Some(&path)).fuse();
    loop {
        // The next page is asked for when this one has been visited: memory is one page's.
        let requests = client.clone();
        let name = prefix.to_string();
        let task = Task::start(Operation::List, prefix.as_str(), async move {
            let _permit = requests.permit().await;
            let mut batch = Vec::new();
            while batch.len() < BATCH {
                match stream.next().await {
                    Some(Ok(meta)) => batch.push(meta.location),
                    Some(Err(error)) => return Err(remote(Operation::List, name, error)),
                    None => break,
                }
            }
            Ok((stream, batch))
        })?;
        let (rest, batch) = task.wait()?;
        stream = rest;
        if batch.is_empty() {
            return Ok(());
        }
        for key in batch.iter().filter_map(|path| key_of(client, path)) {
            if visit(key).is_break() {
                return Ok(());
            }
        }
    }
}

pub(super) fn list_dir(
    client: &Client,
    prefix: &Prefix,
    visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let path = client.path(Operation::List, prefix.as_str())?;
    let mut token = None;
    loop {
        let worker = client.clone();
        let (path, name) = (path.clone(), prefix.to_string());
        let task = Task::start(Operation::List, prefix.as_str(), async move {
            let _permit = worker.permit().await;
            let fail = |error| remote(Operation::List, name, error);
            let Some(pages) = &worker.pages else {
                let all = worker.backend.list_with_delimiter(Some(&path)).await.map_err(fail)?;
                return Ok((all, None));
            };
            let start = if path.is_root() { String::new() } else { format!("{path}/") };
            let options = PaginatedListOptions {
                delimiter: Some("/".into()),
                page_token: token,
                ..PaginatedListOptions::default()
            };
            let start = (!start.is_empty()).then_some(start.as_str());
            let page = pages.list_paginated(start, options).await.map_err(fail)?;
            Ok((page.result, page.page_token))
        })?;
        let (found, next) = task.wait()?;
        let prefixes = found.common_prefixes.iter().filter_map(|path| key_of(client, path));
        let objects = found.objects.iter().filter_map(|meta| key_of(client, &meta.location));
        let entries = prefixes
            .map(|key| DirEntry::Prefix(Prefix::from(key)))
            .chain(objects.map(DirEntry::Object));
        for entry in entries {
            if visit(entry).is_break() {
                return Ok(());
            }
        }
        if next.is_none() {
            return Ok(());
        }
        token = next;
    }
}

/// The key of an object's path; `None` for what lies outside the store or can be no key, such as
/// the empty object that marks a folder.
fn key_of(client: &Client, path: &Path) -> Option<Key> {
    let below = path.as_ref().strip_prefix(client.base.as_ref())?;
    Key::new(below.trim_start_matches('/')).ok()
}
