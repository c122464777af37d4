"""Pictures of values, statistics and differences: those of the command line, from Python."""

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr_kit
import zarr_kit.xarray


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "zarr_kit", *map(str, arguments)], capture_output=True, text=True)


def pixels(png):
    """The pixels of a PNG with 8 bits of red, green, blue and alpha, decoded without a library."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        length, kind = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")
            assert tuple(body[8:10]) == (8, 6)
        elif kind == b"IDAT":
            data += body
        at += length + 12
    lines, out = zlib.decompress(data), []
    above = [0] * (4 + 4 * width)
    for row in range(height):
        kind, *line = lines[row * (1 + 4 * width) : (row + 1) * (1 + 4 * width)]
        # Four zeros to the left of the first pixel.
        done = [0] * 4
        for at, byte in enumerate(line):
            left, up, corner = done[at], above[4 + at], above[at]
            guess = left + up - corner
            # Of those equally near, the first.
            nearest = min((left, up, corner), key=lambda value: abs(guess - value)) if kind == 4 else 0
            done.append((byte + [0, left, up, (left + up) // 2, nearest][kind]) % 256)
        above = done
        out.append(done[4:])
    return np.array(out, int).reshape(height, width, 4)


@pytest.fixture
def array(tmp_path):
    values = np.arange(600, dtype="f4").reshape(20, 30)
    values[0, :3] = np.nan
    found = zarr_kit.create(
        tmp_path / "a.zarr", shape=(2, 20, 30), dtype="f4", chunks=[2, (3, 17), 9], fill_value=-1,
        dimension_names=["t", "y", "x"], attributes={"units": "K"},
    )  # fmt: skip
    found[0] = values
    return found


def test_pictures_of_values_are_those_of_the_command_line(array, tmp_path):
    picture = array.draw(0, tmp_path / "ours.png", values=True)
    done = command("draw", "--values", tmp_path / "a.zarr", "--region", "t=0", "-o", tmp_path / "theirs.png")
    assert done.returncode == 0, done.stderr
    assert picture == (tmp_path / "ours.png").read_bytes() == (tmp_path / "theirs.png").read_bytes()
    assert isinstance(picture, bytes) and picture._repr_png_() == bytes(picture)
    assert picture.notes[0] == "dark to bright: 3 to 599 K" and "transparent" in picture.notes[1]
    assert all(note in done.stderr for note in picture.notes)


def test_notebooks_show_a_picture_with_its_notes(array):
    picture = array.draw(0, values=True)
    html = picture._repr_html_()
    source = html.partition('src="data:image/png;base64,')[2].partition('"')[0]
    assert base64.b64decode(source, validate=True) == picture
    assert all(note in html for note in picture.notes)
    hostile = zarr_kit.create("memory:", shape=2, dtype="u1", attributes={"units": "<script>"})
    hostile[:] = [1, 2]
    assert "<script>" not in hostile.draw(values=True)._repr_html_()


def test_pictures_show_the_values(array):
    found = pixels(array.draw(np.s_[0, :, ::-1], values=True))
    # Squares, and below the colour bar, a title and a line for each axis.
    factor = found.shape[1] // 30
    assert found.shape[1] == 30 * factor and found.shape[0] == 20 * factor + 44 + 3 * 16
    cells = found[: 20 * factor : factor, ::factor]
    # NaN is transparent, all else opaque, and the green of viridis grows with the value, up to rounding.
    assert (cells[0, 27:, 3] == 0).all() and (cells[1:, :, 3] == 255).all()
    greens = cells[:, ::-1, 1].ravel()
    assert (np.diff(greens[3:]) >= -1).all() and greens[-1] > greens[3] + 100
    # Nothing but the fill value.
    assert (pixels(array.draw(1, values=True))[:, :, 3] == 0).all()
    empty = zarr_kit.create("memory:", shape=(0, 4), dtype="i2")
    assert pixels(empty.draw(values=True)).shape == (1, 1, 4)
    assert pixels(zarr_kit.create("memory:", shape=(), dtype="i2").draw(values=True)).shape[2] == 4


def test_what_is_no_plane_of_numbers_is_refused(array):
    with pytest.raises(ValueError, match="values are drawn of two axes, and the selection has t, y, x"):
        array.draw(values=True)
    with pytest.raises(IndexError, match="single elements"):
        array.draw(np.ones(array.shape, bool), values=True)
    words = zarr_kit.create("memory:", shape=3, dtype="string")
    for work in (lambda: words.draw(values=True), words.stats):
        with pytest.raises(TypeError, match="not real numbers or times"):
            work()


def test_damaged_chunks_are_named(array, tmp_path):
    (tmp_path / "a.zarr/c/0/0/0").write_bytes(b"broken")
    for work in (lambda: array.draw(0, values=True), array.stats):
        with pytest.raises(ValueError, match="c/0/0/0"):
            work()
    found = zarr_kit.diff(array, array)
    assert found["not_compared"] == 1 and "c/0/0/0" in found["differences"][0]["reason"]


def test_statistics_are_numpys_and_those_of_the_command_line(array, tmp_path):
    found = array.stats()
    assert found == json.loads(command("stats", "--json", tmp_path / "a.zarr").stdout)
    values = array[...].astype("f8")
    number = values[~np.isnan(values)]
    assert (found["elements"], found["nan"], found["fill"]) == (1200, 3, 600)
    part = array.stats((slice(1), slice(5, 9), [1, 7, 8]))
    expected = values[0, 5:9][:, [1, 7, 8]]
    assert (part["elements"], part["min"], part["max"]) == (12, expected.min(), expected.max())
    np.testing.assert_allclose([part["mean"], part["std"]], [expected.mean(), expected.std()])
    assert sum(row["count"] for row in part["histogram"]) == 12 and number.size == 1197
    days = zarr_kit.create("memory:", shape=3, dtype="M8[D]")
    days[:] = np.array(["2001-02-03", "NaT", "2001-02-01"], "M8[D]")
    assert (days.stats()["min"], days.stats()["max"], days.stats()["nan"]) == ("2001-02-01", "2001-02-03", 1)
    large = zarr_kit.create("memory:", shape=2, dtype="u8")
    large[:] = np.array([2**64 - 1, 5], "u8")
    assert large.stats()["max"] == 2**64 - 1
    assert zarr_kit.create("memory:", shape=0, dtype="i4").stats()["min"] is None


def test_differences_are_those_of_the_command_line(array, tmp_path):
    zarr_kit.copy(array, tmp_path / "b.zarr", chunks=7)
    other = zarr_kit.open(tmp_path / "b.zarr")
    same = zarr_kit.diff(array, other)
    assert (same["different"], same["arrays"], same["elements"]) == (0, 1, 1200) and same["stored_differently"] >= 1
    other[0, 3, 4] = 1000
    other[1, 0, 0] = 5
    other.attrs["units"] = "C"
    found = zarr_kit.diff(tmp_path / "a.zarr", other)
    theirs = json.loads(command("diff", "--json", tmp_path / "a.zarr", tmp_path / "b.zarr").stdout)
    assert found == theirs and found["different"] == 2
    values = found["differences"][-1]
    assert (values["what"], values["different"], values["first"]["index"]) == ("values", 2, [0, 3, 4])
    assert values["largest"]["difference"] == 1000 - 94
    assert zarr_kit.diff(array, other, metadata_only=True)["different"] == 1


def test_differences_by_labels_and_in_regions(tmp_path):
    days = np.arange(40)
    for name, of in (("one", days), ("two", days[5:])):
        data = xr.Dataset({"x": (("time", "y"), np.outer(of, np.arange(3.0)))}, {"time": of})
        data.time.attrs["units"] = "days since 2000-01-01"
        zarr_kit.xarray.to_zarr(data, tmp_path / name)
    two = zarr_kit.open(tmp_path / "two")
    two["x"][20:22, 2] = -1
    found = zarr_kit.diff(tmp_path / "one", tmp_path / "two")
    values = next(each for each in found["differences"] if each["what"] == "values")
    assert (values["elements"], values["different"], values["regions"]) == (35 * 3, 2, ["25:27,2:3"])
    assert values["first"]["other_index"] == [20, 2]
    assert values["labels"] == ["time=2000-01-26:2000-01-27"]
    theirs = json.loads(command("diff", "--json", tmp_path / "one", tmp_path / "two").stdout)
    assert found["differences"] == theirs["differences"]
    alone = zarr_kit.diff(zarr_kit.open(tmp_path / "one")["x"], two["x"])
    assert alone["differences"][-1] == values | {"path": ""}
    for region, expected in (
        ({"y": slice(2)}, 0),
        ({"y": [2, 0]}, 2),
        ({"y": np.array([-1])}, 2),
        ({"y": 1}, 0),
        ({"time": slice(5, None), "y": 2}, 2),
    ):
        found = zarr_kit.diff(tmp_path / "one", tmp_path / "two", region=region)
        values = [each for each in found["differences"] if each["what"] == "values"]
        assert sum(each["different"] for each in values) == expected, region
    with pytest.raises(ValueError, match="no compared array has an axis"):
        zarr_kit.diff(tmp_path / "one", tmp_path / "two", region={"z": 1})
    # Of a group, the other arrays are still compared.
    assert zarr_kit.diff(tmp_path / "one", tmp_path / "two", region={"y": 9})["not_compared"] == 1
    with pytest.raises(ValueError, match="region"):
        zarr_kit.diff(tmp_path / "one/x", tmp_path / "two/x", region={"y": 9})
    with pytest.raises(TypeError, match="axis 'y'"):
        zarr_kit.diff(tmp_path / "one", tmp_path / "two", region={"y": "2000"})


def test_differences_of_groups_in_one_store(tmp_path):
    root = zarr_kit.create_group(tmp_path / "g.zarr")
    for name in ("one", "two"):
        group = root.create_group(name)
        group.create_array("x", shape=3, dtype="i2")[:] = 1
        group.create_group("deep").create_array("y", shape=2, dtype="string")[:] = "é"
    assert zarr_kit.diff(root["one"], root["two"])["differences"] == []
    root["two/deep/y"][1] = "z"
    root["two"].create_array("new", shape=1, dtype="i1")
    found = zarr_kit.diff(root["one"], root["two"])
    assert [(each["path"], each["what"]) for each in found["differences"]] == [("deep/y", "values"), ("new", "node")]
    first = found["differences"][0]["first"]
    assert (first["index"], first["one"], first["other"]) == ([1], '"é"', '"z"')
    assert found["differences"][1]["only_in"].endswith("g.zarr/two")
    with pytest.raises(FileNotFoundError):
        zarr_kit.diff(root, tmp_path / "none.zarr")


def test_nothing_is_printed(array, tmp_path):
    script = "import sys, zarr_kit; a = zarr_kit.open(sys.argv[1]); a.stats(); a.draw(0, values=True); zarr_kit.diff(a, a)"
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "a.zarr"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_notebooks_stay_small(array):
    assert len(array._repr_html_()) < 20_000 and "png" not in array._repr_html_()


def test_advice_on_arrays_of_numpy_and_of_stores(tmp_path: Path) -> None:
    values = (np.arange(6000, dtype="u2") * 7 % 4096).reshape(60, 100)
    found = zarr_kit.advise(values, goal="size")
    assert found["bits"]["needed_bits"] == [0, 11]
    sizes = [trial["bytes"] for trial in found["trials"]]
    assert sizes == sorted(sizes) and len(sizes) > 10
    chain = found["trials"][0]["chain"]
    array = zarr_kit.create(tmp_path / "a.zarr", shape=values.shape, dtype="u2", codecs=chain)
    array[...] = values
    assert zarr_kit.advise(array, goal="size")["trials"][0]["current"]
    stored = sum(file.stat().st_size for file in (tmp_path / "a.zarr" / "c").rglob("*") if file.is_file())
    assert stored == sizes[0]
    with pytest.raises(ValueError, match="'read'"):
        zarr_kit.advise(array, goal="speed")
    reads: list[dict[str | int, int] | str] = [{0: 1}, {1: 5}, "whole"]
    shaped = zarr_kit.advise(array, reads=reads, latency=0.02, memory=4000)
    assert shaped["reads"] == [[1, 100], [60, 5], [60, 100]]
    best = shaped["shapes"][0]
    assert best["memory"] <= 4000 and [read["requests"] >= 1 for read in best["reads"]] == [True] * 3
    copy = zarr_kit.create(
        tmp_path / "s.zarr", shape=values.shape, dtype="u2", chunks=best["chunks"], shards=best["shards"]
    )
    assert list(copy.chunks) == best["chunks"]
    for wrong in ({"x": 1}, {0: 61}, {0: 0}, "0"):
        with pytest.raises(ValueError, match="reads"):
            zarr_kit.advise(array, reads=[wrong])
    # Numbers are not taken for names, and names may have any characters.
    for dims, read, lengths in (
        (("1", "0"), {0: 1}, [1, 100]),
        (("1", "0"), {"0": 1}, [60, 1]),
        (("a,b=c", "x"), {"a,b=c": 2, -1: 3}, [2, 3]),
        (("x", "x"), {1: 4}, [60, 4]),
        (("x", "y"), {}, [60, 100]),
    ):
        named = zarr_kit.create("memory:", shape=(60, 100), dtype="u2", dimension_names=dims)
        named[...] = values
        assert zarr_kit.advise(named, reads=[read])["reads"] == [lengths]
    for dims, wrong in ((("x", "y"), {0: 1, "x": 1}), (("x", "x"), {"x": 1}), (("x", "y"), {2: 1})):
        named = zarr_kit.create("memory:", shape=(60, 100), dtype="u2", dimension_names=dims)
        named[...] = values
        with pytest.raises(ValueError, match="reads"):
            zarr_kit.advise(named, reads=[wrong])
    with pytest.raises(ValueError, match="no elements"):
        zarr_kit.advise(np.zeros(3))
    # A place is opened, and neither it nor a group's names are taken for elements.
    for place in (tmp_path / "a.zarr", str(tmp_path / "a.zarr")):
        advice = zarr_kit.advise(place)
        assert (advice["goal"], advice["bits"]["needed_bits"]) == ("both", [0, 11])
    with pytest.raises(FileNotFoundError):
        zarr_kit.advise("none.zarr")
    zarr_kit.create_group(tmp_path / "g.zarr")
    for group in (tmp_path / "g.zarr", zarr_kit.open(tmp_path / "g.zarr")):
        with pytest.raises(ValueError, match="this is a group, not an array"):
            zarr_kit.advise(group)
