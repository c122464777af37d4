//! Arrays of a group that are copied at once, if stores answer many requests at once. An array of
//! few chunks takes as long as a dozen requests, one after another.

use std::mem;
use std::num::NonZeroUsize;

use zarr_array::parallel;
use zarr_metadata::ArrayMetadata;
use zarr_store::Prefix;

use crate::array_copy::{ArrayCopy, Change};
use crate::documents::Pending;
use crate::endpoint::Endpoint;
use crate::error::TransferError;
use crate::marker::TargetState;
use crate::parts::Share;
use crate::{CopyOptions, CopyProgress, CopySummary};

/// The most arrays that are copied at once. Each has up to as many threads as its stores answer
/// requests.
const AT_ONCE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// An array that waits for others.
pub(crate) struct Waiting {
    pub(crate) prefix: Prefix,
    /// The prefix in the target.
    pub(crate) new: Prefix,
    pub(crate) metadata: ArrayMetadata,
}

/// A copy of a group; its target was found in the state `tree`.
pub(crate) struct Together<'a> {
    pub(crate) from: Endpoint<'a>,
    pub(crate) to: Endpoint<'a>,
    pub(crate) tree: TargetState,
    pub(crate) share: &'a Share<'a>,
    pub(crate) options: &'a CopyOptions,
}

impl Together<'_> {
    /// How many arrays are copied at once.
    pub(crate) fn at_once(&self) -> NonZeroUsize {
        let [from, to] =
            [self.from, self.to].map(|end| end.store.capabilities().requests_in_flight);
        from.max(to).min(AT_ONCE)
    }

    /// Copies the arrays that wait. Arrays that are copied object by object share the memory,
    /// unless it is too little for an object: such an array follows alone. So do arrays with
    /// elements that are written anew. Their documents wait until the end of the copy.
    pub(crate) fn copy(
        &self,
        waiting: &mut Vec<Waiting>,
        documents: &mut Vec<Pending>,
        change: &mut Change<'_>,
        progress: &mut dyn FnMut(&Prefix, CopyProgress),
    ) -> Result<CopySummary, TransferError> {
        let (waiting, mut summary) = (mem::take(waiting), CopySummary::default());
        let mut jobs = Vec::new();
        for array in &waiting {
            let (here, there) = (self.from.at(&array.prefix), self.to.at(&array.new));
            let metadata = array.metadata.clone();
            let job = ArrayCopy::within(here, there, metadata, change, self.options)?;
            summary.kept.extend(job.kept());
            documents.push(job.pending()?);
            jobs.push((&array.prefix, job));
        }
        let at_once = self.at_once();
        let parts = u64::try_from(at_once.get()).unwrap_or(u64::MAX);
        let memory = self.options.memory.checked_div(parts).unwrap_or(0);
        let options = self.options.clone().memory(memory);
        let copied = parallel::map(&jobs, at_once, |(_, job)| {
            if at_once == NonZeroUsize::MIN || job.is_re_encoded() {
                return Ok(None);
            }
            match self.one(job, &options, &mut |_| {}) {
                Err(TransferError::Object { .. }) => Ok(None),
                copied => copied.map(Some),
            }
        })?;
        for ((prefix, job), copied) in jobs.iter().zip(copied) {
            summary.add(match copied {
                Some(copied) => {
                    progress(
                        prefix,
                        CopyProgress { done: copied.bytes, ..CopyProgress::default() },
                    );
                    copied
                }
                None => self.one(job, self.options, &mut |done| progress(prefix, done))?,
            });
        }
        Ok(summary)
    }

    fn one(
        &self,
        job: &ArrayCopy<'_>,
        options: &CopyOptions,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<CopySummary, TransferError> {
        self.share.check()?;
        let found = match self.tree {
            TargetState::Fresh => TargetState::Fresh,
            tree => job.marker()?.begin_within(tree)?,
        };
        job.run(found, self.share, options, progress)
    }
}
