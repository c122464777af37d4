//! Joins of arrays and groups.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use zarr_kit::array::store::shown_url;
use zarr_kit::join::{
    Arrangement, CombineAttributes, GroupArrangement, GroupMember, Join, JoinError, JoinGroups,
    JoinOptions, JoinPlan, JoinProgress, JoinSummary, Member, NodeMember, NodeMembers, NodePlan,
};
use zarr_kit::metadata::ChunkGrid;
use zarr_kit::virtual_join::{Document, Missing};
use zarr_kit::{ArrayMetadata, Prefix};

use crate::conversion::error::{Done, Raised};
use crate::operations::hierarchy::refuse_unportable;
use crate::process::progress::Progress;
use crate::process::signals::Signals;
use crate::process::writes::Counted;
use crate::stores::node::At;
use crate::stores::node_store::{NodeStore, State, absolute, options};

/// An axis by name or number; negative numbers count from the last.
#[derive(FromPyObject)]
enum AxisName {
    Number(i64),
    Name(String),
}

/// How many members lie along each joined axis, or `"auto"`: by their coordinates.
#[derive(FromPyObject)]
enum Tiles {
    Counts(Vec<u64>),
    Auto(String),
}

/// The arguments of a join.
#[derive(FromPyObject)]
pub(crate) struct JoinArguments {
    along: Vec<AxisName>,
    new_axis: Option<String>,
    grid: Option<Tiles>,
    /// A function that returns the JSON of the chunk grid for the document of a joined array, or `None`
    /// if the array keeps the members'; without a document it refuses what no array was asked for.
    chunks: Option<Py<PyAny>>,
    combine_attrs: String,
    any_order: bool,
    fill_missing: bool,
    chunks_may_change: bool,
    portable: bool,
    link: bool,
    resume: bool,
    overwrite: bool,
}

