//! The joined array: its document, and the steps of its plan.

pub(crate) mod chain;
mod decode;
pub(crate) mod execute;
pub(crate) mod grid;
pub(crate) mod plan;

use std::sync::Arc;

use zarr_array::chunk_grid_of;
use zarr_array::store::Store;
use zarr_metadata::{ArrayBuilder, ArrayMetadata, ChunkGrid};

use crate::conventions;
use crate::error::JoinError;
use crate::join::chain::with_axis;
use crate::join::plan::JoinPlan;
use crate::member::Member;
use crate::members::{Arrangement, Members};
use crate::values::attributes::{self, CombineAttributes};
use crate::values::times::values_in_common_units;
use crate::values::widened::{chain_for, check_lossless, promoted};

/// A join of arrays, which is planned and then executed.
///
/// The first member decides the data type, the codec chain, the fill value and the chunk keys.
/// Chunks of members that fit are moved unchanged; see [`JoinPlan`].
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::{Array, chunk_grid_of};
/// use zarr_array::store::{MemoryStore, Prefix, Store};
/// use zarr_join::{Arrangement, Join, JoinOptions, Member};
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let month = |name: &str, days: u64, value: u8| {
///     let metadata = ArrayBuilder::new([days], DataType::Uint8).chunk_shape([days]).build()?;
///     let array = Array::create(store.clone(), &Prefix::new(name)?, metadata)?;
///     array.write(0..days, &vec![value; usize::try_from(days)?])?;
///     Ok::<_, Box<dyn std::error::Error>>(Member::new(name, array))
/// };
/// let members = vec![month("january", 31, 1)?, month("february", 28, 2)?];
///
/// let plan = Join::new(members, Arrangement::Along(0)).plan()?;
/// assert_eq!((plan.moved_chunks(), plan.written_chunks()), (2, 0));
/// let to = Prefix::new("year")?;
/// let (joined, _) = plan.execute(&store, &to, &JoinOptions::new(), &|_| {})?;
/// assert_eq!(joined.read(30..32)?, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Join {
    members: Vec<Member>,
    arrangement: Arrangement,
    combine: CombineAttributes,
    new_axis_name: Option<String>,
    alike: Option<Vec<Member>>,
    promote: bool,
}

impl Join {
    /// A join of these members, in this order.
    pub fn new(members: Vec<Member>, arrangement: Arrangement) -> Self {
        Self {
            members,
            arrangement,
            combine: CombineAttributes::default(),
            new_axis_name: None,
            alike: None,
            promote: false,
        }
    }

    /// Sets the rule for attributes that differ between members.
    pub fn attributes(mut self, combine: CombineAttributes) -> Self {
        self.combine = combine;
        self
    }

