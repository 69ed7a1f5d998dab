"""The brief as text: what a proposer that reads is told, in sections of Markdown.

Every fact is taken from the settings, the code or the run when the text is made, so none of it can grow
stale. The sections are functions of their own, so that a reader may be given some of them.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Sequence

from autoindex_pyserini.agents.proposer import (
    Brief,
    Case,
    CollectionProfile,
    FieldEvidence,
    FieldProfile,
    Trial,
)
from autoindex_pyserini.evaluation import describe_measure
from autoindex_pyserini.lucene import analyzer_config
from autoindex_pyserini.program import CorpusStatistics, RawDocument, operators
from autoindex_pyserini.program.checks import MAX_SOURCE_CHARS
from autoindex_pyserini.program.contract import FORBIDDEN_NAMES
from autoindex_pyserini.settings import Limits, Retriever

CASE_KINDS = {
    "anchor": "Anchors: the first program retrieves the document, the incumbent does not",
    "recall_violation": "Recall violations: the incumbent does not retrieve the document",
    "small_margin": "Small margins: the incumbent retrieves the document, but not first",
}
"""Kinds of cases in the order in which they are shown, with what they mean."""

MOST_FIELDS = 40
"""Fields, parts and headings of a collection that are listed; the commonest come first."""

OPERATORS = operators.__name__


def briefing(brief: Brief, cases: Sequence[Case], retriever: Retriever, *, history: bool = True) -> str:
    """Return everything that is known, section by section, with a line feed at the end.

    Args:
        brief: what the run knows.
        cases: validation queries to look into; may be empty.
        retriever: the fixed retriever.
        history: show the programs that were tried before.
    """
    sections = [
        contract_text(brief.limits),
        retriever_text(brief, retriever),
        profile_text(brief.profile),
        incumbent_text(brief),
        history_text(brief.history) if history else "",
        notes_text(brief.notes),
        cases_text(cases),
        evidence_text(brief.evidence),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def contract_text(limits: Limits) -> str:
    """Return what a program receives, gives and may not do, and the operators that it may import."""
    longest = f"{limits.max_growth:g} times the characters of the raw document"
    lines = [
        "## The contract of a program",
        "",
        "A program is one Python module whose docstring's first line says what it does. It defines "
        "`represent(doc)`, or `represent(doc, corpus)`, which yields the passages of one document: each is "
        "a `str`, the passage's contents.",
        "",
        f"`doc`: {_contract_of(RawDocument)}",
        "",
        f"`corpus`: {_contract_of(CorpusStatistics)}",
        "- `df(term)`: documents that contain the term, in any case; 0 for a stop word or an unknown term.",
        "",
        "Rules:",
        f"- From 1 to {limits.max_passages} passages a document. A document without a usable passage is "
        "indexed as its title and text.",
        f"- The contents of a passage are at most {longest} long, or {limits.min_growth_chars:,} "
        "characters where that is more.",
        "- The same document gives the same passages, in any process and any order of documents.",
        f"- At most {limits.document_timeout_s:g} s for a document, {limits.program_timeout_s:g} s for the "
        f"collection, {limits.memory_mb:,} MiB of memory, and {MAX_SOURCE_CHARS:,} characters of source.",
        f"- Imports: {_names(name for name in limits.allowed_imports if name != OPERATORS)}"
        + (f", and the operators of `{OPERATORS}` below." if OPERATORS in limits.allowed_imports else "."),
        f"- Not to be used: {_names(sorted(FORBIDDEN_NAMES))}, files, network, or Python's internals.",
    ]
    if OPERATORS in limits.allowed_imports:
        lines += ["", f"### Operators, from `{OPERATORS}`", "", *_operator_lines()]
    return "\n".join(lines)


def _contract_of(kind: type) -> str:
    """The first line of a type's docstring, and its attributes as a list."""
    head, _, rest = inspect.cleandoc(kind.__doc__ or "").partition("\n")
    _, _, attributes = rest.partition("Attributes:\n")
    listed = []
    for line in inspect.cleandoc(attributes).splitlines():
        name, _, what = line.partition(": ")
        listed.append(f"- `{name}`: {what}")
    return "\n".join([head[:1].lower() + head[1:], *listed])