/// What is planned for an array: its path in the joined group, its document, the chunks and bytes
/// that are moved and those that are written, and the numbers of written chunks by reason.
type PlannedArray = (String, String, usize, u64, usize, u64, Vec<(&'static str, usize)>);

/// Chunks: linked, reflinked, copied, bytes of those, written, and done by an earlier run.
type Did = (u64, u64, u64, u64, u64, u64);

/// Plans a join, and carries it out if there is a target.
#[pyfunction]
pub(crate) fn join(
    py: Python<'_>,
    members: Vec<At<'_>>,
    target: Option<At<'_>>,
    arguments: JoinArguments,
    progress: Option<Py<PyAny>>,
) -> Done<(Vec<PlannedArray>, Did)> {
    let members = places(py, members)?;
    let target = match target {
        // A folder is made only once the plan has shown that the members fit.
        Some(At::State(state)) => Some(Target::ToOpen(state)),
        Some(open) => {
            let (place, prefix) = open.place(py, true)?;
            Some(Target::Open(place, prefix))
        }
        None => None,
    };
    py.detach(|| {
        Signals::during(|signals| {
            let plan = plan(opened(&members, signals, NodeStore::shown_node)?, &arguments)?;
            if arguments.portable {
                let arrays = plan.arrays();
                refuse_unportable(arrays.iter().map(|(_, array)| array.metadata()))?;
            }
            let planned = plan.arrays().into_iter().map(|(path, plan)| of(path, plan)).collect();
            let Some(target) = target else { return Ok((planned, Did::default())) };
            let (place, prefix) = target.place()?;
            let progress = Progress::new(progress, signals);
            let told = |at: JoinProgress| progress.tell(prefix.as_str(), at.done, Some(at.total));
            let options = JoinOptions::new()
                .link(arguments.link)
                .resume(arguments.resume)
                .overwrite(arguments.overwrite);
            let options = match place.handling.threads {
                Some(threads) => options.threads(threads),
                None => options,
            };
            let did = place.change(signals, |store| {
                Ok::<_, Raised>(plan.execute(&store, &prefix, &options, &told)?)
            })?;
            Ok::<_, Raised>((planned, of_summary(&did)))
        })
    })
}

/// Writes the document of a virtual join.
#[pyfunction]
pub(crate) fn join_virtually(
    py: Python<'_>,
    members: Vec<At<'_>>,
    target: State,
    arguments: JoinArguments,
) -> Done<()> {
    let _counted = Counted;
    let members = places(py, members)?;
    if let Some((place, _)) = members.iter().find(|(place, _)| place.is_memory()) {
        let message = format!("{}: a virtual join cannot lead into memory", place.shown());
        return Err(PyValueError::new_err(message).into());
    }
    let (url, path, settings, ..) = target;
    if !path.trim_matches('/').is_empty() {
        let message = "a virtual join is a file: it has a URL and no path";
        return Err(PyValueError::new_err(message).into());
    }
    let (url, (store, _)) = (absolute(&url)?, options(&settings)?);
    py.detach(|| {
        Signals::during(|signals| {
            // Secrets are the caller's, never the document's.
            let members = opened(&members, signals, |place, _| shown_url(&place.url))?;
            let missing = if arguments.fill_missing { Missing::Fill } else { Missing::Error };
            let document = match members {
                NodeMembers::Arrays(members) => {
                    Document::of_join(of_arrays(members, &arguments)?, &url, missing)
                }
                NodeMembers::Groups(members) => {
                    Document::of_groups(&of_groups(members, &arguments)?, &url, missing)
                }
            }?;
            let document = match arguments.chunks_may_change {
                true => document.chunks_may_change(),
                false => document,
            };
            document.write(&url, &store)?;
            Ok::<_, Raised>(())
        })
    })
}

impl JoinArguments {
    fn combine(&self) -> Result<CombineAttributes, JoinError> {
        self.combine_attrs.parse()
    }
}

/// Where the joined node will be.
enum Target {
    Open(NodeStore, Prefix),
    ToOpen(State),
}

impl Target {
    fn place(self) -> Done<(NodeStore, Prefix)> {
        match self {
            Self::Open(place, prefix) => Ok((place, prefix)),
            Self::ToOpen(state) => Python::attach(|py| NodeStore::open(py, state, true)),
        }
    }
}

fn places(py: Python<'_>, members: Vec<At<'_>>) -> Done<Vec<(NodeStore, Prefix)>> {
    members.into_iter().map(|member| member.place(py, false)).collect()
}

/// Opens the members, which must be all arrays or all groups.
fn opened(
    members: &[(NodeStore, Prefix)],
    signals: &Arc<Signals>,
    name: impl Fn(&NodeStore, &Prefix) -> String,
) -> Done<NodeMembers> {
    let members = members.iter().map(|(place, prefix)| {
        let name = name(place, prefix);
        let member = NodeMember::open(&name, signals.guard_all(&place.reading()), prefix);
        let failed = |cause| JoinError::Member { member: name.into(), cause: Box::new(cause) };
        member.map_err(failed)
    });
    Ok(NodeMembers::new(members.collect::<Result<Vec<_>, _>>()?)?)
}

fn plan(members: NodeMembers, arguments: &JoinArguments) -> Done<NodePlan> {
    let Some(chunks) = &arguments.chunks else {
        return Ok(match members {
            NodeMembers::Arrays(members) => of_arrays(members, arguments)?.plan()?.into(),
            NodeMembers::Groups(members) => of_groups(members, arguments)?.plan()?.into(),
        });
    };
    let called = |document: Option<&str>| -> Done<Option<String>> {
        Ok(Python::attach(|py| chunks.call1(py, (document,))?.extract(py))?)
    };
    let grid = |metadata: &ArrayMetadata| {
        let json = called(Some(metadata.json()))?;
        Ok::<_, Raised>(json.map(|json| ChunkGrid::from_json(json.as_bytes())).transpose()?)
    };
    let plan = match members {
        NodeMembers::Arrays(members) => of_arrays(members, arguments)?.plan_with(grid)?.into(),
        NodeMembers::Groups(members) => {
            of_groups(members, arguments)?.plan_with(|_, metadata| grid(metadata))?.into()
        }
    };
    called(None)?;
    Ok(plan)
}

fn of_arrays(members: Vec<Member>, arguments: &JoinArguments) -> Done<Join> {
    let arrangement = arrangement(arguments, &members)?;
    let mut join = Join::new(members, arrangement).attributes(arguments.combine()?);
    if let Some(name) = &arguments.new_axis {
        join = join.new_axis_name(name.clone());
    }
    Ok(join)
}

fn of_groups(members: Vec<GroupMember>, arguments: &JoinArguments) -> Done<JoinGroups> {
    Ok(JoinGroups::new(members, group_arrangement(arguments)?)
        .attributes(arguments.combine()?)
        .check_coordinates(!arguments.any_order))
}

/// One axis, if there is no grid.
fn only(along: &[AxisName]) -> PyResult<&AxisName> {
    match along {
        [axis] => Ok(axis),
        _ => Err(PyValueError::new_err(
            "along: one axis is joined without grid; with it, one per number of members",
        )),
    }
}

/// The number of members along each axis of the grid, each of which has a name.
fn counted<'a>(along: &'a [AxisName], counts: &[u64]) -> PyResult<Vec<(&'a AxisName, u64)>> {
    if along.len() != counts.len() || counts.contains(&0) {
        return Err(PyValueError::new_err(format!(
            "grid: {counts:?}, but along has {} axes: a number of members for each",
            along.len()
        )));
    }
    Ok(along.iter().zip(counts.iter().copied()).collect())
}

fn is_auto(text: &str) -> PyResult<()> {
    match text {
        "auto" => Ok(()),
        _ => Err(PyValueError::new_err(format!("grid: {text:?}, not numbers or \"auto\""))),
    }
}

fn arrangement(arguments: &JoinArguments, members: &[Member]) -> PyResult<Arrangement> {
    if arguments.new_axis.is_some() {
        return Ok(Arrangement::NewAxis(0));
    }
    let along = &arguments.along;
    let Some(first) = members.first() else { return Ok(Arrangement::Along(0)) };
    let metadata = first.array().metadata();
    let counts = match &arguments.grid {
        None => return Ok(Arrangement::Along(axis(only(along)?, metadata)?)),
        Some(Tiles::Auto(text)) => {
            is_auto(text)?;
            let message = "grid=\"auto\": only groups have coordinates; give numbers of members";
            return Err(PyValueError::new_err(message));
        }
        Some(Tiles::Counts(counts)) => counts,
    };
    let mut tiles = vec![1; metadata.shape().len()];
    let mut before = None;
    for (name, count) in counted(along, counts)? {
        let axis = axis(name, metadata)?;
        if before.is_some_and(|before| before >= axis) {
            let message = "along: with grid, the axes of arrays are named in their order";
            return Err(PyValueError::new_err(message));
        }
        before = Some(axis);
        if let Some(tile) = tiles.get_mut(axis) {
            *tile = count;
        }
    }
    Ok(Arrangement::Tiles(tiles))
}

fn group_arrangement(arguments: &JoinArguments) -> PyResult<GroupArrangement> {
    if let Some(name) = &arguments.new_axis {
        return Ok(GroupArrangement::NewDimension(name.clone()));
    }
    let name = |axis: &AxisName| match axis {
        AxisName::Name(name) => Ok(name.clone()),
        AxisName::Number(number) => Err(PyValueError::new_err(format!(
            "along: {number}; arrays of groups are joined along a dimension's name"
        ))),
    };
    let along = &arguments.along;
    Ok(match &arguments.grid {
        None => GroupArrangement::Along(name(only(along)?)?),
        Some(Tiles::Auto(text)) => {
            is_auto(text)?;
            GroupArrangement::ByCoordinates(along.iter().map(name).collect::<PyResult<_>>()?)
        }
        Some(Tiles::Counts(counts)) => {
            let tile = |(axis, count): (&AxisName, u64)| {
                Ok((name(axis)?, usize::try_from(count).unwrap_or(usize::MAX)))
            };
            let tiles = counted(along, counts)?.into_iter().map(tile);
            GroupArrangement::Tiles(tiles.collect::<PyResult<_>>()?)
        }
    })
}

/// The number of an axis.
fn axis(axis: &AxisName, metadata: &ArrayMetadata) -> PyResult<usize> {
    let rank = metadata.shape().len();
    let names = metadata.dimension_names().unwrap_or_default();
    match axis {
        AxisName::Number(number) => {
            let wide = i64::try_from(rank).unwrap_or(i64::MAX);
            let from_start = if *number < 0 { number.saturating_add(wide) } else { *number };
            let found = usize::try_from(from_start).ok().filter(|axis| *axis < rank);
            found.ok_or_else(|| {
                PyIndexError::new_err(format!("along: {number}; the arrays have {rank} axes"))
            })
        }
        AxisName::Name(text) => {
            let found = names.iter().position(|name| name.as_ref() == Some(text));
            found.ok_or_else(|| {
                let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
                PyValueError::new_err(match known.is_empty() {
                    true => format!(
                        "along: {text:?}; the arrays have {rank} axes without names: give a number"
                    ),
                    false => format!("along: {text:?}; the arrays have the axes {known:?}"),
                })
            })
        }
    }
}

fn of(path: &str, plan: &JoinPlan) -> PlannedArray {
    let reasons = plan.reasons().into_iter().map(|(reason, count)| (reason.words(), count));
    (
        path.to_owned(),
        plan.metadata().json().to_owned(),
        plan.moved_chunks(),
        plan.moved_bytes(),
        plan.written_chunks(),
        plan.written_bytes(),
        reasons.collect(),
    )
}

fn of_summary(did: &JoinSummary) -> Did {
    (did.linked, did.reflinked, did.copied, did.copied_bytes, did.written, did.skipped)
}
