"""Text from outside reaches a terminal only with escapes."""

import pathlib
import re
import traceback

import pytest
import zarr_kit

NAME = "ev\x1b[31m\nil\u202e\x9b"
SHOWN = r"ev\u{1b}[31m\nil\u{202e}\u{9b}"


@pytest.fixture
def hostile(tmp_path):
    """A group with an array that has a hostile name and a damaged chunk."""
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    array = group.create_array(NAME, shape=2, dtype="u1", chunks=1, dimension_names=[NAME])
    array[:] = 1
    (tmp_path / "g.zarr" / NAME / "c/0").write_bytes(b"")
    group.create_group(f"group {NAME}").create_array("in", shape=1, dtype="u1")
    return group


def test_names_are_escaped(hostile, capsys):
    [finding] = hostile.check(progress=True)
    with pytest.raises(ValueError, match="this is a group") as group:
        zarr_kit.advise(hostile[f"group {NAME}"])
    with pytest.raises(ValueError, match="codec zstd") as damage:
        hostile[NAME][:]
    texts = [
        str(hostile.tree()), str(hostile[f"group {NAME}"].tree()), str(hostile[NAME].info), str(finding),
        str(hostile.check()), str(group.value), str(damage.value), capsys.readouterr().err,
    ]  # fmt: skip
    for text in texts:
        assert SHOWN in text and not {"\x1b", "\u202e", "\x9b"} & set(text)
        assert "\nil" not in text


BAD = {"\x1b", "\x07", "\u202e", "\u2066", "\u2028", "\x9b"}
HOSTILE = "x\x1b]0;owned\x07\u202e\u2066\u2028\x9b<script>&"


def test_reprs_and_html(tmp_path, capsys):
    """Names, units, attributes and dimensions, in everything that a notebook or a terminal shows."""
    group = zarr_kit.create_group(tmp_path / "g.zarr", attributes={HOSTILE: HOSTILE})
    array = group.create_array(
        HOSTILE.replace("/", ""), shape=(4, 2), dtype="f4", chunks=2, dimension_names=[HOSTILE, "x"],
        attributes={"units": HOSTILE, "long_name": HOSTILE, HOSTILE: [HOSTILE]},
    )  # fmt: skip
    array[:] = 1
    inner = group.create_group(f"in {HOSTILE}")
    inner.create_array("deep", shape=1, dtype="u1", dimension_names=[HOSTILE])
    picture = array.draw(values=True)
    shown = [
        repr(group), repr(array), repr(inner), repr(group.attrs), repr(array.attrs), repr(array.info), str(array.info),
        str(group.tree()), repr(group.tree()), repr(picture), repr(array.plan()[0]), repr(group.check()),
        str(group.check()), repr(list(group.check())), repr(zarr_kit.copy(group, tmp_path / "copy.zarr", progress=True)),
        repr(zarr_kit.diff(array, inner["deep"])),
    ]  # fmt: skip
    html = [
        group._repr_html_(), array._repr_html_(), inner._repr_html_(), group.tree()._repr_html_(),
        picture._repr_html_(), str(array.draw()),
    ]  # fmt: skip
    for call in (
        lambda: group["none" + HOSTILE], lambda: zarr_kit.open(tmp_path / HOSTILE), lambda: group.create_group(HOSTILE),
        lambda: zarr_kit.join([group, inner], tmp_path / "j.zarr", along=HOSTILE), lambda: array.append([1], axis=HOSTILE),
        lambda: array.rearrange([slice(0, 1)], axis=HOSTILE), lambda: zarr_kit.export(array),
    ):  # fmt: skip
        with pytest.raises((KeyError, ValueError, OSError, IndexError, TypeError)) as raised:
            call()
            raise ValueError("no error, which is not what this is about")
        shown.append(str(raised.value))
    captured = capsys.readouterr()
    for text in [*shown, *html, captured.out.replace("\r", ""), captured.err.replace("\r", "")]:
        assert not BAD & set(text), text
    for text in html:
        assert "<script>" not in text, text


def test_one_module_escapes_html():
    folder = pathlib.Path(zarr_kit.__file__).parent
    users = [path.name for path in folder.rglob("*.py") if re.search(r"^(import|from) html\b", path.read_text(), re.M)]
    assert users == ["_html.py"]


def test_half_surrogate_pairs_are_named(tmp_path):
    group = zarr_kit.create_group(tmp_path / "g.zarr")
    for work in (
        lambda name: zarr_kit.open(name),
        lambda name: zarr_kit.open(tmp_path, name),
        lambda name: zarr_kit.create_array(name, shape=1, dtype="i1"),
        lambda name: group.create_array(name, shape=1, dtype="i1"),
        lambda name: group[name],
        lambda name: zarr_kit.delete(name),
        lambda name: zarr_kit.copy(group, name),
        lambda name: zarr_kit.open(tmp_path, storage_options={name: "x"}),
        lambda name: zarr_kit.open(tmp_path, storage_options={"region": name}),
        lambda name: zarr_kit.open(tmp_path, storage_options={"targets": [name]}),
    ):
        with pytest.raises(ValueError, match="half surrogate pairs"):
            work("b\udcff")


@pytest.mark.parametrize("place", ["s3://bucket/a\udcff", "https://user:hunter2@host/a\udcff", "/tmp/hunter2\udcff"])
def test_half_surrogate_pairs_do_not_show_secrets(place):
    for given, settings in (
        (place, {}),
        (place, {"secret_access_key": "hunter2"}),
        ("s3://bucket/a", {"secret_access_key": "hunter2\ud800"}),
        ("s3://bucket/a", {"secret": "hunter2\ud800"}),
    ):
        with pytest.raises(ValueError, match="half surrogate pairs") as raised:
            zarr_kit.open(given, storage_options=settings)
        assert "hunter2" not in "".join(traceback.format_exception(raised.value))


def test_a_group_has_no_half_surrogate_pairs():
    group = zarr_kit.create_group("memory:")
    assert "\ud800" not in group
