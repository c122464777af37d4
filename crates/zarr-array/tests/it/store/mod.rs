mod conformance;
mod fault;
mod key;
