import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from autoindex_pyserini.cli import main


class Answer(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def autoindex(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run the command in this process, so that one JVM serves all tests."""

    def call(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["autoindex", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return call
