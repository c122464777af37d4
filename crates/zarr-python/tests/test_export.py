"""Virtual joins for other programs: references for fsspec, Icechunk, and a store of zarr-python."""

import importlib.util
import json
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr

import zarr_kit

ROOT = Path(__file__).resolve().parents[3]
MONTHS = (30, 20, 40)


def months(folder, chunks=10, codecs=None, length=MONTHS, keys=None):
    """Groups written by zarr-python, and their elements."""
    places, parts = [], []
    for number, days in enumerate(length):
        place = folder / f"{number}.zarr"
        group = zarr.create_group(place)
        values = (np.arange(days * 4).reshape(days, 4) + 1000 * number).astype("i4")
        rain = group.create_array(
            "rain", shape=values.shape, chunks=(chunks, 2), dtype="i4", dimension_names=["time", "x"],
            compressors=(codecs or {}).get(number, "auto"), chunk_key_encoding=keys,
        )
        # One chunk is not stored.
        values[10:20, 2:] = 0 if number == 1 else values[10:20, 2:]
        rain[...] = values
        places.append(place)
        parts.append(values)
    return places, np.concatenate(parts)


@pytest.fixture
def joined(tmp_path):
    places, values = months(tmp_path)
    zarr_kit.join(places, tmp_path / "all.zjoin", along="time", virtual=True)
    return tmp_path / "all.zjoin", values


def open_references(file):
    fsspec = pytest.importorskip("fsspec")
    from zarr.storage import FsspecStore

    fs = fsspec.filesystem("reference", fo=str(file), asynchronous=True, remote_options={"asynchronous": True})
    return zarr.open_group(FsspecStore(fs, path="", read_only=True), mode="r", zarr_format=3)


def test_references_are_read_by_fsspec_and_zarr_python(joined, tmp_path):
    place, values = joined
    found = zarr_kit.export(place, tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text()) == found
    chunks = {key: value for key, value in found["refs"].items() if "/c/" in key}
    # Nine rows of two chunks; one of those has only the fill value.
    assert len(chunks) == 17 and "rain/c/4/1" not in chunks
    for url, offset, length in chunks.values():
        assert (offset, length) == (0, Path(url).stat().st_size)
    group = open_references(tmp_path / "all.json")
    assert group["rain"][...].tobytes() == values.tobytes()
    # And by zarr-kit itself.
    assert zarr_kit.open(tmp_path / "all.json", "rain")[...].tobytes() == values.tobytes()
    with pytest.raises(FileExistsError):
        zarr_kit.export(place, tmp_path / "all.json")


def test_references_to_netcdf_lead_to_the_files(tmp_path):
    folder = ROOT / "fixtures/references"
    found = zarr_kit.export(folder / "v3.json")
    url, offset, length = found["refs"]["rain/c/1/0"]
    original = json.loads((folder / "v3.json").read_text())["refs"]["rain/c.1.0"]
    assert [offset, length] == original[1:] and Path(url) == folder / original[0].rpartition("}")[2]


def test_the_command_does_the_same(joined, tmp_path, capfd):
    place, values = joined
    from zarr_kit import _native

    out = tmp_path / "out.json"
    assert _native.main_from(["zarr-kit", "export", str(place), str(out)]) == 0
    assert capfd.readouterr().err == f"{out}: references to 17 chunks of {place}\n"
    assert json.loads(out.read_text()) == zarr_kit.export(place)
    assert open_references(out)["rain"][...].tobytes() == values.tobytes()
    assert _native.main_from(["zarr-kit", "export", str(place), str(out)]) == 2
    assert "there is something here already" in capfd.readouterr().err
    assert _native.main_from(["zarr-kit", "export", str(tmp_path / "none.zjoin"), str(out)]) == 2


KEYS = [{"name": "v2", "separator": "."}, {"name": "v2", "separator": "/"}, {"name": "default", "separator": "."}]


