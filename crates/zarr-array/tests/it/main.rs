//! Behaviour of the crate as its users see it.

// Clippy recognises helper functions as test code only by this attribute.
mod around;
#[cfg(all(test, feature = "async"))]
mod asynchronous;
#[cfg(test)]
mod cache;
mod consolidate;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod elements;
mod empty;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod loss;
#[cfg(test)]
mod members;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod optional;
#[cfg(test)]
mod others;
#[cfg(test)]
mod partial;
#[cfg(test)]
mod points;
#[cfg(test)]
mod regions;
#[cfg(test)]
mod resize;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod seattle;
#[cfg(test)]
mod selection;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod store;
#[cfg(feature = "jiff")]
#[cfg(test)]
mod times;
#[cfg(test)]
mod typed;
#[cfg(test)]
mod variable;
#[cfg(test)]
mod workload;
