"""The operators: every sensible single step from a recipe, with how promising it is and why.

An operator looks at the collection's profile and at the evidence of the failing validation queries, and
yields moves. A prior says how often such a step has paid on collections of that kind; priors are
weighed against each other and corrected by what a search sees happen, never compared with a measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from autoindex_pyserini.agents.proposer import Brief, CollectionProfile, FieldEvidence, FieldProfile
from autoindex_pyserini.agents.recipe import Recipe
from autoindex_pyserini.agents.render import MOST_WINDOWS


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

    @property
    def pairs(self) -> int:
        """How many failing pairs were looked at."""
        return max((entry.pairs for entry in self.evidence.values()), default=0)

    def gain(self, part: str) -> float:
        """Return the mean share of a failing query's words that the part alone has, 0 to 1.

        0 where fewer than three pairs show it: a pattern of one query is noise.
        """
        entry = self.evidence.get(part)
        return entry.missing * entry.pairs / self.pairs if entry and entry.helped >= 3 else 0.0

    def focus(self, part: str) -> float:
        """Return the share of the text's matches with failing queries that the part keeps, 0 to 1.

        Without evidence, what is usual.
        """
        text, entry = self.evidence.get("text"), self.evidence.get(part)
        if text is None or not text.present:
            return 0.5
        return min(1.0, entry.present / text.present) if entry else 0.0


type Operator = Callable[[View], Iterator[Move]]

BOILERPLATE = frozenset(
    {
        "acknowledgements", "author", "authors", "availability", "bugs", "colophon", "contributors",
        "copying", "copyright", "credits", "disclaimer", "external links", "further reading", "history",
        "license", "references", "reporting bugs", "resources", "see also", "version",
    }
)  # fmt: skip
"""Headings of sections that name other things than the document's own subject."""

TELLING = frozenset({"abstract", "description", "introduction", "name", "overview", "purpose", "summary"})
"""Headings of sections that say what a document is about."""


def _ladder(current: int, steps: tuple[int, ...]) -> Iterator[tuple[int, float]]:
    """Yield the steps to try from here, each with a factor.

    `steps` ascend in strength but for the first, the usual one. From one of them the neighbours are
    tried; from elsewhere the usual one, then the others.
    """
    if current in steps:
        ordered = sorted(steps)
        at = ordered.index(current)
        yield from ((ordered[near], 0.6) for near in (at + 1, at - 1) if 0 <= near < len(ordered))
    else:
        yield from ((step, 1.0 if at == 0 else 0.45) for at, step in enumerate(steps))


def _useful(field: FieldProfile) -> bool:
    """Tell whether the values are words that a query could hold and that tell documents apart."""
    return field.kind in ("text", "label") and field.fill_rate >= 0.02 and field.distinct > 3


# More weight for what is there.


def repeat_title(view: View) -> Iterator[Move]:
    """Repeat the title in the full passage: its words say what the document is about."""
    profile = view.profile
    if profile.title_fill_rate < 0.2 or profile.mean_text_words < 5:
        return
    natural = 1 - 0.4 * profile.title_identifier_rate
    # A title that is an identifier counts again when it is split, so it needs repeating less.
    steps = (3, 2, 5) if profile.title_identifier_rate < 0.5 else (2, 3, 5)
    for times, factor in _ladder(view.recipe.title_times, steps):
        yield Move(
            "repeat_title",
            replace(view.recipe, title_times=times),
            0.9 * factor * profile.title_fill_rate * natural * (0.6 + 0.8 * view.focus("title")),
            f"title words name the subject: counting them {times} times ranks documents about it above "
            "documents that mention it",
        )


def repeat_opening(view: View) -> Iterator[Move]:
    """Repeat the first paragraph in the full passage."""
    if view.profile.multi_paragraph_rate < 0.3:
        return
    for times, factor in _ladder(view.recipe.opening_times, (1, 2, 3)):
        yield Move(
            "repeat_opening",
            replace(view.recipe, opening_times=times),
            0.6 * factor * view.profile.multi_paragraph_rate * (0.6 + 0.8 * view.focus("first_paragraph")),
            "texts open with what they are about: more weight for the opening ranks them by that",
        )


