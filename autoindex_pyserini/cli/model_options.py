"""Options about who proposes and about the language model, for the commands that search."""

from __future__ import annotations

from typing import Annotated

import typer
from msgspec.structs import replace

from autoindex_pyserini.settings import Endpoint, Model, Search, Settings

_SEARCH, _MODEL, _ENDPOINT = Search(), Model(), Endpoint()

Rounds = Annotated[int, typer.Option(help="Rounds of proposals.")]
Candidates = Annotated[int, typer.Option(help="Proposals a round.")]
Seed = Annotated[
    int,
    typer.Option(help="Seeds the proposer's choices; the split of the queries has a seed of its own."),
]
Objective = Annotated[str, typer.Option(help="The measure that decides, an ir_measures name.")]
Threshold = Annotated[float, typer.Option(help="Least gain that is kept.")]
Proposer = Annotated[str, typer.Option(help="operators, or llm.")]
ModelName = Annotated[str, typer.Option("--model", help="llm: the model, as its endpoint calls it.")]
BaseUrl = Annotated[
    str, typer.Option(help="llm: an OpenAI-compatible API. The key comes from OPENAI_API_KEY.")
]
Temperature = Annotated[float, typer.Option(help="llm: of sampling.")]
ToolTurns = Annotated[int, typer.Option(help="llm: turns with tools.")]
CompletionTokens = Annotated[int, typer.Option(help="llm: most tokens of one reply.")]
Timeout = Annotated[float, typer.Option(help="llm: seconds until one request is given up.")]
PriceIn = Annotated[float, typer.Option(help="llm: money for a million prompt tokens.")]
PriceOut = Annotated[float, typer.Option(help="llm: money for a million completion tokens.")]
MaxTokens = Annotated[int, typer.Option(help="llm: tokens of the run; 0: no limit.")]
MaxMoney = Annotated[float, typer.Option(help="llm: money of the run; 0: no limit.")]
MaxSeconds = Annotated[
    float, typer.Option(help="llm: seconds of waiting for the model in the run; 0: no limit.")
]

ROUNDS, CANDIDATES, SEED = _SEARCH.rounds, _SEARCH.candidates, _SEARCH.seed
OBJECTIVE, MEASURES, THRESHOLD = _SEARCH.objective, _SEARCH.measures, _SEARCH.threshold
PROPOSER = _SEARCH.proposer
TEMPERATURE, TOOL_TURNS = _MODEL.temperature, _MODEL.tool_turns
COMPLETION_TOKENS, MAX_TOKENS = _MODEL.max_completion_tokens, _ENDPOINT.max_tokens
TIMEOUT = _ENDPOINT.timeout_s


def search_settings(
    base: Settings, *, search: Search, model: Model, endpoint: Endpoint, one_shot: bool = False
) -> Settings:
    """The settings of a search; its objective is among its measures, and one shot leaves the rest out."""
    from autoindex_pyserini.optimize import CONDITIONS

    measures = tuple(dict.fromkeys((search.objective, *MEASURES)))
    settings = replace(base, search=replace(search, measures=measures), model=model, endpoint=endpoint)
    return CONDITIONS["one-shot"](settings) if one_shot else settings
