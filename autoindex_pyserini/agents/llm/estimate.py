"""What a run may use, from the settings alone, before anything is used."""

from __future__ import annotations

from autoindex_pyserini.agents.llm.analysis import MOST_CALLS
from autoindex_pyserini.settings import Settings

_OPENING_TOKENS = 4_000  # instructions, incumbent, profile and cases
_TOOL_TOKENS = 1_000  # a bounded answer of a tool, the usual length
_SUMMARY_TOKENS = 1_200
_CODE_TOKENS = 6_000  # contract, incumbent, summary and history
_PROGRAM_TOKENS = 1_200


def estimate(settings: Settings) -> tuple[int, int, float]:
    """Return tokens sent, tokens received, and money, if every turn and every round is used.

    A conversation is sent again with each of its turns, which is where most of the tokens go. The paper
    (AutoIndex, arXiv 2607.18603) reports about 344,000 tokens for five rounds.
    """
    search, turns = settings.search, settings.model.tool_turns
    sent = received = 0
    if search.analysis:
        each = MOST_CALLS * _TOOL_TOKENS
        sent += (turns + 1) * _OPENING_TOKENS + each * turns * (turns + 1) // 2
        received += turns * 200 + _SUMMARY_TOKENS
    sent += _CODE_TOKENS
    received += search.candidates * _PROGRAM_TOKENS
    if search.synthesis:
        sent += _CODE_TOKENS
        received += _PROGRAM_TOKENS
    sent, received = sent * search.rounds, received * search.rounds
    endpoint = settings.endpoint
    return sent, received, (sent * endpoint.price_in + received * endpoint.price_out) / 1e6
