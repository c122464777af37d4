"""Zip archives, reference files and virtual joins: opened, pickled, by Dask and by Xarray."""

import errno
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import zarr_kit
import zarr_kit.dask

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
RAIN = np.fromfile(FIXTURES / "references/rain.raw", "<f4").reshape(62, 20)


@pytest.fixture
def archive(tmp_path):
    """A zip archive of a group with one array, and its values."""
    group = zarr_kit.create_group(tmp_path / "x.zip")
    values = np.arange(59 * 4, dtype="f4").reshape(59, 4)
    rain = group.create_array("rain", shape=(59, 4), dtype="f4", chunks=[(31, 28), 4], dimension_names=["day", "x"])
    rain[...] = values
    return tmp_path / "x.zip", values


def test_archives_are_opened_wherever_a_folder_is(archive, tmp_path):
    path, values = archive
    assert sorted(zipfile.ZipFile(path).namelist()) == ["rain/c/0/0", "rain/c/1/0", "rain/zarr.json", "zarr.json"]
    for found in (
        zarr_kit.open(path, "rain"),
        zarr_kit.open(f"{path}/rain"),
        zarr_kit.open(f"file://{path}/rain"),
        zarr_kit.open_group(path)["rain"],
        pickle.loads(pickle.dumps(zarr_kit.open(path, "rain"))),
        pickle.loads(pickle.dumps(zarr_kit.open_group(path)))["rain"],
    ):
        np.testing.assert_array_equal(found[...], values)
    assert zarr_kit.open_group(path).check().is_clean
    d = zarr_kit.dask.from_zarr(path, "rain")
    assert d.chunks == ((31, 28), (4,))
    np.testing.assert_array_equal(d.compute(scheduler="processes", num_workers=2), values)


def test_archives_are_datasets(archive):
    xr = pytest.importorskip("xarray")
    path, values = archive
    for source, arguments in [(path, {}), (str(path), {"chunks": {}}), (path, {"chunks": {"day": 20}})]:
        found = xr.open_dataset(source, engine="zarr-kit", **arguments)
        np.testing.assert_array_equal(found.rain.values, values)
    copied = pickle.loads(pickle.dumps(xr.open_dataset(path, engine="zarr-kit")))
    np.testing.assert_array_equal(copied.rain[30:33].values, values[30:33])
    assert list(xr.open_datatree(path, engine="zarr-kit").rain.dims) == ["day", "x"]


def test_what_is_in_an_archive_stays(archive):
    path, values = archive
    array = zarr_kit.open(path, "rain")
    with pytest.raises(OSError, match="archive"):
        array[0] = 1
    with pytest.raises(OSError, match="archive"):
        array.attrs["units"] = "mm"
    np.testing.assert_array_equal(zarr_kit.open(path, "rain")[...], values)
    with pytest.raises(FileNotFoundError):
        zarr_kit.open(path, "snow")
    with pytest.raises(FileNotFoundError):
        zarr_kit.open(path.with_name("y.zip"))


def test_damaged_archives_are_errors(archive, tmp_path):
    path, _ = archive
    whole = path.read_bytes()
    for number, damaged in enumerate([b"", b"PK", whole[:-30], whole[:200], b"\0" * 400]):
        place = tmp_path / f"{number}.zip"
        place.write_bytes(damaged)
        with pytest.raises((OSError, ValueError), match=rf"{number}\.zip"):
            zarr_kit.open_group(place)


@pytest.mark.parametrize("name", ["v3.json", "virtualizarr.json", "fastparquet.parq", "pyarrow.parq"])
def test_reference_files_are_opened_wherever_a_folder_is(name):
    path = FIXTURES / "references" / name
    for found in (
        zarr_kit.open(path, "rain"),
        zarr_kit.open(f"{path}/rain"),
        zarr_kit.open_group(path)["rain"],
        pickle.loads(pickle.dumps(zarr_kit.open(path, "rain"))),
    ):
        np.testing.assert_array_equal(found[...], RAIN)
        assert found[30:32, 3].tolist() == RAIN[30:32, 3].tolist()
    d = zarr_kit.dask.from_zarr(path, "rain")
    np.testing.assert_array_equal(d.compute(scheduler="processes", num_workers=2), RAIN)
    with pytest.raises((OSError, ValueError)):
        found[0] = 1


