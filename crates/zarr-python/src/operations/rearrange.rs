//! Chunks of arrays, or members of a virtual join, in another order.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_kit::array::store::{UpdatePolicy, shown_url};
use zarr_kit::join::rearrange::{
    GroupRearrangement, MOST_PROMOTED, Rearrangement, Span, dimension_length as length_of_dimension,
};
use zarr_kit::join::{GroupMember, Member, NodeMember, check_group_insertion, check_insertion};
use zarr_kit::virtual_join::{AxisOf, StoredDocument};
use zarr_kit::{Group, Opened};

use crate::array::PyArray;
use crate::conversion::error::{Done, Raised};
use crate::group::PyGroup;
use crate::process::signals::Signals;
use crate::process::writes::Counted;
use crate::stores::node_store::{NodeStore, options};

/// A part of an axis as it is to be.
#[derive(FromPyObject)]
pub(crate) enum PySpan<T> {
    /// The first index of the axis itself, and the one after the last.
    Kept((u64, u64)),
    Inserted(T),
}

/// Converts the spans of an axis and the inserted nodes.
fn spans<T, U>(
    parts: Vec<PySpan<T>>,
    mut inserted: impl FnMut(T) -> Done<U>,
) -> Done<Vec<Span<U>>> {
    let span = |part| match part {
        PySpan::Kept((start, stop)) => Ok(Span::Kept(start..stop)),
        PySpan::Inserted(other) => inserted(other).map(Span::Inserted),
    };
    parts.into_iter().map(span).collect()
}

/// Makes an axis of these parts, one after another. Returns the array as it is then.
#[pyfunction]
pub(crate) fn rearrange(
    py: Python<'_>,
    array: PyRef<'_, PyArray>,
    axis: usize,
    parts: Vec<PySpan<PyRef<'_, PyArray>>>,
    promote: bool,
) -> Done<PyArray> {
    let array: &PyArray = &array;
    if array.place.opened().is_some_and(Opened::is_virtual_join) {
        return of_members(py, array, axis, parts, promote);
    }
    let named = |array: &PyArray| {
        Member::new(array.place.shown_node(array.array().prefix()), array.array().clone())
    };
    let whole = named(array);
    let inserted = spans(parts, |other| Ok(named(&other)))?;
    let (place, prefix) = (&array.place, array.array().prefix());
    let done = py.detach(|| {
        Signals::during(|signals| {
            place.change(signals, |store| {
                let mut room = MOST_PROMOTED;
                let spans = inserted.into_iter().map(|span| match span {
                    Span::Kept(range) => Ok(Span::Kept(range)),
                    Span::Inserted(other) => {
                        let promote = promote.then_some(&mut room);
                        check_insertion(&whole, &other, axis, promote).map(Span::Inserted)
                    }
                });
                let spans = spans.collect::<Result<Vec<_>, _>>()?;
                let whole = array.array().at(store, prefix);
                let plan = Rearrangement::plan(&whole, axis, spans)?;
                let renumbering =
                    place.python().filter(|python| python.renumbers().unwrap_or(false));
                let Some(python) = renumbering else {
                    return Ok::<_, Raised>(plan.execute(&|_| {})?);
                };
                let renumber = |ranges: &_| python.renumber(prefix, axis, ranges);
                Ok(signals.apart(|| plan.execute_renumbering(&place.store, renumber, &|_| {}))?)
            })
        })
    });
    let rearranged = place.named(prefix, done)?.at(Arc::clone(&place.store), prefix);
    Ok(PyArray::new(rearranged, place.clone()))
}

/// As [`rearrange`], in the document of a virtual join.
fn of_members(
    py: Python<'_>,
    array: &PyArray,
    axis: usize,
    parts: Vec<PySpan<PyRef<'_, PyArray>>>,
    promote: bool,
) -> Done<PyArray> {
    let (place, prefix) = (&array.place, array.array().prefix());
    let spans = spans(parts, |other| {
        let name = member_name(&other.place)?;
        Ok(NodeMember::Array(Member::new(name, other.array().clone())))
    })?;
    write_members(py, place, &place.url_of(prefix), AxisOf::Number(axis), &spans, promote)?;
    PyArray::open(py, place.state(py, prefix)?)
}

/// The name of an inserted member, by which the document leads to it.
fn member_name(place: &NodeStore) -> Done<String> {
    if place.is_memory() {
        let message = "memory: a virtual join cannot lead into memory";
        return Err(PyValueError::new_err(message).into());
    }
    Ok(shown_url(place.url()))
}

/// Opens the document of a virtual join.
fn document(place: &NodeStore, url: &str) -> Done<StoredDocument> {
    Ok(StoredDocument::open(url, &options(&place.settings)?.of_joins())?)
}

/// Rearranges the members of a virtual join in its document.
fn write_members(
    py: Python<'_>,
    place: &NodeStore,
    url: &str,
    axis: AxisOf<'_>,
    spans: &[Span<NodeMember>],
    promote: bool,
) -> Done<()> {
    place.check_writable()?;
    let _counted = Counted;
    py.detach(|| {
        Signals::during(|_| {
            let document = document(place, url)?;
            let plan = document.rearrange(axis, spans, promote)?;
            plan.write(UpdatePolicy::RequireExclusion)?;
            Ok::<_, Raised>(())
        })
    })
}

/// The length of a dimension, in all arrays below a group that have it.
#[pyfunction]
pub(crate) fn dimension_length(
    py: Python<'_>,
    group: PyRef<'_, PyGroup>,
    dimension: &str,
) -> Done<u64> {
    let group: &PyGroup = &group;
    if let Some(url) = group.virtual_join() {
        return py.detach(|| Ok(document(&group.place, &url)?.length(AxisOf::Named(dimension))?));
    }
    let length = py.detach(|| length_of_dimension(&group.reading(), dimension));
    group.place.named(group.prefix(), length.map_err(Into::into))
}

/// Makes a dimension of these parts, one after another, in all arrays below a group that have it.
#[pyfunction]
pub(crate) fn rearrange_group(
    py: Python<'_>,
    group: PyRef<'_, PyGroup>,
    dimension: &str,
    parts: Vec<PySpan<PyRef<'_, PyGroup>>>,
    promote: bool,
) -> Done<()> {
    let group: &PyGroup = &group;
    if let Some(url) = group.virtual_join() {
        let spans = spans(parts, |other| {
            let name = member_name(&other.place)?;
            Ok(NodeMember::Group(GroupMember::new(name, other.group().clone())))
        })?;
        return write_members(py, &group.place, &url, AxisOf::Named(dimension), &spans, promote);
    }
    let mut inserted = Vec::new();
    let spans = spans(parts, |other| {
        inserted.push(other.place.shown_node(other.prefix()));
        Ok(other.group().clone())
    })?;
    let shown = group.place.shown_node(group.prefix());
    let done = py.detach(|| {
        Signals::during(|signals| {
            group.place.change(signals, |store| {
                let whole = Group::open(store, group.prefix())?;
                let plan = GroupRearrangement::plan(&whole, dimension, spans, promote)?;
                check_group_insertion(&plan, &shown, &inserted)?;
                Ok::<_, Raised>(plan.execute(&|_| {})?)
            })
        })
    });
    group.place.named(group.prefix(), done)
}
