//! The members of an array that consists of others: each is checked as the array that it is.

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::Members;
use zarr_array::node;
use zarr_metadata::Printable;

use crate::finding::{Finding, MEMBER};
use crate::hierarchy::Walk;

impl Walk<'_> {
    /// Checks the chunks of every member. A member that cannot be opened, or has changed, is a
    /// finding. If chunks are read, so is a chunk that was modified after the member was joined.
    /// Keys in findings are keys of the member's own store, which the message names; regions are
    /// regions of the joined array.
    pub(crate) fn members(
        &mut self,
        array: &Array,
        members: &Members,
    ) -> Result<Vec<Finding>, ArrayError> {
        let mut found = Vec::new();
        let fail = |cause| ArrayError::Grid { key: node::metadata_key(array.prefix()), cause };
        let mut all = members.grid().all_chunks().map_err(fail)?;
        while let Some(member) = all.next_part() {
            let member = member.chunk();
            match members.open(member) {
                Ok(Some(open)) => {
                    let is_version_2 = open.metadata().is_version_2();
                    let name = members.name(member);
                    let findings =
                        self.chunks(open.store(), open.layout(), Some(&open), is_version_2)?;
                    let of_member = |finding: Finding| {
                        let region = finding
                            .region()
                            .and_then(|(_, region)| members.region_of(member, region));
                        let finding = finding.after(&format!("member {}: ", Printable(&name)));
                        match region {
                            Some(region) => finding.with_region(array.prefix().as_str(), region),
                            None => finding,
                        }
                    };
                    found.extend(findings.into_iter().map(of_member));
                }
                Ok(None) => {}
                Err(_) if !self.options.is_first_part() => {}
                Err(error) => {
                    let key = node::metadata_key(array.prefix());
                    found.push(Finding::new(MEMBER, error.to_string()).with_key(key));
                }
            }
        }
        Ok(found)
    }
}
