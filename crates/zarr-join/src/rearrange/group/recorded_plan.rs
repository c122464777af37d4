//! The part of an array in the rearrangement of its group, as its marker records it.

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::node;
use zarr_array::store::Prefix;
use zarr_array::unfinished::REARRANGE_MARKER as MARKER;
use zarr_metadata::ArrayMetadata;

use super::super::planning::{check_kept_once, whole_chunks};
use super::super::{Placed, RearrangeCounts, Rearrangement, Span};
use crate::error::rearrange::{RearrangeError, refused};
use crate::rearrange::marker_json::{Members, integer, string};
use crate::rearrange::refill::{Refill, Remade};

/// The plan for an array in its marker. With it, an array can still be rearranged if its document
/// has not been put yet: its chunks are copied again, as they are then, and the inserted chunks are
/// there already. Only elements that share a chunk with them are written again, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rearrange) struct RecordedPlan {
    /// The number of levels from the array up to the group.
    pub(super) levels: usize,
    pub(super) axis: usize,
    /// The length of the axis before.
    pub(super) length: u64,
    /// The kept and the inserted parts; of an inserted part, its length.
    pub(super) placements: Vec<Span<u64>>,
    /// The array's own elements that are among the inserted chunks.
    pub(super) remade: Vec<Remade>,
    /// The document of the rearranged array, with keys of the other encoding.
    pub(super) document: ArrayMetadata,
}

impl RecordedPlan {
    /// The group of the array at this prefix; `None` if it is above the store's root.
    pub(super) fn group(&self, array: &Prefix) -> Option<Prefix> {
        (0..self.levels).try_fold(array.clone(), |prefix, _| prefix.parent())
    }

    /// The members that the marker of an array in a group adds to its JSON.
    pub(in crate::rearrange) fn members(&self) -> Vec<(&'static str, String)> {
        let spans = self.placements.iter().map(|placement| match placement {
            Span::Kept(range) => format!("{}:{}", range.start, range.end),
            Span::Inserted(length) => format!("+{length}"),
        });
        let spans = spans.collect::<Vec<_>>().join(",");
        let own = [
            ("group", format!("\"{}\"", vec![".."; self.levels].join("/"))),
            ("axis", self.axis.to_string()),
            ("length", self.length.to_string()),
            ("spans", format!("\"{spans}\"")),
            ("document", self.document.json().to_owned()),
        ];
        let refilled = match &*self.remade {
            [] => None,
            // Earlier versions know this form alone, and refuse the other.
            [Remade { range, at }] if range.start == *at && range.end == self.length => {
                Some(at.to_string())
            }
            remade => {
                let text =
                    |Remade { range, at }: &Remade| format!("{}:{}@{at}", range.start, range.end);
                Some(format!("\"{}\"", remade.iter().map(text).collect::<Vec<_>>().join(",")))
            }
        };
        own.into_iter().chain(refilled.map(|text| ("refilled", text))).collect()
    }

    /// Reads the form that [`text`](Self::text) writes; the object may hold anything else.
    pub(in crate::rearrange) fn read(members: &Members) -> Option<Self> {
        let (group, spans) = (string(members, "group")?, string(members, "spans")?);
        let (axis, length) = (integer(members, "axis")?, integer(members, "length")?);
        let levels = group.split('/').map(|name| (name == "..").then_some(()));
        let levels = levels.collect::<Option<Vec<()>>>()?.len();
        let mut placements = Vec::new();
        for span in spans.split(',') {
            placements.push(match (span.strip_prefix('+'), span.split_once(':')) {
                (Some(length), _) => Span::Inserted(length.parse().ok()?),
                (None, Some((start, end))) => Span::Kept(start.parse().ok()?..end.parse().ok()?),
                (None, None) => return None,
            });
        }
        let mut remade = Vec::new();
        if let Some(start) = integer(members, "refilled") {
            // All elements from this index on, which keep their indices.
            remade.push(Remade { range: start..length, at: start });
        } else if members.contains_key("refilled") {
            for part in string(members, "refilled")?.split(',') {
                let (range, at) = part.split_once('@')?;
                let (start, end) = range.split_once(':')?;
                let range = start.parse().ok()?..end.parse().ok()?;
                remade.push(Remade { range, at: at.parse().ok()? });
            }
        }
        let document = ArrayMetadata::from_json(members.get("document")?.get().as_bytes()).ok()?;
        let axis = usize::try_from(axis).ok()?;
        Some(Self { levels, axis, length, placements, remade, document })
    }

