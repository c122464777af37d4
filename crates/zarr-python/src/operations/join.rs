//! Joins of arrays and groups.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_kit::array::store::shown_url;
use zarr_kit::join::{
    AxisName, CombineAttributes, GroupMember, Join, JoinError, JoinGroups, JoinOptions, JoinPlan,
    JoinProgress, JoinSummary, Member, MemberGrid, NamedArrangement, NodeMember, NodeMembers,
    NodePlan, names_of_other_objects,
};
use zarr_kit::metadata::ChunkGrid;
use zarr_kit::virtual_join::{Document, Missing};
use zarr_kit::{ArrayMetadata, Prefix};

use crate::conversion::error::{Done, Raised};
use crate::group::PyGroup;
use crate::node::At;
use crate::operations::hierarchy::refuse_unportable;
use crate::process::progress::Progress;
use crate::process::signals::Signals;
use crate::process::writes::Counted;
use crate::stores::node_store::{NodeStore, State, absolute, stores_and_members};

/// An axis by name or number; negative numbers count from the last.
#[derive(FromPyObject)]
enum Axis {
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
    along: Vec<Axis>,
    new_axis: Option<String>,
    grid: Option<Tiles>,
    /// A function that returns the JSON of the chunk grid, and that of the grid of shards, for the
    /// document of a joined array, or `None` where the array keeps the members'. Without a document it
    /// refuses rules that no array has needed.
    chunks: Option<Py<PyAny>>,
    combine_attrs: String,
    any_order: bool,
    promote: bool,
    fill_missing: bool,
    chunks_may_change: bool,
    portable: bool,
    link: bool,
    resume: bool,
    overwrite: bool,
}

/// Refuses coordinates of a group that is appended if they do not follow the stored ones.
#[pyfunction]
pub(crate) fn check_order(
    py: Python<'_>,
    stored: &Bound<'_, PyGroup>,
    added: &Bound<'_, PyGroup>,
    dimension: &str,
) -> Done<()> {
    let (stored, added) = (stored.get(), added.get());
    let checked = py.detach(|| {
        let member = |name: &str, group: &PyGroup| GroupMember::new(name, group.reading());
        let members = [member("what is stored", stored), member("what is appended", added)];
        zarr_kit::join::check_order(&members, dimension)
    });
    Ok(checked?)
}