@pytest.fixture(params=KEYS, ids=["v2.", "v2/", "default."])
def joined_by_other_keys(tmp_path, request):
    places, values = months(tmp_path, keys=request.param)
    zarr_kit.join(places, tmp_path / "all.zjoin", along="time", virtual=True)
    return tmp_path / "all.zjoin", values


def test_keys_are_those_of_the_default_encoding(joined_by_other_keys, tmp_path):
    place, values = joined_by_other_keys
    found = zarr_kit.export(place, tmp_path / "all.json")["refs"]
    document = json.loads(found["rain/zarr.json"])
    assert document["chunk_key_encoding"] == {"name": "default", "configuration": {"separator": "/"}}
    assert len([key for key in found if key.startswith("rain/c/")]) == 17
    assert open_references(tmp_path / "all.json")["rain"][...].tobytes() == values.tobytes()
    assert zarr_kit.open(tmp_path / "all.json", "rain")[...].tobytes() == values.tobytes()


def test_virtualizarr_reads_references_to_other_keys(joined_by_other_keys, tmp_path):
    virtualizarr = pytest.importorskip("virtualizarr")
    parsers = pytest.importorskip("virtualizarr.parsers")
    registry = pytest.importorskip("obspec_utils.registry")
    from obstore.store import LocalStore

    place, values = joined_by_other_keys
    zarr_kit.export(place, tmp_path / "all.json")
    stores = registry.ObjectStoreRegistry({"file://": LocalStore()})
    open_as = lambda loaded: virtualizarr.open_virtual_dataset(
        (tmp_path / "all.json").as_uri(), stores, parser=parsers.KerchunkJSONParser(), loadable_variables=loaded
    )
    assert open_as(["rain"]).rain.values.tobytes() == values.tobytes()
    assert open_as([]).rain.data.manifest.shape_chunk_grid == (9, 2)


def test_other_keys_into_icechunk(joined_by_other_keys, tmp_path):
    icechunk = pytest.importorskip("icechunk")
    place, values = joined_by_other_keys
    group = into_icechunk(icechunk, place, tmp_path)
    assert group["rain"][...].tobytes() == values.tobytes()


def test_a_table_of_references_is_refused(joined, tmp_path):
    for name in ("all.parq", "all.parquet"):
        with pytest.raises(ValueError, match="only JSON"):
            zarr_kit.export(joined[0], tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    "case, message",
    [
        ({"length": (31, 28)}, "its chunks have several lengths"),
        ({"codecs": {1: None}}, "its member is encoded in another way"),
    ],
)
def test_what_no_reference_can_say_is_refused(tmp_path, case, message):
    places, _ = months(tmp_path, **case)
    zarr_kit.join(places, tmp_path / "all.zjoin", along="time", virtual=True)
    with pytest.raises(OSError, match=message):
        zarr_kit.export(tmp_path / "all.zjoin", tmp_path / "all.json")
    assert not (tmp_path / "all.json").exists()


def test_chunks_in_archives_are_refused(tmp_path):
    with zarr_kit.create(tmp_path / "a.zip", shape=10_000, dtype="u1", codecs=["bytes"]) as a:
        a[:] = 1
    with pytest.raises(OSError, match="in an archive"):
        zarr_kit.export(tmp_path / "a.zip")


def test_a_member_that_was_written_later_is_refused(joined):
    place, _ = joined
    zarr_kit.open(place.parent / "1.zarr", "rain")[0, 0] = 5
    with pytest.raises(OSError, match="modified"):
        zarr_kit.export(place)


