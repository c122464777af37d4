"""Docstrings have the sections of numpydoc, with examples, which the tests run."""

import importlib
import inspect

import pytest
import zarr_kit
import zarr_kit.dask
import zarr_kit.xarray


def functions():
    """The public functions, and the public methods of arrays and groups, that are ours."""
    for module in (zarr_kit, zarr_kit.dask, zarr_kit.xarray):
        for name in dir(module):
            member = getattr(module, name)
            if inspect.isfunction(member) and not name.startswith("_"):
                yield f"{module.__name__}.{name}", member
    for kind in (zarr_kit.Array, zarr_kit.Group):
        for name, member in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") and member.__module__.startswith("zarr_kit"):
                yield f"{kind.__name__}.{name}", member


FUNCTIONS = dict(functions())


def test_all_are_found():
    assert {"zarr_kit.open", "zarr_kit.join", "zarr_kit.dask.to_zarr", "Array.append", "Group.tree"} <= set(FUNCTIONS)


def sections(function):
    """The sections of a function's own docstring, which must describe its parameters and its result."""
    text = inspect.cleandoc(function.__doc__ or "")
    found = {part for part in ("Parameters", "Returns", "Yields", "Raises", "Examples") if f"\n{part}\n{'-' * len(part)}\n" in text}
    signature = inspect.signature(function)
    described = {
        parameter
        for line in text.partition("Parameters\n----------\n")[2].partition("\n\n")[0].splitlines()
        if not line.startswith(" ")
        for parameter in line.split(", ")
    }
    assert described == {parameter.lstrip("*") for parameter in signature.parameters if parameter != "self"}
    assert found & {"Returns", "Yields"} or signature.return_annotation in (None, "None")
    return found


def is_known(name):
    """Whether the meaning of a function is that of zarr-python's function of this name."""
    zarr = pytest.importorskip("zarr")
    owner, _, function = name.rpartition(".")
    return hasattr(getattr(zarr, owner, zarr), function)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_parameter_and_the_result_are_described_and_shown(name):
    function = FUNCTIONS[name]
    if "\n----" not in inspect.cleandoc(function.__doc__ or "") and is_known(name):
        assert function.__doc__
        return
    assert {"Raises", "Examples"} <= sections(function)


# The methods that other packages call, by class. Those listed have no error of their own.
OVERRIDING = {
    "codecs.PackBits": {"to_dict"},
    "codecs.Reshape": {"to_dict", "compute_encoded_size", "resolve_metadata"},
    "pipeline.ZarrKitCodecPipeline": set(),
    "store.ZarrKitStore": set(),
    "xarray.Backend": {"guess_can_open"},
    "_xarray.store.GroupStore": set(),
}


@pytest.mark.parametrize("place", OVERRIDING)
def test_methods_for_other_packages_say_what_they_take_return_and_raise(place):
    pytest.importorskip("zarr")
    module, _, name = place.rpartition(".")
    kind = getattr(importlib.import_module(f"zarr_kit.{module}"), name)
    own = {name: getattr(kind, name) for name in vars(kind) if not name.startswith("_")}
    own = {name: member for name, member in own.items() if inspect.isroutine(member)}
    assert own.keys() >= OVERRIDING[place] and own
    assert {name for name, member in own.items() if "Raises" not in sections(member)} == OVERRIDING[place]
