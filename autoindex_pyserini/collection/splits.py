"""Which queries a search may see (validation) and which it may not (test)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable

from autoindex_pyserini.types import Topic

VALIDATION, TEST = "validation", "test"
DEFAULT_SEED = 0
DEFAULT_RATIO = (1, 2)


def normalised(text: str) -> str:
    """Case, punctuation and white space taken out of the way, so that near-duplicates become equal.

    Anything that is neither a letter, a mark nor a digit separates words; words are joined by one space.
    A text of nothing but such characters keeps them, or all of these would count as one query.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in folded).split()
    return " ".join(words) or folded.strip()


def split_by_hash(
    topics: Iterable[Topic], *, seed: int = DEFAULT_SEED, ratio: tuple[int, int] = DEFAULT_RATIO
) -> dict[str, str]:
    """Assign every query to validation or test, by a seeded hash of its normalised text.

    A query's side depends on its own text, the seed and the ratio alone: adding or removing other
    queries does not move it, and queries with the same normalised text stay together. The one exception
    keeps tiny collections usable: where one side would be left empty, the text nearest to the border
    crosses it.

    Args:
        topics: the queries to split.
        seed: another seed gives another split.
        ratio: how many go to validation, and how many to test, on average.

    Returns:
        qid -> ``validation`` or ``test``.
    """
    border = ratio[0] / (ratio[0] + ratio[1])
    texts = {topic.qid: normalised(topic.text) for topic in topics}
    places = {text: _place(text, seed) for text in set(texts.values())}
    chosen = {text for text, place in places.items() if place < border}
    if len(places) > 1 and not chosen:
        chosen = {min(places, key=places.__getitem__)}
    elif len(places) > 1 and len(chosen) == len(places):
        chosen.remove(max(places, key=places.__getitem__))
    return {qid: VALIDATION if text in chosen else TEST for qid, text in texts.items()}


def _place(text: str, seed: int) -> float:
    """A number from 0 to below 1, uniform over texts."""
    digest = hashlib.sha256(f"{seed}\n{text}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / (1 << 48)