    /// Sets whether members with numbers of different types are joined in the narrowest type that has all
    /// their numbers, as by numpy's `result_type`: `int16` of `int8` and `int16`. Members of a narrower type
    /// are decoded and written. No integer is rounded: `int64` and floats are refused. The codecs are
    /// those of the first member with this type.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_join::{Arrangement, Join, Member};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// let member = |data_type| {
    ///     let store = Arc::new(MemoryStore::new());
    ///     let array = Array::create(store, &Prefix::root(), ArrayBuilder::new([3], data_type).build()?)?;
    ///     Ok::<_, Box<dyn std::error::Error>>(Member::new("a member", array))
    /// };
    /// let members = vec![member(DataType::Int8)?, member(DataType::Int16)?];
    /// let plan = Join::new(members, Arrangement::Along(0)).promote(true).plan()?;
    /// assert_eq!(plan.metadata().data_type(), &DataType::Int16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn promote(mut self, promote: bool) -> Self {
        self.promote = promote;
        self
    }

    /// Names the axis that [`Arrangement::NewAxis`] adds.
    pub fn new_axis_name(mut self, name: Option<String>) -> Self {
        self.new_axis_name = name;
        self
    }

    /// Reads each member through the store that `layer` makes of its own one, such as a
    /// [`Layer`](zarr_array::store::Layer) around it. `layer` gets the member's name, too.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_join::{Arrangement, Join, Member};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([3], DataType::Uint8).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let members = ["a", "b"].map(|name| Member::new(name, array.clone()));
    /// let join = Join::new(members.into(), Arrangement::Along(0));
    /// let mut names = Vec::new();
    /// let join = join.with_stores(|name, store| {
    ///     names.push(name.to_owned());
    ///     Arc::clone(store)
    /// });
    /// assert_eq!(names, ["a", "b"]);
    /// # drop(join);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_stores(
        mut self,
        mut layer: impl FnMut(&str, &Arc<dyn Store>) -> Arc<dyn Store>,
    ) -> Self {
        let members = self.members.into_iter().map(|member| {
            let store = layer(member.name(), member.array().store());
            member.with_store(&store)
        });
        self.members = members.collect();
        self
    }

    /// Members with attributes that count like the joined members' attributes: of equal arrays,
    /// only one is joined.
    pub(crate) fn alike(mut self, all: Vec<Member>) -> Self {
        self.alike = Some(all);
        self
    }

    /// Looks at every member and its stored chunks, and decides for each chunk whether it is moved
    /// or decoded. Nothing is written.
    ///
    /// # Errors
    /// [`JoinError`] with the name of the first member that does not fit.
    pub fn plan(self) -> Result<JoinPlan, JoinError> {
        self.plan_with(|_| Ok(None))
    }

    /// As [`plan`](Self::plan), with the chunks, shards and codecs of the document that `change` gives for
    /// that of the joined array. Members' chunks that are also chunks of this array are moved, chunks are
    /// assembled of those that are inner chunks of its shards, and the others decoded.
    ///
    /// # Errors
    /// The errors of `plan` and of `change`.
    pub fn plan_with<E: From<JoinError>>(
        self,
        change: impl FnOnce(&ArrayMetadata) -> Result<Option<ArrayMetadata>, E>,
    ) -> Result<JoinPlan, E> {
        let (members, mut metadata) = self.documented(|members| {
            Ok::<_, JoinError>(chunk_grid_of(&members.joined_grid().map_err(JoinError::Grid)?))
        })?;
        if let Some(changed) = change(&metadata)? {
            metadata = metadata
                .with_shape_and_grid(metadata.shape(), changed.chunk_grid())
                .and_then(|metadata| metadata.with_codecs(changed.codecs()))
                .map_err(JoinError::Metadata)?;
        }
        members.check_conversions()?;
        Ok(JoinPlan::new(members, metadata)?)
    }

    /// The checked members, and the document of an array with the chunks that `grid` gives: for
    /// joins without a [plan](Join::plan) that keep values unchanged and promote no types.
    ///
    /// # Errors
    /// [`JoinError`] with the name of the first member that does not fit, or that has times in
    /// other units; errors of `grid`.
    pub fn checked<E: From<JoinError>>(
        self,
        grid: impl FnOnce(&Members) -> Result<ChunkGrid, E>,
    ) -> Result<(Members, ArrayMetadata), E> {
        let (members, metadata) = Self { promote: false, ..self }.documented(grid)?;
        members.refuse_conversions()?;
        Ok((members, metadata))
    }

    /// The members, and the document of the array that they become.
    fn documented<E: From<JoinError>>(
        self,
        grid: impl FnOnce(&Members) -> Result<ChunkGrid, E>,
    ) -> Result<(Members, ArrayMetadata), E> {
        if self.alike.is_none() {
            for member in &self.members {
                if let Some(reason) = conventions::refused_alone(member.array()) {
                    return Err(JoinError::unfit(member.name(), reason).into());
                }
            }
        }
        let members = match self.promote {
            true => promoted(self.members)?,
            false => self.members,
        };
        let members = Members::new(members, self.arrangement)?;
        let grid = grid(&members)?;
        let alike = self.alike.as_deref().unwrap_or(members.members());
        let metadata = metadata_of(&members, self.combine, &grid, alike)?;
        let metadata = match (members.new_axis(), self.new_axis_name) {
            (Some(axis), Some(name)) => named(metadata, axis, name)?,
            _ => metadata,
        };
        Ok((members, metadata))
    }
}

