//! Orders of threads within a process, by shuttle: for the files of the library through which threads
//! share memory, with the primitives of [`shuttled`] in the place of the standard library's.
//!
//! Each test runs its threads in some thousand orders. Weak memory is not modelled: shuttle makes all
//! atomic operations sequentially consistent.

#![expect(unreachable_pub, reason = "the files of the library are part of crates there")]

mod keys;
mod once;
mod pool;
mod sessions;
mod shuttled;
mod stores;

/// A file of the library, as `build.rs` copies it.
macro_rules! library {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name));
    };
}

// Where the files expect what they use.
pub(crate) use zarr_store::{Key, LockGuard, LockScope, Operation, StoreError};

pub(crate) mod processes {
    #[expect(dead_code, reason = "the tests need a part of the file")]
    pub(crate) mod per_process {
        library!("zarr-store-per_process.rs");
    }
}

pub(crate) mod locks {
    /// Stands for questions whether to give up a wait: nobody does here.
    pub(crate) mod interruption {
        pub(crate) const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

        pub(crate) fn given_up() -> std::io::Error {
            std::io::ErrorKind::Interrupted.into()
        }

        pub(crate) fn is_interrupted() -> bool {
            false
        }
    }

    pub(crate) mod lock_table {
        library!("zarr-store-lock_table.rs");
    }
    pub(crate) mod process_locks {
        library!("zarr-store-process_locks.rs");
    }
}

pub(crate) mod array {
    /// Stands for the function of this name, which is not tested here.
    pub const fn objects() {}

    mod shards;

    pub(crate) mod shard_indices {
        library!("zarr-array-shard_indices.rs");
    }
}

pub(crate) mod store {
    pub(crate) use zarr_store::{Store, Version, is_interrupted};
}

#[expect(dead_code, unused_imports, reason = "the tests need a part of the file")]
pub(crate) mod parallel {
    library!("zarr-array-parallel.rs");
}

#[expect(dead_code, reason = "the tests need a part of the crate")]
pub(crate) mod zipped {
    mod archive {
        library!("zarr-zip-archive.rs");
    }
    mod handle {
        library!("zarr-zip-handle.rs");
    }
    mod read {
        library!("zarr-zip-read.rs");
    }
    mod session {
        library!("zarr-zip-session.rs");
    }
    mod source {
        library!("zarr-zip-source.rs");
    }
    mod store {
        library!("zarr-zip-store.rs");
    }
    mod turn {
        library!("zarr-zip-turn.rs");
    }
    mod write {
        library!("zarr-zip-write.rs");
    }

    pub(crate) use handle::ZipStore;
}

/// The orders that a test tries.
const ORDERS: usize = 2_000;

/// Runs `test` in many orders of its threads, at random and with few switches.
fn in_orders(orders: usize, test: fn()) {
    shuttle::check_random(test, orders);
    shuttle::check_pct(test, orders, 3);
}
