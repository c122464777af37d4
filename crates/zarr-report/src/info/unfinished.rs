//! Interrupted operations at the place of a node.

use std::fmt;

use zarr_array::store::{Prefix, Store};
use zarr_array::unfinished::{Unfinished, UnfinishedWork};

/// A copy, join or creation that was interrupted, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupted {
    text: String,
    work: UnfinishedWork,
    is_resumable: bool,
}

impl Interrupted {
    /// The operation.
    #[must_use]
    pub fn work(&self) -> UnfinishedWork {
        self.work
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The same, in the words that a program has for it.
    pub(super) fn in_words(self, words: impl FnOnce(&Self) -> String) -> Self {
        Self { text: words(&self), ..self }
    }

    /// Whether the operation can be resumed. Others start again.
    #[must_use]
    pub fn is_resumable(&self) -> bool {
        self.is_resumable
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The copy, join or creation that was interrupted at the place of this node; `None` if there is
/// none, or if the store does not tell.
///
/// A node has its document before the marker goes. So the document is the operation's own, or
/// another program has put it since.
///
/// # Examples
/// ```
/// use zarr_array::store::{MemoryStore, Prefix};
/// use zarr_report::info::unfinished;
///
/// assert_eq!(unfinished(&MemoryStore::new(), &Prefix::root()), None);
/// ```
#[must_use]
pub fn unfinished(store: &dyn Store, prefix: &Prefix) -> Option<Interrupted> {
    let Unfinished { kind, from, work, .. } = Unfinished::at(store, prefix).ok()??;
    let (text, is_resumable) = if work == UnfinishedWork::Creation {
        let text =
            "the creation of an array was interrupted here; create it again, in place of this";
        (text.to_owned(), false)
    } else if kind.is_none() {
        let text = "a copy was interrupted here, whose zarr-kit-copy.json says nothing; copy again, in \
                    place of this";
        (text.to_owned(), false)
    } else {
        let of = from.map_or_else(String::new, |from| format!(" of {from}"));
        let text = format!(
            "a {work}{of} was interrupted here; the same {work} can be resumed, unless another \
             program has put zarr.json here since"
        );
        (text, true)
    };
    Some(Interrupted { text, work, is_resumable })
}
