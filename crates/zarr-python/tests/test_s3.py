"""Object storage: servers of the S3 protocol on this machine."""

import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
import zarr_kit
from servers import ACCESS_KEY
from servers import SECRET_KEY as SECRET


def has_remote():
    try:
        zarr_kit.open("s3://bucket/none", storage_options={"skip_signature": "true", "endpoint": "http://127.0.0.1:9",
                      "allow_http": "true", "timeout": "1 ms"})
    except OSError as error:
        return "feature" not in str(error)
    return True


pytestmark = pytest.mark.skipif(not has_remote(), reason="built without object storage")


@pytest.fixture
def options(server):
    return server.options | {"access_key_id": ACCESS_KEY, "secret_access_key": SECRET}


def test_arrays_are_written_and_read(options):
    array = zarr_kit.create("s3://bucket/a.zarr", shape=(59, 4), dtype="i4", chunks=[(31, 28), 3], storage_options=options)
    values = np.arange(236).reshape(59, 4)
    array[...] = values
    array[30:33, 1] = -1
    values[30:33, 1] = -1
    np.testing.assert_array_equal(zarr_kit.open("s3://bucket/a.zarr", storage_options=options)[...], values)
    group = zarr_kit.create_group("s3://bucket/g.zarr", storage_options=options)
    group.create_array("x", shape=3, dtype=str)[:] = ["a", "b", "ü"]
    assert list(group) == ["x"] and zarr_kit.open("s3://bucket", "g.zarr/x", storage_options=options)[2] == "ü"
    assert SECRET not in repr(array) + repr(group) + str(array.info)
    assert array.info.chunks_stored == 4 and group.check().is_clean


@pytest.mark.parametrize(
    ("fault", "step"), [("409", 1), ("412", 3), ("500", 17), ("503", 19), ("lost", 13), ("truncated", 7)]
)
def test_one_request_that_goes_wrong_changes_nothing(moto, options, fault, step):
    """Every request goes wrong once, or each of some. The objects are those of an undisturbed run."""

    def read(key):
        return moto.client.get_object(Bucket="bucket", Key=key)["Body"].read()

    objects, done = [], False
    for number in range(100):
        moto.clear()
        # The first run is not disturbed.
        moto.faults[:] = [(fault, step * (number - 1))] if number else []
        array = zarr_kit.create("s3://bucket", "q/r/a", shape=8, dtype="i1", chunks=4, storage_options=options)
        array[1:7] = 5
        array.append([6, 7])
        array.attrs["k"] = 1
        assert array[0:3].tolist() == [0, 5, 5]
        zarr_kit.copy(array, "s3://bucket/h/b", target_options=options)
        done = number > 0 and bool(moto.faults)
        moto.faults.clear()
        # A document that grew ends with white space that tells one append from another.
        objects.append({key: read(key).rstrip() if key.endswith("zarr.json") else read(key) for key in moto.keys_of_nodes()})
        assert objects[-1] == objects[0], number
        if done:
            break
    assert done and number > 3


def test_without_credentials(moto, options):
    anonymous = moto.options | {"skip_signature": "true"}
    zarr_kit.create("s3://bucket/a.zarr", shape=3, dtype="i4", storage_options=options)[:] = [1, 2, 3]
    assert zarr_kit.open("s3://bucket/a.zarr", storage_options=anonymous)[1:].tolist() == [2, 3]


def test_stores_of_obstore(options, tmp_path):
    obstore = pytest.importorskip("obstore.store")
    store = obstore.S3Store(
        "bucket", prefix="in/a.zarr", endpoint=options["endpoint"], region="us-east-1", access_key_id=ACCESS_KEY,
        secret_access_key=SECRET, client_options={"allow_http": True},
    )  # fmt: skip
    zarr_kit.create(store, shape=3, dtype="i4")[:] = [1, 2, 3]
    assert zarr_kit.open("s3://bucket/in/a.zarr", storage_options=options)[:].tolist() == [1, 2, 3]
    assert pickle.loads(pickle.dumps(zarr_kit.open(store)))[:].tolist() == [1, 2, 3]
    zarr_kit.create(obstore.LocalStore(tmp_path), "b.zarr", shape=2, dtype="i1")[:] = 5
    assert zarr_kit.open(tmp_path / "b.zarr")[:].tolist() == [5, 5]


