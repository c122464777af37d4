//! Behaviour of the crate as its users see it.

// Clippy knows helper functions as test code by this attribute alone.
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod partial;
#[cfg(test)]
mod regions;
#[cfg(test)]
mod seattle;
#[cfg(test)]
mod store;
