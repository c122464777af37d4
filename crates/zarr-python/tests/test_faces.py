"""One behaviour behind every face: each operation leaves the same objects, or is refused, by the
command as by Python, on each kind of place."""

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_kit
from servers import ACCESS_KEY, SECRET_KEY
from zarr_kit import _native

PLACES = ["folder", "zip", "zjoin", "references"]


@dataclass
class Place:
    """A place with the objects that operations change."""

    url: str
    options: dict[str, Any] = field(default_factory=dict)
    server: Any = None

    def below(self, name):
        return f"{self.url}/{name}" if name else self.url

    def objects(self):
        """All objects by their names, documents as JSON, without what names a run or a moment."""
        found = self._objects()
        names = [name for name in found if not name.endswith("zarr-kit-copy.json")]
        return {name: _document(found[name]) if name.endswith(("json", "zjoin")) else found[name] for name in names}

    def _objects(self):
        if self.server is not None:
            below = self.url.removeprefix("s3://bucket/") + "/"
            keys = [key for key in self.server.keys() if key.startswith(below)]
            return {key.removeprefix(below): self._object(key) for key in keys}
        path = Path(self.url)
        if path.is_file() and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return {name: archive.read(name) for name in archive.namelist()}
        if path.is_file():
            # Absolute names of members.
            return {path.suffix: path.read_bytes().replace(str(path.parent).encode(), b"")}
        return {each.relative_to(path).as_posix(): each.read_bytes() for each in path.rglob("*") if each.is_file()}

    def _object(self, key):
        return self.server.client.get_object(Bucket="bucket", Key=key)["Body"].read()


def _document(value):
    return json.loads(value, object_hook=lambda item: {name: value for name, value in item.items() if name not in MOMENTS})


MOMENTS = {"last_modified", "chunks_last_updated_at", "joined_at"}
"""Members of the documents of virtual joins."""


def months(url, options, lengths, first=0):
    """A group of two arrays in chunks of these lengths, with consolidated metadata."""
    group = zarr_kit.create_group(url, attributes={"title": "w"}, storage_options=options)
    days = sum(lengths)
    new = {"dtype": "i2", "codecs": ["bytes"]}
    rain = group.create_array("rain", shape=(days, 4), chunks=[lengths, 4], dimension_names=["day", "x"], **new)
    rain[...] = np.arange(first * 4, (first + days) * 4).reshape(days, 4)
    day = group.create_array("day", shape=days, chunks=[lengths], dimension_names=["day"], **new)
    day[...] = np.arange(first, first + days)
    zarr_kit.consolidate_metadata(group)

@pytest.fixture
def make(tmp_path):
    """Makes places of a kind, each with a group of three months."""

    def place(kind, name):
        folder = tmp_path / name
        folder.mkdir()
        # Programs that read references expect chunks of one length.
        lengths = (30, 30, 30) if kind == "references" else (31, 28, 31)
        if kind in ("folder", "zip"):
            url = str(folder / "w.zarr")
            months(url, None, lengths)
            if kind == "zip":
                zarr_kit.copy(url, url := str(folder / "w.zip"))
            return Place(url)
        for number, length in enumerate(lengths):
            months(str(folder / f"{number}.zarr"), None, (length,), sum(lengths[:number]))
        members = [str(folder / f"{number}.zarr") for number in range(3)]
        url = str(folder / "w.zjoin")
        zarr_kit.join(members, url, along="day", virtual=True)
        if kind == "references":
            zarr_kit.export(url, str(folder / "w.json"))
            return Place(str(folder / "w.json"))
        return Place(url)

    return place


@pytest.fixture
def bucket(server, monkeypatch):
    """Makes places in a bucket. The command takes its settings from the environment."""
    environment = {"ENDPOINT_URL": server.endpoint, "REGION": "us-east-1", "ALLOW_HTTP": "true",
                   "ACCESS_KEY_ID": ACCESS_KEY, "SECRET_ACCESS_KEY": SECRET_KEY}  # fmt: skip
    for name, value in environment.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    options = server.options | {"access_key_id": ACCESS_KEY, "secret_access_key": SECRET_KEY}

    def place(kind, name):
        months(f"s3://{kind}/{name}/w.zarr", options, (31, 28, 31))
        return Place(f"s3://{kind}/{name}/w.zarr", options, server)

    return place


def file(tmp_path, value):
    np.save(tmp_path / "given.npy", np.asarray(value, dtype="i2"))
    return str(tmp_path / "given.npy")


