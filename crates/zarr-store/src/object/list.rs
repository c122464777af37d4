//! Listing, one page at a time.

use std::iter;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, Fuse};
use futures_util::{StreamExt, TryStreamExt as _};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{Error, ListResult, ObjectMeta};

use super::client::{Client, children, describe};
use super::folder_marker::is_folder_marker;
use super::pages::Course;
use super::retry::Cause;
use crate::processes::runtime;
use crate::{DirEntry, Key, Listing, Operation, Prefix, StoreError};

/// Keys that are taken from a stream at a time: as many as S3 sends per page.
const BATCH: usize = 1000;

type Objects = Fuse<BoxStream<'static, Result<ObjectMeta, Error>>>;

pub(super) fn list(client: Client, prefix: Prefix) -> Listing<'static, Key> {
    let base = client.base.clone();
    let key_of = move |meta: &ObjectMeta| key_of(&base, &meta.location);
    all(client, prefix, key_of)
}

/// As [`list`], with the server's description of each object.
pub(super) fn list_described(
    client: Client,
    prefix: Prefix,
) -> Listing<'static, (Key, crate::ObjectMeta)> {
    let base = client.base.clone();
    all(client, prefix, move |meta| Some((key_of(&base, &meta.location)?, describe(meta))))
}

/// The names of objects below a prefix that are no keys.
pub(super) fn without_key(client: Client, prefix: Prefix) -> Listing<'static, String> {
    let base = client.base.clone();
    let name_of = move |meta: &ObjectMeta| {
        let name = below(&base, &meta.location).filter(|name| !name.is_empty())?;
        Key::new(name).is_err().then(|| name.to_owned())
    };
    all(client, prefix, name_of)
}

/// The result of `of` for every object below a prefix.
fn all<T: Send + 'static>(
    client: Client,
    prefix: Prefix,
    of: impl Fn(&ObjectMeta) -> Option<T> + Send + 'static,
) -> Listing<'static, T> {
    let of = move |objects: Vec<ObjectMeta>| -> Vec<T> {
        let objects = objects.iter().filter(|meta| !is_folder_marker(&meta.location));
        objects.filter_map(&of).collect()
    };
    match client.pages.clone() {
        Some(pages) => {
            let pages = in_pages(client, pages, prefix, None);
            one_by_one(pages.map(move |page| page.map(|page| of(page.objects))))
        }
        None => one_by_one(in_batches(client, prefix).map(move |page| page.map(&of))),
    }
}

pub(super) fn list_dir(client: Client, prefix: Prefix) -> Listing<'static, DirEntry> {
    let base = client.base.clone();
    let entries = move |page: ListResult| -> Vec<DirEntry> {
        let prefixes = page.common_prefixes.iter().filter_map(|path| key_of(&base, path));
        let objects = page.objects.iter().filter_map(|meta| key_of(&base, &meta.location));
        let prefixes = prefixes.map(|key| DirEntry::Prefix(Prefix::from(key)));
        prefixes.chain(objects.map(DirEntry::Object)).collect()
    };
    match client.pages.clone() {
        Some(pages) => {
            let pages = in_pages(client, pages, prefix, Some("/"));
            one_by_one(pages.map(move |page| page.map(&entries)))
        }
        None => {
            let all = iter::once_with(move || all_at_once(client, &prefix));
            one_by_one(all.map(move |page| page.map(&entries)))
        }
    }
}