@pytest.mark.parametrize("name", ["v3.json", "virtualizarr.json", "fastparquet.parq", "pyarrow.parq"])
def test_reference_files_are_datasets(name):
    xr = pytest.importorskip("xarray")
    found = xr.open_dataset(FIXTURES / "references" / name, engine="zarr-kit", chunks={}, mask_and_scale=False)
    assert found.rain.dims == ("time", "station")
    np.testing.assert_array_equal(found.rain.values, RAIN)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).rain.values, RAIN)


@pytest.fixture
def references(tmp_path):
    """References to files of another folder."""
    data = FIXTURES / "references"
    text = (data / "v3.json").read_text().replace('"./"', f'"{data}/"')
    (tmp_path / "refs.json").write_text(text)
    return tmp_path / "refs.json", data


def test_targets_elsewhere_are_read_only_if_they_are_named(references):
    path, data = references
    with pytest.raises(OSError, match=r"january.nc.*leads to it.*targets=\[PLACE\]"):
        zarr_kit.open(path, "rain")[...]
    for targets in (data, str(data), [str(data)], ["s3://bucket/x", data.parent]):
        options = {"targets": targets}
        array = zarr_kit.open(path, "rain", storage_options=options)
        np.testing.assert_array_equal(array[...], RAIN)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[...], RAIN)
    d = zarr_kit.dask.from_zarr(path, "rain", storage_options=options)
    np.testing.assert_array_equal(d.compute(scheduler="processes", num_workers=2), RAIN)
    with pytest.raises(OSError, match="january.nc"):
        zarr_kit.open(path, "rain", storage_options={"targets": [data / "other"]})[...]
    with pytest.raises(TypeError):
        zarr_kit.open(path, "rain", storage_options={"targets": [7]})


def test_datasets_take_targets(references, tmp_path):
    xr = pytest.importorskip("xarray")
    path, data = references
    found = xr.open_dataset(path, engine="zarr-kit", chunks={}, storage_options={"targets": [data]})
    np.testing.assert_array_equal(found.rain.values, RAIN)
    zarr_kit.copy(path, tmp_path / "copy.zarr", source_options={"targets": [data]})
    np.testing.assert_array_equal(zarr_kit.open(tmp_path / "copy.zarr", "rain")[...], RAIN)


RELATIVE = """
import os, pickle, sys, zarr_kit
array = zarr_kit.open(sys.argv[1], "rain", storage_options={"targets": sys.argv[2]})
os.chdir("/")
sys.stdout.buffer.write(pickle.dumps(array))
assert array.url == sys.argv[1], array.url
assert array[3:5].shape == (2, 20)
"""


def test_relative_paths_mean_the_folder_in_which_they_were_given(references):
    path, data = references
    targets = os.path.relpath(data, path.parent)
    command = [sys.executable, "-c", RELATIVE, path.name, targets]
    done = subprocess.run(command, cwd=path.parent, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    np.testing.assert_array_equal(pickle.loads(done.stdout)[...], RAIN)


def test_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME" if os.name != "nt" else "USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    zarr_kit.create("~/in/a.zarr", shape=2, dtype="i1", fill_value=4)
    assert zarr_kit.open("in/a.zarr")[:].tolist() == zarr_kit.open(Path("~/in/a.zarr"))[:].tolist() == [4, 4]
    zarr_kit.create("./~", shape=2, dtype="i1")
    zarr_kit.create("~none.zarr", shape=2, dtype="i1")
    assert sorted(os.listdir()) == ["in", "~", "~none.zarr"]
    xr = pytest.importorskip("xarray")
    from zarr_kit.xarray import to_zarr

    to_zarr(xr.Dataset({"a": ("x", [1, 2])}), "~/x.zarr")
    for place in ("~/x.zarr", tmp_path / "x.zarr"):
        assert xr.open_dataset(place, engine="zarr-kit").a.values.tolist() == [1, 2]


@pytest.fixture
def quarter(tmp_path):
    """A virtual join of two arrays, one of them in an archive, and its values."""
    values = np.arange(59 * 3, dtype="i4").reshape(59, 3)
    places = [tmp_path / "in/jan.zarr", tmp_path / "in/feb.zip"]
    for place, part in zip(places, (values[:31], values[31:]), strict=True):
        zarr_kit.create(place, shape=part.shape, dtype="i4", chunks=(part.shape[0], 2), dimension_names=["day", "x"])[...] = part
    zarr_kit.join(places, tmp_path / "in/q.zjoin", along="day", virtual=True)
    return tmp_path / "in/q.zjoin", values


def test_virtual_joins_are_opened_wherever_an_array_is(quarter):
    path, values = quarter
    array = zarr_kit.open(path)
    for found in (array, pickle.loads(pickle.dumps(array)), zarr_kit.open(str(path))):
        np.testing.assert_array_equal(found[...], values)
        np.testing.assert_array_equal(found[50:20:-7, [2, 0]], values[50:20:-7, [2, 0]])
        np.testing.assert_array_equal(found.vindex[[30, 31], [1, 0]], values[[30, 31], [1, 0]])
    assert array.chunks == ((31, 28), (2, 1)) and array.check().is_clean
    d = zarr_kit.dask.from_zarr(path)
    np.testing.assert_array_equal(d.compute(scheduler="processes", num_workers=2), values)
    np.testing.assert_array_equal(array.to_xarray(chunks={}).sel(x=1).values, values[:, 1])
    with pytest.raises((OSError, ValueError)):
        array[0, 0] = 1


def test_virtual_joins_lead_out_of_their_folder_only_if_that_is_allowed(quarter, tmp_path):
    path, values = quarter
    moved = tmp_path / "q.zjoin"
    text = path.read_text().replace('"jan.zarr"', f'"{path.parent}/jan.zarr"').replace('"feb.zip"', '"in/feb.zip"')
    moved.write_text(text)
    with pytest.raises((OSError, ValueError), match="the setting outside_members=True allows it"):
        zarr_kit.open(moved)[...]
    allowed = zarr_kit.open(moved, storage_options={"outside_members": True})
    np.testing.assert_array_equal(allowed[...], values)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(allowed))[...], values)
    with pytest.raises(ValueError, match="outside_members: True or False"):
        zarr_kit.open(moved, storage_options={"outside_members": "maybe"})