# Words that no passage has.


def add_field(view: View) -> Iterator[Move]:
    """Put another field into the full passage, or count one there more often."""
    present = dict(view.recipe.added_fields)
    for field in view.profile.fields:
        times = present.get(field.name, 0)
        if not _useful(field) or times >= 3:
            continue
        prior = (1.0 if field.kind == "text" else 0.6) * min(1.0, field.fill_rate + 0.2)
        gain = view.gain(field.name)
        if view.evidence:
            # A field whose words are there already still gets weight: that pays where it is dense.
            prior *= 0.2 + 0.3 * view.focus(field.name) / (1 + field.mean_words / 50) + min(2.0, 25 * gain)
        else:
            prior *= 0.3 + 0.7 * (1 - field.contained_rate)
        more = " more" if times else ""
        why = f"the field {field.name} describes the document; its words should count{more}"
        if gain:
            entry = view.evidence[field.name]
            why = f"the field {field.name} has words of {entry.helped} failing queries that no passage has"
        yield Move(
            "add_field",
            replace(view.recipe, added_fields=tuple({**present, field.name: times + 1}.items())),
            prior * (0.5 if times else 1.0),
            why,
        )


def add_prefix(view: View) -> Iterator[Move]:
    """Put every field whose name begins so into the full passage."""
    for group in view.profile.groups:
        prefix = group.name.removesuffix("*")
        if not _useful(group) or prefix in view.recipe.added_prefixes:
            continue
        prior = min(1.0, group.fill_rate + 0.2)
        if view.evidence:
            gain = sum(view.gain(name) for name in view.evidence if name.startswith(prefix))
            prior *= 0.2 + min(2.0, 25 * gain)
        else:
            prior *= 0.3 + 0.7 * (1 - group.contained_rate)
        yield Move(
            "add_prefix",
            replace(view.recipe, added_prefixes=(*view.recipe.added_prefixes, prefix)),
            prior,
            f"the {group.members} fields {prefix}... hold words that title and text lack",
        )


def split_identifiers(view: View) -> Iterator[Move]:
    """Put the parts of camelCase, snake_case and dotted identifiers beside them."""
    titles, anywhere = view.profile.title_identifier_rate, view.profile.identifier_rate
    if view.recipe.identifiers or max(titles, anywhere) < 0.1:
        return
    prior = 0.2 + 0.3 * anywhere + 0.9 * titles
    if view.evidence:
        prior = 0.2 + 0.2 * anywhere + 0.3 * titles + min(1.5, 40 * view.gain("identifier_parts"))
    yield Move(
        "split_identifiers",
        replace(view.recipe, identifiers=True),
        prior,
        "queries say in words what names say in one token: the parts of identifiers can be matched",
    )


# A short passage of what the document is about.


def opening_passage(view: View) -> Iterator[Move]:
    """Put the title and the first paragraph beside the full text as a passage of their own."""
    rate = view.profile.multi_paragraph_rate
    if rate < 0.2:
        return
    for count, factor in _ladder(view.recipe.opening_paragraphs, (1, 2)):
        yield Move(
            "opening_passage",
            replace(view.recipe, opening_paragraphs=count),
            factor * (0.3 + 0.7 * rate) * (0.6 + view.focus("first_paragraph")),
            "a query that says what a document is about matches its opening better than the whole",
        )


def lead_passage(view: View) -> Iterator[Move]:
    """Put the title and the first words beside the full text as a passage of their own."""
    if view.profile.mean_text_words < 60:
        return
    for count, factor in _ladder(view.recipe.lead_words, (40, 20, 80)):
        yield Move(
            "lead_passage",
            replace(view.recipe, lead_words=count),
            0.7 * factor * (0.5 + view.focus("lead")),
            f"the first {count} words carry the subject; alone they are not drowned by the rest",
        )