def _operator_lines() -> list[str]:
    """A line for each operator: its signature as it is written, and the first line of its docstring."""
    lines = []
    for node in ast.parse(inspect.getsource(operators)).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            summary = (ast.get_docstring(node) or "").split("\n", 1)[0]
            lines.append(f"- `{node.name}({ast.unparse(node.args)}){returns}`: {summary}")
    return lines


def retriever_text(brief: Brief, retriever: Retriever) -> str:
    """Return how passages are searched, and how a program is judged."""
    count = brief.num_validation_queries
    lines = [
        "## The retriever and the judge",
        "",
        f"BM25 of Lucene with k1={retriever.k1:g} and b={retriever.b:g}, over the contents of passages. "
        f"Analyzer `{retriever.analyzer}`, for passages and queries alike: "
        f"{analyzer_config(retriever.analyzer).describe()}. A document scores as its best passage (MaxP); "
        f"the best {retriever.depth:,} documents are retrieved. None of this can be changed.",
        "",
        "Measures, as means over the validation queries:",
        *(f"- `{name}`: {describe_measure(name)}" for name in brief.measures),
        "",
        f"`{brief.objective}` decides: a program is accepted if it raises it over the incumbent.",
    ]
    if count:
        lines[-1] += (
            f" There are {count:,} validation queries, so one query that goes from 0 to 1 is worth "
            f"{1 / count:.4f} in the mean; what one or two queries show may be chance."
        )
    return "\n".join(lines)


def profile_text(profile: CollectionProfile) -> str:
    """Return the collection in numbers."""
    shares = (
        ("documents have a title", profile.title_fill_rate),
        ("documents have a text", profile.text_fill_rate),
        ("of the title's words stand in the text too", profile.title_in_text_rate),
        ("texts have several paragraphs", profile.multi_paragraph_rate),
        ("texts have more than 300 words", profile.long_rate),
        ("texts have markup", profile.markup_rate),
        ("texts have LaTeX", profile.latex_rate),
        ("texts have code", profile.code_rate),
        ("documents have compound identifiers such as `read_csv`", profile.identifier_rate),
        ("titles have compound identifiers", profile.title_identifier_rate),
    )
    lines = [
        "## The collection",
        "",
        f"{profile.num_documents:,} documents; a title has {profile.mean_title_chars:,.0f} characters on "
        f"average, a text {profile.mean_text_words:,.0f} words ({profile.mean_text_chars:,.0f} characters).",
        "",
        *(f"- {share:.1%}: {what}" for what, share in shares if share >= 0.0005),
    ]
    if profile.fields:
        lines += ["", "Fields (`doc.fields`):", *map(_field_line, profile.fields[:MOST_FIELDS])]
        hidden = profile.fields_seen - len(profile.fields[:MOST_FIELDS])
        lines += [f"- and {hidden:,} rarer ones"] if hidden > 0 else []
    if profile.groups:
        lines += ["", "Fields that share a prefix:", *map(_field_line, profile.groups[:MOST_FIELDS])]
    if profile.headings:
        lines += ["", "Section headings:"]
        for heading in profile.headings[:MOST_FIELDS]:
            lines.append(
                f"- `{heading.name}`: {heading.rate:.1%} of documents, {heading.mean_chars:,.0f} characters"
            )
    return "\n".join(lines)


def _field_line(field: FieldProfile) -> str:
    samples = "; ".join(repr(sample) for sample in field.samples)
    members = f"{field.members:,} fields, " if field.members > 1 else ""
    return (
        f"- `{field.name}`: {members}{field.kind}, in {field.fill_rate:.1%} of documents, "
        f"{field.mean_words:.1f} words, {field.contained_rate:.0%} of them in the title or text too"
        + (f"; such as {samples}" if samples else "")
    )


def incumbent_text(brief: Brief) -> str:
    """Return the program to improve, with its means."""
    trial = brief.incumbent
    return "\n".join(
        [
            f"## The incumbent: `{trial.program.id}`",
            "",
            f"The best program so far; validation: {scores_text(trial) or 'not measured'}.",
            "",
            fenced(trial.program.source),
        ]
    )


def fenced(source: str) -> str:
    """Return a program in a fence that nothing in it closes."""
    fence = "```"
    while fence in source:
        fence += "`"
    return f"{fence}python\n{source.rstrip()}\n{fence}"


