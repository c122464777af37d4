"""Findings say which elements they concern, in indices and labels, and what to do: as the command line does."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import zarr_kit

RAW = ["bytes", "crc32c"]


@pytest.fixture
def weather(tmp_path):
    """A group with daily rain, whose chunk of February is damaged."""
    root = zarr_kit.create_group(tmp_path / "w.zarr")
    group = root.create_group("daily")
    days = {"attributes": {"units": "days since 2012-01-01"}, "dimension_names": ["time"]}
    group.create_array("time", shape=60, dtype="i4", **days)[:] = np.arange(60)
    group.create_array("lat", shape=2, dtype="f4", dimension_names=["lat"])[:] = [51.5, 52.5]
    rain = group.create_array(
        "rain", shape=(60, 2), dtype="u1", chunks=[(31, 29), 2], codecs=RAW, dimension_names=["time", "lat"]
    )
    rain[...] = 7
    chunk = tmp_path / "w.zarr/daily/rain/c/1/0"
    chunk.write_bytes(b"\xff" + chunk.read_bytes()[1:])
    return tmp_path / "w.zarr"


def command(*arguments):
    """What the command finds, as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "zarr_kit", "check", *arguments, "--data", "--json"], capture_output=True, check=False
    )
    return json.loads(done.stdout)["findings"]


def test_labels_and_the_next_step_are_those_of_the_command_line(weather):
    [finding] = zarr_kit.check(weather)
    [theirs] = command(weather)
    assert (finding.labels, finding.next) == (theirs["labels"], theirs["next"])
    assert finding.labels == "time=2012-02-01:2012-02-29,lat=51.5:52.5"
    assert finding.next.startswith("copy daily/rain/c/1/0 from another copy, or from the member")
    assert finding.next.endswith(f"`zarr-kit write {weather}/daily/rain --region 31:60,0:2 --from FILE`")
    assert str(finding).endswith("[chunk-checksum] (region 31:60,0:2; time=2012-02-01:2012-02-29,lat=51.5:52.5)")
    assert finding.region == (slice(31, 60), slice(0, 2))


def test_of_nodes_in_a_store_and_of_stores_that_are_arrays(weather):
    for found in (
        zarr_kit.check(weather, "daily/rain"),
        zarr_kit.open(weather, "daily").check(),
        zarr_kit.open(weather / "daily/rain").check(),
        zarr_kit.check(weather / "daily"),
    ):
        [finding] = found
        assert finding.labels == "time=2012-02-01:2012-02-29,lat=51.5:52.5"
        assert f"`zarr-kit write {weather}/daily/rain --region" in finding.next


def test_what_is_to_be_done_with_a_node_names_the_node(weather):
    group = zarr_kit.open(weather, "daily")
    document = group.metadata
    document["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": {}}
    (weather / "daily/zarr.json").write_text(json.dumps(document))
    stale = [finding for finding in zarr_kit.check(weather, "daily") if finding.id == "stale-consolidated"]
    assert {finding.next for finding in stale} == {f"`zarr-kit consolidate {weather}/daily`"}
    assert stale[0].labels is None and stale[0].region is None


def test_without_coordinates_or_a_command(tmp_path):
    plain = zarr_kit.create(tmp_path / "a.zarr", shape=6, dtype="u1", chunks=2, codecs=RAW)
    plain[:4] = 1
    [finding] = plain.check(complete=True)
    assert (finding.id, finding.labels, finding.region) == ("missing-chunk", None, (slice(4, 6),))
    assert f"zarr-kit write {tmp_path}/a.zarr --region 4:6 --from FILE" in finding.next
    memory = zarr_kit.create("memory:", shape=6, dtype="u1", chunks=2, dimension_names=["x"])
    [*_, finding] = memory.check(complete=True)
    assert (finding.id, finding.labels, finding.next) == ("missing-chunk", None, None)
    os.link(tmp_path / "a.zarr/c/0", tmp_path / "other")
    (tmp_path / "a.zarr/c/0").write_bytes(b"short")
    [finding] = plain.check()
    assert finding.next.endswith("it is a hard link, so that the member of a join that it is from has the same fault")
