"""Where files are: data shipped with the package or beside it in a clone, and the user's cache."""

from __future__ import annotations

import os
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


def cache_dir() -> Path:
    """Where things that can be made again are kept: ``AUTOINDEX_CACHE``, or the user's cache folder.

    The folder need not exist yet.
    """
    chosen = os.environ.get("AUTOINDEX_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs  # not needed by most commands

    return Path(platformdirs.user_cache_dir("autoindex-pyserini", appauthor=False))
