"""The examples of the pages on Python."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/past-one-machine.md", "crates/zarr-python/README.md"])
def test_examples_run(page, tmp_path, monkeypatch):
    pytest.importorskip("dask.array")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    names = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, example {number + 1}", "exec"), names)
