//! Views made from one other view: axes change, elements do not.

mod expand;
mod flip;
mod pad;
mod permute;
mod shrink;
mod slice;
mod split;
