"""Parse, call, print. Every command is a thin layer over the library."""

from __future__ import annotations

import sys


def main() -> None:
    """The `autoindex` command. Wrong input ends with one line on stderr and status 2, Ctrl-C with 130."""
    try:
        from autoindex_pyserini.cli.app import run_app

        run_app()
    except KeyboardInterrupt:
        print("autoindex: interrupted", file=sys.stderr)
        sys.exit(130)
