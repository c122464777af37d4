"""The engine ``"zarr-kit"`` for `xarray.open_dataset` and similar functions."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from xarray import Dataset, DataTree
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint

from .._array import Array
from .._group import Group
from .store import GroupStore, named_by_writes, nodes, opened


class Backend(BackendEntrypoint):
    """Opens Zarr v3 groups as datasets and trees.

    Parameters in addition to those of `xarray.open_dataset`:

    group
        The path of the group in the store.
    storage_options
        As for `zarr_kit.open`.
    use_zarr_fill_value_as_mask
        Whether elements that are equal to an array's fill value are missing, as in NetCDF. By
        default only those equal to its attribute ``_FillValue`` are.
    consolidated
        Whether to take the documents of all arrays and groups from the consolidated metadata of the
        group or of the store. None and False read each by itself, so that changes since the last
        consolidation are seen.
    threads
        The largest number of threads of a read. None means one per core for reads of the main
        thread, and one thread for reads of other threads, such as Dask's.
    """

    description: ClassVar[str] = "Zarr v3, with chunks of any length, through zarr-kit"
    supports_groups: ClassVar[bool] = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether this is an open group, or a local folder with a ``zarr.json``.

        Xarray asks its own engines first: if zarr-python is installed, ``store.zarr`` goes to the
        engine ``"zarr"``. To use this engine, pass its name.

        Parameters
        ----------
        filename_or_obj
            Anything that Xarray was given.

        Returns
        -------
        bool
        """
        if isinstance(filename_or_obj, Group):
            return True
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        path = os.fspath(filename_or_obj)
        try:
            return isinstance(path, str) and Path(path, "zarr.json").is_file()
        except (OSError, ValueError):
            return False

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: bool = True,
        decode_times: bool = True,
        concat_characters: bool = True,
        decode_coords: bool = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: bool | None = None,
        group: str | None = None,
        storage_options: Mapping[str, Any] | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        consolidated: bool | None = None,
        threads: int | None = None,
    ) -> Dataset:
        """The variables of a group; `xarray.open_dataset` calls this.

        Parameters
        ----------
        filename_or_obj
            A folder, a URL, a store of obstore, or an open group.
        mask_and_scale, decode_times, concat_characters, decode_coords, drop_variables, use_cftime, decode_timedelta
            As for `xarray.open_dataset`.
        group, storage_options, use_zarr_fill_value_as_mask, consolidated, threads
            See the class.

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        FileNotFoundError
            If there is no group.
        TypeError
            If the place is none of these.
        ValueError
            If there is an array, an array has no dimension names, or attributes cannot be decoded.
        OSError
            If the store fails.
        """
        found = _opened(filename_or_obj, group, storage_options, bool(consolidated))
        without = _names(drop_variables)
        return _decoded(
            found,
            {n: node for n, node in nodes(found, without).items() if isinstance(node, Array)},
            bool(use_zarr_fill_value_as_mask),
            threads,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=without,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        storage_options: Mapping[str, Any] | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        consolidated: bool | None = None,
        threads: int | None = None,
        **decoders: Any,
    ) -> dict[str, Dataset]:
        """A group and all groups below it; `xarray.open_groups` calls this.

        Parameters
        ----------
        filename_or_obj
            A folder, a URL, a store of obstore, or an open group.
        drop_variables, decoders
            As for `xarray.open_dataset`.
        group, storage_options, use_zarr_fill_value_as_mask, consolidated, threads
            See the class.

        Returns
        -------
        dict of str to xarray.Dataset
            By the path from the group, which is ``/``.

        Raises
        ------
        FileNotFoundError
            If there is no group.
        TypeError
            If the place is none of these.
        ValueError
            If there is an array, an array has no dimension names, or attributes cannot be decoded.
        OSError
            If the store fails.
        """
        without = _names(drop_variables)
        root = _opened(filename_or_obj, group, storage_options, bool(consolidated))
        mask = bool(use_zarr_fill_value_as_mask)
        return {
            path: _decoded(found, arrays, mask, threads, drop_variables=without, **decoders)
            for path, found, arrays in _walk("/", root, without)
        }

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """A group and all groups below it; `xarray.open_datatree` calls this.

        Parameters
        ----------
        filename_or_obj
            A folder, a URL, a store of obstore, or an open group.
        options
            As for `open_groups_as_dict`.

        Returns
        -------
        xarray.DataTree

        Raises
        ------
        FileNotFoundError
            If there is no group.
        TypeError
            If the place is none of these.
        ValueError
            If there is an array, an array has no dimension names, or attributes cannot be decoded.
        OSError
            If the store fails.
        """
        return DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))


def _decoded(
    found: Group, arrays: dict[str, Array], mask: bool, threads: int | None, **decoders: Any
) -> Dataset:
    """The variables of a group with these arrays."""
    store = GroupStore(found, arrays, mask_fill_value=mask, threads=threads)
    return named_by_writes(StoreBackendEntrypoint().open_dataset(store, **decoders))


def _opened(
    where: Any, path: str | None, storage_options: Mapping[str, Any] | None, consolidated: bool
) -> Group:
    """A group; refused if its arrays are not all old or all rearranged."""
    found = opened(where, path, storage_options, consolidated)
    if not consolidated:
        found._native.refuse_half_rearranged()
    return found


def _names(drop_variables: str | Iterable[str] | None) -> list[str]:
    if drop_variables is None:
        return []
    return [drop_variables] if isinstance(drop_variables, str) else list(drop_variables)


def _walk(
    path: str, group: Group, without: list[str]
) -> Iterator[tuple[str, Group, dict[str, Array]]]:
    """A group and all below it, parents first, with their arrays."""
    children = nodes(group, without)
    for name in {*without}.intersection(group) if without else ():
        # A dropped array need not be one that can be opened.
        with contextlib.suppress(ValueError, OSError, NotImplementedError):
            node = group[name]
            if isinstance(node, Group):
                children[name] = node
    yield path, group, {n: node for n, node in children.items() if isinstance(node, Array)}
    for name, node in children.items():
        if isinstance(node, Group):
            yield from _walk(f"{path.rstrip('/')}/{name}", node, without)