def test_a_member_that_was_replaced_is_an_error_also_in_a_worker(quarter):
    path, _ = quarter
    pickled = pickle.dumps(zarr_kit.open(path))
    shutil.rmtree(path.parent / "jan.zarr")
    zarr_kit.create(path.parent / "jan.zarr", shape=(31, 3), dtype="i4", attributes={"new": True})
    with pytest.raises((OSError, ValueError), match="jan.zarr"):
        pickle.loads(pickled)[...]


def test_paths_of_another_kind_are_type_errors():
    for place in (b"/x.zarr", 7, 1.5, object()):
        with pytest.raises(TypeError):
            zarr_kit.open(place)


def test_links_out_of_a_folder_are_followed_if_allowed(tmp_path):
    root = zarr_kit.create_group(tmp_path / "g.zarr")
    root.create_array("v", shape=4, dtype="i2", chunks=2, dimension_names=["x"])[:] = [1, 2, 3, 4]
    (tmp_path / "g.zarr/v/c").rename(tmp_path / "elsewhere")
    (tmp_path / "g.zarr/v/c").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"):
        root["v"][:]
    with pytest.raises(ValueError, match="outside_links: True or False, not \"yes\""):
        zarr_kit.open_group(tmp_path / "g.zarr", storage_options={"outside_links": "yes"})
    options = {"outside_links": True}
    for allowed in (
        zarr_kit.open(tmp_path / "g.zarr", "v", storage_options=options),
        pickle.loads(pickle.dumps(zarr_kit.open_group(tmp_path / "g.zarr", storage_options=options)))["v"],
    ):
        assert allowed[:].tolist() == [1, 2, 3, 4] and allowed.check().is_clean
    xarray = pytest.importorskip("xarray")
    found = xarray.open_dataset(tmp_path / "g.zarr", engine="zarr-kit", storage_options=options, chunks={})
    assert found.v.values.tolist() == [1, 2, 3, 4]
    allowed[1:3] = 9
    assert len(list((tmp_path / "elsewhere").iterdir())) == 2 and allowed[:].tolist() == [1, 9, 9, 4]


def names(path):
    return sorted(zipfile.ZipFile(path).namelist())


