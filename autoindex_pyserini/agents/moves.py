"""The operators: every sensible single step from a recipe, with how promising it is and why.

An operator looks at the collection's profile and at the evidence of the failing validation queries, and
yields moves. Its priors say how often such a step has paid on collections of that kind; they are
multiplied, never compared with a measure, and the proposer corrects them by what it sees happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from autoindex_pyserini.agents.proposer import Brief, CollectionProfile, FieldEvidence, FieldProfile
from autoindex_pyserini.agents.recipe import OFF, Recipe


class Move(msgspec.Struct, frozen=True):
    """One step in the search space.

    Attributes:
        operator: the operator's name.
        recipe: where the step leads.
        prior: how promising it is before anything was tried, above 0.
        hypothesis: why it should be better, in one line.
    """

    operator: str
    recipe: Recipe
    prior: float
    hypothesis: str


class View(msgspec.Struct, frozen=True):
    """What an operator may look at."""

    recipe: Recipe
    profile: CollectionProfile
    evidence: dict[str, FieldEvidence]


type Operator = Callable[[View], Iterator[Move]]

BOILERPLATE = frozenset(
    {
        "acknowledgements", "author", "authors", "availability", "bugs", "colophon", "contributors", "copying",
        "copyright", "credits", "disclaimer", "external links", "further reading", "history", "license",
        "references", "reporting bugs", "resources", "see also", "version",
    }
)  # fmt: skip
"""Headings of sections that name other things than the document's own subject."""

TELLING = frozenset(
    {
        "abstract", "description", "introduction", "name", "notes", "overview", "purpose", "summary", "synopsis",
        "usage", "examples", "parameters",
    }
)  # fmt: skip
"""Headings of sections that say what a document is about."""


def _ladder(current: int, steps: tuple[int, ...]) -> Iterator[tuple[int, float]]:
    """Yield the steps to try from here with a factor for each: the first one, or the neighbours."""
    if current in steps:
        at = steps.index(current)
        neighbours = [steps[near] for near in (at + 1, at - 1) if 0 <= near < len(steps)]
        yield from ((step, 0.7) for step in neighbours)
    else:
        yield from ((step, 1.0 if at == 0 else 0.5) for at, step in enumerate(steps))


def repeat_title(view: View) -> Iterator[Move]:
    """Repeat the title in the full passage: its words say what the document is about."""
    profile = view.profile
    if profile.title_fill_rate < 0.2 or profile.mean_text_words < 5:
        return
    current = view.recipe.title_times
    steps = (2, 3, 5) if current in (2, 3, 5) else (3, 2, 5)
    for times, factor in _ladder(current, steps):
        yield Move(
            "repeat_title",
            replace(view.recipe, title_times=times),
            1.0 * factor * profile.title_fill_rate,
            f"title words name the subject: counting them {times} times ranks documents about a topic "
            "above documents that mention it",
        )


def repeat_opening(view: View) -> Iterator[Move]:
    """Repeat the first paragraph in the full passage."""
    if view.profile.multi_paragraph_rate < 0.3:
        return
    for times, factor in _ladder(view.recipe.opening_times, (1, 2)):
        yield Move(
            "repeat_opening",
            replace(view.recipe, opening_times=times),
            0.6 * factor * view.profile.multi_paragraph_rate,
            "texts open with what they are about: more weight for the opening ranks them by that",
        )


def _useful(field: FieldProfile) -> bool:
    """Tell whether the values are words that a query could hold and that tell documents apart."""
    return field.kind in ("text", "label") and field.fill_rate >= 0.02 and field.distinct > 3


def _field_prior(view: View, field: FieldProfile) -> float:
    """Return how promising a field is: what it would add for failing queries, or its novelty."""
    prose = 1.0 if field.kind == "text" else 0.6
    novelty = 0.3 + 0.7 * (1 - field.contained_rate)
    prior = prose * novelty * min(1.0, field.fill_rate + 0.2)
    found = view.evidence.get(field.name)
    if found is None:
        return prior * (0.5 if view.evidence else 1.0)
    if found.helped >= 3:
        return prior * (1.0 + min(2.0, 20 * found.missing))
    # What is held already gets more weight: that pays where a short field holds many of the words.
    return prior * (0.4 + found.present)


def add_field(view: View) -> Iterator[Move]:
    """Put another field into the full passage, or count one there more often."""
    present = dict(view.recipe.added_fields)
    for field in view.profile.fields:
        if not _useful(field):
            continue
        times = present.get(field.name, 0)
        if times >= 3:
            continue
        added = {**present, field.name: times + 1}
        prior = _field_prior(view, field) * (1.0 if not times else 0.4)
        what = "has words that title and text lack" if field.contained_rate < 0.7 else "says the same in few words"
        yield Move(
            "add_field",
            replace(view.recipe, added_fields=tuple(added.items())),
            prior,
            f"the field {field.name} {what}; in the full passage they count" + (" more" if times else ""),
        )


