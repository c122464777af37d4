//! The command as its users meet it: arguments in, output and exit status out.

// Clippy knows helper functions as test code by this attribute alone.
#[cfg(test)]
mod create;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod info;
#[cfg(test)]
mod read;
#[cfg(test)]
mod support;
#[cfg(test)]
mod write;
