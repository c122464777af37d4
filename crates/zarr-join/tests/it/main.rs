//! Tests of joins.

mod members;