def test_a_block_is_stored_as_a_whole(tmp_path):
    path = tmp_path / "x.zip"
    group = zarr_kit.create_group(path)
    other = zarr_kit.open_group(path)
    with group:
        rain = group.create_array("rain", shape=(4,), dtype="i4", chunks=2)
        rain[:1] = 1
        # Within the block, what it wrote is read and may be replaced; others see the last commit.
        rain[1:] = [2, 3, 4]
        rain.attrs["units"] = "mm"
        with pytest.raises(OSError, match="no way to replace"):
            group.attrs["title"] = "is stored already, without this"
        with group["rain"] as again:
            assert again[:].tolist() == [1, 2, 3, 4]
        assert list(group) == ["rain"] and list(other) == []
        assert names(path) == ["zarr.json"]
    assert names(path) == ["rain/c/0", "rain/c/1", "rain/zarr.json", "zarr.json"]
    assert os.listdir(tmp_path) == ["x.zip"]
    for found in (rain, other["rain"], zarr_kit.open(path, "rain")):
        assert found[:].tolist() == [1, 2, 3, 4]


def test_a_block_that_an_exception_ends_stores_nothing(tmp_path):
    path = tmp_path / "x.zip"
    array = zarr_kit.create(path, shape=6, dtype="u2", chunks=2, codecs=[{"name": "packbits", "configuration": {"last_bit": 11}}])
    lossy = np.array([1, 2, 3, 4, 5, 65535], "u2")
    with pytest.raises(KeyError):
        with array:
            array[:2] = 7
            raise KeyError("in between")
    assert array[:].tolist() == [0] * 6
    # An operation that fails leaves no part of itself, whatever is done with its exception.
    with pytest.raises(zarr_kit.LossError):
        array.with_threads(1)[:] = lossy
    with pytest.raises(OSError, match="nothing of the block is stored"):
        with array:
            with pytest.raises(zarr_kit.LossError):
                array.with_threads(1)[:] = lossy
            with pytest.raises(OSError, match="nothing of the block is stored"):
                array[:2] = 7
            assert array[:].tolist() == [0] * 6
    assert names(path) == ["zarr.json"] and os.listdir(tmp_path) == ["x.zip"]
    # One that fails before it has written does no harm.
    with array:
        array[:2] = 7
        with pytest.raises(zarr_kit.LossError):
            array[4:] = lossy[4:]
    assert zarr_kit.open(path)[:].tolist() == [7, 7, 0, 0, 0, 0]


def test_threads_write_to_an_archive(tmp_path):
    path = tmp_path / "x.zip"
    array = zarr_kit.create(path, shape=160, chunks=10, dtype="i4")
    handles = [array, zarr_kit.open(path)]

    def write(number):
        handles[number % 2][number * 10 : number * 10 + 10] = number + 1
        for handle in handles:
            assert handle[number * 10] == number + 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(16)))
    np.testing.assert_array_equal(zarr_kit.open(path)[:], np.repeat(np.arange(1, 17), 10))


def test_blocks_wait_for_each_other_and_for_other_processes(tmp_path):
    path = tmp_path / "x.zip"
    array = zarr_kit.create(path, shape=4, chunks=1, dtype="u1")
    code = "import sys, zarr_kit; zarr_kit.open(sys.argv[1])[3] = 3"
    with array:
        array[0] = 1
        with pytest.raises(OSError, match="this thread has a session of the archive already"):
            zarr_kit.open(path)[1] = 1
        with pytest.raises(ValueError, match="with. block"):
            pickle.dumps(array)
        other = subprocess.Popen([sys.executable, "-c", code, str(path)])
        threads = ThreadPoolExecutor(1)
        waiting = threads.submit(zarr_kit.open(path).write, 2, 2)
        array[1] = 1
    waiting.result()
    assert other.wait() == 0
    assert zarr_kit.open(path)[:].tolist() == [1, 1, 2, 3]


