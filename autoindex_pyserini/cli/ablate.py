"""`autoindex ablate`: the search with a part of it left out, on several collections with several seeds."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from autoindex_pyserini.cli import model_options as llm
from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import bars, err, out, print_json
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.settings import Endpoint, Model, Search


def ablate(
    collection: Annotated[list[str], typer.Argument(metavar="COLLECTION...", help="One or more.")],
    out_dir: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Holds a run directory for each run.")
    ],
    conditions: Annotated[
        str, typer.Option(help="full, one-round, no-history, no-analysis, one-shot; separated by commas.")
    ] = "full,one-round,no-history,no-analysis",
    seeds: Annotated[int, typer.Option(help="Seeds for each condition.")] = 3,
    rounds: llm.Rounds = llm.ROUNDS,
    candidates: llm.Candidates = llm.CANDIDATES,
    seed: llm.Seed = llm.SEED,
    objective: llm.Objective = llm.OBJECTIVE,
    threshold: llm.Threshold = llm.THRESHOLD,
    proposer: llm.Proposer = "llm",
    model: llm.ModelName = "",
    base_url: llm.BaseUrl = "",
    temperature: llm.Temperature = llm.TEMPERATURE,
    tool_turns: llm.ToolTurns = llm.TOOL_TURNS,
    completion_tokens: llm.CompletionTokens = llm.COMPLETION_TOKENS,
    timeout: llm.Timeout = llm.TIMEOUT,
    price_in: llm.PriceIn = 0.0,
    price_out: llm.PriceOut = 0.0,
    max_tokens: llm.MaxTokens = llm.MAX_TOKENS,
    max_money: llm.MaxMoney = 0.0,
    max_seconds: llm.MaxSeconds = 0.0,
    k1: options.K1 = options.K1_DEFAULT,
    b: options.B = options.B_DEFAULT,
    analyzer: options.Analyzer = options.ANALYZER_DEFAULT,
    workers: options.Workers = 0,
    sandbox: options.Sandbox = options.SANDBOX_DEFAULT,
    json: options.Json = False,
) -> None:
    """Run the search with a part of it left out, and compare what each condition gains on test."""
    from autoindex_pyserini.agents import ProposerError
    from autoindex_pyserini.cli.optimize import graceful_stop
    from autoindex_pyserini.collection import load
    from autoindex_pyserini.optimize import (
        AblationRun,
        StopRequestedError,
        check_conditions,
        check_settings,
    )
    from autoindex_pyserini.optimize import ablate as run_grid
    from autoindex_pyserini.report import ablation_table, describe_retriever

    settings = llm.search_settings(
        options.make_settings(k1=k1, b=b, analyzer=analyzer, workers=workers, sandbox=sandbox),
        search=Search(
            rounds=rounds,
            candidates=candidates,
            seed=seed,
            objective=objective,
            threshold=threshold,
            proposer=proposer,
        ),
        model=Model(model, temperature, completion_tokens, tool_turns),
        endpoint=Endpoint(base_url, timeout, price_in, price_out, max_tokens, max_money, max_seconds),
    )
    if seeds < 1:
        raise InputError(f"illegal seeds value: {seeds}, must be at least 1")
    names = list(dict.fromkeys(name.strip() for name in conditions.split(",") if name.strip()))
    if not names:
        raise InputError("no condition is given; name some with --conditions")
    check_settings(settings)
    check_conditions(names, settings)

    def tell(done: AblationRun) -> None:
        if not json:
            gains = ", ".join(f"{n} {done.baseline[n]:.4f} -> {done.winner[n]:.4f}" for n in done.baseline)
            out.print(f"{done.collection} {done.condition} seed {done.seed}: {gains}")

    with bars() as progress, graceful_stop() as should_stop:
        loaded = []
        for one in collection:
            loaded.append((options.absolute(one), load(one, progress=progress)))
        name, count = Counter(held.name for _, held in loaded).most_common(1)[0]
        if count > 1:
            raise InputError(f"{count} collections are called {name!r}; rename the folders of the others")
        try:
            runs = run_grid(
                loaded,
                settings,
                out_dir,
                conditions=names,
                seeds=seeds,
                progress=progress,
                listener=tell,
                should_stop=should_stop,
            )
        except (StopRequestedError, KeyboardInterrupt):
            err.print("stopped; the same command goes on")
            sys.exit(130)
        except ProposerError as error:
            raise ProposerError(f"{error}; then the same command goes on") from error
    if json:
        print_json({"settings": settings, "runs": runs})
        return
    out.print()
    out.print(ablation_table(runs))
    err.print(describe_retriever(settings), style="dim")
