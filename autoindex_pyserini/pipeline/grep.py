"""Find a regular expression in raw documents, with an engine that no pattern can hang.

Arrow's kernels run RE2, whose time is linear in the text. Its syntax is Python's without lookaround and
backreferences.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from autoindex_pyserini.errors import InputError
from autoindex_pyserini.program.contract import RawDocument

MOST_PATTERN_CHARS = 300
MOST_REPEATS = 1000
MOST_SECONDS = 30.0
"""Time in the engine for one pattern; it is looked at after each batch, and plain patterns need seconds for
a million documents."""

_BATCH_CHARS = 1 << 16
_COUNTED = re.compile(r"\{(\d*),?(\d*)\}")


class PatternError(InputError):
    """A pattern cannot be searched for; the message says why, and what could be."""


class Match(msgspec.Struct, frozen=True):
    """The first match in one value of a document.

    Attributes:
        reference: the document.
        part: ``title``, ``text`` or the name of a field.
        value: the whole value.
        start: 0-based character where the match begins.
    """

    reference: str
    part: str
    value: str
    start: int


class Matches(msgspec.Struct, frozen=True):
    """What `grep` found.

    Attributes:
        documents: documents that match, in title, text or any field.
        occurrences: matches in all that do not overlap.
        parts: part -> documents in which it matches.
        first: one match for each of the first documents, in the collection's order.
    """

    documents: int
    occurrences: int
    parts: dict[str, int]
    first: tuple[Match, ...]


def grep(documents: Iterable[tuple[str, RawDocument]], pattern: str, most: int) -> Matches:
    """Search all documents for a regular expression.

    Args:
        documents: pairs of reference and document.
        pattern: in RE2's syntax; case counts unless it begins with ``(?i)``.
        most: documents that a match is shown of.

    Raises:
        PatternError: the pattern cannot be used, or is too slow.
    """
    _check(pattern)
    matching = occurrences = 0
    parts: Counter[str] = Counter()
    first: list[Match] = []
    seconds = 0.0
    last = ""
    for rows in _batches(documents):
        began = time.perf_counter()
        found = _find([value for _, _, value in rows], pattern)
        seconds += time.perf_counter() - began
        if seconds > MOST_SECONDS:
            raise PatternError(
                f"the pattern is too slow for this collection (over {MOST_SECONDS:.0f} s); "
                "use literal words, and fewer alternatives and repetitions"
            )
        for at, start, count in found:
            reference, part, value = rows[at]
            occurrences += count
            parts[part] += 1
            if reference == last:
                continue
            last = reference
            matching += 1
            if len(first) < most:
                first.append(Match(reference, part, value, start))
    return Matches(matching, occurrences, dict(parts), tuple(first))


def _check(pattern: str) -> None:
    if not pattern:
        raise PatternError("the pattern is empty; give a word or a regular expression")
    if len(pattern) > MOST_PATTERN_CHARS:
        raise PatternError(
            f"the pattern has {len(pattern)} characters, at most {MOST_PATTERN_CHARS} are allowed; shorten it"
        )
    counted = (max(int(low or 0), int(high or 0)) for low, high in _COUNTED.findall(pattern))
    if sum(counted) > MOST_REPEATS:
        raise PatternError(
            f"counted repetitions add up to more than {MOST_REPEATS}; use * or + instead of {{n,m}}"
        )
    _find([""], pattern)


def _batches(documents: Iterable[tuple[str, RawDocument]]) -> Iterator[list[tuple[str, str, str]]]:
    """Rows of reference, part and value; a document's rows follow each other."""
    rows: list[tuple[str, str, str]] = []
    chars = 0
    for reference, document in documents:
        for part, value in (("title", document.title), ("text", document.text), *document.fields.items()):
            if value:
                rows.append((reference, part, value))
                chars += len(value)
        if chars >= _BATCH_CHARS:
            yield rows
            rows, chars = [], 0
    yield rows


def _find(values: list[str], pattern: str) -> list[tuple[int, int, int]]:
    """Where in the list a value matches, at which character first, and how often.

    Raises:
        PatternError: RE2 cannot read the pattern.
    """
    import pyarrow
    import pyarrow.compute

    column = pyarrow.array(values, pyarrow.large_string())
    try:
        starts = pyarrow.compute.find_substring_regex(column, pattern).to_pylist()
        hits = [at for at, start in enumerate(starts) if start >= 0]
        counts = pyarrow.compute.count_substring_regex(column.take(hits), pattern).to_pylist() if hits else []
    except pyarrow.ArrowInvalid as error:
        reason = str(error).removeprefix("Invalid regular expression: ")
        raise PatternError(
            f"the pattern cannot be used: {reason}; it is RE2's syntax, without lookaround and backreferences"
        ) from error
    found = []
    for at, count in zip(hits, counts, strict=True):
        start = len(values[at].encode()[: starts[at]].decode(errors="ignore"))
        found.append((at, start, int(count)))
    return found
