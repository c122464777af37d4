//! Listing, a page at a time.

use std::ops::ControlFlow;

use futures_util::StreamExt;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{Error, ListResult};

use super::client::{Client, remote};
use crate::runtime;
use crate::{DirEntry, Key, Operation, Prefix, StoreError};

/// Keys that are handed over at a time: as many as S3 sends in a page.
const BATCH: usize = 1000;

pub(super) fn list(
    client: &Client,
    prefix: &Prefix,
    visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let mut page = |found: &[Path]| {
        found.iter().filter_map(|path| key_of(client, path)).try_for_each(&mut *visit)
    };
    match client.pages.clone() {
        Some(pages) => in_pages(client, pages, prefix, None, &mut |found| {
            let paths: Vec<Path> = found.objects.into_iter().map(|meta| meta.location).collect();
            page(&paths)
        }),
        None => in_one_stream(client, prefix, &mut page),
    }
}

/// The next page is asked for when this one has been visited: memory is one page's. A page whose
/// answer is lost is asked for again, by the same token.
fn in_pages(
    client: &Client,
    pages: std::sync::Arc<dyn PaginatedListStore>,
    prefix: &Prefix,
    delimiter: Option<&'static str>,
    visit: &mut dyn FnMut(ListResult) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let path = client.path(Operation::List, prefix.as_str())?;
    let start = (!path.is_root()).then(|| format!("{path}/"));
    let mut token = None;
    loop {
        let (client, pages, start) = (client.clone(), pages.clone(), start.clone());
        let name = prefix.to_string();
        let page = runtime::wait(Operation::List, prefix.as_str(), async move {
            let _permit = client.permit().await;
            let page = client.retrying(|| {
                let options = PaginatedListOptions {
                    delimiter: delimiter.map(Into::into),
                    page_token: token.clone(),
                    ..PaginatedListOptions::default()
                };
                let page = pages.list_paginated(start.as_deref(), options);
                client.answer(Operation::List, &name, page)
            });
            page.await.map_err(|error| remote(Operation::List, &name, error))
        })?;
        if visit(page.result).is_break() || page.page_token.is_none() {
            return Ok(());
        }
        token = page.page_token;
    }
}

/// As a backend lists that tells nothing of pages. If an answer is lost, the listing begins again as
/// long as nothing of it has been visited.
fn in_one_stream(
    client: &Client,
    prefix: &Prefix,
    visit: &mut dyn FnMut(&[Path]) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let path = client.path(Operation::List, prefix.as_str())?;
    let mut stream = None;
    loop {
        let (client, path, name) = (client.clone(), path.clone(), prefix.to_string());
        let (rest, batch) = runtime::wait(Operation::List, prefix.as_str(), async move {
            let _permit = client.permit().await;
            let read = match stream {
                Some(stream) => next_batch(&client, &name, stream).await,
                None => {
                    let begin = || {
                        // A batch may end where the stream does: the next one asks again.
                        let stream = client.backend.list(Some(&path)).fuse();
                        next_batch(&client, &name, stream)
                    };
                    client.retrying(begin).await
                }
            };
            read.map_err(|error| remote(Operation::List, &name, error))
        })?;
        if batch.is_empty() || visit(&batch).is_break() {
            return Ok(());
        }
        stream = Some(rest);
    }
}

async fn next_batch<S>(client: &Client, name: &str, mut stream: S) -> Result<(S, Vec<Path>), Error>
where
    S: futures_util::Stream<Item = Result<object_store::ObjectMeta, Error>> + Unpin,
{
    let mut batch = Vec::new();
    while batch.len() < BATCH {
        match client.answer(Operation::List, name, stream.next()).await {
            Some(meta) => batch.push(meta?.location),
            None => break,
        }
    }
    Ok((stream, batch))
}

pub(super) fn list_dir(
    client: &Client,
    prefix: &Prefix,
    visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let mut page = |found: ListResult| {
        let prefixes = found.common_prefixes.iter().filter_map(|path| key_of(client, path));
        let objects = found.objects.iter().filter_map(|meta| key_of(client, &meta.location));
        prefixes
            .map(|key| DirEntry::Prefix(Prefix::from(key)))
            .chain(objects.map(DirEntry::Object))
            .try_for_each(&mut *visit)
    };
    if let Some(pages) = client.pages.clone() {
        return in_pages(client, pages, prefix, Some("/"), &mut page);
    }
    let path = client.path(Operation::List, prefix.as_str())?;
    let (worker, name) = (client.clone(), prefix.to_string());
    let all = runtime::wait(Operation::List, prefix.as_str(), async move {
        let _permit = worker.permit().await;
        let all = worker.retrying(|| {
            let all = worker.backend.list_with_delimiter(Some(&path));
            worker.answer(Operation::List, &name, all)
        });
        all.await.map_err(|error| remote(Operation::List, &name, error))
    })?;
    let _visited = page(all);
    Ok(())
}

/// The key of an object's path; `None` for what lies outside the store or can be no key, such as
/// the empty object that marks a folder.
fn key_of(client: &Client, path: &Path) -> Option<Key> {
    let below = path.as_ref().strip_prefix(client.base.as_ref())?;
    Key::new(below.trim_start_matches('/')).ok()
}
