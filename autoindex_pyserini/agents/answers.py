"""What the tools answer: plain text, the same for the same question, for models and people alike.

Scores are rounded to four places. No docid, qid or path appears; what a document itself says, stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autoindex_pyserini.lucene.explain import Explanation
from autoindex_pyserini.pipeline import IndexView, Match, Ranked
from autoindex_pyserini.program.contract import RawDocument

MOST_CHARS = 6000
"""Characters of one answer."""

_NOTE_CHARS = 120  # kept for saying what was cut
_DETAILED = 10  # documents of a ranking that are told more of than their titles
_TITLE_CHARS = 100
_SHORT_TITLE_CHARS = 50
_SNIPPET_CHARS = 160
_VALUE_CHARS = 300
_MOST_PLACES = 4


def bounded(lines: Sequence[str], most: int = MOST_CHARS) -> str:
    """Join lines; those that do not fit are left out, and counted."""
    text = "\n".join(lines)
    if len(text) <= most:
        return text
    kept: list[str] = []
    room = most - _NOTE_CHARS
    for line in lines:
        if len(line) + 1 > room:
            break
        kept.append(line)
        room -= len(line) + 1
    if not kept:
        kept = [cut(lines[0], most - _NOTE_CHARS)]
    left = len(lines) - len(kept)
    return "\n".join([*kept, f"[cut here: {left} of {len(lines)} lines do not fit in {most:,} characters]"])


def cut(text: str, most: int) -> str:
    """The text's beginning, marked if there is more."""
    return text if len(text) <= most else f"{text[: max(0, most - 1)]}…"


def one_line(text: str, most: int) -> str:
    """The text's beginning with its white space as single spaces."""
    return cut(" ".join(text[: 20 * most].split()), most)


def retrieved(view: IndexView, query: str, k: int) -> list[str]:
    """The best `k` documents: what they are, and which terms brought them here."""
    wanted = view.terms(query)
    ranking = view.ranking(query)
    if not wanted:
        return [_no_terms(query)]
    if not ranking:
        return [f"no passage has any of the query's terms: {_listed(wanted)}"]
    lines = [
        f"query terms: {_listed(wanted)}",
        f"the first {min(k, len(ranking))} of {len(ranking)} documents retrieved (at most {view.depth}):",
    ]
    for hit in ranking[: min(k, _DETAILED)]:
        document = view.document(hit.reference)
        told = view.explain(query, hit.reference)
        held = [one.statistics.term for one in told.terms if one.frequency]
        lines += [
            _hit(hit, document, _TITLE_CHARS),
            f"     {len(held)} of {len(told.terms)} terms: {_listed(held)}; {_place(told)}",
            f"     {one_line(document.text, _SNIPPET_CHARS) or '(no text)'}",
        ]
    lines += [_hit(hit, view.document(hit.reference), _SHORT_TITLE_CHARS) for hit in ranking[_DETAILED:k]]
    return lines


def _hit(hit: Ranked, document: RawDocument, most: int) -> str:
    title = one_line(document.title, most) or "(no title)"
    return f"{hit.rank:>3}. {hit.reference}  {hit.score:.4f}  {title}"


