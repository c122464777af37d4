mod conformance;
mod key;
