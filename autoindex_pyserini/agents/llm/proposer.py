"""`LanguageModelProposer`: AutoIndex's two agents as a proposer."""

from __future__ import annotations

from collections.abc import Sequence

from autoindex_pyserini.agents.llm.analysis import AnalysisAgent
from autoindex_pyserini.agents.llm.client import ModelClient
from autoindex_pyserini.agents.llm.code import CodeAgent
from autoindex_pyserini.agents.llm.prompts import prompts_version
from autoindex_pyserini.agents.llm.replies import ModelReplyError
from autoindex_pyserini.agents.proposer import Answer, Brief, BudgetSpentError, Trial, Workbench
from autoindex_pyserini.settings import Settings


class LanguageModelProposer:
    """Analysis Agent, then Code Agent; each answer carries what it cost.

    Keeps nothing between calls but the client's record of exchanges, which answers what was asked before.

    Args:
        client: answers requests.
        settings: search, model and retriever.
    """

    def __init__(self, client: ModelClient, settings: Settings) -> None:
        self._client = client
        self._search = settings.search
        self._analysis = AnalysisAgent(client, settings.model, settings.retriever)
        self._code = CodeAgent(client, settings.search, settings.retriever, repairs=settings.model.repairs)

    @property
    def name(self) -> str:
        """The name that settings and journals use."""
        return "llm"

    @property
    def version(self) -> str:
        """The version of the prompts."""
        return prompts_version()

    def propose(self, brief: Brief, bench: Workbench, count: int) -> Answer:
        """Return what the Code Agent wrote; without a usable program, the next round asks again."""
        mark = self._client.mark()
        notes: list[str] = []
        try:
            summary = self._summary(brief, bench, notes) if self._search.analysis else ""
            proposals, more = self._code.write(brief, summary, count)
        except BudgetSpentError as spent:
            return Answer((), self._client.costs(mark), tuple(notes), ended=str(spent))
        return Answer(tuple(proposals), self._client.costs(mark), (*notes, *more))

    def _summary(self, brief: Brief, bench: Workbench, notes: list[str]) -> str:
        try:
            return self._analysis.investigate(brief, bench)
        except ModelReplyError as error:
            notes.append(f"the analysis gave no summary: {error}")
            return ""

    def combine(self, brief: Brief, passed: Sequence[Trial]) -> Answer:
        """Return the synthesis of the programs that passed."""
        if len(passed) < 2 or not self._search.synthesis:
            return Answer()
        mark = self._client.mark()
        try:
            proposals, notes = self._code.join(brief, passed)
        except BudgetSpentError as spent:
            proposals, notes = [], [str(spent)]
        return Answer(tuple(proposals), self._client.costs(mark), tuple(notes))
