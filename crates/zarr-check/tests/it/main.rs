//! Behaviour of the crate as its users see it.

// Clippy recognises helper functions as test code only by this attribute.
#[cfg(test)]
mod check;
#[cfg(test)]
mod check_links;
#[cfg(test)]
mod check_nodes;
#[cfg(test)]
mod check_parts;
#[cfg(test)]
mod check_shards;
mod check_text;
#[cfg(test)]
mod checksums;
#[cfg(test)]
mod documentation;
#[cfg(test)]
mod far;