def history_text(history: Sequence[Trial]) -> str:
    """Return every program that was tried, the newest last; empty where none was.

    Changes of measures, and queries fixed and broken, are against the program's parent.
    """
    if not history:
        return ""
    programs = {trial.program.id: trial for trial in history}
    lines = [
        "## What was tried",
        "",
        "The newest last. Changes, and queries fixed and broken, are against the parent; "
        "fixed means that the deciding measure rose for the query. A program that is "
        "equal to one of these is not evaluated again.",
        "",
    ]
    for trial in history:
        lines += _trial_lines(trial, programs.get(trial.parent or ""))
    return "\n".join(lines)


def _trial_lines(trial: Trial, parent: Trial | None) -> list[str]:
    origin = f"round {trial.round}, from `{trial.parent}`" if trial.parent else "the first program"
    verdict = "failed" if trial.fault else "accepted" if trial.accepted else "not accepted"
    lines = [
        f"- `{trial.program.id}` ({origin}): {verdict}"
        if trial.parent
        else f"- `{trial.program.id}` ({origin})"
    ]
    if trial.fault:
        lines.append(f"  - fault: {trial.fault}")
    else:
        lines.append(f"  - {change_text(trial)}")
    if trial.hypothesis:
        lines.append(f"  - hypothesis: {trial.hypothesis}")
    if parent is not None and (changes := changed_components(parent, trial)):
        lines.append(f"  - components: {changes}")
    return lines


def scores_text(trial: Trial) -> str:
    """Return the means of a trial on one line; empty where it failed."""
    return ", ".join(f"{name} {mean:.4f}" for name, mean in trial.means.items())


def change_text(trial: Trial) -> str:
    """Return the means of a trial, their changes, and the queries fixed and broken, on one line."""
    if not trial.parent:
        return scores_text(trial)
    changes = ", ".join(
        f"{name} {mean:.4f} ({trial.deltas.get(name, 0.0):+.4f})" for name, mean in trial.means.items()
    )
    return f"{changes}; {trial.fixed} queries fixed, {trial.broken} broken"


def changed_components(parent: Trial, trial: Trial) -> str:
    """Return which functions and constants were added, changed and removed, by name; empty for none."""
    before, after = parent.program.components, trial.program.components
    kinds = (
        ("added", [name for name in after if name not in before]),
        ("changed", [name for name in after if name in before and before[name] != after[name]]),
        ("removed", [name for name in before if name not in after]),
    )
    return "; ".join(f"{kind} {_names(names)}" for kind, names in kinds if names)


def notes_text(notes: Sequence[str]) -> str:
    """Return what became of drafts that were not tried; empty where there are none."""
    return "\n".join(["## Drafts that were not tried", "", *(f"- {note}" for note in notes)]) if notes else ""


def cases_text(cases: Sequence[Case]) -> str:
    """Return the cases by kind, each kind in the order given; empty where there are none."""
    if not cases:
        return ""
    lines = [
        "## Cases",
        "",
        "Validation queries with a relevant document each, by the reference that the tools take.",
    ]
    for kind, meaning in CASE_KINDS.items():
        own = [case for case in cases if case.kind == kind]
        if own:
            lines += ["", f"### {meaning}", "", *map(_case_line, own)]
    return "\n".join(lines)


def _case_line(case: Case) -> str:
    above = f"; above it: {_names(case.above)}" if case.above else ""
    now, first = (f"rank {rank}" if rank else "not retrieved" for rank in (case.rank, case.first_rank))
    return f"- {case.query!r}: relevant `{case.relevant}`, {now} (first program: {first}){above}"


def evidence_text(evidence: Sequence[FieldEvidence]) -> str:
    """Return what the failing queries' relevant documents hold and their passages do not; empty for none."""
    if not evidence:
        return ""
    lines = [
        "## What the failing queries say of fields",
        "",
        "Over pairs of a validation query and a relevant document that the incumbent ranks below 10 or not "
        "at all: the share of the query's words that a part of the document holds, and the share that it "
        "holds and no passage of the document does.",
        "",
        "| part | pairs | holds | no passage does | pairs helped | words |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for entry in evidence[:MOST_FIELDS]:
        lines.append(
            f"| `{entry.name}` | {entry.pairs} | {entry.present:.1%} | {entry.missing:.1%} | "
            f"{entry.helped} | {entry.mean_words:,.0f} |"
        )
    return "\n".join(lines)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