def section_passage(view: View) -> Iterator[Move]:
    """Put the title and the telling sections beside the full text as a passage of their own."""
    names = [
        heading.name
        for heading in view.profile.headings
        if heading.name.lower() in TELLING and heading.rate >= 0.2 and heading.mean_chars < 2000
    ]
    for name in names:
        if name in view.recipe.section_passage:
            continue
        chosen = (*view.recipe.section_passage, name)
        yield Move(
            "section_passage",
            replace(view.recipe, section_passage=chosen),
            0.8 * (0.4 + view.focus(f"section:{name}")) * (0.6 if len(chosen) > 1 else 1.0),
            f"the section {name} says what the document is for; alone it is not drowned by the rest",
        )


def summary_passage(view: View) -> Iterator[Move]:
    """Put the title and fields that describe the document beside the full text as a passage."""
    current = view.recipe.summary_fields
    for field in view.profile.fields:
        if not _useful(field) or field.name in current or field.mean_words > 80 or len(current) > 3:
            continue
        prior = (1.0 if field.kind == "text" else 0.5) * field.fill_rate * (0.6 if current else 1.0)
        if field.distinct < 32:
            prior *= 0.3  # a category: it tells no two documents of it apart
        worth = 0.3 + 0.7 * view.focus(field.name) + min(1.5, 15 * view.gain(field.name))
        yield Move(
            "summary_passage",
            replace(view.recipe, summary_fields=(*current, field.name)),
            prior * worth,
            f"title and {field.name} describe the document in few words; alone they match a query best",
        )


def title_passage(view: View) -> Iterator[Move]:
    """Put the title beside the full text as a passage of its own."""
    profile = view.profile
    if view.recipe.title_passage or profile.title_fill_rate < 0.5 or profile.mean_text_words < 15:
        return
    natural = 1 - 0.6 * profile.title_identifier_rate
    yield Move(
        "title_passage",
        replace(view.recipe, title_passage=True),
        0.7 * profile.title_fill_rate * natural * (0.4 + view.focus("title")),
        "a short query that names the subject matches the title alone best",
    )


# Passages of a part of the text.


def dense_passage(view: View) -> Iterator[Move]:
    """Put the sentences with the rarest words beside the full text as a passage."""
    if view.profile.multi_sentence_rate < 0.3:
        return
    for count, factor in _ladder(view.recipe.dense_sentences, (3, 2, 5)):
        yield Move(
            "dense_passage",
            replace(view.recipe, dense_sentences=count),
            0.3 * factor * view.profile.multi_sentence_rate,
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
            0.35 * factor,
            f"{count} key words are a short text that a specific query matches without the noise of the rest",
        )


_WINDOWS = ((200, 50), (400, 100), (100, 25))


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
            (0.4 if at == 0 else 0.2) * (0.4 + view.profile.long_rate),
            f"a query about a detail matches {size} words around it better than the whole text",
        )


# Less of what hides the subject.


def drop_section(view: View) -> Iterator[Move]:
    """Leave out sections that name other subjects than the document's own."""
    dropped = view.recipe.dropped_sections
    known = [heading for heading in view.profile.headings if heading.name not in dropped]
    boilerplate = [item for item in known if item.name.lower() in BOILERPLATE and item.rate >= 0.03]
    if boilerplate:
        names = [item.name for item in boilerplate]
        rate = max(item.rate for item in boilerplate)
        yield Move(
            "drop_section",
            replace(view.recipe, dropped_sections=(*dropped, *names)),
            0.4 + 0.6 * rate,
            "sections such as " + ", ".join(names[:3]) + " name other subjects and attract their queries",
        )
    for item in known:
        if item in boilerplate or item.rate < 0.2 or item.name.lower() in TELLING:
            continue
        yield Move(
            "drop_section",
            replace(view.recipe, dropped_sections=(*dropped, item.name)),
            0.3 * item.rate * min(1.0, item.mean_chars / 200) * (1.2 - view.focus(f"section:{item.name}")),
            f"the section {item.name} says little of the subject and dilutes the rest",
        )


