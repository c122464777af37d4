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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_parameter_and_the_result_are_described_and_shown(name):
    function, text = FUNCTIONS[name], inspect.getdoc(FUNCTIONS[name]) or ""
    sections = {part: f"\n{part}\n{'-' * len(part)}\n" in text for part in ("Parameters", "Returns", "Raises", "Examples")}
    signature = inspect.signature(function)
    described = {
        parameter
        for line in text.partition("Parameters\n----------\n")[2].partition("\n\n")[0].splitlines()
        if not line.startswith(" ")
        for parameter in line.split(", ")
    }
    assert described == {parameter.lstrip("*") for parameter in signature.parameters if parameter != "self"}
    assert sections["Returns"] or signature.return_annotation in (None, "None")
    assert sections["Raises"] and sections["Examples"]


@pytest.mark.parametrize("place", ["codecs.PackBits", "codecs.Reshape", "pipeline.ZarrKitCodecPipeline", "store.ZarrKitStore", "xarray.Backend"])
def test_classes_for_other_packages_say_what_their_methods_raise(place):
    pytest.importorskip("zarr")
    module, name = place.split(".")
    kind = getattr(importlib.import_module(f"zarr_kit.{module}"), name)
    own = [getattr(kind, name) for name in vars(kind) if not name.startswith("_")]
    texts = [inspect.getdoc(member) for member in own if callable(member)]
    assert texts and all(texts)
    assert any("\nRaises\n------\n" in text for text in [inspect.getdoc(kind), *texts])