def test_blocks_elsewhere_change_nothing(tmp_path):
    for place in (tmp_path / "x.zarr", "memory:"):
        with zarr_kit.create(place, shape=2, dtype="u1", chunks=1) as array:
            array[0] = 1
            with pytest.raises(IndexError):
                array[5] = 1
            array[1] = 2
        assert array[:].tolist() == [1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_leaves_the_block_of_its_parent_alone(tmp_path):
    path = tmp_path / "x.zip"
    code = """
import os, sys, zarr_kit
array = zarr_kit.create(sys.argv[1], shape=2, chunks=1, dtype="u1")
with array:
    array[0] = 1
    child = os.fork()
    if child == 0:
        try:
            array[1] = 9
        except OSError as error:
            assert "forked" in str(error)
            array = None
            sys.exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    array[1] = 2
print(zarr_kit.open(sys.argv[1])[:].tolist())
"""
    command = [sys.executable, "-W", "ignore", "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("[1, 2]\n", 0), done.stderr
    assert os.listdir(tmp_path) == ["x.zip"]


def test_xarray_stores_an_archive_at_once(tmp_path, monkeypatch):
    xr = pytest.importorskip("xarray")
    import zarr_kit.xarray

    data = xr.Dataset({"rain": (("day", "x"), np.ones((59, 4), "f4"))}, {"day": np.arange(59)}, {"title": "Rain"})
    for number, source in enumerate([data, data.chunk(day=20), xr.DataTree(data, {"in": xr.DataTree(data)})]):
        path = tmp_path / f"{number}.zip"
        states = []
        exit_ = zarr_kit.Group.__exit__
        with monkeypatch.context() as patched:
            patched.setattr(zarr_kit.Group, "__exit__", lambda *of: (states.append(path.exists()), exit_(*of)))
            zarr_kit.xarray.to_zarr(source, path)
        assert states == [False] and path.exists()
        found = xr.open_datatree(path, engine="zarr-kit")
        xr.testing.assert_identical(found.to_dataset().load(), data)
    # A variable is added, and what stays as it is is not written.
    more = data.drop_vars("rain").assign(snow=data.rain)
    zarr_kit.xarray.to_zarr(more.drop_vars("day"), tmp_path / "0.zip", mode="a")
    assert "snow" in zarr_kit.open_group(tmp_path / "0.zip")
    # Later tasks are stored one by one.
    later = zarr_kit.xarray.to_zarr(data.chunk(day=20), tmp_path / "later.zip", compute=False)
    assert "rain/zarr.json" in names(tmp_path / "later.zip")
    later.compute()
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "later.zip", engine="zarr-kit").load(), data)


@pytest.mark.parametrize("end", ["/", "//", "/zarr.json"])
def test_what_completion_in_a_shell_adds_is_ignored(tmp_path, end):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    group.create_array("rain", shape=3, dtype="i1")
    found = zarr_kit.open(f"{tmp_path}/g.zarr{end}")
    assert found == group and found["rain"][:].tolist() == [0, 0, 0]
    for node in (found, pickle.loads(pickle.dumps(found))):
        assert node.url == f"{tmp_path}/g.zarr"
        assert repr(node["rain"]).startswith(f"<zarr_kit.Array '{tmp_path}/g.zarr/rain'")
    assert zarr_kit.open(f"{tmp_path}/g.zarr/rain{end}").shape == (3,)


def test_folders_that_were_made_for_nothing_are_removed(tmp_path):
    held = tmp_path / "held"
    held.mkdir()
    where, new = held / "x" / "y.zarr", {"shape": 3, "dtype": "i1"}

    with pytest.raises(FileNotFoundError):
        zarr_kit.copy(tmp_path / "none", where)
    source = zarr_kit.create_array(tmp_path / "source", **new)
    with pytest.raises(ValueError, match="twice"):
        zarr_kit.copy(source, where, codecs=["twice"])
    with pytest.raises(OSError, match="NUL"):
        zarr_kit.create_array(f"{where}/c\x00", **new)
    with pytest.raises(PermissionError):
        zarr_kit.create_array(where, **new, storage_options={"read_only": True})
    assert list(held.iterdir()) == []
    zarr_kit.create_array(where, **new)
    with pytest.raises(FileExistsError):
        zarr_kit.create_array(where, **new)
    assert zarr_kit.open(where).shape == (3,)


def test_a_missing_place_has_the_number_and_name_of_a_missing_file(tmp_path):
    for name in ("none", "none.zip", "none.zjoin", "a\nb"):
        with pytest.raises(FileNotFoundError, match="No such file or directory") as raised:
            zarr_kit.open(tmp_path / name)
        shown = f"{tmp_path}/{name}".replace("\n", "\\n")
        assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, shown)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError, match=f"{tmp_path}/file") as raised:
        zarr_kit.open(tmp_path / "file")
    assert raised.value.errno == errno.ENOTDIR
    array = zarr_kit.create(tmp_path / "a", shape=3, dtype="i1")
    (tmp_path / "a/c").write_bytes(b"")
    with pytest.raises(OSError, match=f"{tmp_path}/a: ") as raised:
        array[...] = 1
    assert raised.value.errno in (errno.ENOTDIR, errno.EEXIST)
    with pytest.raises(PermissionError) as raised:
        zarr_kit.open(tmp_path / "a", mode="r")[...] = 1
    assert raised.value.errno == errno.EACCES