NEW = ["--dtype", "int16", "--codecs", "bytes,zstd", "--dims", "day,x", "--fill", "-1", "--attributes", '{"units": "mm"}']
SAME = {"dtype": "int16", "codecs": "bytes,zstd", "dimension_names": ["day", "x"], "fill_value": -1, "attributes": {"units": "mm"}}

OPERATIONS = {
    # The arguments of the command, and the call of Python, both of a place and a temporary folder.
    "create": (
        lambda p, t: ["create", p.below("new"), "--shape", "90,4", "--chunks", "31|28|31,4", *NEW],
        lambda p, t: zarr_kit.create(p.below("new"), shape=(90, 4), chunks=[(31, 28, 31), 4], storage_options=p.options, **SAME),
    ),
    "create over": (
        lambda p, t: ["create", p.below("rain"), "--shape", "3,4", *NEW],
        lambda p, t: zarr_kit.create(p.below("rain"), shape=(3, 4), storage_options=p.options, **SAME),
    ),
    "overwrite": (
        lambda p, t: ["create", p.below("rain"), "--shape", "3,4", "--overwrite", *NEW],
        lambda p, t: zarr_kit.create(p.below("rain"), shape=(3, 4), overwrite=True, storage_options=p.options, **SAME),
    ),
    "create in an array": (
        lambda p, t: ["create", p.below("rain/inner"), "--shape", "3,4", *NEW],
        lambda p, t: zarr_kit.create(p.below("rain/inner"), shape=(3, 4), storage_options=p.options, **SAME),
    ),
    "create a group": (
        lambda p, t: ["create", p.below("more"), "--group", "--attributes", '{"a": 1}'],
        lambda p, t: zarr_kit.create_group(p.below("more"), attributes={"a": 1}, storage_options=p.options),
    ),
    "write chunks": (
        lambda p, t: ["write", p.below("day"), "--region", "31:59", "--from", file(t, range(28))],
        lambda p, t: zarr_kit.open(p.below("day"), storage_options=p.options).write(slice(31, 59), range(28)),
    ),
    "write parts of chunks": (
        lambda p, t: ["write", p.below("rain"), "--region", "30:33,1:3", "--from", file(t, [[1, 2]] * 3)],
        lambda p, t: zarr_kit.open(p.below("rain"), storage_options=p.options).write(np.s_[30:33, 1:3], [[1, 2]] * 3),
    ),
    "write a wrong shape": (
        lambda p, t: ["write", p.below("day"), "--region", "0:3", "--from", file(t, [1, 2])],
        lambda p, t: zarr_kit.open(p.below("day"), storage_options=p.options).write(slice(3), [1, 2]),
    ),
    "grow": (
        lambda p, t: ["resize", p.below("rain"), "--shape", "121,4"],
        lambda p, t: zarr_kit.open(p.below("rain"), storage_options=p.options).resize((121, 4)),
    ),
    "grow by given chunks": (
        lambda p, t: ["resize", p.below("rain"), "--shape", "120,4", "--edges", "day=10|20"],
        lambda p, t: zarr_kit.open(p.below("rain"), storage_options=p.options).resize((120, 4), chunks=[(10, 20), ()]),
    ),
    "shrink": (
        lambda p, t: ["resize", p.below("rain"), "--shape", "40,3"],
        lambda p, t: zarr_kit.open(p.below("rain"), storage_options=p.options).resize((40, 3)),
    ),
    "shrink and keep": (
        lambda p, t: ["resize", p.below("rain"), "--shape", "40,3", "--keep"],
        lambda p, t: zarr_kit.open(p.below("rain"), storage_options=p.options).resize((40, 3), discard=False),
    ),
    "append": (
        lambda p, t: ["append", p.below("day"), "--from", file(t, range(30)), "--edges", "30"],
        lambda p, t: zarr_kit.open(p.below("day"), storage_options=p.options).append(np.arange(30, dtype="i2"), chunks=[30]),
    ),
    "set attributes": (
        lambda p, t: ["attrs", p.below("rain"), "--set", 'units="mm"', "--set", "scale=0.5"],
        lambda p, t: zarr_kit.open(p.below("rain"), storage_options=p.options).attrs.update(units="mm", scale=0.5),
    ),
    "remove an attribute": (
        lambda p, t: ["attrs", p.url, "--remove", "title"],
        lambda p, t: zarr_kit.open(p.url, storage_options=p.options).attrs.pop("title"),
    ),
    "delete": (
        lambda p, t: ["delete", p.below("rain"), "--yes"],
        lambda p, t: zarr_kit.delete(p.below("rain"), storage_options=p.options),
    ),
    "delete what is missing": (
        lambda p, t: ["delete", p.below("none"), "--yes"],
        lambda p, t: zarr_kit.delete(p.below("none"), storage_options=p.options),
    ),
    "copy within": (
        lambda p, t: ["copy", p.below("rain"), p.below("again"), "--chunks", "day=45"],
        lambda p, t: zarr_kit.copy(p.below("rain"), p.below("again"), chunks={"day": 45}, source_options=p.options, target_options=p.options),
    ),
    "copy to what exists": (
        lambda p, t: ["copy", p.below("rain"), p.below("day")],
        lambda p, t: zarr_kit.copy(p.below("rain"), p.below("day"), source_options=p.options, target_options=p.options),
    ),
    "join within": (
        lambda p, t: ["join", p.below("rain"), p.below("rain"), "--along", "day", "-o", p.below("twice")],
        lambda p, t: zarr_kit.join([p.below("rain")] * 2, p.below("twice"), along="day", source_options=p.options, target_options=p.options),
    ),
    "remove a month": (
        lambda p, t: ["rearrange", p.url, "--axis", "day", "--order", "0:31,59:90"],
        lambda p, t: zarr_kit.open(p.url, storage_options=p.options).rearrange([slice(31), slice(59, 90)], "day"),
    ),
    "order chunks": (
        lambda p, t: ["rearrange", p.below("rain"), "--order", "59:90,0:59"],
        lambda p, t: zarr_kit.open(p.below("rain"), storage_options=p.options).rearrange([slice(59, 90), slice(59)]),
    ),
    "cut a chunk": (
        lambda p, t: ["rearrange", p.below("rain"), "--order", "5:90"],
        lambda p, t: zarr_kit.open(p.below("rain"), storage_options=p.options).rearrange([slice(5, 90)]),
    ),
    "consolidate": (
        lambda p, t: ["consolidate", p.url],
        lambda p, t: zarr_kit.consolidate_metadata(zarr_kit.open(p.url, storage_options=p.options)),
    ),
}


