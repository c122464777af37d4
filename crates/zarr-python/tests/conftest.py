"""What holds for all tests."""

import os
import signal

import pytest
import servers

# A shell starts background jobs, such as those of CI, with SIGINT ignored. Programs that they start
# inherit that, and Python then never raises KeyboardInterrupt. A handler of our own ends it for
# this process, and for those that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = ["zarr_python/dtypes.py", "zarr_python/stores.py"]
"""Tests of zarr-python's source distribution, which `zarr_python/run.py` fetches and runs."""

PROGRAM = "ZARR_KIT_S3_SERVER"
"""The variable that names the program of the repository's server."""


@pytest.fixture(scope="session", params=["moto", "s3s"])
def running(request):
    """A server of the S3 protocol on this machine."""
    if request.param == "moto":
        pytest.importorskip("moto.server")
        start = servers.moto()
    elif program := os.environ.get(PROGRAM):
        pytest.importorskip("boto3")
        start = servers.repositorys(program)
    else:
        pytest.skip(f"{PROGRAM} does not name the program of xtask/peers/s3-server")
    with start as server:
        yield server


@pytest.fixture
def server(running):
    """A server without objects."""
    running.clear()
    return running


@pytest.fixture
def moto(server):
    """The server, if it is moto's."""
    if not server.is_moto:
        pytest.skip("moto alone notes requests and lets everybody in")
    return server


@pytest.fixture(scope="session")
def workers():
    """Dask's workers as processes, for all tests: what takes them longest is to import packages."""
    distributed = pytest.importorskip("dask.distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def cluster(workers):
    """A client of these workers, which schedules all tasks of a test."""
    with pytest.importorskip("dask.distributed").Client(workers) as client:
        yield client
