"""The rows that a learned program is compared with: each a real index and a run over the same queries.

Everything that is chosen is chosen on the validation queries; then the test queries are opened, once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from autoindex_pyserini.agents import profile
from autoindex_pyserini.collection import SearchView, Split
from autoindex_pyserini.dense import DenseSearcher, Encoder, Source, publish_index
from autoindex_pyserini.errors import InputError
from autoindex_pyserini.evaluation import evaluate, reciprocal_rank_fusion
from autoindex_pyserini.evaluation.rows import ComparisonRow, RowCosts
from autoindex_pyserini.lucene import (
    BM25,
    BM25F,
    RM3,
    FieldSum,
    IndexOptions,
    Rocchio,
    Scoring,
    Searcher,
    analyzer_config,
)
from autoindex_pyserini.pipeline import Costs, Pipeline, Progress, Tunable, Tuning, even_weights, tune
from autoindex_pyserini.program import Program, natural_fields_program
from autoindex_pyserini.sandbox import Counts
from autoindex_pyserini.settings import Settings
from autoindex_pyserini.types import Run

PYSERINI_K1, PYSERINI_B = 0.9, 0.4
"""BM25's parameters where Pyserini's user sets none."""


class Plan(msgspec.Struct, frozen=True):
    """A row to be: an index, and how it is searched.

    Attributes:
        name: of the row.
        program: what represents the documents.
        begin: the scoring, or where its tuning begins; None for even weights over all fields.
        tuned: parameters are chosen on validation.
        kind: of fields' scorings whose weights are even at first: ``BM25F`` or ``FieldSum``.
        vectors: the scoring reads term vectors.
    """

    name: str
    program: Program
    begin: Scoring | None = None
    tuned: bool = False
    kind: str = ""
    vectors: bool = False


class Ready(msgspec.Struct, frozen=True):
    """A row whose parameters are settled: what the test queries will be searched with."""

    plan: Plan
    scoring: Scoring
    index: Path
    costs: Costs
    searches: int


def lexical_plans(
    settings: Settings, natural: Program, learned: Sequence[tuple[str, Program]], *, feedback: bool
) -> list[Plan]:
    """The lexical rows, the reference first.

    Args:
        settings: the retriever whose k1 and b are the paper's.
        natural: the program that gives natural fields to Lucene.
        learned: names and programs to compare.
        feedback: rows of RM3 and Rocchio too.
    """
    paper = BM25(settings.retriever.k1, settings.retriever.b)
    usual = BM25(PYSERINI_K1, PYSERINI_B)
    plans = []
    for name in ("full_text", "all_fields"):
        program = Program.builtin(name)
        plans += [
            Plan(name, program, paper),
            Plan(f"{name}, k1={PYSERINI_K1} b={PYSERINI_B}", program, usual),
            Plan(f"{name}, tuned", program, paper, tuned=True),
        ]
    plans += [Plan(name, Program.builtin(name), paper) for name in ("passages_512", "passages_512_overlap")]
    plans += [
        Plan("BM25F", natural, tuned=True, kind="BM25F"),
        Plan("field sum", natural, tuned=True, kind="FieldSum"),
        Plan("static", Program.builtin("static"), paper),
    ]
    for name, program in learned:
        plans.append(Plan(name, program, paper))
        plans.append(Plan(f"{name}, then k1 and b tuned", program, paper, tuned=True))
        if program.fields:
            plans.append(Plan(f"{name}, BM25F", program, tuned=True, kind="BM25F"))
    if feedback:
        full = Program.builtin("full_text")
        plans.append(Plan("full_text, RM3", full, RM3(paper.k1, paper.b), vectors=True))
        plans.append(Plan("full_text, Rocchio", full, Rocchio(paper.k1, paper.b), vectors=True))
    return plans


class Baselines:
    """Builds the indexes of a comparison, settles their parameters, and makes its rows.

    Holds no test query before `rows` is given them.

    Args:
        view: the collection without its test split.
        settings: retriever, measures, and how the work is spread.
        scratch: where indexes live while the comparison is made.
        tuning: what is tried where parameters are chosen.
        trusted: as for `Pipeline`.
        progress: told about long work.
    """

    def __init__(
        self,
        view: SearchView,
        settings: Settings,
        scratch: Path,
        *,
        tuning: Tuning,
        trusted: Callable[[Program], bool] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._view = view
        self._settings = settings
        self._scratch = scratch
        self._tuning = tuning
        self._progress = progress
        self._pipeline = Pipeline(view, settings, scratch, progress=progress, trusted=trusted)
        self._dense: dict[str, tuple[Path, RowCosts]] = {}

    def natural_fields(self) -> Program:
        """The program that gives this collection's natural fields to Lucene."""
        return natural_fields_program(profile(self._view.documents()).fields)

    def settle(self, plans: Sequence[Plan]) -> Iterator[Ready]:
        """Build what the plans need, each index once, and choose their parameters on validation.

        Raises:
            ProgramFault: a program is at fault.
            SearchFailedError: a query failed.
        """
        vectors = {plan.program.id for plan in plans if plan.vectors}
        built: dict[str, Costs] = {}
        for plan in plans:
            program = plan.program
            index = self._scratch / f"index-{program.id}"
            if program.id not in built:
                keep = IndexOptions(store_docvectors=program.id in vectors)
                built[program.id] = self._pipeline.build(program, index, keep)
            costs = built[program.id]
            with self._pipeline.searcher(index) as searcher:
                begin = plan.begin or _even(plan.kind, searcher, self._settings)
                if not plan.tuned:
                    yield Ready(plan, begin, index, costs, 0)
                    continue
                if not isinstance(begin, BM25 | BM25F | FieldSum):
                    raise InputError(f"{plan.name}: {begin.describe()} cannot be tuned")
                yield self._tuned(plan, begin, searcher, index, costs)

    def _tuned(self, plan: Plan, begin: Tunable, searcher: Searcher, index: Path, costs: Costs) -> Ready:
        found = tune(
            searcher,
            self._view.validation,
            begin,
            goal=self._settings.search,
            tuning=self._tuning,
            progress=self._pipeline.ticker(f"tune {plan.name}", self._tuning.searches),
        )
        return Ready(plan, found.scoring, index, costs, found.searches)

    def rows(self, settled: Sequence[Ready], split: Split) -> Iterator[tuple[ComparisonRow, Run]]:
        """Search the split's topics for every settled row."""
        analyzer = analyzer_config(self._settings.retriever.analyzer).describe()
        for ready in settled:
            started = time.perf_counter()
            run = self._pipeline.search(
                ready.index, split.topics, name=tag(ready.plan.name), scoring=ready.scoring
            )
            costs = ready.costs
            parameters = msgspec.to_builtins(ready.scoring)
            kind = parameters.pop("type")
            weights = parameters.pop("weights", {})
            yield (
                ComparisonRow(
                    name=ready.plan.name,
                    evaluation=evaluate(run, split.qrels, self._settings.search.measures),
                    program=ready.plan.program.id,
                    retriever=_NAMES.get(kind, kind),
                    parameters={
                        **parameters,
                        **{f"{field}^": weight for field, weight in weights.items()},
                        **({"searches": ready.searches} if ready.searches else {}),
                    },
                    analyzer=analyzer,
                    costs=RowCosts(
                        index_bytes=costs.index_bytes,
                        index_seconds=costs.index_seconds,
                        search_seconds=time.perf_counter() - started,
                        passages_per_document=costs.passages / costs.documents,
                    ),
                ),
                run,
            )

    def encode(self, programs: Sequence[Program], encoder: Encoder) -> None:
        """Encode the passages of some programs; what the cache of vectors has is not encoded again."""
        for program in programs:
            if program.id in self._dense:
                continue
            started = time.perf_counter()
            index = self._scratch / f"dense-{program.id}"
            view = self._view
            source = Source(view.name, view.fingerprint, view.num_documents, program)
            with contextlib.closing(self._pipeline.represent_collection(program, Counts())) as represented:
                _, counts = publish_index(index, source, represented, encoder, progress=self._progress)
            self._dense[program.id] = (
                index,
                RowCosts(
                    index_bytes=counts.size_bytes,
                    index_seconds=time.perf_counter() - started,
                    passages_per_document=counts.passages / counts.documents,
                ),
            )

    def dense_row(
        self, name: str, program: Program, encoder: Encoder, split: Split
    ) -> tuple[ComparisonRow, Run]:
        """Search the split's topics in the dense index that `encode` made of a program."""
        index, costs = self._dense[program.id]
        started = time.perf_counter()
        searcher = DenseSearcher(index, threads=encoder.threads)
        depth = self._settings.retriever.depth
        run = searcher.search(split.topics, encoder, depth=depth, name=tag(name), progress=self._progress)
        row = ComparisonRow(
            name=name,
            evaluation=evaluate(run, split.qrels, self._settings.search.measures),
            program=program.id,
            retriever="dense",
            encoder=_shown(encoder.encoding.model),
            costs=replace(costs, search_seconds=time.perf_counter() - started),
        )
        return row, run

    def fused_row(self, name: str, runs: Sequence[Run], split: Split) -> tuple[ComparisonRow, Run]:
        """Reciprocal-rank fusion of runs."""
        run = reciprocal_rank_fusion(runs, depth=self._settings.retriever.depth, name=tag(name))
        row = ComparisonRow(
            name=name,
            evaluation=evaluate(run, split.qrels, self._settings.search.measures),
            retriever="reciprocal rank fusion",
            parameters={"k": 60, "of": " and ".join(one.name for one in runs)},
        )
        return row, run


_NAMES = {"bm25": "BM25", "bm25f": "BM25F", "field-sum": "field sum", "rm3": "RM3", "rocchio": "Rocchio"}


def _shown(model: str) -> str:
    """A model's name; of a folder, the end of its path, which is the same on other machines."""
    return "/".join(Path(model).parts[-2:])


def tag(name: str) -> str:
    """The row's name as a run's tag and a file's name: no spaces, nothing that a shell reads."""
    clean = "".join(char if char.isalnum() or char in "._=" else "-" for char in name)
    return "-".join(part for part in clean.split("-") if part)


def _even(kind: str, searcher: Searcher, settings: Settings) -> Scoring:
    weights, retriever = even_weights(searcher), settings.retriever
    if kind == "BM25F":
        return BM25F(weights, retriever.k1, retriever.b)
    return FieldSum(weights, retriever.k1, retriever.b)
