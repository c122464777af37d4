//! Tests of orders of threads: see `tests/it`.
