"""Notes to users, by the logger ``zarr_kit``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

LOGGER = logging.getLogger("zarr_kit")


def note_readers(documents: Mapping[str, Mapping[str, Any]]) -> None:
    """Says who reads new arrays, given as names with documents, whose chunks others refuse by default."""
    names = [
        repr(name) if name else "the array"
        for name, document in documents.items()
        if document["chunk_grid"]["name"] == "rectilinear"
    ]
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        LOGGER.warning(
            "%s%s: chunks of several lengths (rectilinear). Xarray reads them with engine=\"zarr-kit\"; "
            "zarr-python, and Xarray's engine \"zarr\", with "
            "zarr.config.set({\"array.rectilinear_chunks\": True})",
            ", ".join(names[:3]),
            more,
        )
