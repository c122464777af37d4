"""zarr-python's own tests of a store, with the store of zarr-kit over a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from zarr.core.buffer import Buffer, cpu
from zarr.testing.store import StoreTests
from zarr_kit.store import ZarrKitStore


class Folder(ZarrKitStore):
    """With writes beside it, so that tests can prepare what they read and list."""

    supports_writes = True
    supports_deletes = True

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._read_only = False

    def file(self, key: str) -> Path:
        return Path(self._objects.state()[0]) / key

    async def set(self, key: str, value: Buffer) -> None:
        file = self.file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(value.to_bytes())

    async def delete(self, key: str) -> None:
        self.file(key).unlink(missing_ok=True)


class TestZarrKitStore(StoreTests[Folder, cpu.Buffer]):
    store_cls = Folder
    buffer_cls = cpu.Buffer

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        return {"url": str(tmp_path)}

    @pytest.fixture
    def store(self, store_kwargs: dict[str, Any]) -> Folder:
        return Folder(**store_kwargs)

    @pytest.fixture
    def open_kwargs(self, store_kwargs: dict[str, Any]) -> dict[str, Any]:
        return store_kwargs

    async def set(self, store: Folder, key: str, value: Buffer) -> None:
        await store.set(key, value)

    async def get(self, store: Folder, key: str) -> Buffer:
        return self.buffer_cls.from_bytes(store.file(key).read_bytes())

    # Of stores that are written or can be opened so, which ours never is.
    test_clear = None
    test_delete_dir = None
    test_read_only_store_raises = None
    test_serializable_store = None
    test_store_open_read_only = None
    test_with_read_only_store = None
    # It asks for the words of the message.
    test_get_raises = None
