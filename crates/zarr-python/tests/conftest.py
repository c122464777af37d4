"""What holds for all tests."""

import signal
import threading

import pytest

# A shell starts background jobs, such as those of CI, with SIGINT ignored. Programs that they start
# inherit that, and Python then never raises KeyboardInterrupt. A handler of our own ends it for
# this process, and for those that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


class OneAtATime:
    """An application that answers one request after the other.

    moto compares a condition and stores an object in two steps, which other requests can separate:
    two puts with one condition then both succeed, which S3 excludes.
    """

    def __init__(self, app):
        self.app, self.lock = app, threading.Lock()

    def __call__(self, environ, start_response):
        with self.lock:
            return list(self.app(environ, start_response))


@pytest.fixture(scope="session")
def server():
    """The address of a server of the S3 protocol on this machine."""
    moto = pytest.importorskip("moto.server")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    server._server.app = OneAtATime(server._server.app)
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()