def drop_code(view: View) -> Iterator[Move]:
    """Leave code out of texts that have more than some lines of it."""
    if view.profile.code_rate < 0.03:
        return
    for above, factor in _ladder(view.recipe.code_above, (2, 8)):
        yield Move(
            "drop_code",
            replace(view.recipe, code_above=above),
            0.5 * factor * min(1.0, 0.5 + view.profile.code_rate),
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
            0.5 * factor * min(1.0, 0.3 + view.profile.latex_rate),
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
            0.4 * factor * min(1.0, 0.3 + view.profile.markup_rate),
            "marks are indexed as words and split the words they stand in",
        )


def cut_text(view: View) -> Iterator[Move]:
    """Keep only the first words of long texts in all passages."""
    if view.profile.mean_text_words < 400:
        return
    for count, factor in _ladder(view.recipe.text_words, (500, 200, 1500)):
        yield Move(
            "cut_text",
            replace(view.recipe, text_words=count),
            0.3 * factor,
            f"past its first {count} words a long text mentions everything and is about little of it",
        )


def undo(view: View) -> Iterator[Move]:
    """Take back one thing: what was right before the later changes may not be any more."""
    plain = Recipe(base=view.recipe.base)
    for name in Recipe.__struct_fields__:
        if name == "window_overlap" or getattr(view.recipe, name) == getattr(plain, name):
            continue
        without = replace(view.recipe, **{name: getattr(plain, name)})
        if name == "window_words":
            without = replace(without, window_overlap=0)
        if without != plain:
            hypothesis = f"the later changes may do the work of '{name.replace('_', ' ')}' better"
            yield Move("undo", without, 0.12, hypothesis)


FAMILIES: dict[str, tuple[Operator, ...]] = {
    "weight": (repeat_title, repeat_opening),
    "words": (add_field, add_prefix),
    "identifiers": (split_identifiers,),
    "opening": (opening_passage, lead_passage, section_passage),
    "summary": (summary_passage, title_passage),
    "detail": (dense_passage, key_word_passage, window_passages),
    "removal": (drop_section, drop_code, strip_latex, strip_markup, cut_text),
    "undo": (undo,),
}
"""Mechanisms: what fails for one of a family is likely to fail for the others."""

OPERATORS: dict[str, Operator] = {
    operator.__name__: operator for family in FAMILIES.values() for operator in family
}
"""Every operator by name."""

FAMILY_OF: dict[str, str] = {
    operator.__name__: family for family, operators in FAMILIES.items() for operator in operators
}

OPERATOR_OF: dict[str, str] = {
    "title_times": "repeat_title",
    "opening_times": "repeat_opening",
    "text_words": "cut_text",
    "added_fields": "add_field",
    "added_prefixes": "add_prefix",
    "dropped_sections": "drop_section",
    "code_above": "drop_code",
    "latex_above": "strip_latex",
    "markup_above": "strip_markup",
    "identifiers": "split_identifiers",
    "opening_paragraphs": "opening_passage",
    "lead_words": "lead_passage",
    "section_passage": "section_passage",
    "summary_fields": "summary_passage",
    "title_passage": "title_passage",
    "dense_sentences": "dense_passage",
    "key_words": "key_word_passage",
    "window_words": "window_passages",
}
"""Attribute of a recipe -> the operator that sets it."""


def moves(recipe: Recipe, brief: Brief) -> list[Move]:
    """Return every step from the recipe that stays within the limits, each leading somewhere else."""
    view = View(recipe, brief.profile, {entry.name: entry for entry in brief.evidence})
    found: dict[Recipe, Move] = {}
    for operator in OPERATORS.values():
        for move in operator(view):
            reached = move.recipe.bounded()
            if reached == recipe or not fits(reached, brief):
                continue
            if reached not in found or found[reached].prior < move.prior:
                found[reached] = replace(move, recipe=reached)
    return list(found.values())


def fits(recipe: Recipe, brief: Brief) -> bool:
    """Tell whether no document can get more passages than the limits allow."""
    most = recipe.single_passages + (MOST_WINDOWS if recipe.window_words else 0)
    return most <= brief.limits.max_passages