def into_icechunk(icechunk, place, tmp_path):
    """The group of a repository that a virtual join was written into."""
    config = icechunk.RepositoryConfig.default()
    prefix = f"{tmp_path.as_uri()}/"
    config.set_virtual_chunk_container(
        icechunk.VirtualChunkContainer(prefix, icechunk.local_filesystem_store(str(tmp_path)))
    )
    storage = icechunk.local_filesystem_storage(str(tmp_path / "repository"))
    allowed = {prefix: icechunk.credentials.LocalFileSystemAccess}
    repository = icechunk.Repository.create(storage, config, authorize_virtual_chunk_access=allowed)
    session = repository.writable_session("main")
    zarr_kit.export(place, session.store)
    session.commit("a virtual join")
    return zarr.open_group(repository.readonly_session("main").store, mode="r")


def test_into_icechunk(joined, tmp_path):
    icechunk = pytest.importorskip("icechunk")
    place, values = joined
    group = into_icechunk(icechunk, place, tmp_path)
    assert group["rain"][...].tobytes() == values.tobytes()
    assert group["rain"].metadata.dimension_names == ("time", "x")
    # A repository that does not allow the folder.
    storage = icechunk.local_filesystem_storage(str(tmp_path / "closed"))
    closed = icechunk.Repository.create(storage).writable_session("main")
    with pytest.raises(ValueError, match="no virtual chunk container"):
        zarr_kit.export(place, closed.store)