def by_command(arguments, capfd):
    capfd.readouterr()
    status = _native.main_from(["zarr-kit", *arguments])
    said = capfd.readouterr().err
    return None if status == 0 else said


def by_python(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_both_leave_the_same_or_refuse(name, kind, make, tmp_path, capfd):
    compare(name, kind, make, tmp_path, capfd)


@pytest.mark.parametrize("name", OPERATIONS)
def test_both_leave_the_same_in_a_bucket(name, bucket, tmp_path, capfd):
    compare(name, "bucket", bucket, tmp_path, capfd)


def compare(name, kind, make, folder, capfd):
    arguments, call = OPERATIONS[name]
    first, second = make(kind, "one"), make(kind, "two")
    before = first.objects()
    refused = by_command(arguments(first, folder), capfd)
    failed = by_python(lambda: call(second, folder))
    assert (refused is None) == (failed is None), (refused, failed)
    left, also = first.objects(), second.objects()
    assert left == also, [(key, left.get(key), also.get(key)) for key in left | also if left.get(key) != also.get(key)]
    if refused is not None:
        assert left == before
        assert "error: " in refused
        # numpy's own error, as arrays of numpy raise it.
        assert second.url in failed or failed.startswith("ValueError: could not broadcast")


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
def test_both_find_a_server_of_plain_http_in_the_environment(variable, bucket, server, monkeypatch, tmp_path, capfd):
    for name in ("ENDPOINT_URL", "ALLOW_HTTP"):
        monkeypatch.delenv(f"AWS_{name}")
    monkeypatch.setenv(variable, server.endpoint)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    if not server.is_moto:
        # Documented as not read; moto, in this process, would look for it.
        monkeypatch.setenv("AWS_PROFILE", "other")
    values = np.arange(4, dtype="i4")
    np.save(tmp_path / "values.npy", values)
    made, read = "s3://bucket/by-command", tmp_path / "read.npy"
    for words in (
        ["create", made, "--shape", "4", "--dtype", "i4"],
        ["write", made, "--from", str(tmp_path / "values.npy")],
        ["read", made, "--format", "npy", "-o", str(read)],
    ):
        assert by_command(words, capfd) is None, words
    assert np.array_equal(np.load(read), values)
    zarr_kit.create("s3://bucket/by-python", shape=4, dtype="i4")[:] = values
    for name in ("by-command", "by-python"):
        assert np.array_equal(zarr_kit.open(f"s3://bucket/{name}")[:], values)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "false")
    for said in (by_command(["info", made], capfd), by_python(lambda: zarr_kit.open(made))):
        assert variable in said and "AWS_ALLOW_HTTP" in said
