"""Names in Dask, pickles, hashes and equality: what they distinguish, and what they keep."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import zarr_kit
import zarr_kit._store

tokenize = pytest.importorskip("dask.base").tokenize
xarray = pytest.importorskip("xarray")

import zarr_kit.dask  # noqa: E402
import zarr_kit.xarray  # noqa: E402

RUN = [sys.executable, "-c"]


@pytest.fixture
def root(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    for name, dim in (("v", "x"), ("w", "y")):
        group.create_array(name, shape=4, dtype="i4", chunks=2, dimension_names=[dim])[:] = 1
    group.create_group("inner").create_array("v", shape=4, dtype="i4", chunks=2, dimension_names=["x"])
    group.create_array("s", shape=2, dtype="string")
    return group


def names(root):
    """The name that each way to make a Dask array gives it, and tokens of what holds arrays."""
    url = root.url
    tree = xarray.open_datatree(url, engine="zarr-kit", chunks={}, drop_variables="s")
    lazy = xarray.open_dataset(url, engine="zarr-kit", drop_variables="s")
    return {
        "from_array": zarr_kit.dask.from_array(root["v"]).name,
        "to_dask": root["v"].to_dask("1kiB").name,
        "from_zarr": zarr_kit.dask.from_zarr(url, "v").name,
        "to_xarray": root["v"].to_xarray(chunks={}).data.name,
        "open_dataset": xarray.open_dataset(url, engine="zarr-kit", chunks={}, drop_variables="s").v.data.name,
        "of a group": xarray.open_dataset(root, engine="zarr-kit", chunks={}, drop_variables="s").v.data.name,
        "later": lazy.chunk(x=2).v.data.name,
        "tree": tree["v"].data.name,
        "tree below": tree["inner/v"].data.name,
        "group": tokenize(root),
        "in an object": tokenize({"a": [root["v"]]}),
        "of variables": tokenize(lazy.v.variable._data),
    }


WRITES = {
    "element": lambda root: root["v"].__setitem__(0, 5),
    "points": lambda root: root["v"].vindex.__setitem__([0, 1], 5),
    "text": lambda root: root["s"].__setitem__(0, "a"),
    "text points": lambda root: root["s"].vindex.__setitem__([0], "a"),
    "another array": lambda root: root["w"].__setitem__(0, 5),
    "another path": lambda root: zarr_kit.open(f"{root.url}/v").__setitem__(0, 5),
    "resize": lambda root: root["w"].resize(2),
    "append": lambda root: root["w"].append([1]),
    "append text": lambda root: root["s"].append(["b"]),
    "rearrange": lambda root: root["w"].rearrange([slice(2, 4), slice(0, 2)]),
    "rearrange a group": lambda root: root["inner"].rearrange([slice(2, 4), slice(0, 2)], "x"),
    "copy": lambda root: zarr_kit.copy(root["inner/v"], f"{root.url}/v", overwrite=True),
    "join": lambda root: zarr_kit.join([root["inner/v"]], f"{root.url}/v", along=0, overwrite=True),
    "dask": lambda root: zarr_kit.dask.to_zarr(zarr_kit.dask.from_array(root["w"]), root["v"]),
    "xarray": lambda root: zarr_kit.xarray.to_zarr(
        xarray.Dataset({"v": ("x", np.full(4, 9, "i4"))}), root, region={"x": slice(0, 4)}
    ),
    "pipeline": lambda root: by_zarr_python(root),
}


def by_zarr_python(root):
    zarr = pytest.importorskip("zarr")
    with zarr.config.set({"codec_pipeline.path": "zarr_kit.pipeline.ZarrKitCodecPipeline"}):
        zarr.open_array(f"{root.url}/v")[0] = 5


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_names_change_with_every_write(root, write):
    before = names(root)
    assert names(root) == before == names(zarr_kit.open_group(root.url))
    write(root)
    after = names(root)
    assert [way for way in before if before[way] == after[way]] == []


def test_what_was_computed_is_not_used_after_a_write(root):
    with pytest.importorskip("dask.distributed").Client(processes=False, dashboard_address=None, n_workers=1):
        array, url = root["v"], root.url
        kept = [zarr_kit.dask.from_array(array).persist()]
        kept.append(xarray.open_dataset(url, engine="zarr-kit", chunks={}, drop_variables="s").persist())
        assert kept[0].compute().tolist() == [1, 1, 1, 1]
        array[...] = 5
        assert zarr_kit.dask.from_array(array).compute().tolist() == [5, 5, 5, 5]
        found = xarray.open_dataset(url, engine="zarr-kit", chunks={}, drop_variables="s")
        assert found.v.values.tolist() == [5, 5, 5, 5]


NAME = """
import sys, zarr_kit, zarr_kit.dask, zarr_kit.xarray, xarray
array = zarr_kit.open(sys.argv[1], "v")
if "write" in sys.argv:
    array[0] = 1