/// The document of the joined array.
fn metadata_of(
    members: &Members,
    combine: CombineAttributes,
    grid: &ChunkGrid,
    all: &[Member],
) -> Result<ArrayMetadata, JoinError> {
    let first = members.members().first().ok_or(JoinError::NoMembers)?;
    let first = &with_stored_codecs(first, members.members())?;
    let shape = members.shape();
    let metadata = match members.new_axis() {
        None => first.with_shape_and_grid(&shape, grid).map_err(JoinError::Metadata)?,
        Some(axis) => with_new_axis(first, axis, &shape, grid)?,
    };
    let each = values_in_common_units(all, |_| true);
    attributes::check_values(&each)?;
    let combined = attributes::combine(&each, combine)?;
    if combined == metadata.attribute_texts() {
        return Ok(metadata);
    }
    metadata.with_attributes(&attributes::to_json(&combined)).map_err(JoinError::Metadata)
}

/// The document of the first member, which may be a view with a wider type, with codecs for its type:
/// those of the first member that is stored so or, if there is none, its own.
fn with_stored_codecs(first: &Member, members: &[Member]) -> Result<ArrayMetadata, JoinError> {
    let metadata = first.array().metadata();
    let of = members.iter().find(|member| !member.is_widened()).unwrap_or(first);
    if members.iter().any(Member::is_widened) {
        check_lossless(of.name(), of.stored().codecs())?;
    }
    if !first.is_widened() {
        return Ok(metadata.clone());
    }
    let codecs = match of.is_widened() {
        false => of.stored().codecs().to_vec(),
        true => chain_for(first.stored().codecs()).map_err(|codec| {
            let data_type = metadata.data_type();
            let reason = format!(
                "the codec {codec} depends on the data type, which becomes {data_type}: copy the \
                 member with other codecs first"
            );
            JoinError::unfit(first.name(), reason)
        })?,
    };
    metadata.with_codecs(&codecs).map_err(JoinError::Metadata)
}

/// The document of the first member with one more axis, which has no name.
fn with_new_axis(
    first: &ArrayMetadata,
    axis: usize,
    shape: &[u64],
    grid: &ChunkGrid,
) -> Result<ArrayMetadata, JoinError> {
    let codecs = with_axis(first.codecs(), axis).ok_or(JoinError::NewAxisChain)?;
    let mut builder = ArrayBuilder::new(shape, first.data_type().clone())
        .chunk_grid(grid.clone())
        .codecs(codecs)
        .fill_value(first.fill_value().clone())
        .chunk_key_encoding(first.chunk_key_encoding().clone());
    if let Some(names) = first.dimension_names() {
        let mut names = names.to_vec();
        names.insert(axis.min(names.len()), None);
        builder = builder.dimension_names_or_none(names);
    }
    let metadata = builder.build().map_err(JoinError::Metadata)?;
    // As it is written: attributes that are no strict JSON cannot be set, and need not be.
    match first.attribute_names().is_empty() {
        true => Ok(metadata),
        false => metadata.with_attributes(first.attributes()).map_err(JoinError::Metadata),
    }
}

/// The document with this name for an axis.
fn named(metadata: ArrayMetadata, axis: usize, name: String) -> Result<ArrayMetadata, JoinError> {
    let old = metadata.dimension_names().map(<[_]>::to_vec);
    let rank = metadata.shape().len();
    let mut names = old.unwrap_or_else(|| vec![None; rank]);
    if names.iter().flatten().any(|known| *known == name) {
        return Err(JoinError::dimension_twice("the joined array", &name));
    }
    if let Some(slot) = names.get_mut(axis) {
        *slot = Some(name);
    }
    let names: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
    metadata.with_dimension_names(&names).map_err(JoinError::Metadata)
}
