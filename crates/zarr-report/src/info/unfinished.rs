//! Interrupted operations at the place of a node.

use zarr_array::store::{Prefix, Store};
use zarr_array::unfinished::{Unfinished, UnfinishedWork};

/// The copy, join or creation that was interrupted at the place of this node, in words; `None` if
/// there is none, or if the store does not tell.
///
/// A node has its document before the marker goes. So the document is the operation's own, or
/// another program has put it since.
#[must_use]
pub fn unfinished(store: &dyn Store, prefix: &Prefix) -> Option<String> {
    let Unfinished { kind, from, work, .. } = Unfinished::at(store, prefix).ok()??;
    if work == UnfinishedWork::Creation {
        return Some(
            "the creation of an array was interrupted here; create it again, in place of this"
                .to_owned(),
        );
    }
    if kind.is_none() {
        return Some(
            "a copy was interrupted here, whose zarr-kit-copy.json says nothing; copy again, in place \
             of this"
                .to_owned(),
        );
    }
    let of = from.map_or_else(String::new, |from| format!(" of {from}"));
    Some(format!(
        "a {work}{of} was interrupted here; the same {work} can be resumed, unless another program has \
         put zarr.json here since"
    ))
}
