"""Who proposes, by the name that the settings give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from autoindex_pyserini.agents import OperatorProposer, Proposer
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.settings import Settings

EXCHANGES = "llm"
"""The folder of a run directory that keeps every request to a model and every reply."""

NAMES = ("operators", "llm", "hand")


def check_proposer(settings: Settings) -> None:
    """Check the knobs of who proposes.

    Raises:
        InputError: there is no such proposer, or a knob of its is missing or out of range.
    """
    search, model, endpoint = settings.search, settings.model, settings.endpoint
    if search.proposer not in NAMES:
        raise InputError(f"unknown proposer {search.proposer!r}; use {', '.join(NAMES[:-1])} or {NAMES[-1]}")
    if search.proposer == "llm" and not model.name:
        raise InputError("the proposer llm needs a model; name one with --model")
    if search.proposer == "llm":
        from autoindex_pyserini.agents.llm.endpoint import base_url_of  # and with it openai

        base_url_of(endpoint)
    for name, value, least in (
        ("cases", search.cases, 1),
        ("temperature", model.temperature, 0),
        ("max_completion_tokens", model.max_completion_tokens, 1),
        ("tool_turns", model.tool_turns, 0),
        ("repairs", model.repairs, 0),
        ("price_in", endpoint.price_in, 0),
        ("price_out", endpoint.price_out, 0),
        ("max_tokens", endpoint.max_tokens, 0),
        ("max_money", endpoint.max_money, 0),
        ("max_seconds", endpoint.max_seconds, 0),
        ("timeout_s", endpoint.timeout_s, 0.001),
    ):
        if not least <= value < float("inf"):
            raise InputError(f"illegal {name} value: {value}, must be a finite number of at least {least:g}")
    if endpoint.max_money and not (endpoint.price_in or endpoint.price_out):
        raise InputError("a limit on money needs prices; give --price-in and --price-out")


def by_hand_error(directory: Path) -> InputError:
    """The error for a search that would have to wait for a person."""
    return InputError(
        f"nobody proposes by itself in a run by hand; begin one with: autoindex start COLLECTION --out "
        f"{directory}; go on with: autoindex brief {directory}, and autoindex try {directory} program.py"
    )


def proposer_for(
    settings: Settings,
    directory: Path,
    *,
    replay: Path | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Proposer:
    """The proposer that the settings name.

    Args:
        settings: every knob.
        directory: the run directory, which keeps a model's replies.
        replay: another run directory, whose replies answer instead of an endpoint.
        should_stop: asked while a model is waited for.

    Raises:
        InputError: there is none of that name that works by itself.
    """
    check_proposer(settings)
    if settings.search.proposer == "operators":
        return OperatorProposer(settings.search.seed)
    if settings.search.proposer == "llm":
        from autoindex_pyserini.agents.llm import Exchanges, LanguageModelProposer, ModelClient

        exchanges = Exchanges(directory / EXCHANGES, replay=replay / EXCHANGES if replay else None)
        client = ModelClient(
            settings.model,
            settings.endpoint,
            exchanges,
            seed=settings.search.seed,
            cancelled=should_stop,
        )
        return LanguageModelProposer(client, settings)
    raise by_hand_error(directory)
