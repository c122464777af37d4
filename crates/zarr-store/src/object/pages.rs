//! The course of a listing in pages.

use std::collections::HashSet;

use object_store::Error;
use object_store::list::PaginatedListResult;
use object_store::path::Path;

/// A page of a listing led back to an earlier one.
#[derive(Debug, thiserror::Error)]
#[error("the server's listing leads in a circle: {0}")]
pub(super) struct Circle(String);

/// How far a listing has come.
#[derive(Default)]
pub(super) struct Course {
    /// The token of the next page, which the first has none of.
    token: Option<String>,
    /// The tokens and the first objects of the pages before it.
    tokens: HashSet<String>,
    starts: HashSet<Path>,
}

impl Course {
    pub(super) fn token(&self) -> Option<String> {
        self.token.clone()
    }

    /// The rest of the listing after a page. An error if the page leads back to an earlier one: the
    /// listing would never end.
    pub(super) fn after(mut self, page: &PaginatedListResult) -> Result<Option<Self>, Error> {
        let again = |what| Err(Error::Generic { store: "zarr-kit", source: Circle(what).into() });
        if let Some(first) = page.result.objects.first()
            && !self.starts.insert(first.location.clone())
        {
            return again(format!("two of its pages begin with {:?}", first.location.as_ref()));
        }
        let Some(token) = page.page_token.as_ref().filter(|token| !token.is_empty()) else {
            return Ok(None);
        };
        if !self.tokens.insert(token.clone()) {
            return again("a page leads to one that was already read".to_owned());
        }
        self.token = Some(token.clone());
        Ok(Some(self))
    }
}