def test_credential_providers_of_obstore_are_asked(options):
    obstore = pytest.importorskip("obstore.store")
    asked = []

    def provider():
        asked.append(1)
        return {"access_key_id": ACCESS_KEY, "secret_access_key": SECRET, "token": None, "expires_at": None}

    store = obstore.S3Store(
        "bucket", endpoint=options["endpoint"], region="us-east-1", client_options={"allow_http": True},
        credential_provider=provider,
    )  # fmt: skip
    zarr_kit.create_array(store, name="b.zarr", data=[1, 2, 3])
    assert asked
    assert zarr_kit.open("s3://bucket/b.zarr", storage_options=options)[:].tolist() == [1, 2, 3]
    # zarr-python asks the provider, and reads and writes through the pipeline what zarr-kit decodes.
    zarr = pytest.importorskip("zarr")
    with zarr.config.set({"codec_pipeline.path": "zarr_kit.pipeline.ZarrKitCodecPipeline"}):
        array = zarr.create_array(zarr.storage.ObjectStore(store), name="a.zarr", shape=4, chunks=2, dtype="i4")
        array[1:] = [1, 2, 3]
        assert array[:].tolist() == [0, 1, 2, 3]
    assert asked
    assert zarr_kit.open("s3://bucket/a.zarr", storage_options=options)[:].tolist() == [0, 1, 2, 3]


def test_pickles_leave_out_what_the_environment_says(options, monkeypatch):
    array = zarr_kit.create("s3://bucket/a.zarr", shape=3, dtype="i4", storage_options=options, threads=3)
    array[:] = [1, 2, 3]
    assert SECRET.encode() in pickle.dumps(array)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    text = pickle.dumps(array)
    assert SECRET.encode() not in text
    assert pickle.loads(text)[:].tolist() == [1, 2, 3]
    assert array._native.state()[3] == pickle.loads(text)._native.state()[3] == 3


def test_appends_of_two_clients_do_not_meet(options):
    zarr_kit.create("s3://bucket/a.zarr", shape=4, dtype="i4", chunks=2, storage_options=options)
    first, second = (zarr_kit.open("s3://bucket/a.zarr", storage_options=options) for _ in range(2))
    first.append([1, 2])
    with pytest.raises(zarr_kit.ConflictError):
        second.append([3, 4])
    second.refresh().append([3, 4])
    assert first.refresh()[4:].tolist() == [1, 2, 3, 4]


RACE = """
import sys, zarr_kit
number, url, options = int(sys.argv[1]), sys.argv[2], eval(sys.argv[3])
array = zarr_kit.open(url, storage_options=options, threads=1)
for place in range(number, 40, 4):
    array[place] = place + 1
"""


def test_processes_write_parts_of_one_chunk_without_loss(options):
    array = zarr_kit.create("s3://bucket/a.zarr", shape=40, dtype="i4", chunks=20, storage_options=options)
    workers = [
        subprocess.Popen([sys.executable, "-c", RACE, str(number), "s3://bucket/a.zarr", repr(options)])
        for number in range(4)
    ]
    assert [worker.wait() for worker in workers] == [0] * 4
    assert array[:].tolist() == list(range(1, 41))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_after_a_read_works(options, tmp_path):
    array = zarr_kit.create("s3://bucket/a.zarr", shape=4, dtype="i4", chunks=1, storage_options=options)
    array[:] = [1, 2, 3, 4]
    assert array[:].tolist() == [1, 2, 3, 4]
    from multiprocessing import get_context

    # Threads of the parent, which a child does not have, are started anew: nothing waits for them.
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        status = 1
        try:
            array[1] = 7
            status = int(array[:].tolist() != [1, 7, 3, 4])
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    array[1] = 2
    with get_context("fork").Pool(2) as pool:
        assert pool.map_async(array.__getitem__, range(4)).get(timeout=30) == [1, 2, 3, 4]
        # Workers end by themselves: one that is forked with another's handler of SIGTERM may not end by it.
        pool.close()
        pool.join()


def test_errors_name_no_secret(options):
    wrong = options | {"endpoint": "http://127.0.0.1:9"}
    with pytest.raises(OSError) as raised:
        zarr_kit.open("s3://bucket/a.zarr", storage_options=wrong | {"timeout": "10 ms", "connect_timeout": "10 ms"})
    assert SECRET not in str(raised.value)
