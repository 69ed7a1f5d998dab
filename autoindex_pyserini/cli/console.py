"""What commands print to: results on stdout, progress on stderr, and bars only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console, ConsoleDimensions
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text


class _WholeConsole(Console):
    """A console that cuts no table where nobody's window is the measure: in a pipe, in a file."""

    @property
    def size(self) -> ConsoleDimensions:
        """The window's size on a terminal; elsewhere wide enough for anything."""
        return super().size if self.file.isatty() else _ENDLESS

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        raise NotImplementedError("the window gives the size")


_ENDLESS = ConsoleDimensions(100_000, 25)
_PLAIN: dict[str, bool] = {"highlight": False, "markup": False, "emoji": False, "soft_wrap": True}
"""What is printed are ids, paths and texts of others: none of it is markup."""

out = _WholeConsole(**_PLAIN)  # type: ignore[arg-type]
"""Results."""

err = _WholeConsole(stderr=True, **_PLAIN)  # type: ignore[arg-type]
"""Everything else."""


def print_json(value: Any) -> None:
    """Print a value as one JSON document on stdout."""
    data = msgspec.json.format(msgspec.json.encode(value, enc_hook=_as_text), indent=2)
    sys.stdout.write(data.decode() + "\n")


def _as_text(value: Any) -> str:
    """Paths as text; everything else that JSON does not know is a mistake."""
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not for JSON")


class _Rate(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "", style="progress.data.speed")


class Bars:
    """One bar for each stage of long work; the bar of a stage that ends makes room for the next."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Show that `done` of `total` are done."""
        if stage != self._stage or self._task is None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(stage, total=total)
            self._stage = stage
        self._progress.update(self._task, completed=done, total=total)
        if total is not None and done >= total:
            self._progress.remove_task(self._task)
            self._task = None


@contextmanager
def bars() -> Iterator[Bars]:
    """Progress bars on stderr while the block runs; nothing where stderr is not a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        yield Bars(progress)
