//! The plan of a join: each chunk is moved, assembled or decoded, as decided before anything is written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, ObjectMeta, Prefix, Store};
use zarr_array::{Array, ArrayError, node, parallel};
use zarr_codec::Options;
use zarr_copy::{ContentDigest, UnitMoves};
use zarr_metadata::ArrayMetadata;

use crate::error::JoinError;
use crate::join::chain::encode_alike;
use crate::member::Member;
use crate::members::Members;

/// The most chunks of a member that are not stored and are written: a plan lists each.
const ABSENT: u64 = 1 << 24;

/// The reason why a chunk of the joined array is written from decoded elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A member's numbers are of a narrower type.
    DataType,
    /// A member's times are in other units.
    Units,
    /// A member's codec chain differs.
    Codecs,
    /// A member's fill value differs.
    FillValue,
    /// A member's last chunk reaches past its end, and the next member begins there in the joined
    /// array.
    Padded,
    /// A member's chunks are no chunks of the joined array.
    Chunks,
}

impl Reason {
    /// The reason in a few words, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::DataType => "a narrower data type",
            Self::Units => "other units of time",
            Self::Codecs => "other codecs",
            Self::FillValue => "another fill value",
            Self::Padded => "padding at the end of a member",
            Self::Chunks => "other chunk boundaries",
        }
    }
}

/// A stored chunk of a member.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The number of the member.
    pub(crate) member: usize,
    pub(crate) key: Key,
    /// As it was when the join was planned.
    pub(crate) meta: ObjectMeta,
}

/// A chunk that is moved unchanged.
#[derive(Clone, Debug)]
pub(crate) struct Moved {
    pub(crate) source: Source,
    pub(crate) to: Vec<u64>,
}

/// A chunk that is written from decoded elements.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) to: Vec<u64>,
    pub(crate) reason: Reason,
    /// Its stored source chunks; source chunks that are not stored hold the fill value.
    pub(crate) sources: Vec<Source>,
    /// Bytes of its elements within the array; 0 for elements of variable length.
    pub(crate) bytes: u64,
}

/// A chunk that is assembled from encoded chunks, or from inner chunks of shards.
#[derive(Clone, Debug)]
pub(crate) struct Assembled {
    pub(crate) to: Vec<u64>,
    /// The stored chunks that have its elements.
    pub(crate) sources: Vec<Source>,
    /// The numbers of their members.
    pub(crate) members: Vec<usize>,
}

/// A chunk that is not moved as an object.
struct Made {
    written: Written,
    /// Whether all members that it has elements of have them in encoded chunks that it can have, too.
    is_assembled: bool,
}

/// A planned join: the document of the joined array, and for each chunk whether it is moved, assembled
/// or decoded.
///
/// A member's chunk is moved if its object can become an object of the joined array unchanged:
/// chain and fill value are the same, and the joined grid has a chunk with the same elements,
/// stored with the same shape. Where shards are joined, or become chunks, or chunks become shards, a
/// chunk of the joined array is assembled from encoded chunks and inner chunks as they are stored, if
/// all have the shape, the codecs and the fill value that it needs, and its place. All other chunks
/// with stored elements are written from decoded ones.
/// Chunks that no member stores are not stored, unless a member's fill value is another.
#[derive(Debug)]
pub struct JoinPlan {
    pub(crate) members: Members,
    pub(crate) metadata: ArrayMetadata,
    pub(crate) moved: Vec<Moved>,
    pub(crate) assembled: Vec<Assembled>,
    pub(crate) written: Vec<Written>,
    /// How encoded chunks of each member move; none if they are no encoded chunks of the joined array.
    pub(crate) units: Vec<Option<UnitMoves>>,
    /// The stored chunks of each member.
    pub(crate) stored: Vec<Stored>,
}

/// The stored chunks of a member that hold elements, as they were when the join was planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) count: usize,
    pub(crate) content: ContentDigest,
}

