//! How one call of the command line opens stores.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use zarr_kit::OPENERS;
use zarr_kit::array::store::{Durability, Operation, StoreOptions, Waiting};
use zarr_kit::place::PlaceOptions;
use zarr_kit::virtual_join::AllowedMembers;

use crate::args::{Args, Survives};
use crate::output::print;

thread_local! {
    /// Of the call that runs on this thread: a program may make several, one after another or at the
    /// same time.
    static CURRENT: RefCell<Access> = RefCell::default();
}

/// The permissions from the arguments of a call, and the notes that it printed.
#[derive(Clone, Default)]
pub(crate) struct Access {
    /// The timeout for servers that do not answer, if not the library's default.
    timeout: Option<Duration>,
    /// The places to which references may lead.
    targets: Vec<String>,
    /// Whether they are the only ones.
    only_targets: bool,
    /// The most MiB of a document in an archive, if not the library's default.
    documents: Option<NonZeroU32>,
    /// Whether virtual joins may name members outside of their folders.
    outside_members: bool,
    /// Whether local stores follow symbolic links out of their folders.
    outside_links: bool,
    /// The failures that writes to local files survive.
    durability: Survives,
    /// Whether messages other than errors and questions are left out.
    quiet: bool,
    /// The time of the last message about a wait.
    waited: Arc<Mutex<Option<Instant>>>,
    /// Whether the message about a server that does not list was printed.
    told: Arc<AtomicBool>,
}

impl Access {
    pub(crate) fn of(args: &Args) -> Self {
        Self {
            timeout: args.timeout.map(|seconds| Duration::from_secs(seconds.into())),
            targets: args.targets.clone(),
            only_targets: args.only_targets,
            documents: args.documents,
            outside_members: args.outside_members,
            outside_links: args.outside_links,
            durability: args.durability,
            quiet: args.quiet,
            ..Self::default()
        }
    }

    /// Does this work, in which all stores are opened so.
    pub(crate) fn during<T>(self, work: impl FnOnce() -> T) -> T {
        /// Restores the previous access, also if the work panics.
        struct Before(Access);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.replace(std::mem::take(&mut self.0));
            }
        }
        let _before = Before(CURRENT.replace(self));
        work()
    }
}

/// How stores are opened.
pub(crate) fn store_options() -> StoreOptions {
    let Access {
        timeout,
        targets,
        only_targets,
        documents,
        outside_links,
        durability,
        quiet,
        waited,
        ..
    } = CURRENT.with_borrow(Clone::clone);
    let options = StoreOptions::new().openers(OPENERS).on_wait(move |waiting| {
        // On any thread.
        if !quiet {
            tell(&waited, waiting);
        }
    });
    let options = options.outside_links(outside_links).only_targets(only_targets);
    let options = options.durability(match durability {
        Survives::ProcessEnd => Durability::ProcessEnd,
        Survives::PowerFailure => Durability::PowerFailure,
    });
    let options = match timeout {
        Some(timeout) => options.timeout(timeout),
        None => options,
    };
    let options = match documents {
        Some(mebibytes) => options.max_document(u64::from(mebibytes.get()) << 20),
        None => options,
    };
    targets.into_iter().fold(options, StoreOptions::target)
}

/// Whether messages other than errors and questions are left out.
pub(crate) fn is_quiet() -> bool {
    CURRENT.with_borrow(|access| access.quiet)
}

/// Whether virtual joins may name members outside of their folders.
pub(crate) fn outside_members() -> bool {
    CURRENT.with_borrow(|access| access.outside_members)
}

/// How places are opened.
pub(crate) fn place_options() -> PlaceOptions {
    let members = match outside_members() {
        true => AllowedMembers::Anywhere,
        false => AllowedMembers::Below,
    };
    let (told, quiet) = (CURRENT.with_borrow(|access| Arc::clone(&access.told)), is_quiet());
    let options = PlaceOptions::new().store(store_options()).allowed_members(members);
    options.on_unlisted(move || {
        if !quiet && !told.swap(true, Ordering::Relaxed) {
            print::note(
                "the server does not list: nodes come from the consolidated metadata, and \
                 chunks are looked up one by one",
            );
        }
    })
}

/// Tells of a wait, at intervals, since many requests may be waiting.
fn tell(waited: &Mutex<Option<Instant>>, waiting: &Waiting) {
    /// The least time between two messages.
    const PAUSE: Duration = Duration::from_secs(30);
    let mut last = waited.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_none_or(|last| last.elapsed() >= PAUSE) {
        *last = Some(Instant::now());
        match waiting.operation {
            Operation::Lock => print::note(format_args!("waiting: {waiting}")),
            _ => print::note(format_args!("waiting: {waiting} (--timeout)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{Access, store_options};
    use crate::args::Args;

    #[test]
    fn writes_survive_what_was_asked() {
        for (given, expected) in [
            (None, "ProcessEnd"),
            (Some("process-end"), "ProcessEnd"),
            (Some("power-failure"), "PowerFailure"),
        ] {
            let line = ["zarr-kit", "delete", "a"].into_iter();
            let line = line.chain(given.map(|_| "--durability")).chain(given);
            let args = Args::try_parse_from(line).expect("valid");
            let options = Access::of(&args).during(|| format!("{:?}", store_options()));
            assert!(options.contains(&format!("durability: {expected},")), "{options}");
        }
        let wrong = ["zarr-kit", "delete", "a", "--durability", "fire"];
        let error = Args::try_parse_from(wrong).expect_err("no event").to_string();
        assert!(error.contains("process-end, power-failure"), "{error}");
    }
}
