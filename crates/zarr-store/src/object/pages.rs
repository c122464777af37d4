//! The course of a listing in pages.

use std::collections::HashSet;

use object_store::Error;
use object_store::list::PaginatedListResult;
use object_store::path::Path;

/// A listing that says what a whole one does not.
#[derive(Debug, thiserror::Error)]
#[error("the server's listing {0}")]
pub(super) struct NotWhole(String);

/// How far a listing has come.
#[derive(Default)]
pub(super) struct Course {
    /// The token of the next page, which the first has none of.
    token: Option<String>,
    /// The tokens and the first objects of the pages before it.
    tokens: HashSet<String>,
    starts: HashSet<Path>,
    /// The objects of the page before it.
    before: HashSet<Path>,
}

impl Course {
    pub(super) fn token(&self) -> Option<String> {
        self.token.clone()
    }

    /// The rest of the listing after a page. An error if the page leads back to an earlier one: the
    /// listing would never end. Or if it repeats a name, which may stand in the place of another.
    pub(super) fn after(mut self, page: &PaginatedListResult) -> Result<Option<Self>, Error> {
        let not_whole =
            |what| Err(Error::Generic { store: "zarr-kit", source: NotWhole(what).into() });
        let objects = page.result.objects.iter().map(|object| &object.location);
        if let Some(first) = objects.clone().next()
            && !self.starts.insert(first.clone())
        {
            let first = first.as_ref();
            return not_whole(format!("leads in a circle: two of its pages begin with {first:?}"));
        }
        let mut names = HashSet::new();
        for name in objects {
            if self.before.contains(name) || !names.insert(name.clone()) {
                return not_whole(format!("has {:?} twice", name.as_ref()));
            }
        }
        self.before = names;
        let Some(token) = page.page_token.as_ref().filter(|token| !token.is_empty()) else {
            return Ok(None);
        };
        if !self.tokens.insert(token.clone()) {
            let what = "leads in a circle: a page leads to one that was already read";
            return not_whole(what.to_owned());
        }
        self.token = Some(token.clone());
        Ok(Some(self))
    }
}