impl JoinPlan {
    pub(crate) fn new(members: Members, metadata: ArrayMetadata) -> Result<Self, JoinError> {
        // Bound to no place yet: only the grid, the chain and the fill value matter.
        let options = options_of(&members);
        let nowhere: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let target = Array::with_metadata(nowhere, &Prefix::root(), metadata.clone(), options)
            .map_err(JoinError::target)?;
        let mut plan = Self {
            members,
            metadata,
            moved: Vec::new(),
            assembled: Vec::new(),
            written: Vec::new(),
            units: Vec::new(),
            stored: Vec::new(),
        };
        let mut made = BTreeMap::new();
        for number in 0..plan.members.members().len() {
            plan.look_at(number, &target, &mut made)?;
        }
        for Made { written, is_assembled } in made.into_values() {
            if !is_assembled {
                plan.written.push(written);
                continue;
            }
            let Written { to, sources, .. } = written;
            let mut members: Vec<usize> = sources.iter().map(|source| source.member).collect();
            members.dedup();
            plan.assembled.push(Assembled { to, sources, members });
        }
        if !plan.written.is_empty() {
            // Now, and not once an old array has been removed. A fill value that the codecs do not
            // keep matters for padded chunks alone.
            let key = Key::new("zarr.json").map_err(JoinError::target)?;
            let refused = node::refuse_unwritable(&target, &key);
            if let Err(cause @ ArrayError::Chain { .. }) = refused {
                return Err(JoinError::target(cause));
            }
        }
        // Consecutive objects are mostly in one folder.
        plan.moved.sort_by(|a, b| a.to.cmp(&b.to));
        Ok(plan)
    }

    /// Decides for the stored chunks of one member whether they are moved, assembled or decoded.
    fn look_at(
        &mut self,
        number: usize,
        target: &Array,
        made: &mut BTreeMap<Vec<u64>, Made>,
    ) -> Result<(), JoinError> {
        let Some(member) = self.members.members().get(number) else { return Ok(()) };
        let region = MemberRegion::new(&self.members, number, target);
        let units = match self.members.conversion(number) {
            Some(_) => None,
            None if member.is_widened() => None,
            None => region.units(&self.members),
        };
        let whole = match self.members.conversion(number) {
            Some(_) => Some(Reason::Units),
            None => region.whole_reason(member, &self.members),
        };
        let stored = stored_chunks(member)?;
        let mut content = ContentDigest::default();
        stored.iter().for_each(|(_, key, meta)| content.add_object(key.as_str(), meta));
        self.stored.push(Stored { count: stored.len(), content });
        if let Some(reason @ (Reason::FillValue | Reason::Units)) = whole {
            // Chunks that are not stored differ too.
            let chunks = region.count(&region.ranges);
            let absent = chunks.saturating_sub(u64::try_from(stored.len()).unwrap_or(u64::MAX));
            if absent > ABSENT {
                let (member, reason) = (member.name().into(), reason.words());
                return Err(JoinError::TooManyChunks { member, reason, absent, allowed: ABSENT });
            }
            for to in region.chunks_in(&region.ranges) {
                let entry = made.entry(to.clone()).or_insert_with(|| region.make(to, reason));
                entry.is_assembled = false;
            }
        }
        for (index, key, meta) in stored {
            let source = Source { member: number, key, meta };
            let reason = match (whole, region.chunk(&index)) {
                (None, Ok(to)) => {
                    self.moved.push(Moved { source, to });
                    continue;
                }
                (None, Err(reason)) => reason,
                (Some(reason), _) => reason,
            };
            for to in region.chunks_in(&region.elements(&index)) {
                let entry = made.entry(to.clone()).or_insert_with(|| region.make(to, reason));
                let chunk = target.layout().chunk_region(&entry.written.to).ok();
                let are_whole = units.as_ref().zip(chunk);
                entry.is_assembled &=
                    are_whole.is_some_and(|(units, chunk)| units.are_whole(&chunk));
                entry.written.sources.push(source.clone());
            }
        }
        self.units.push(units);
        Ok(())
    }

    /// The members and their places.
    #[must_use]
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// The document of the joined array.
    #[must_use]
    pub fn metadata(&self) -> &ArrayMetadata {
        &self.metadata
    }