def add_prefix(view: View) -> Iterator[Move]:
    """Put every field whose name begins so into the full passage."""
    for group in view.profile.groups:
        prefix = group.name.removesuffix("*")
        if not _useful(group) or prefix in view.recipe.added_prefixes or group.members < 3:
            continue
        yield Move(
            "add_prefix",
            replace(view.recipe, added_prefixes=(*view.recipe.added_prefixes, prefix)),
            1.2 * (0.3 + 0.7 * (1 - group.contained_rate)) * min(1.0, group.fill_rate + 0.2),
            f"the {group.members} fields {prefix}... hold words that title and text lack",
        )


def drop_section(view: View) -> Iterator[Move]:
    """Leave out sections that name other subjects than the document's own."""
    dropped = view.recipe.dropped_sections
    names = [
        heading.name
        for heading in view.profile.headings
        if heading.name.lower() in BOILERPLATE and heading.name not in dropped and heading.rate >= 0.03
    ]
    if names:
        yield Move(
            "drop_section",
            replace(view.recipe, dropped_sections=(*dropped, *names)),
            0.9,
            "sections such as " + ", ".join(names[:3]) + " name other subjects and attract their queries",
        )
    for heading in view.profile.headings:
        if heading.name in dropped or heading.rate < 0.2 or heading.name.lower() in TELLING:
            continue
        yield Move(
            "drop_section",
            replace(view.recipe, dropped_sections=(*dropped, heading.name)),
            0.35 * heading.rate * min(1.0, heading.mean_chars / 200),
            f"the section {heading.name} says little of the subject and dilutes the rest",
        )


def drop_code(view: View) -> Iterator[Move]:
    """Leave code out of texts that have more than some lines of it."""
    if view.profile.code_rate < 0.03:
        return
    for above, factor in _ladder(view.recipe.code_above, (2, 8)):
        yield Move(
            "drop_code",
            replace(view.recipe, code_above=above),
            0.6 * factor * min(1.0, 0.3 + view.profile.code_rate),
            f"queries are prose: more than {above} lines of code hide the words they match",
        )


def strip_latex(view: View) -> Iterator[Move]:
    """Leave LaTeX out of texts that have more than some spans of it."""
    if view.profile.latex_rate < 0.03:
        return
    for above, factor in _ladder(view.recipe.latex_above, (10, 3, 0)):
        yield Move(
            "strip_latex",
            replace(view.recipe, latex_above=above),
            0.7 * factor * min(1.0, 0.3 + view.profile.latex_rate),
            f"more than {above} formulas lengthen a text with symbols that no query holds",
        )


def strip_markup(view: View) -> Iterator[Move]:
    """Leave the marks out of texts that have more than some of them."""
    if view.profile.markup_rate < 0.03:
        return
    for above, factor in _ladder(view.recipe.markup_above, (2, 0)):
        yield Move(
            "strip_markup",
            replace(view.recipe, markup_above=above),
            0.6 * factor * min(1.0, 0.3 + view.profile.markup_rate),
            "marks are indexed as words and split the words they stand in",
        )


def split_identifiers(view: View) -> Iterator[Move]:
    """Put the parts of camelCase, snake_case and dotted identifiers beside them."""
    rate = max(view.profile.identifier_rate, view.profile.title_identifier_rate)
    if view.recipe.identifiers or rate < 0.1:
        return
    yield Move(
        "split_identifiers",
        replace(view.recipe, identifiers=True),
        0.4 + 1.2 * rate * (0.4 + 0.6 * view.profile.title_identifier_rate),
        "queries say in words what names say in one token: the parts of identifiers can be matched",
    )


def opening_passage(view: View) -> Iterator[Move]:
    """Put the title and the first paragraph beside the full text as a passage of their own."""
    if view.profile.multi_paragraph_rate < 0.2:
        return
    for count, factor in _ladder(view.recipe.opening_paragraphs, (1, 2)):
        yield Move(
            "opening_passage",
            replace(view.recipe, opening_paragraphs=count),
            1.3 * factor * (0.3 + 0.7 * view.profile.multi_paragraph_rate),
            "a query that says what a document is about matches its opening better than the whole",
        )


def lead_passage(view: View) -> Iterator[Move]:
    """Put the title and the first words beside the full text as a passage of their own."""
    if view.profile.mean_text_words < 60:
        return
    for count, factor in _ladder(view.recipe.lead_words, (60, 30, 120)):
        yield Move(
            "lead_passage",
            replace(view.recipe, lead_words=count),
            0.8 * factor,
            f"the first {count} words carry the subject; alone they are not drowned by the rest",
        )


def section_passage(view: View) -> Iterator[Move]:
    """Put the title and the telling sections beside the full text as a passage of their own."""
    names = tuple(
        heading.name
        for heading in view.profile.headings
        if heading.name.lower() in ("name", "abstract", "summary", "overview", "description", "introduction")
        and heading.rate >= 0.2
    )
    singles = [(name,) for name in names]
    for chosen in [*singles, names]:
        if not chosen or chosen == view.recipe.section_passage:
            continue
        yield Move(
            "section_passage",
            replace(view.recipe, section_passage=chosen),
            0.7 if len(chosen) == 1 else 0.4,
            f"the section {chosen[0]} says what the document is for; alone it is not drowned by the rest",
        )