found = xarray.open_dataset(sys.argv[1], engine="zarr-kit", chunks={}, drop_variables="s")
print(zarr_kit.dask.from_array(array).name, found.v.data.name)
"""


def test_processes_that_write_nothing_share_names(root):
    def named(*more):
        done = subprocess.run([*RUN, NAME, root.url, *more], capture_output=True, text=True, check=True)
        return done.stdout.split()

    first = named()
    assert named() == first
    # Each of these writes as often as the other, and what they write may differ.
    written = [*named("write"), *named("write"), *first]
    assert len(set(written)) == len(written)


def test_another_array_in_the_same_place_has_another_name(root):
    remade = "import sys, shutil, zarr_kit; shutil.move(*sys.argv[1:]); shutil.copytree(sys.argv[2], sys.argv[1])"
    array = root["v"]
    before = zarr_kit.dask.from_array(array).name
    subprocess.run([*RUN, remade, f"{root.url}/v", f"{root.url}/old"], check=True)
    assert zarr_kit.open(root.url, "v").metadata == array.metadata
    assert zarr_kit.dask.from_array(array).name != before


def test_names_are_fresh_or_given_as_in_dask(root):
    array = root["v"]
    for make in (zarr_kit.dask.from_array, lambda a, **more: zarr_kit.dask.from_zarr(a.url, "v", **more), zarr_kit.Array.to_dask):
        assert make(array).name == make(array, name=None).name
        assert make(array, name=False).name != make(array, name=False).name
        assert make(array, name="rain").name == "rain"


def test_places_are_told_apart_by_settings_but_not_by_secrets(tmp_path):
    array = zarr_kit.create(tmp_path / "a.zarr", shape=1, dtype="i1")
    timed = zarr_kit.open(tmp_path / "a.zarr", storage_options={"endpoint": "http://127.0.0.1:1"})
    assert tokenize(array) != tokenize(timed)
    url, given = "s3://bucket/a", {"endpoint": "E", "Secret_Access_Key": "S", "token": "T", "region": "R"}
    assert zarr_kit._store.without_secrets(url, given) == {"endpoint": "E", "region": "R"}


@pytest.mark.parametrize(
    ("url", "variables", "kept"),
    [
        ("s3://b/a", {"AWS_SECRET_ACCESS_KEY": "S"}, {"endpoint", "region", "allow_http", "access_key_id", "token"}),
        ("S3a://b/a", {"AWS_SESSION_TOKEN": "T", "AWS_ENDPOINT": "E", "AWS_REGION": "R"}, {"endpoint", "region", "allow_http", "access_key_id", "secret_access_key"}),
        # Which of them the client takes is not known.
        ("s3://b/a", {"AWS_SESSION_TOKEN": "T", "AWS_TOKEN": "other"}, None),
        ("s3://b/a", {"AWS_SECRET_ACCESS_KEY": "other", "aws_secret_access_key": "S"}, None),
        ("s3://b/a", {"DB_SECRET_ACCESS_KEY": "S", "MY_ENDPOINT": "E", "CONTROLLER_ENDPOINT": "E", "COPY_ACCESS_KEY_ID": "K", "BUILD_REGION": "R", "PROXY_ALLOW_HTTP": "true"}, None),
        ("gs://b/a", {"AWS_SECRET_ACCESS_KEY": "S", "AZURE_STORAGE_TOKEN": "T"}, None),
        ("az://b/a", {"AZURE_STORAGE_TOKEN": "T"}, {"endpoint", "region", "allow_http", "access_key_id", "secret_access_key"}),
        ("/s3/a.zarr", {"AWS_SECRET_ACCESS_KEY": "S"}, None),
    ],
)  # fmt: skip
def test_pickles_leave_out_only_secrets_that_the_client_finds(url, variables, kept, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    given = {"endpoint": "E", "region": "R", "allow_http": "true", "access_key_id": "K", "secret_access_key": "S", "token": "T"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert zarr_kit._store.portable(url, given) == {name: given[name] for name in kept or given}


def test_pickles_keep_every_setting_and_argument(tmp_path, monkeypatch):
    options = {"endpoint": "http://127.0.0.1:1", "region": "x", "outside_members": True, "targets": [str(tmp_path)]}
    for name, value in options.items():
        monkeypatch.setenv(f"OTHER_{name.upper()}", str(value))
    made = zarr_kit.create_group(tmp_path / "g.zarr", storage_options=options, threads=3, write_empty_chunks=True)
    made = zarr_kit.open_group(made.url, storage_options=options, threads=3, write_empty_chunks=True, cache=5000)
    made.create_array("a", shape=1, dtype="i1")
    for node in (made, made["a"]):
        again = pickle.loads(pickle.dumps(node))
        assert again._native.state()[3:] == (3, True, 5000)
        assert again._native.state() == node._native.state() and again._native.settings == node._native.settings


def test_groups_trust_the_same_metadata_after_a_pickle_and_a_refresh(root):
    zarr_kit.xarray.to_zarr(xarray.Dataset({"u": ("x", [1.5])}), root, group="inner/deep", consolidated=True)
    given = root["inner/deep/u"].attrs
    found = zarr_kit.open_group(root.url, use_consolidated=True)
    given["units"] = "K"
    hidden = f"{root.url}/inner/deep/u/zarr.json"
    os.rename(hidden, f"{hidden}-hidden")
    for trusting in (found, pickle.loads(pickle.dumps(found)), found.refresh()):
        for group in (trusting, trusting["inner"], pickle.loads(pickle.dumps(trusting["inner"])), trusting["inner"].refresh()):
            assert group[f"{group.path.replace('inner', '', 1)}/deep/u" if group.path else "inner/deep/u"].shape == (1,)
    with pytest.raises(KeyError):
        pickle.loads(pickle.dumps(root))["inner/deep/u"]


def test_equal_groups_have_equal_hashes(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = zarr_kit.open_group("g.zarr")
    assert other == root and hash(other) == hash(root) and len({other, root, root["inner"]}) == 2
    memory = [zarr_kit.create_group("memory:") for _ in range(2)]
    assert memory[0] != memory[1] and len(set(memory)) == 2