    /// The number of chunks that are moved, assembled or written.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        let chunks = self.moved.len() + self.assembled.len();
        let chunks = chunks + self.written.len();
        u64::try_from(chunks).unwrap_or(u64::MAX)
    }

    /// The number of chunks that are moved unchanged.
    #[must_use]
    pub fn moved_chunks(&self) -> usize {
        self.moved.len()
    }

    /// The stored bytes of the chunks that are moved.
    #[must_use]
    pub fn moved_bytes(&self) -> u64 {
        self.moved.iter().fold(0, |sum, moved| sum.saturating_add(moved.source.meta.size))
    }

    /// The number of chunks that are assembled from encoded chunks, or from inner chunks of shards.
    #[must_use]
    pub fn assembled_chunks(&self) -> usize {
        self.assembled.len()
    }

    /// The number of chunks that are written from decoded elements.
    #[must_use]
    pub fn written_chunks(&self) -> usize {
        self.written.len()
    }

    /// The bytes of the elements that are decoded and written; 0 for elements of variable length.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.written.iter().fold(0, |sum, written| sum.saturating_add(written.bytes))
    }

    /// The number of chunks that are written, by reason.
    #[must_use]
    pub fn reasons(&self) -> Vec<(Reason, usize)> {
        let mut counts: BTreeMap<Reason, usize> = BTreeMap::new();
        for written in &self.written {
            let count = counts.entry(written.reason).or_default();
            *count += 1;
        }
        counts.into_iter().collect()
    }

    /// The chunks that are moved: each with the name of its member, its key there, and its numbers
    /// in the joined array.
    pub fn moves(&self) -> impl Iterator<Item = (&str, &Key, &[u64])> {
        self.moved.iter().map(|moved| {
            let member = self.members.members().get(moved.source.member);
            (member.map_or("", Member::name), &moved.source.key, moved.to.as_slice())
        })
    }

    /// The chunks that are written, each with the reason.
    pub fn writes(&self) -> impl Iterator<Item = (&[u64], Reason)> {
        self.written.iter().map(|written| (written.to.as_slice(), written.reason))
    }
}

/// The third-party codecs, with which the first member was opened.
pub(crate) fn options_of(members: &Members) -> Options {
    members.members().first().map(|first| first.array().options().clone()).unwrap_or_default()
}

/// Every stored chunk of a member that holds elements: its numbers, key, size and version.
pub(crate) fn stored_chunks(
    member: &Member,
) -> Result<Vec<(Vec<u64>, Key, ObjectMeta)>, JoinError> {
    let array = member.array();
    let failed = |cause: ArrayError| JoinError::member(member.name(), cause);
    let listed =
        array.stored_chunks().filter(|chunk| !matches!(chunk, Ok(chunk) if !chunk.occupied));
    let listed: Vec<_> = listed.collect::<Result<_, _>>().map_err(failed)?;
    let store = array.store();
    let mut found = parallel::map(&listed, parallel::requests(&**store), |chunk| {
        let meta = store.head(&chunk.key).map_err(|cause| failed(cause.into()))?;
        let meta = meta.ok_or_else(|| JoinError::changed(member.name(), &chunk.key))?;
        Ok::<_, JoinError>((chunk.index.clone(), chunk.key.clone(), meta))
    })?;
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// One member and where it lies in the joined array.
struct MemberRegion<'a> {
    array: &'a Array,
    target: &'a Array,
    ranges: Vec<Range<u64>>,
    /// The axis of the member that each axis of the joined array is.
    axes: Vec<Option<usize>>,
}

impl<'a> MemberRegion<'a> {
    fn new(members: &'a Members, number: usize, target: &'a Array) -> Self {
        let ranges = members.region(number);
        let axes = (0..ranges.len()).map(|axis| members.member_axis(axis)).collect();
        // The caller has the member of this number.
        let array = members.members().get(number).map_or(target, Member::array);
        Self { array, target, ranges, axes }
    }

    /// Why no chunk of the member can be moved, if none can.
    fn whole_reason(&self, member: &Member, members: &Members) -> Option<Reason> {
        let codecs = member.array().metadata().codecs();
        let target = self.target.metadata().codecs();
        let same = match members.new_axis() {
            None => codecs == target,
            Some(axis) => encode_alike(codecs, axis, target),
        };
        if self.array.fill() != self.target.fill() {
            return Some(Reason::FillValue);
        }
        if member.is_widened() {
            return Some(Reason::DataType);
        }
        (!same).then_some(Reason::Codecs)
    }