def document(view: IndexView, reference: str, most: int, start: int) -> list[str]:
    """A raw document: its title, its fields, and of its text as much as fits."""
    raw = view.document(reference)
    fields = [f"  {name}: {one_line(value, _VALUE_CHARS)}" for name, value in raw.fields.items()]
    shown = bounded(fields, max(most // 3, most - len(raw.title) - len(raw.text) - 2 * _NOTE_CHARS))
    head = [
        f"raw document: title of {len(raw.title):,} characters, text of {len(raw.text):,}, "
        f"{len(raw.fields):,} fields",
        f"title: {cut(raw.title, most // 4)}",
    ]
    tail = [f"fields:\n{shown}"] if fields else []
    room = most - sum(len(part) + 1 for part in (*head, *tail)) - _NOTE_CHARS
    end = start + max(room, most // 3)
    lines = [*head, f"text: {raw.text[start:end]}"]
    if start or end < len(raw.text):
        seen = f"{min(start, len(raw.text)):,} to {min(end, len(raw.text)):,} of {len(raw.text):,}"
        lines.append(
            f"[cut here: characters {seen} of the text; read on with start={min(end, len(raw.text))}]"
        )
    return ["\n".join([*lines, *tail])]


def passages(view: IndexView, reference: str) -> list[str]:
    """A document's passages, each with its share of the room."""
    found = view.passages(reference)
    raw = view.document(reference)
    raw_chars = len(raw.title) + len(raw.text) + sum(map(len, raw.fields.values()))
    many = "1 passage" if len(found) == 1 else f"{len(found)} passages"
    lines = [f"{many}; the raw document has {raw_chars:,} characters, its fields among them"]
    share = max(_SNIPPET_CHARS, (MOST_CHARS - 2 * _NOTE_CHARS) // len(found) - _NOTE_CHARS)
    for number, passage in enumerate(found):
        text = passage.contents
        lines.append(f"--- passage {number}: {len(view.terms(text)):,} terms, {len(text):,} characters")
        lines.append(text[:share])
        if len(text) > share:
            lines.append(f"[cut here: {len(text) - share:,} more characters]")
        lines += [f"field {name}: {one_line(value, _VALUE_CHARS)}" for name, value in passage.fields.items()]
    return lines


def explained(view: IndexView, query: str, reference: str) -> list[str]:
    """A document's score, term by term, and where the terms are that its best passage lacks."""
    reference = view.canonical(reference)
    ranking = view.ranking(query)  # first: a query that cannot be run is refused here
    told = view.explain(query, reference)
    if not told.terms:
        return [_no_terms(query)]
    lines = [
        *_introduced(view, ranking, reference, told),
        f"passages have {told.mean_length:.1f} terms on average; above length norm 1 every term counts less",
        "score = in query * idf * saturation, summed; saturation = tf / (tf + k1 * length norm)",
        f"{'term':<20} {'in query':>8} {'in passages':>11} {'idf':>8} {'tf':>4} {'saturation':>10} "
        f"{'score':>9}",
    ]
    for one in told.terms:
        term = one.statistics
        if one.frequency:
            lines.append(
                f"{cut(term.term, 20):<20} {one.in_query:>8} {term.passages:>11,} {term.idf:>8.4f} "
                f"{one.frequency:>4} {one.saturation:>10.4f} {one.score:>9.4f}"
            )
    return [*lines, *_lacking(view, reference, told)]


def compared(view: IndexView, query: str, left: str, right: str) -> list[str]:
    """Two documents side by side: the terms in the order of what they contribute to the difference."""
    left, right = view.canonical(left), view.canonical(right)
    ranking = view.ranking(query)
    first, second = view.explain(query, left), view.explain(query, right)
    if not first.terms:
        return [_no_terms(query)]
    others = {one.statistics.term: one for one in second.terms}
    rows = [(one, others[one.statistics.term]) for one in first.terms]
    rows.sort(key=lambda row: (-abs(row[0].score - row[1].score), row[0].statistics.term))
    lines = [
        *(
            f"A = {line}" if at == 0 else line
            for at, line in enumerate(_introduced(view, ranking, left, first))
        ),
        *(
            f"B = {line}" if at == 0 else line
            for at, line in enumerate(_introduced(view, ranking, right, second))
        ),
        f"{'term':<20} {'idf':>8} {'A tf':>5} {'A score':>9} {'B tf':>5} {'B score':>9} {'A - B':>9}",
    ]
    for one, other in rows:
        term = one.statistics
        if one.frequency or other.frequency:
            lines.append(
                f"{cut(term.term, 20):<20} {term.idf:>8.4f} {one.frequency:>5} {one.score:>9.4f} "
                f"{other.frequency:>5} {other.score:>9.4f} {one.score - other.score:>+9.4f}"
            )
    lines.append(f"{'sum':<35} {first.score:>9.4f} {second.score:>15.4f} {first.score - second.score:>+9.4f}")
    neither = [one.statistics.term for one, other in rows if not one.frequency and not other.frequency]
    return [*lines, f"in neither: {_listed(neither)}"] if neither else lines


def _introduced(
    view: IndexView, ranking: Sequence[Ranked], reference: str, told: Explanation
) -> tuple[str, ...]:
    """What a document is, where it stands, and what it would take to be retrieved."""
    ranks = {hit.reference: hit.rank for hit in ranking}
    if reference in ranks:
        standing = f"rank {ranks[reference]} of {len(ranking)} retrieved"
    elif len(ranking) < view.depth:
        standing = "not retrieved"
    else:
        standing = f"not among the first {view.depth}; the last of them scores {ranking[-1].score:.4f}"
    return (
        f"{reference}: score {told.score:.4f}, {standing}",
        f"    {one_line(view.document(reference).title, _TITLE_CHARS) or '(no title)'}",
        f"    best passage: {_place(told)}, length norm {told.length_norm:.4f}",
    )


def term_statistics(view: IndexView, text: str) -> list[str]:
    """What the analyzer makes of a text, and how common that is."""
    found = list(dict.fromkeys(view.terms(text)))
    if not found:
        return [_no_terms(text)]
    lines = [
        f"{one_line(text, _TITLE_CHARS)!r} becomes: {_listed(found)} "
        f"(index: {view.num_passages:,} passages of {view.num_documents:,} documents)"
    ]
    for term in found:
        one = view.statistics(term)
        share = one.passages / max(1, view.num_passages)
        lines.append(
            f"{term}: in {one.passages:,} passages ({share:.2%}), {one.occurrences:,} occurrences, "
            f"idf {one.idf:.4f}"
            if one.passages
            else f"{term}: in no passage"
        )
    return lines


def grepped(view: IndexView, pattern: str, most: int) -> list[str]:
    """How many documents match, in which parts, and the first of them."""
    found = view.grep(pattern, most)
    if not found.documents:
        return [
            f"no match in {view.num_documents:,} documents; case counts unless the pattern begins with (?i)"
        ]
    parts = sorted(found.parts.items(), key=lambda pair: (-pair[1], pair[0]))
    share = found.documents / view.num_documents
    lines = [
        f"{found.documents:,} of {view.num_documents:,} documents match ({share:.2%}), "
        f"{found.occurrences:,} matches in all",
        "documents by part: "
        + ", ".join(f"{name} {count:,}" for name, count in parts[:20])
        + (f" and {len(parts) - 20} more parts" if len(parts) > 20 else ""),
    ]
    lines += [_matched(one) for one in found.first]
    if found.first and len(found.first) < found.documents:
        lines.append(f"[shown: the first {len(found.first)} documents of {found.documents:,}]")
    return lines


def _matched(one: Match) -> str:
    """A match in its surroundings; ``»`` stands where it begins."""
    begin = max(0, one.start - _SNIPPET_CHARS // 3)
    before = " ".join(f"|{one.value[begin : one.start]}|".split())[1:-1]
    after = one_line(one.value[one.start : one.start + 10 * _SNIPPET_CHARS], _SNIPPET_CHARS)
    return f"{one.reference} {one.part}: {'…' if begin else ''}{before}»{after}"


def _place(told: Explanation) -> str:
    return f"passage {told.passage} of {told.passages}, {told.length:,} terms"


def _lacking(view: IndexView, reference: str, told: Explanation) -> list[str]:
    """Where each term is that the best passage lacks: parts of the raw document, other passages."""
    lacking = [one.statistics for one in told.terms if not one.frequency]
    if not lacking:
        return ["the passage has all terms of the query"]
    places = [(name, set(view.terms(value))) for name, value in _parts(view.document(reference)) if value]
    places += [
        (f"passage {number}", set(view.terms(passage.contents)))
        for number, passage in enumerate(view.passages(reference))
        if number != told.passage
    ]
    lines = ["terms that the passage lacks:"]
    for term in lacking:
        found = [name for name, terms in places if term.term in terms]
        rest = f" and {len(found) - _MOST_PLACES} more places" if len(found) > _MOST_PLACES else ""
        where = f"in {', '.join(found[:_MOST_PLACES])}{rest}" if found else "nowhere in the raw document"
        spread = (
            f"in {term.passages:,} passages of the index" if term.passages else "in no passage of the index"
        )
        lines.append(f"  {cut(term.term, 40)} (idf {term.idf:.4f}, {spread}): {where}")
    return lines


def _parts(raw: RawDocument) -> Iterable[tuple[str, str]]:
    yield "the title", raw.title
    yield "the text", raw.text
    for name, value in raw.fields.items():
        yield f"field {name}", value


def _listed(terms: Sequence[str]) -> str:
    return one_line(" ".join(terms), 400)


def _no_terms(text: str) -> str:
    return (
        f"the analyzer makes no term of {one_line(text, _TITLE_CHARS)!r}: "
        "stop words and punctuation are not searched for"
    )
