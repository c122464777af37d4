"""Plans what writing a dataset into a group will do, and checks it before anything is changed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from xarray import Dataset, Variable, conventions
from xarray.backends.zarr import FillValueCoder, encode_zarr_attr_value

from .. import _native
from .._array import Array
from .._cast import Casting
from .._group import Group
from ..dask import _check_known
from .appended import check_equal, check_order
from .attributes import attribute_texts, finite
from .elements import decoded, encoded, encoded_as_stored, noted
from .layout import document
from .region import Region, resolved
from .store import variable as stored_variable


@dataclass(frozen=True)
class Request:
    """The request of a caller of `to_zarr`, for one group."""

    mode: str
    append_dim: Hashable | None = None
    region: Region | None = None
    encoding: Mapping[Hashable, Mapping[str, Any]] = field(default_factory=dict)
    codecs: Any = None
    chunks: Mapping[Hashable, Any] | None = None
    casting: Casting = "exact"
    any_order: bool = False
    """Whether appended coordinates may overlap or precede those that are stored."""


@dataclass(frozen=True)
class Addition:
    """A variable that is not stored yet."""

    name: str
    variable: Variable
    document: str


@dataclass(frozen=True)
class Update:
    """A stored variable to which elements are written, after it has grown."""

    name: str
    variable: Variable
    array: Array
    region: tuple[slice, ...]
    axis: int | None = None
    """The axis that grows, None if none does."""

    @property
    def start(self) -> tuple[int, ...]:
        """The first index of the region on each axis."""
        return tuple(part.start or 0 for part in self.region)

    @property
    def edges(self) -> tuple[int, ...]:
        """The lengths of the added chunks; none if the grid gives one number for them."""
        if self.axis is None:
            return ()
        grid = self.array._document["chunk_grid"]
        if grid["name"] != "rectilinear":
            return ()
        declared = grid["configuration"]["chunk_shapes"][self.axis]
        if isinstance(declared, int):
            return ()
        added = self.variable.shape[self.axis]
        blocks = self.variable.chunks[self.axis] if self.variable.chunks else (added,)
        # Declared chunks past the end are filled before others are added.
        total = sum(entry if isinstance(entry, int) else entry[0] * entry[1] for entry in declared)
        spare = total - self.array.shape[self.axis]
        edges: list[int] = []
        for block in blocks:
            covered = min(spare, block)
            spare -= covered
            edges += [block - covered] if block > covered else []
        return tuple(edges)


@dataclass(frozen=True)
class Plan:
    """The changes of one group."""

    attributes: Mapping[str, str] | None
    """The attributes of the group as JSON texts, None if they stay unchanged."""
    additions: list[Addition]
    updates: list[Update]


def planned(
    dataset: Dataset,
    nodes: Mapping[str, Array | Group],
    request: Request,
    trial: Group,
    group: Group | None = None,
) -> Plan:
    """Plans to write a dataset into a group with these nodes.

    New arrays are created in ``trial``, a group in memory at the same path, to find all errors in
    documents and names before anything is stored. ``group`` is the one with the nodes, if it is stored.

    Raises
    ------
    ValueError, TypeError, KeyError, OverflowError
        If the dataset does not fit the stored variables, or cannot be encoded.
    FileExistsError
        If a group has the name of a new variable.
    """
    arrays = {name: node for name, node in nodes.items() if isinstance(node, Array)}
    _check_names(dataset, nodes)
    for name, variable in dataset.variables.items():
        _check_known(f"variable {name!r}", variable.shape)
    region: dict[Hashable, slice] = {}
    if request.region is not None:
        dataset, region = resolved(dataset, request.region, arrays, request.append_dim)
    if request.append_dim is not None or request.region is not None:
        dataset = _with_decoded_climatologies(dataset)
    variables, attributes = conventions.encode_dataset_coordinates(dataset)
    _check_existing(variables, arrays, request)
    texts = None
    if request.mode != "r+":
        stored = {} if group is None else group.attrs.asdict()
        attributes = _plain(attributes)
        later = [str(n) for n in dataset.coords if n not in arrays and n not in dataset.dims]
        if arrays:
            # Stored variables keep their attributes, which do not name these.
            known = [str(found.get("coordinates", "")) for found in (stored, attributes)]
            if coordinates := " ".join(dict.fromkeys([*" ".join(known).split(), *later])):
                attributes["coordinates"] = coordinates
        texts = attribute_texts("the group", attributes, stored)
    plan = Plan(texts, [], [])
    for name, variable in variables.items():
        if name not in arrays:
            explicit = request.encoding.get(name)
            if explicit is not None:
                variable.encoding = dict(explicit)
            is_data = name not in dataset.coords
            addition = _addition(name, variable, explicit is not None, is_data, request)
            _try(addition, trial)
            plan.additions.append(addition)
        elif request.mode != "a-" or request.append_dim in (None, *variable.dims):
            plan.updates.append(_update(name, variable, arrays, region, request))
        elif name in dataset.coords:
            # It is not written, and what is appended must belong to it.
            check_equal(name, _update(name, variable, arrays, region, request).variable, arrays[name], request.append_dim)
    _check_lengths(plan, arrays)
    if request.append_dim is not None and group is not None:
        for update in plan.updates:
            if update.axis is None:
                check_equal(update.name, update.variable, update.array, request.append_dim)
        plan.updates[:] = [update for update in plan.updates if update.axis is not None]
        if not request.any_order:
            check_order(group, plan.updates, str(request.append_dim))
    return plan


def _with_decoded_climatologies(dataset: Dataset) -> Dataset:
    """A dataset whose climatologies are times, as its bounds are: Xarray leaves their numbers as they are.

    Their units are those of the coordinate (CF conventions, section 7.4).
    """
    found = {}
    for variable in dataset.variables.values():
        name = variable.attrs.get("climatology", variable.encoding.get("climatology"))
        bounds = dataset.variables.get(name) if isinstance(name, str) else None
        units = {key: variable.encoding[key] for key in ("units", "calendar") if key in variable.encoding}
        if bounds is not None and bounds.dtype.kind in "iuf" and "since" in str(units.get("units")):
            plain = bounds.copy(deep=False)
            plain.attrs = {**units, **bounds.attrs}
            found[name] = conventions.decode_cf_variable(str(name), plain)
    return dataset.assign({name: (v.dims, v.data, v.attrs, v.encoding) for name, v in found.items()})


def _check_lengths(plan: Plan, arrays: Mapping[str, Array]) -> None:
    """Raises an error if a dimension would have two lengths, so that no dataset could be opened."""
    changed: dict[str, tuple[tuple[Hashable, ...], tuple[int, ...]]] = {}
    for update in plan.updates:
        if update.axis is not None:
            shape = list(update.array.shape)
            shape[update.axis] += update.variable.shape[update.axis]
            changed[update.name] = update.variable.dims, tuple(shape)
    for addition in plan.additions:
        changed[addition.name] = addition.variable.dims, addition.variable.shape
    lengths: dict[Hashable, dict[int, str]] = {}
    for name, array in arrays.items() if changed else ():
        if name not in changed:
            for stored, length in zip(array.dims or (), array.shape, strict=False):
                lengths.setdefault(stored, {})[length] = name
    for name, (dims, shape_after) in changed.items():
        for dim, length in zip(dims, shape_after, strict=True):
            known = lengths.setdefault(dim, {})
            for found, other in known.items():
                if found != length:
                    raise ValueError(
                        f"dimension {dim!r} would have the length {length} in variable {name!r} and "
                        f"{found} in {other!r}: an append needs all stored variables with its "
                        "dimension, and no others with it"
                    )
            known[length] = name


def _check_names(dataset: Dataset, nodes: Mapping[str, Array | Group]) -> None:
    for name in dataset.variables:
        if not isinstance(name, str):
            raise TypeError(f"the name of a variable or dimension is a string, not {name!r}")
        if not name:
            raise ValueError("the name of a variable is not empty")
        if "/" in name:
            above, below = name.rsplit("/", 1)
            raise ValueError(
                f"{name!r} cannot be the name of a variable, because a slash separates groups: rename it, or "
                f"store {below!r} in the group {above!r}, with group={above!r} or as a DataTree"
            )
        if isinstance(nodes.get(name), Group):
            raise FileExistsError(f"there is a group in the place of variable {name!r}: {nodes[name]!r}")


def _check_existing(
    variables: Mapping[Any, Variable], arrays: Mapping[str, Array], request: Request
) -> None:
    new = [key for key in variables if key not in arrays]
    if request.mode == "r+" and new:
        raise ValueError(
            f"dataset contains non-pre-existing variables {new!r}, which is not allowed with "
            "``mode='r+'``. To allow writing new variables, set ``mode='a'``."
        )
    for key in request.encoding:
        if key not in variables:
            raise KeyError(f"encoding for {key!r}, which is not a variable of the dataset")
        if not isinstance(request.encoding[key], Mapping):
            raise ValueError(f"encoding[{key!r}] must be castable to a dict, not {request.encoding[key]!r}")
        if key in arrays:
            raise ValueError(f"variable {key!r} already exists, but encoding was provided")
    dim = request.append_dim
    sizes = {name: length for a in arrays.values() for name, length in zip(a.dims or (), a.shape)}
    if dim is not None and dim not in sizes:
        raise ValueError(
            f"append_dim={dim!r} does not match any existing dataset dimensions {sizes}"
        )


def _addition(
    name: str, variable: Variable, is_explicit: bool, is_data: bool, request: Request
) -> Addition:
    codecs = request.codecs
    if isinstance(codecs, Mapping):
        codecs = codecs.get(name)
    elif not is_data:
        codecs = None
    variable = encoded(name, variable, request.casting)
    attributes = finite(variable.dtype, _plain(variable.attrs))
    missing = attributes.pop("_FillValue", None)
    if missing is not None:
        with noted(f"while variable {name!r} was encoded"):
            attributes["_FillValue"] = FillValueCoder.encode(variable.attrs["_FillValue"], variable.dtype)
    variable = variable.copy(deep=False)
    variable.attrs = attributes
    with noted(f"while the document of variable {name!r} was made"):
        text = document(
            name, variable, is_explicit=is_explicit, codecs=codecs, chunks=request.chunks
        )
    return Addition(name, variable, text)


def _try(addition: Addition, trial: Group) -> None:
    """Creates the array of a new variable in memory, and takes it as a variable again."""
    with noted(f"while the array of variable {addition.name!r} was planned"):
        addition.name.encode()  # lone surrogates are an error
        stored_variable(addition.name, Array(_native.create_array((trial._native, addition.name), addition.document)))


def _plain(attributes: Mapping[Any, Any]) -> dict[Any, Any]:
    """Converts numpy's arrays and scalars in attributes to lists and numbers."""
    return {k: encode_zarr_attr_value(v) for k, v in attributes.items()}  # type: ignore[no-untyped-call]


