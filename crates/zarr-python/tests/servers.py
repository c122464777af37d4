"""Servers of the S3 protocol on this machine, with a bucket called ``bucket``.

``python servers.py`` starts moto's, prints its port, and ends with its standard input.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

ACCESS_KEY, SECRET_KEY = "test", "test-secret"
"""The only keys that the repository's server lets in."""


PAGE = 100
"""The most keys in one answer of moto's, of S3 at most 1,000."""


@dataclass
class Server:
    """A server, and what it was asked for.

    Attributes
    ----------
    folder
        The folder that holds the repository's server's buckets; None for moto's.
    requests
        Method, path and source of a copy of each request; of moto's only.
    faults
        What goes wrong with one request, and how many such requests are answered before; emptied then.
        Of moto's only. ``"409"`` and ``"412"`` refuse a put with a condition; ``"500"`` and ``"503"``
        refuse any request; ``"lost"`` does what is asked for and answers 500; ``"truncated"`` sends
        half of an object.
    """

    endpoint: str
    folder: Path | None = None
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    faults: list[tuple[str, int]] = field(default_factory=list)

    @property
    def options(self) -> dict[str, str]:
        """The settings of zarr-kit, without keys."""
        return {"endpoint": self.endpoint, "region": "us-east-1", "allow_http": "true"}

    @cached_property
    def client(self) -> Any:
        """Another client than zarr-kit's; boto3 takes longer to make one than a server to answer."""
        import boto3

        keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
        return boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **keys)

    @property
    def is_moto(self) -> bool:
        """Whether it is moto's server."""
        return self.folder is None

    def keys_of_nodes(self) -> list[str]:
        """The keys of all objects but the markers of copies and joins, which stay when these have ended."""
        return [key for key in self.keys() if not key.endswith("zarr-kit-copy.json")]

    def keys(self) -> list[str]:
        """The keys of all objects."""
        if self.folder is not None:
            # Its listings say that they are percent-encoded, and are not.
            bucket = self.folder / "bucket"
            return [path.relative_to(bucket).as_posix() for path in bucket.rglob("*") if path.is_file()]
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket="bucket")
        return [item["Key"] for page in pages for item in page.get("Contents", [])]

    def clear(self) -> None:
        """Deletes all objects."""
        if self.folder is not None:
            # With the folders, which would be in the way of objects of their names.
            for path in self.folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            (self.folder / "bucket").mkdir()
            return
        if keys := [{"Key": key} for key in self.keys()]:
            self.client.delete_objects(Bucket="bucket", Delete={"Objects": keys})
        self.requests.clear()


class OneAtATime:
    """An application that answers one request after the other, and notes them.

    moto compares a condition and stores an object in two steps, which other requests can separate:
    two puts with one condition then both succeed, which S3 excludes.
    """

    def __init__(self, app: Any, server: Server) -> None:
        self.app, self.server, self.lock = app, server, threading.Lock()

    def __call__(self, environ: Any, start_response: Any) -> list[bytes]:
        path = environ["PATH_INFO"].encode("latin-1").decode()
        request = environ["REQUEST_METHOD"], path, environ.get("HTTP_X_AMZ_COPY_SOURCE")
        with self.lock:
            self.server.requests.append(request)
            fault = self._fault(environ)
            if fault is None:
                return list(self.app(environ, start_response))
            if fault == "truncated":
                body = b"".join(self.app(environ, start_response))
                return [body[: len(body) // 2]]
            if fault == "lost":
                list(self.app(environ, lambda *_: None))
                fault = "500"
            else:
                environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start_response(f"{fault} Fault", [("Content-Type", "application/xml")])
            return [b"<Error><Code>ConditionalRequestConflict</Code></Error>" if fault == "409" else b""]

    def _fault(self, environ: Any) -> str | None:
        """What goes wrong with this request."""
        if not self.server.faults:
            return None
        fault, before = self.server.faults[0]
        method, is_list = environ["REQUEST_METHOD"], "list-type" in environ["QUERY_STRING"]
        has_condition = not {"HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH"}.isdisjoint(environ)
        concerns = {
            "409": method == "PUT" and has_condition,
            "412": method == "PUT" and has_condition,
            "truncated": method == "GET" and not is_list,
        }
        if not concerns.get(fault, True):
            return None
        if before > 0:
            self.server.faults[0] = fault, before - 1
            return None
        self.server.faults.clear()
        return fault


@contextmanager
def moto() -> Iterator[Server]:
    """moto's server, which knows nothing of zarr-kit's; it takes any keys."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    os.environ["MOTO_S3_DEFAULT_MAX_KEYS"] = str(PAGE)
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    server = Server(f"http://{host}:{port}")
    running._server.app = OneAtATime(running._server.app, server)
    # Anybody may read, and write.
    server.client.create_bucket(Bucket="bucket", ACL="public-read-write")
    yield server
    running.stop()


@contextmanager
def repositorys(program: str) -> Iterator[Server]:
    """The repository's server, ``xtask/peers/s3-server``, which answers requests at the same time."""
    with tempfile.TemporaryDirectory() as folder:
        pipe = subprocess.PIPE
        with subprocess.Popen([program, folder], stdin=pipe, stdout=pipe, text=True) as running:
            server = Server(f"http://127.0.0.1:{int(running.stdout.readline())}", Path(folder))
            server.clear()
            yield server
            # It ends with its input.
            running.stdin.close()


if __name__ == "__main__":
    with moto() as found:
        print(found.endpoint.rpartition(":")[2], flush=True)
        sys.stdin.read()
