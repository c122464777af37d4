//! Carries out a planned join of groups.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_array::store::{Prefix, Store, path_below};
use zarr_array::{ArrayError, Group};
use zarr_copy::{ContentDigest, Endpoint, NewNode, make_region_index};
use zarr_metadata::NodeMetadata;

use super::group_plan::GroupJoinPlan;
use crate::error::JoinError;
use crate::join::execute::{JoinOptions, JoinProgress, JoinSummary, make};

impl GroupJoinPlan {
    /// Makes the joined group at `prefix` in `store`. Each document is put after everything below
    /// it; see [`JoinPlan::execute`](crate::JoinPlan::execute).
    ///
    /// # Errors
    /// As for [`JoinPlan::execute`](crate::JoinPlan::execute).
    pub fn execute(
        &self,
        store: &Arc<dyn Store>,
        prefix: &Prefix,
        options: &JoinOptions,
        progress: &(dyn Fn(JoinProgress) + Sync),
    ) -> Result<(Group, JoinSummary), JoinError> {
        let store = store.checked().unwrap_or_else(|| store.clone());
        let document = self.document("").ok_or(JoinError::NoMembers)?;
        let total = self.arrays().map(|(_, plan)| plan.chunks()).fold(0, u64::saturating_add);
        let work =
            Work { plan: self, store: &store, options, progress, total, done: AtomicU64::new(0) };
        let from = self.sources();
        let to = Endpoint::new(&store, prefix);
        let mut summary = JoinSummary::default();
        let mut content = ContentDigest::default();
        self.arrays().for_each(|(path, plan)| content.add_part(path, plan.content()));
        let mut within = ContentDigest::default();
        self.arrays().for_each(|(path, plan)| within.add_document(path, plan.metadata().json()));
        make(&from, (content, Some(within)), to, &document, options, |node| {
            work.fill("", prefix, node, &mut summary)?;
            summary.others = self.others.put(&self.members, &*node.store(), prefix)?;
            Ok(())
        })?;
        self.make_region_indexes(&store, prefix)?;
        let opened = Group::open(store.clone(), prefix);
        Ok((opened.map_err(JoinError::target)?, summary))
    }

    /// Makes each index of VCF-Zarr that the first member has.
    fn make_region_indexes(
        &self,
        store: &Arc<dyn Store>,
        prefix: &Prefix,
    ) -> Result<(), JoinError> {
        for path in &self.region_indexes {
            let prefix = prefix.join(path).map_err(JoinError::target)?;
            make_region_index(store, &prefix).map_err(JoinError::target)?;
        }
        Ok(())
    }

    /// The members, each with its document.
    fn sources(&self) -> Vec<(Endpoint<'_>, &str)> {
        let groups = self.members.iter().map(|member| member.group());
        groups
            .map(|group| (Endpoint::new(group.store(), group.prefix()), group.metadata().json()))
            .collect()
    }
}

struct Work<'a> {
    plan: &'a GroupJoinPlan,
    store: &'a Arc<dyn Store>,
    options: &'a JoinOptions,
    progress: &'a (dyn Fn(JoinProgress) + Sync),
    total: u64,
    /// Chunks of the arrays that are finished.
    done: AtomicU64,
}

impl Work<'_> {
    /// Makes everything in the group at `path`; its node was begun.
    fn fill(
        &self,
        path: &str,
        prefix: &Prefix,
        node: &NewNode<'_>,
        summary: &mut JoinSummary,
    ) -> Result<(), JoinError> {
        let place = |name: &str| {
            let place = prefix.join(name);
            place.map_err(|cause| JoinError::target(ArrayError::Path(cause)))
        };
        for (below, plan) in self.plan.arrays() {
            let Some(name) = child(path, below) else { continue };
            let place = place(name)?;
            let to = Endpoint::new(self.store, &place);
            let document = NodeMetadata::Array(plan.metadata().clone());
            let array = node.within(&plan.sources(), to, &document)?;
            let before = self.done.load(Ordering::Relaxed);
            let told = |progress: JoinProgress| {
                let done = before.saturating_add(progress.done);
                (self.progress)(JoinProgress { done, total: self.total });
            };
            let (_, did) = plan.fill(&place, &array, self.options, &told)?;
            array.finish()?;
            summary.add(did);
            self.done.fetch_add(plan.chunks(), Ordering::Relaxed);
        }
        for below in self.plan.groups.keys() {
            let Some(name) = child(path, below) else { continue };
            let place = place(name)?;
            let to = Endpoint::new(self.store, &place);
            let Some(document) = self.plan.document(below) else { continue };
            // The members' groups are their roots, by which they are known.
            let group = node.within(&[], to, &document)?;
            self.fill(below, &place, &group, summary)?;
            group.finish()?;
        }
        Ok(())
    }
}

/// The name of a node that is directly in the group at `path`.
fn child<'a>(path: &str, below: &'a str) -> Option<&'a str> {
    path_below(below, path).filter(|rest| !rest.is_empty() && !rest.contains('/'))
}