    /// How the member's encoded chunks move, if they are encoded chunks of the joined array.
    fn units(&self, members: &Members) -> Option<UnitMoves> {
        let new_axis = members.new_axis();
        UnitMoves::new(
            self.array,
            self.target,
            &self.ranges,
            new_axis,
            |own, joined| match new_axis {
                None => own == joined,
                Some(axis) => encode_alike(own, axis, joined),
            },
        )
    }

    /// The chunk of the joined array that a chunk of the member becomes, or the reason why it is
    /// decoded.
    fn chunk(&self, index: &[u64]) -> Result<Vec<u64>, Reason> {
        let mut to = Vec::with_capacity(self.axes.len());
        let axes = self.axes.iter().zip(&self.ranges).zip(self.target.grid().axes());
        for ((own, region), axis) in axes {
            let Some(own) = own else {
                let (chunk, _) = axis.chunk_of(region.start).ok_or(Reason::Chunks)?;
                if axis.edge(chunk) != Some(1) {
                    return Err(Reason::Chunks);
                }
                to.push(chunk);
                continue;
            };
            let (at, from) = (index[*own], &self.array.grid().axes()[*own]);
            let elements = from.clipped(at).ok_or(Reason::Chunks)?;
            let start = region.start + elements.start;
            let end = region.start + elements.end;
            let edge = from.edge(at).ok_or(Reason::Chunks)?;
            let (chunk, within) = axis.chunk_of(start).ok_or(Reason::Chunks)?;
            let same = within == 0 && axis.edge(chunk) == Some(edge);
            if !same || axis.clipped(chunk) != Some(start..end) {
                let padded = elements.end - elements.start < edge;
                return Err(if padded { Reason::Padded } else { Reason::Chunks });
            }
            to.push(chunk);
        }
        Ok(to)
    }

    /// Where the elements of a chunk of the member lie in the joined array.
    fn elements(&self, index: &[u64]) -> Vec<Range<u64>> {
        let axes = self.axes.iter().zip(&self.ranges);
        axes.map(|(own, region)| {
            let Some(own) = own else { return region.clone() };
            // A stored chunk past the end has no elements.
            let elements = self.array.grid().axes()[*own].clipped(index[*own]).unwrap_or(0..0);
            let place = |at: u64| region.start + at;
            place(elements.start)..place(elements.end)
        })
        .collect()
    }

    /// The chunks of the joined array that have elements of a region.
    fn chunks_in(&self, region: &[Range<u64>]) -> Vec<Vec<u64>> {
        product(&self.ranges_in(region))
    }

    /// The number of [`chunks_in`](Self::chunks_in) a region.
    fn count(&self, region: &[Range<u64>]) -> u64 {
        let ranges = self.ranges_in(region).into_iter();
        ranges.map(|range| range.end.saturating_sub(range.start)).fold(1, u64::saturating_mul)
    }

    fn ranges_in(&self, region: &[Range<u64>]) -> Vec<Range<u64>> {
        let axes = self.target.grid().axes().iter().zip(region);
        axes.map(|(axis, range)| axis.chunks_in(range.clone()).unwrap_or(0..0)).collect()
    }

    /// A chunk to be assembled or written, without sources yet.
    fn make(&self, to: Vec<u64>, reason: Reason) -> Made {
        let axes = self.target.grid().axes().iter().zip(&to);
        let lengths = axes.map(|(axis, chunk)| {
            let range = axis.clipped(*chunk).unwrap_or(0..0);
            range.end - range.start
        });
        let size = u64::try_from(self.target.element_size()).unwrap_or(u64::MAX);
        let bytes = lengths.fold(size, u64::saturating_mul);
        let written = Written { to, reason, sources: Vec::new(), bytes };
        Made { written, is_assembled: true }
    }
}

/// All numbers of a box, in C order.
pub(crate) fn product(ranges: &[Range<u64>]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::with_capacity(ranges.len())];
    for range in ranges {
        all = all
            .into_iter()
            .flat_map(|start| {
                range.clone().map(move |at| {
                    let mut longer = start.clone();
                    longer.push(at);
                    longer
                })
            })
            .collect();
    }
    all
}