def _units_of_bounded(name: str, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """The units of the variable of which this one has the bounds (CF conventions, section 7.1)."""
    for array in arrays.values():
        if name in (array.attrs.get("bounds"), array.attrs.get("climatology")):
            return {key: array.attrs[key] for key in ("units", "calendar") if key in array.attrs}
    return {}


def _update(
    name: str,
    variable: Variable,
    arrays: Mapping[str, Array],
    region: Mapping[Hashable, slice],
    request: Request,
) -> Update:
    """Compares a variable with the stored one, and encodes it in the same way."""
    array = arrays[name]
    stored = decoded(name, variable, array, _units_of_bounded(name, arrays))
    if variable.dtype.kind in "SU" and stored.dtype.kind in "SU" and variable.dtype != stored.dtype:
        raise ValueError(
            f"Mismatched dtypes for variable {name} between Zarr store on disk and dataset to "
            f"append. Store has dtype {stored.dtype} but dataset to append has dtype {variable.dtype}."
        )
    if variable.dims != stored.dims:
        if set(variable.dims) != set(stored.dims):
            raise ValueError(
                f"variable {name!r} already exists with different dimension names {stored.dims} != "
                f"{variable.dims}, but changing variable dimensions is not supported by to_zarr()."
            )
        variable = variable.transpose(*stored.dims)
    parts: list[slice] = []
    grows: int | None = None
    for axis, (dim, length) in enumerate(zip(stored.dims, array.shape, strict=True)):
        given = variable.sizes[dim]
        if dim == request.append_dim:
            grows = axis
            parts.append(slice(length, length + given))
            continue
        part = region.get(dim, slice(None))
        start, stop, _ = part.indices(length)
        if stop - start != given:
            raise ValueError(
                f"variable {name!r} already exists with different dimension sizes: {dim!r} has "
                f"{stop - start} there and {given} in the dataset. to_zarr() only supports changing "
                f"dimension sizes when explicitly appending, but append_dim={request.append_dim!r}. "
                "If you are attempting to write to a subset of the existing store without changing "
                "dimension sizes, consider using the region argument in to_zarr()."
            )
        parts.append(slice(start, stop))
    variable = encoded_as_stored(name, variable, stored, array, request.casting)
    return Update(name, variable, array, tuple(parts), grows)
