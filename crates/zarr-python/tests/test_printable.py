"""Text from outside reaches a terminal only with escapes."""

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
