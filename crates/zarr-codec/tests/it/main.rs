//! Behaviour of the crate as its users see it.

// Clippy recognises helper functions as test code only by this attribute.
#[cfg(test)]
mod chains;
#[cfg(test)]
mod compressors;
mod convert;
#[cfg(test)]
mod edges;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod locate;
#[cfg(test)]
mod loss;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod optional;
#[cfg(test)]
mod others;
#[cfg(test)]
mod pcodec;
#[cfg(test)]
mod reader;
mod records;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod shards;
mod small_floats;
#[cfg(test)]
mod support;
#[cfg(test)]
mod value_loss;
#[cfg(test)]
mod values;
#[cfg(test)]
mod variable;
#[cfg(test)]
mod windows;
#[cfg(test)]
mod written_once;
mod zfp;