def summary_passage(view: View) -> Iterator[Move]:
    """Put the title and fields that describe the document beside the full text as a passage."""
    current = view.recipe.summary_fields
    for field in view.profile.fields:
        if not _useful(field) or field.name in current or field.mean_words > 80 or len(current) > 3:
            continue
        found = view.evidence.get(field.name)
        present = found.present if found else 0.4
        yield Move(
            "summary_passage",
            replace(view.recipe, summary_fields=(*current, field.name)),
            (1.0 if field.kind == "text" else 0.5) * field.fill_rate * (0.5 + present) * (0.6 if current else 1.0),
            f"title and {field.name} describe the document in few words; alone they match a query best",
        )


def title_passage(view: View) -> Iterator[Move]:
    """Put the title beside the full text as a passage of its own."""
    profile = view.profile
    if view.recipe.title_passage or profile.title_fill_rate < 0.5 or profile.mean_text_words < 15:
        return
    yield Move(
        "title_passage",
        replace(view.recipe, title_passage=True),
        0.6 * profile.title_fill_rate,
        "a short query that names the subject matches the title alone best",
    )


def dense_passage(view: View) -> Iterator[Move]:
    """Put the sentences with the rarest words beside the full text as a passage."""
    if view.profile.multi_sentence_rate < 0.3:
        return
    for count, factor in _ladder(view.recipe.dense_sentences, (3, 2, 5)):
        yield Move(
            "dense_passage",
            replace(view.recipe, dense_sentences=count),
            0.6 * factor * view.profile.multi_sentence_rate,
            f"the {count} sentences with the rarest words hold what tells this document from the others",
        )


def key_word_passage(view: View) -> Iterator[Move]:
    """Put the words with the most tf-idf beside the full text as a passage."""
    if view.profile.mean_text_words < 60:
        return
    for count, factor in _ladder(view.recipe.key_words, (30, 15, 60)):
        yield Move(
            "key_word_passage",
            replace(view.recipe, key_words=count),
            0.6 * factor,
            f"{count} key words are a short text that a specific query matches without the noise of the rest",
        )


_WINDOWS = ((200, 50), (100, 25), (60, 15), (400, 100))


def window_passages(view: View) -> Iterator[Move]:
    """Put overlapping windows beside the full text as passages."""
    if view.profile.mean_text_words < 100:
        return
    for at, (size, overlap) in enumerate(_WINDOWS):
        if size == view.recipe.window_words or size > 2 * view.profile.mean_text_words:
            continue
        yield Move(
            "window_passages",
            replace(view.recipe, window_words=size, window_overlap=overlap),
            (0.9 if at == 0 else 0.5) * min(1.0, 0.3 + view.profile.long_rate),
            f"a query about a detail matches {size} words around it better than the whole text",
        )


def cut_text(view: View) -> Iterator[Move]:
    """Keep only the first words of long texts in all passages."""
    if view.profile.mean_text_words < 400:
        return
    for count, factor in _ladder(view.recipe.text_words, (500, 1500, 200)):
        yield Move(
            "cut_text",
            replace(view.recipe, text_words=count),
            0.35 * factor,
            f"past its first {count} words a long text mentions everything and is about little of it",
        )


def undo(view: View) -> Iterator[Move]:
    """Take back one thing: what was right before the later changes may not be any more."""
    default = Recipe(base=view.recipe.base)
    for name in Recipe.__struct_fields__:
        if name == "window_overlap" or getattr(view.recipe, name) == getattr(default, name):
            continue
        without = replace(view.recipe, **{name: getattr(default, name)})
        if name == "window_words":
            without = replace(without, window_overlap=0)
        if without != default:
            words = name.replace("_", " ")
            yield Move("undo", without, 0.15, f"the later changes may do the work of '{words}' better")


OPERATORS: dict[str, Operator] = {
    operator.__name__: operator
    for operator in (
        repeat_title,
        repeat_opening,
        add_field,
        add_prefix,
        drop_section,
        drop_code,
        strip_latex,
        strip_markup,
        split_identifiers,
        opening_passage,
        lead_passage,
        section_passage,
        summary_passage,
        title_passage,
        dense_passage,
        key_word_passage,
        window_passages,
        cut_text,
        undo,
    )
}
"""Every operator by name."""

_ = OFF


def moves(recipe: Recipe, brief: Brief) -> list[Move]:
    """Return every step from the recipe that stays within the limits, each leading somewhere else."""
    view = View(recipe, brief.profile, {entry.name: entry for entry in brief.evidence})
    found: dict[Recipe, Move] = {}
    for operator in OPERATORS.values():
        for move in operator(view):
            bounded = move.recipe.bounded()
            most = bounded.single_passages + (8 if bounded.window_words else 0)
            if bounded == recipe or most > brief.limits.max_passages:
                continue
            if bounded not in found or found[bounded].prior < move.prior:
                found[bounded] = replace(move, recipe=bounded)
    return list(found.values())