/// The entries of pages.
fn one_by_one<T: Send + 'static>(
    pages: impl Iterator<Item = Result<Vec<T>, StoreError>> + Send + 'static,
) -> Listing<'static, T> {
    Box::new(pages.flat_map(|page| {
        let (entries, error) = match page {
            Ok(entries) => (entries, None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        entries.into_iter().map(Ok).chain(error)
    }))
}

/// Each page is requested when the previous one has been used up, so memory holds one page, and the
/// tokens of the pages before it. If the response of a page is lost, the page is requested again, by
/// the same token.
fn in_pages(
    client: Client,
    pages: Arc<dyn PaginatedListStore>,
    prefix: Prefix,
    delimiter: Option<&'static str>,
) -> impl Iterator<Item = Result<ListResult, StoreError>> {
    let mut next = Some(Course::default());
    iter::from_fn(move || {
        let course = next.take()?;
        let page = page(&client, &pages, &prefix, delimiter, course);
        Some(page.map(|(page, rest)| {
            next = rest;
            page
        }))
    })
}

fn page(
    client: &Client,
    pages: &Arc<dyn PaginatedListStore>,
    prefix: &Prefix,
    delimiter: Option<&'static str>,
    course: Course,
) -> Result<(ListResult, Option<Course>), StoreError> {
    let path = client.path(Operation::List, prefix.as_str())?;
    let (client, pages, name) = (client.clone(), Arc::clone(pages), prefix.to_string());
    runtime::wait(Operation::List, prefix.as_str(), async move {
        let _permit = client.permit().await;
        let page = client.page(&*pages, &name, &path, delimiter, course);
        page.await.map_err(|error| client.failed(Operation::List, &name, error))
    })
}

impl Client {
    /// One page of a listing, and the rest.
    async fn page(
        &self,
        pages: &dyn PaginatedListStore,
        name: &str,
        path: &Path,
        delimiter: Option<&'static str>,
        course: Course,
    ) -> Result<(ListResult, Option<Course>), Error> {
        let start = (!path.is_root()).then(|| format!("{path}/"));
        let asked = self.retrying(Cause::of, || {
            let options = PaginatedListOptions {
                delimiter: delimiter.map(Into::into),
                page_token: course.token(),
                ..PaginatedListOptions::default()
            };
            let page = pages.list_paginated(start.as_deref(), options);
            self.answer(Operation::List, name, page)
        });
        let page = asked.await?;
        let rest = course.after(&page)?;
        Ok((page.result, rest))
    }

    /// All objects below a path, page by page.
    pub(super) fn paged_objects(
        &self,
        pages: Arc<dyn PaginatedListStore>,
        path: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta, Error>> {
        let (client, path) = (self.clone(), path.clone());
        let all = stream::try_unfold(Some(Course::default()), move |course| {
            let (client, pages, path) = (client.clone(), Arc::clone(&pages), path.clone());
            async move {
                let Some(course) = course else { return Ok::<_, Error>(None) };
                let (page, rest) = client.page(&*pages, path.as_ref(), &path, None, course).await?;
                Ok(Some((stream::iter(page.objects.into_iter().map(Ok)), rest)))
            }
        });
        all.try_flatten().boxed()
    }
}

/// For backends that have no pages. If an answer is lost, the listing begins again as long as no
/// batch has come of it.
fn in_batches(
    client: Client,
    prefix: Prefix,
) -> impl Iterator<Item = Result<Vec<ObjectMeta>, StoreError>> {
    // The rest of the stream, which is not there yet for the first batch; `None` at the end.
    let mut next = Some(None);
    iter::from_fn(move || {
        let stream = next.take()?;
        match batch(&client, &prefix, stream) {
            Ok((_, batch)) if batch.is_empty() => None,
            Ok((rest, batch)) => {
                next = Some(Some(rest));
                Some(Ok(batch))
            }
            Err(error) => Some(Err(error)),
        }
    })
}

fn batch(
    client: &Client,
    prefix: &Prefix,
    stream: Option<Objects>,
) -> Result<(Objects, Vec<ObjectMeta>), StoreError> {
    let path = client.path(Operation::List, prefix.as_str())?;
    let (client, name) = (client.clone(), prefix.to_string());
    runtime::wait(Operation::List, prefix.as_str(), async move {
        let _permit = client.permit().await;
        let batch = match stream {
            Some(stream) => next_batch(&client, &name, stream).await,
            None => {
                let begin = || {
                    // A batch may end where the stream does: the next one asks again.
                    let stream = client.objects(&path).fuse();
                    next_batch(&client, &name, stream)
                };
                client.retrying(Cause::of, begin).await
            }
        };
        batch.map_err(|error| client.failed(Operation::List, &name, error))
    })
}

async fn next_batch(
    client: &Client,
    name: &str,
    mut stream: Objects,
) -> Result<(Objects, Vec<ObjectMeta>), Error> {
    let mut batch = Vec::new();
    while batch.len() < BATCH {
        match client.answer(Operation::List, name, stream.next()).await {
            Some(meta) => batch.push(meta?),
            None => break,
        }
    }
    Ok((stream, batch))
}

/// The direct children of a prefix, from backends without pages.
fn all_at_once(client: Client, prefix: &Prefix) -> Result<ListResult, StoreError> {
    let path = client.path(Operation::List, prefix.as_str())?;
    let name = prefix.to_string();
    runtime::wait(Operation::List, prefix.as_str(), async move {
        let _permit = client.permit().await;
        let all = client.retrying(Cause::of, || {
            let all = children(&*client.backend, &path);
            client.answer(Operation::List, &name, all)
        });
        all.await.map_err(|error| client.failed(Operation::List, &name, error))
    })
}

/// The key of an object's path; `None` for a path that lies outside the store or cannot be a key,
/// such as that of an object whose name ends in "/".
pub(super) fn key_of(base: &Path, path: &Path) -> Option<Key> {
    Key::new(below(base, path)?).ok()
}

/// The name of an object in the store; `None` for an object outside.
fn below<'p>(base: &Path, path: &'p Path) -> Option<&'p str> {
    Some(path.as_ref().strip_prefix(base.as_ref())?.trim_start_matches('/'))
}
