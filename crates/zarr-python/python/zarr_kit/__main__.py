"""The command line: ``python -m zarr_kit`` and the script ``zarr-kit``."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line with the arguments of the process, and returns its exit status."""
    # Python's handler would not run before the command has ended. An inherited setting, such as
    # that of ``nohup``, is kept.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    return _native.main_from(["zarr-kit", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