class TestStore:
    """The store of zarr-python."""

    def test_reads_any_lengths(self, tmp_path):
        from zarr_kit.store import ZarrKitStore

        places, values = months(tmp_path, chunks=31, length=(31, 28, 31))
        for place, days in zip(places, (31, 28, 31), strict=True):
            # Chunks end with the member, as writers of months make them.
            group, one = zarr.open_group(place, mode="a"), zarr_kit.open(place, "rain")[...]
            rain = group.create_array(
                "rain", shape=one.shape, chunks=(days, 4), dtype="i4", dimension_names=["time", "x"], overwrite=True
            )
            rain[...] = one
        zarr_kit.join(places, tmp_path / "all.zjoin", along="time", virtual=True)
        store = ZarrKitStore(tmp_path / "all.zjoin")
        with zarr.config.set({"array.rectilinear_chunks": True}):
            plain = plain_reader().open(tmp_path / "all.zjoin", "rain")
            assert plain[...].tobytes() == values.tobytes()
            for opened in (store, pickle.loads(pickle.dumps(store))):
                assert opened == store
                group = zarr.open_group(opened, mode="r")
                assert list(group) == ["rain"]
                assert group["rain"][...].tobytes() == values.tobytes()
                assert group["rain"][30:33, 1].tolist() == values[30:33, 1].tolist()
        with pytest.raises(ValueError, match="read-only"):
            zarr.open_group(store, mode="a").create_array("new", shape=1, dtype="i1")

    def test_chunks_that_inflate_beyond_the_metadata_are_refused(self, tmp_path):
        from zarr_kit.store import ZarrKitStore

        folder, member = tmp_path / "a.zarr", tmp_path / "a.zip"
        zarr.create_array(folder, shape=4, chunks=4, dtype="u1", compressors=None)
        with zipfile.ZipFile(member, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(folder / "zarr.json", "zarr.json")
            archive.writestr("c/0", bytes(64 << 20))
        zarr_kit.join([member, member], tmp_path / "all.zjoin", along=0, virtual=True)
        array = zarr.open_array(ZarrKitStore(tmp_path / "all.zjoin"), mode="r")
        with pytest.raises(OSError, match="deflated bytes stand for 67108864"):
            array[...]

    def test_members_of_other_codecs_are_errors(self, tmp_path):
        from zarr_kit.store import ZarrKitStore

        places, _ = months(tmp_path, codecs={1: None})
        zarr_kit.join(places, tmp_path / "all.zjoin", along="time", virtual=True)
        rain = zarr.open_group(ZarrKitStore(tmp_path / "all.zjoin"), mode="r")["rain"]
        assert rain[0, 3] == 3
        with pytest.raises(OSError, match="its member is encoded in another way"):
            rain[30]

    def test_parts_of_objects(self, joined):
        from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
        from zarr.core.buffer import default_buffer_prototype
        from zarr.core.sync import sync
        from zarr_kit.store import ZarrKitStore

        store, prototype = ZarrKitStore(joined[0]), default_buffer_prototype()
        get = lambda part: sync(store.get("rain/zarr.json", prototype, part)).to_bytes()
        whole = get(None)
        assert json.loads(whole)["shape"] == [90, 4]
        assert get(RangeByteRequest(1, 5)) == whole[1:5]
        assert get(RangeByteRequest(5, 10**9)) == whole[5:]
        assert get(OffsetByteRequest(7)) == whole[7:]
        assert get(OffsetByteRequest(10**9)) == b""
        assert get(SuffixByteRequest(3)) == whole[-3:]
        assert get(SuffixByteRequest(10**9)) == whole
        assert sync(store.get("rain/none", prototype)) is None
        assert sync(store.getsize("rain/zarr.json")) == len(whole)
        assert not sync(store.exists("none"))
        names = lambda keys: sorted(sync(collect(keys)))
        assert names(store.list_dir("")) == ["rain", "zarr.json"]
        assert names(store.list_prefix("rain/c/4")) == ["rain/c/4/0"]
        assert len(names(store.list())) == 19

    def test_a_store_equals_its_pickle_and_others_of_the_same_place(self, tmp_path, monkeypatch):
        from zarr_kit.store import ZarrKitStore

        zarr_kit.create_group(tmp_path / "g")
        monkeypatch.chdir(tmp_path)
        stores = [ZarrKitStore("g"), ZarrKitStore(tmp_path / "g"), pickle.loads(pickle.dumps(ZarrKitStore("g")))]
        assert all(one == other and hash(one) == hash(other) for one in stores for other in stores)
        memory = ZarrKitStore("memory:")
        assert memory == memory != ZarrKitStore("memory:") and isinstance(hash(memory), int)
        assert stores[0] != ZarrKitStore(tmp_path) and stores[0] != "g"
        assert stores[0] != ZarrKitStore("g", storage_options={"durability": "power-failure"})

    def test_nothing_is_written_or_deleted(self, joined):
        from zarr.core.buffer import default_buffer_prototype
        from zarr.core.sync import sync
        from zarr_kit.store import ZarrKitStore

        store = ZarrKitStore(joined[0])
        buffer = default_buffer_prototype().buffer.from_bytes(b"x")
        for work in (store.set("a", buffer), store.set_if_not_exists("new", buffer), store.delete("rain/zarr.json"),
                     store.delete_dir("rain"), store.clear()):  # fmt: skip
            with pytest.raises(ValueError, match="read-only"):
                sync(work)
        assert sync(store.exists("rain/zarr.json"))

    def test_no_case_of_the_suite_reads_as_other_elements(self, tmp_path):
        """Most have members of several codecs, which a store cannot present."""
        from zarr_kit.store import ZarrKitStore

        with tarfile.open(ROOT / "fixtures/conformance/stores/zjoin.tar.gz") as archive:
            archive.extractall(tmp_path, filter="tar")
        refused = 0
        for file in sorted(tmp_path.rglob("*.zjoin")):
            try:
                array = plain_reader().open(file)
                expected = None if isinstance(array, list) else array[...]
            except ValueError:
                continue
            if expected is None:
                continue
            with zarr.config.set({"array.rectilinear_chunks": True}):
                array = zarr.open_array(ZarrKitStore(file), mode="r")
                assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
                try:
                    assert array[...].tobytes() == expected.tobytes(), file
                except OSError as error:
                    assert "its member is encoded in another way" in str(error), file
                    refused += 1
        assert refused > 10


def plain_reader():
    """The suite's reader of virtual joins, which shares no code with zarr-kit."""
    file = ROOT / "fixtures/conformance/zjoin/zjoin.py"
    spec = importlib.util.spec_from_file_location("zjoin", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def collect(keys):
    return [key async for key in keys]
