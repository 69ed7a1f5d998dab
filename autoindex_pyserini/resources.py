"""Where the data files are: shipped inside the wheel, or beside the package in a clone."""

from __future__ import annotations

from pathlib import Path

from autoindex_pyserini.errors import EnvironmentProblemError

_PACKAGE = Path(__file__).resolve().parent


def data_dir(name: str) -> Path:
    """Find one of the data folders, ``collections`` or ``java_config``.

    A wheel holds them under ``autoindex_pyserini/_data``; a clone holds them at its top level.

    Args:
        name: the folder's name.

    Raises:
        EnvironmentProblemError: neither place has it, so the installation is incomplete.
    """
    places = (_PACKAGE / "_data" / name, _PACKAGE.parent / name)
    for place in places:
        if place.is_dir():
            return place
    raise EnvironmentProblemError(
        f"the data folder '{name}' is missing: looked for {places[0]} and {places[1]}; "
        "reinstall autoindex_pyserini"
    )
