"""Who proposes programs, what they are told, and what they answer.

A proposer sees a `Brief`: the collection in numbers, the incumbent, everything tried so far, and what
the validation queries say about fields. It never sees a docid, a judgment or a test query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from autoindex_pyserini.errors import AutoIndexError
from autoindex_pyserini.program import Program
from autoindex_pyserini.settings import Limits


class ProposerError(AutoIndexError):
    """A proposer cannot go on, and says what it was given and what would help."""


class BudgetSpentError(AutoIndexError):
    """A limit on tokens, money or time is reached; the message says which. A proposer then ends."""


class RequestCancelledError(ProposerError):
    """The user asked to stop while a model was waited for. The request is recorded as not answered."""


class FieldProfile(msgspec.Struct, frozen=True):
    """One natural field, or all fields whose names share a prefix.

    Attributes:
        name: the field's name, or the prefix followed by ``*``.
        fill_rate: share of documents where it is not blank, 0 to 1.
        mean_chars: characters of its values, over the documents that have it.
        mean_words: words of its values, over the documents that have it.
        distinct: different values seen, counted up to 64.
        kind: what most of its values look like: ``text``, ``label`` (one or two words), ``number``,
            ``date``, ``url``, ``id``, ``flag`` or ``markup``.
        contained_rate: share of its words that the title and text of the same document hold already.
        samples: up to three values, cut to 80 characters.
        members: fields under the prefix; 1 for a field.
    """

    name: str
    fill_rate: float
    mean_chars: float
    mean_words: float
    distinct: int
    kind: str
    contained_rate: float
    samples: tuple[str, ...] = ()
    members: int = 1


class HeadingProfile(msgspec.Struct, frozen=True):
    """A section heading: the share of documents that have it, and the mean characters of its body."""

    name: str
    rate: float
    mean_chars: float


class CollectionProfile(msgspec.Struct, frozen=True):
    """A collection in numbers. Rates are shares of documents, 0 to 1.

    Attributes:
        num_documents: documents in the collection.
        title_fill_rate: documents with a title.
        text_fill_rate: documents with a text.
        mean_title_chars: over all documents.
        mean_text_chars: over all documents.
        mean_text_words: over all documents.
        title_in_text_rate: share of the title's words that the text of the same document holds.
        multi_paragraph_rate: texts of two paragraphs or more.
        multi_sentence_rate: texts of four sentences or more.
        long_rate: texts of more than 300 words.
        first_paragraph_words: mean words of the first paragraph, over texts of several paragraphs.
        markup_rate: texts with three or more marks of HTML, reStructuredText or Markdown.
        latex_rate: texts with a LaTeX span.
        latex_spans: mean spans, over the texts that have one.
        code_rate: texts with two or more lines of prompts or fences.
        identifier_rate: documents with a compound identifier in the title or the text.
        title_identifier_rate: titles with a compound identifier.
        headings: the commonest section headings, by rate descending, then name.
        fields: the natural fields, by fill rate descending, then name; the rarest are left out of a
            collection of hundreds.
        groups: prefixes shared by several fields, ordered in the same way.
        fields_seen: different field names, counted up to the number that is tracked.
    """

    num_documents: int = 0
    title_fill_rate: float = 0.0
    text_fill_rate: float = 0.0
    mean_title_chars: float = 0.0
    mean_text_chars: float = 0.0
    mean_text_words: float = 0.0
    title_in_text_rate: float = 0.0
    multi_paragraph_rate: float = 0.0
    multi_sentence_rate: float = 0.0
    long_rate: float = 0.0
    first_paragraph_words: float = 0.0
    markup_rate: float = 0.0
    latex_rate: float = 0.0
    latex_spans: float = 0.0
    code_rate: float = 0.0
    identifier_rate: float = 0.0
    title_identifier_rate: float = 0.0
    headings: tuple[HeadingProfile, ...] = ()
    fields: tuple[FieldProfile, ...] = ()
    groups: tuple[FieldProfile, ...] = ()
    fields_seen: int = 0


class FieldEvidence(msgspec.Struct, frozen=True):
    """What one part of the relevant documents holds of the queries that fail on validation.

    Attributes:
        name: a field, ``title``, ``text``, or something made of them: ``first_paragraph``, ``lead`` (the
            first words), ``section:NAME``, ``identifier_parts`` (the parts of compound identifiers).
        pairs: query and relevant document pairs whose document has the part.
        present: mean share of the query's words that the part holds, over those pairs.
        missing: mean share of the query's words that the part holds and no passage of the document does.
        helped: pairs where the part holds at least one word that no passage does.
        mean_words: words of the part, over those pairs.
    """

    name: str
    pairs: int
    present: float
    missing: float
    helped: int
    mean_words: float


class Trial(msgspec.Struct, frozen=True):
    """One program that was evaluated on the validation queries, or failed to be.

    Attributes:
        program: what was tried.
        parent: the id of the program it was derived from; None for the first.
        round: the round it was proposed in; 0 for the first program.
        hypothesis: why it was proposed, in one line.
        means: measure name -> mean over the validation queries; empty where `fault` is not.
        deltas: measure name -> difference from the parent.
        fixed: queries whose objective rose against the parent.
        broken: queries whose objective fell against the parent.
        accepted: it rose above the threshold over its parent.
        fault: the message of the fault that stopped it.
    """

    program: Program
    parent: str | None = None
    round: int = 0
    hypothesis: str = ""
    means: dict[str, float] = {}
    deltas: dict[str, float] = {}
    fixed: int = 0
    broken: int = 0
    accepted: bool = False
    fault: str = ""


class Brief(msgspec.Struct, frozen=True):
    """Everything a proposer is told in one round.

    Attributes:
        profile: the collection in numbers.
        incumbent: the best program so far.
        history: every trial so far in the order of evaluation, the incumbent's among them.
        round: this round, from 1.
        rounds: how many rounds there will be.
        objective: the measure that decides, in ir_measures syntax.
        measures: all measures of every trial.
        limits: what a program may do.
        num_validation_queries: queries that the objective is averaged over.
        evidence: what the failing validation queries say of the fields; may be empty.
        notes: what became of drafts of the last round that are not among its trials.
    """

    profile: CollectionProfile
    incumbent: Trial
    history: tuple[Trial, ...] = ()
    round: int = 1
    rounds: int = 5
    objective: str = "R@100"
    measures: tuple[str, ...] = ("R@100", "nDCG@10")
    limits: Limits = Limits()
    num_validation_queries: int = 0
    evidence: tuple[FieldEvidence, ...] = ()
    notes: tuple[str, ...] = ()


class Proposal(msgspec.Struct, frozen=True):
    """A program to try.

    Attributes:
        program: the candidate.
        hypothesis: why it should be better, in one line.
        parent: the id of the program it was derived from.
        operators: the names of the operators that were applied to the parent.
    """

    program: Program
    hypothesis: str
    parent: str
    operators: tuple[str, ...] = ()


class AgentCost(msgspec.Struct, frozen=True):
    """What one language-model agent used for one answer.

    Attributes:
        agent: ``analysis``, ``code`` or ``synthesis``.
        calls: requests that were answered.
        prompt_tokens: tokens sent.
        completion_tokens: tokens received, those of reasoning among them.
        estimated: some counts are estimates, because the server sent none.
        seconds: of waiting for the model.
        money: in the currency of the prices in the settings; 0 without prices.
    """

    agent: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0
    money: float = 0.0


class Answer(msgspec.Struct, frozen=True):
    """What a proposer answers.

    Attributes:
        proposals: the most promising first.
        costs: what its agents used.
        notes: what became of drafts that are not among the proposals, one line each.
        ended: why the search ends here; empty if it goes on. Not read where there are proposals.
    """

    proposals: tuple[Proposal, ...] = ()
    costs: tuple[AgentCost, ...] = ()
    notes: tuple[str, ...] = ()
    ended: str = ""


class Case(msgspec.Struct, frozen=True):
    """A validation query with one of its relevant documents, for a proposer to look into.

    Attributes:
        kind: ``anchor`` (the first program retrieves the document, the incumbent does not),
            ``recall_violation`` (not within the retriever's depth) or ``small_margin`` (within it, not
            first).
        query: the query's text.
        relevant: the document, by its opaque reference.
        rank: its rank under the incumbent, from 1; None where it is not retrieved.
        first_rank: its rank under the first program.
        above: references of the incumbent's best documents, which are not relevant.
    """

    kind: str
    query: str
    relevant: str
    rank: int | None
    first_rank: int | None
    above: tuple[str, ...] = ()


class Tool(msgspec.Struct, frozen=True):
    """A read-only tool, as a language model is told of it.

    Attributes:
        name: what it is called by.
        description: what it gives, in a sentence or two.
        parameters: JSON schema of its arguments.
    """

    name: str
    description: str
    parameters: dict[str, Any]


class Workbench(Protocol):
    """The incumbent's index, read only, for proposers that look into it before they propose.

    Documents have opaque references. No path leads from here to test queries, or to judgments other than
    those of the cases.
    """

    @property
    def tools(self) -> Sequence[Tool]:
        """What `call` can do."""
        ...

    def cases(self) -> tuple[Case, ...]:
        """Return failures and near misses on validation, at most five of each kind, the same each time."""
        ...

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Run a tool and return its answer as bounded text; wrong names or arguments are answered, too."""
        ...


class Proposer(Protocol):
    """Proposes programs. Keeps no state between calls: a resumed run gets the same proposals again."""

    @property
    def name(self) -> str:
        """The name that settings and journals use."""
        ...

    @property
    def version(self) -> str:
        """What its answers depend on beside settings and brief, or nothing. Resuming needs the same."""
        ...

    def propose(self, brief: Brief, bench: Workbench, count: int) -> Answer:
        """Return up to `count` proposals, the most promising first.

        No proposal has the id of a program in the brief or of another proposal. The answer depends on
        the brief, the bench and the proposer's own settings alone. Who has nothing left to propose says
        so in `Answer.ended`.

        Raises:
            ProposerError: the incumbent cannot be built upon, or nobody answers.
        """
        ...

    def combine(self, brief: Brief, passed: Sequence[Trial]) -> Answer:
        """Return at most one program with the changes of several accepted trials of one round.

        Without a proposal there is nothing to merge, or the merged program was tried already.

        Args:
            brief: as it was when the trials were proposed, or later in the same round.
            passed: trials with the same parent.
        """
        ...
