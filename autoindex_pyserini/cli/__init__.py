"""Parse, call, print. Every command is a thin layer over the library."""

from __future__ import annotations


def main() -> None:
    """The `autoindex` command. Wrong input ends with one line on stderr and exit status 2."""
    from autoindex_pyserini.cli.app import run_app

    run_app()