/// The plan of an array: its path in the joined group, its document, the numbers of moved chunks
/// and bytes, of assembled chunks, of written chunks and bytes, and of written chunks by reason.
type PlannedArray = (String, String, usize, u64, usize, usize, u64, Vec<(&'static str, usize)>);

/// Chunks: linked, reflinked, copied, bytes of those, assembled, bytes of those, written, and done by an
/// earlier run.
type Did = (u64, u64, u64, u64, u64, u64, u64, u64);

/// Plans a join, and carries it out if there is a target.
#[pyfunction]
pub(crate) fn join(
    py: Python<'_>,
    members: Vec<At<'_>>,
    target: Option<At<'_>>,
    arguments: JoinArguments,
    progress: Option<Py<PyAny>>,
) -> Done<(Vec<PlannedArray>, Did, Vec<String>)> {
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
            let left_out = plan.left_out().to_vec();
            let Some(target) = target else { return Ok((planned, Did::default(), left_out)) };
            let (place, prefix) = target.place()?;
            let progress = Progress::new(progress, signals);
            let told = |at: JoinProgress| progress.tell(prefix.as_str(), at.done, Some(at.total));
            let options = JoinOptions::new()
                .link(arguments.link)
                .resume(arguments.resume)
                .overwrite(arguments.overwrite)
                .threads(place.handling.threads);
            let shown = place.shown_node(&prefix);
            let did = place.change(signals, |store| {
                plan.execute(&store, &prefix, &options, &told).map_err(|error| match error {
                    // Members are named already.
                    JoinError::Transfer(cause) => {
                        Raised::of_copy(*cause, &[shown.clone(), shown.clone()])
                    }
                    error => error.into(),
                })
            })?;
            Ok::<_, Raised>((planned, of_summary(&did), left_out))
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
) -> Done<Vec<String>> {
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
    let (url, (store, _)) = (absolute(&url)?, stores_and_members(&settings)?);
    py.detach(|| {
        Signals::during(|signals| {
            // Secrets are the caller's, never the document's.
            let members = opened(&members, signals, |place, _| shown_url(place.url()))?;
            let left_out = match &members {
                NodeMembers::Groups(members) => names_of_other_objects(members)?,
                NodeMembers::Arrays(_) => Vec::new(),
            };
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
            Ok::<_, Raised>(left_out)
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
    let called = |document: Option<&str>| -> Done<(Option<String>, Option<String>)> {
        Ok(Python::attach(|py| chunks.call1(py, (document,))?.extract(py))?)
    };
    let change = |metadata: &ArrayMetadata| {
        let grid = |json: Option<String>| {
            json.map(|json| ChunkGrid::from_json(json.as_bytes())).transpose()
        };
        let (chunks, shards) = called(Some(metadata.json()))?;
        let (chunks, shards) = (grid(chunks)?, grid(shards)?);
        Ok::<_, Raised>(Some(metadata.with_layout(chunks.as_ref(), None, shards.as_ref())?))
    };
    let plan = match members {
        NodeMembers::Arrays(members) => of_arrays(members, arguments)?.plan_with(change)?.into(),
        NodeMembers::Groups(members) => {
            of_groups(members, arguments)?.plan_with(|_, metadata| change(metadata))?.into()
        }
    };
    called(None)?;
    Ok(plan)
}

fn of_arrays(members: Vec<Member>, arguments: &JoinArguments) -> Done<Join> {
    let arrangement = named(arguments)?.of_arrays(&members)?;
    let join = Join::new(members, arrangement).attributes(arguments.combine()?);
    let join = join.promote(arguments.promote);
    Ok(join.new_axis_name(arguments.new_axis.clone()))
}

fn of_groups(members: Vec<GroupMember>, arguments: &JoinArguments) -> Done<JoinGroups> {
    Ok(JoinGroups::new(members, named(arguments)?.of_groups()?)
        .attributes(arguments.combine()?)
        .check_coordinates(!arguments.any_order)
        .promote(arguments.promote))
}

/// The arrangement that the arguments name.
fn named(arguments: &JoinArguments) -> PyResult<NamedArrangement> {
    let axis = |axis: &Axis| match axis {
        Axis::Number(number) => AxisName::Number(*number),
        Axis::Name(name) => AxisName::Text(name.clone()),
    };
    let grid = match &arguments.grid {
        None => None,
        Some(Tiles::Counts(counts)) => Some(MemberGrid::Counts(counts.clone())),
        Some(Tiles::Auto(text)) if text == "auto" => Some(MemberGrid::Auto),
        Some(Tiles::Auto(text)) => {
            let message = format!("grid: {text:?}, not numbers or \"auto\"");
            return Err(PyValueError::new_err(message));
        }
    };
    let along = arguments.along.iter().map(axis).collect();
    Ok(NamedArrangement { along, new_axis: arguments.new_axis.clone(), grid })
}

fn of(path: &str, plan: &JoinPlan) -> PlannedArray {
    let reasons = plan.reasons().into_iter().map(|(reason, count)| (reason.words(), count));
    (
        path.to_owned(),
        plan.metadata().json().to_owned(),
        plan.moved_chunks(),
        plan.moved_bytes(),
        plan.assembled_chunks(),
        plan.written_chunks(),
        plan.written_bytes(),
        reasons.collect(),
    )
}

fn of_summary(did: &JoinSummary) -> Did {
    let (moved, bytes) = (did.copied, did.copied_bytes);
    let (assembled, of_those) = (did.assembled, did.assembled_bytes);
    (did.linked, did.reflinked, moved, bytes, assembled, of_those, did.written, did.skipped)
}
