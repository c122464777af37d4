//! The standard library, with shuttle's threads, locks and atomic numbers.

pub(crate) use ::std::*;

pub(crate) mod sync {
    pub(crate) use shuttle::sync::*;

    use super::once;
    pub(crate) use once::{LazyLock, OnceLock};
}

pub(crate) mod thread {
    pub(crate) use ::std::thread::available_parallelism;
    pub(crate) use shuttle::thread::*;
}

pub(crate) mod process {
    use ::std::cell::Cell;

    shuttle::thread_local! {
        static ID: Cell<u32> = Cell::new(1);
    }

    /// The process that this thread plays: the first one where values are dropped after all threads.
    pub(crate) fn id() -> u32 {
        ID.try_with(Cell::get).unwrap_or(1)
    }

    /// Lets this thread play another process.
    pub(crate) fn play(id: u32) {
        ID.with(|own| own.set(id));
    }
}

mod once {
    use ::std::sync;

    use shuttle::sync::Once;

    /// A value that is made once. Whoever comes while it is made waits.
    #[derive(Debug)]
    pub(crate) struct OnceLock<T> {
        once: Once,
        value: sync::OnceLock<T>,
    }

    impl<T> OnceLock<T> {
        pub(crate) const fn new() -> Self {
            Self { once: Once::new(), value: sync::OnceLock::new() }
        }

        pub(crate) fn get(&self) -> Option<&T> {
            shuttle::thread::yield_now();
            self.value.get()
        }

        pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            self.once.call_once(|| {
                let _first = self.value.set(make());
            });
            self.value.wait()
        }

        pub(crate) fn set(&self, value: T) -> Result<(), T> {
            shuttle::thread::yield_now();
            self.value.set(value)
        }

        pub(crate) fn take(&mut self) -> Option<T> {
            self.value.take()
        }

        pub(crate) fn into_inner(self) -> Option<T> {
            self.value.into_inner()
        }
    }

    pub(crate) use sync::LazyLock;
}
