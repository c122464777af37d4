"""What completion shows of the modules."""

import importlib
import inspect
import types

import pytest
import zarr_kit

MODULES = ["zarr_kit", "zarr_kit.codecs", "zarr_kit.dask", "zarr_kit.dtypes", "zarr_kit.pipeline", "zarr_kit.store", "zarr_kit.xarray"]


@pytest.mark.parametrize("name", MODULES)
def test_only_public_names_are_shown(name):
    needs = {"zarr_kit.codecs": "zarr", "zarr_kit.dtypes": "zarr", "zarr_kit.pipeline": "zarr", "zarr_kit.store": "zarr", "zarr_kit": "zarr_kit"}
    pytest.importorskip(needs.get(name, name.rpartition(".")[2]))
    module = importlib.import_module(name)
    shown = dir(module)
    assert set(module.__all__) <= set(shown)
    for entry in set(shown) - set(module.__all__):
        assert isinstance(getattr(module, entry), types.ModuleType) and f"{name}.{entry}" in MODULES


def test_all_that_is_public_is_explained():
    def explained(member, where):
        assert inspect.getdoc(member), where
        if inspect.isclass(member) and not issubclass(member, Exception):
            for name, inner in vars(member).items():
                if not name.startswith("_") and (callable(inner) or isinstance(inner, property)):
                    assert inspect.getdoc(inner), f"{where}.{name}"

    for name in zarr_kit.__all__:
        if name != "__version__":
            explained(getattr(zarr_kit, name), name)


@pytest.mark.parametrize(("module", "extra"), [("dask", "dask"), ("xarray", "xarray"), ("codecs", "zarr"), ("store", "zarr")])
def test_missing_packages_are_told_with_their_extra(module, extra):
    import subprocess
    import sys

    code = f"import sys; sys.modules['{extra}'] = None; import zarr_kit.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"ImportError: zarr-kit needs the package {extra} for this: pip install 'zarr-kit[{extra}]'" in done.stderr