    /// Whether the elements in new chunks are not kept, and each has a place of its own in an insertion.
    fn remade_is_inserted(&self) -> bool {
        let (mut inserted, mut kept, mut offset) = (Vec::new(), Vec::new(), 0_u64);
        for placement in &self.placements {
            match placement {
                Span::Kept(range) => {
                    kept.push(range.clone());
                    offset = offset.saturating_add(range.end.saturating_sub(range.start));
                }
                Span::Inserted(length) => {
                    let end = offset.saturating_add(*length);
                    inserted.push(offset..end);
                    offset = end;
                }
            }
        }
        let mut places = Vec::new();
        for Remade { range, at } in &self.remade {
            let length = range.end.checked_sub(range.start);
            let Some(end) = length.and_then(|length| at.checked_add(length)) else { return false };
            let before = inserted.partition_point(|place| place.start <= *at);
            let place = before.checked_sub(1).and_then(|number| inserted.get(number));
            if range.end > self.length || place.is_none_or(|place| end > place.end) {
                return false;
            }
            kept.push(range.clone());
            places.push(*at..end);
        }
        [kept, places].iter().all(|ranges| check_kept_once(self.axis, ranges).is_ok())
    }

    /// The rearrangement of the array as it is now, without its insertions.
    pub(super) fn again(&self, array: &Array) -> Result<Rearrangement, ArrayError> {
        let wrong = |cause| ArrayError::Metadata { key: node::metadata_key(array.prefix()), cause };
        let now = array.metadata();
        let home = array.layout().key_encoding();
        // Attributes may have been changed since.
        let document = self.document.with_attributes(now.attributes());
        let document = document.and_then(|document| document.with_chunk_key_encoding(home));
        let rearranged = array.with_document(document.map_err(wrong)?)?;
        let changed = |what| {
            let reason = format!(
                "{what} was changed after a rearrangement of the group was interrupted, so the \
                 rearrangement cannot be completed: change it back first"
            );
            refused(array.prefix(), reason)
        };
        let (old, new) = (array.grid().axes(), rearranged.grid().axes());
        let mut others = old.iter().zip(new).enumerate().filter(|(axis, _)| *axis != self.axis);
        if old.len() != new.len()
            || others.any(|(_, (old, new))| old.extent() != new.extent() || !old.same_chunks(new))
        {
            return Err(changed("another axis"));
        }
        let (Some(old), Some(new)) = (old.get(self.axis), new.get(self.axis)) else {
            return Err(changed("the number of axes"));
        };
        if old.extent() != self.length {
            return Err(changed("the length of the dimension"));
        }
        let mut placed = Vec::new();
        let mut offset = 0_u64;
        for placement in &self.placements {
            let length = match placement {
                Span::Inserted(length) => *length,
                Span::Kept(range) => {
                    let chunks = whole_chunks(old, self.axis, range, "chunk");
                    let chunks = chunks.map_err(|cause| refused(array.prefix(), cause))?;
                    if !chunks.is_empty() {
                        let Some((at, 0)) = new.chunk_of(offset) else {
                            return Err(changed("the chunks of the dimension"));
                        };
                        let edges = chunks.clone().zip(at..);
                        if edges.into_iter().any(|(from, to)| old.edge(from) != new.edge(to)) {
                            return Err(changed("the chunks of the dimension"));
                        }
                        placed.push(Placed { inserted: None, chunks, at });
                    }
                    range.end.saturating_sub(range.start)
                }
            };
            offset = offset.saturating_add(length);
        }
        if offset != new.extent() {
            return Err(changed("the length of the dimension"));
        }
        if !self.remade_is_inserted() {
            let key = array.prefix().key(MARKER)?;
            return Err(refused(array.prefix(), RearrangeError::marker(key)));
        }
        let counts = RearrangeCounts::default();
        let (array, axis, spans) = (array.clone(), self.axis, self.placements.clone());
        let refill = match &*self.remade {
            [] => None,
            remade => Some(Refill::of(&array, axis, remade.to_vec())?),
        };
        Ok(Rearrangement { array, axis, placed, rearranged, counts, spans, refill })
    }
}
