"""What the tests of the client share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from autoindex_pyserini.agents.llm.client import ModelClient
from autoindex_pyserini.agents.llm.exchanges import Exchanges
from autoindex_pyserini.agents.llm.transport import Patience
from autoindex_pyserini.agents.proposer import Tool
from autoindex_pyserini.settings import Endpoint, Model

HASTY = Patience(attempts=3, first_delay_s=0.01, longest_delay_s=0.05, longest_retry_after_s=2, stall_s=0.3)
PLAYED = Model("played")
GREP = Tool("grep", "Finds texts.", {"type": "object", "properties": {"q": {"type": "string"}}})


def client(
    base_url: str,
    directory: Path,
    *,
    model: Model = PLAYED,
    replay: Path | None = None,
    patience: Patience = HASTY,
    cancelled: Callable[[], bool] = lambda: False,
    **limits: Any,
) -> ModelClient:
    """A client of an endpoint, with its record in a folder."""
    exchanges = Exchanges(directory, replay=replay)
    endpoint = Endpoint(base_url=base_url, **limits)
    return ModelClient(model, endpoint, exchanges, seed=7, cancelled=cancelled, patience=patience)


def user(text: str) -> list[dict[str, str]]:
    """A conversation of one message."""
    return [{"role": "user", "content": text}]
