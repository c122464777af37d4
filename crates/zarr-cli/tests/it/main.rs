//! The command from outside: arguments in, output and exit status out.

// Clippy recognises helper functions as test code only by this attribute.
#[cfg(test)]
mod advise;
#[cfg(test)]
mod array_files;
#[cfg(all(test, unix))]
mod book;
#[cfg(test)]
mod check;
#[cfg(test)]
mod conformance;
mod content;
#[cfg(test)]
mod copy;
#[cfg(test)]
mod copy_interrupted;
mod copy_plan;
#[cfg(test)]
mod create;
#[cfg(test)]
mod draw;
#[cfg(test)]
mod errors;
#[cfg(all(test, unix))]
mod faces;
#[cfg(test)]
mod groups;
mod help;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod info;
mod input;
#[cfg(all(test, target_os = "linux"))]
mod interrupted;
#[cfg(all(test, unix))]
mod join;
mod label_ranges;
mod labels;
#[cfg(all(test, unix))]
mod links;
#[cfg(test)]
mod locate;
#[cfg(all(test, target_os = "linux"))]
mod locks;
#[cfg(test)]
mod other_files;
mod parts;
#[cfg(test)]
mod read;
#[cfg(test)]
mod rearrange;
#[cfg(test)]
mod references;
#[cfg(test)]
mod releases;
#[cfg(all(test, feature = "remote"))]
mod remote;
#[cfg(all(test, feature = "remote"))]
mod requests;
#[cfg(test)]
mod resize;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod secrets;
mod sparse;
#[cfg(test)]
mod strings;
#[cfg(test)]
mod support;
#[cfg(all(test, feature = "remote"))]
mod trust;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod types;
#[cfg(test)]
mod version_2;
#[cfg(all(test, unix))]
mod virtual_joins;
#[cfg(test)]
mod write;
#[cfg(test)]
mod writers;
#[cfg(test)]
mod zip;
