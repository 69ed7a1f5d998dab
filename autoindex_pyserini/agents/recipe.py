"""A point in the operator proposer's search space: which operators are applied, and how strongly.

A recipe is a value; `agents.render` turns it into a program and reads it back. The empty recipe is the
full-text program.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

OFF = -1
"""A threshold that is off. 0 would mean: strip wherever there is anything to strip."""


class Recipe(msgspec.Struct, frozen=True):
    """What to do with a document. Defaults do nothing.

    Attributes:
        base: source of a program that is not a recipe: this recipe is then applied around it. Its
            passages come first, made from the changed title and text.
        title_times: how often the title stands in the full passage, 1 to 5.
        opening_times: how often the first paragraph stands in the full passage besides the text, 0 to 3.
        text_words: only so many words of the text are kept; 0 keeps all.
        added_fields: fields in the full passage, each with how often it stands there.
        added_prefixes: fields whose names begin so, in the full passage.
        dropped_sections: headings of sections that are left out.
        code_above: code is left out of texts with more lines of it than this, or `OFF`.
        latex_above: LaTeX is left out of texts with more spans of it than this, or `OFF`.
        markup_above: marks are left out of texts with more of them than this, or `OFF`.
        identifiers: the parts of compound identifiers are put beside them.
        opening_paragraphs: a passage of the title and so many paragraphs; 0 is no such passage.
        lead_words: a passage of the title and so many words of the text; 0 is none.
        section_passage: a passage of the title and the sections so headed.
        summary_fields: a passage of the title and these fields.
        title_passage: a passage of the title alone.
        dense_sentences: a passage of the title and so many sentences, by idf density; 0 is none.
        key_words: a passage of the title and so many words, by tf-idf; 0 is none.
        window_words: passages of the title and windows of so many tokens; 0 is none.
        window_overlap: tokens that neighbouring windows share.
    """

    base: str = ""
    title_times: int = 1
    opening_times: int = 0
    text_words: int = 0
    added_fields: tuple[tuple[str, int], ...] = ()
    added_prefixes: tuple[str, ...] = ()
    dropped_sections: tuple[str, ...] = ()
    code_above: int = OFF
    latex_above: int = OFF
    markup_above: int = OFF
    identifiers: bool = False
    opening_paragraphs: int = 0
    lead_words: int = 0
    section_passage: tuple[str, ...] = ()
    summary_fields: tuple[str, ...] = ()
    title_passage: bool = False
    dense_sentences: int = 0
    key_words: int = 0
    window_words: int = 0
    window_overlap: int = 0

    @property
    def wants_corpus(self) -> bool:
        """Whether the recipe itself needs the collection's statistics."""
        return bool(self.dense_sentences or self.key_words)

    @property
    def single_passages(self) -> int:
        """Passages other than windows that a document can have; what `base` gives counts as one."""
        extras = (
            self.opening_paragraphs,
            self.lead_words,
            self.section_passage,
            self.summary_fields,
            self.title_passage,
            self.dense_sentences,
            self.key_words,
        )
        return 1 + sum(1 for extra in extras if extra)

    def bounded(self) -> Recipe:
        """Return the recipe with its repetitions cut to what keeps a passage below ten times its document.

        Splitting identifiers can make a title two and a half times as long.
        """
        most = 3 if self.identifiers else 5
        return msgspec.structs.replace(
            self,
            title_times=min(max(self.title_times, 1), most),
            opening_times=min(max(self.opening_times, 0), 2 if self.identifiers else 3),
            added_fields=tuple((name, min(max(times, 1), 3)) for name, times in self.added_fields),
        )


ATTRIBUTES: tuple[str, ...] = Recipe.__struct_fields__


def changed_attributes(before: Recipe, after: Recipe) -> tuple[str, ...]:
    """Return the names of the attributes that differ, in the order of the struct."""
    return tuple(name for name in ATTRIBUTES if getattr(before, name) != getattr(after, name))


def merge(parent: Recipe, children: Sequence[Recipe]) -> Recipe:
    """Return the parent with the changes of all children.

    Children come in the order of authority: where two changed the same number, the earlier one's holds.
    Sets of names are united, and what any child removed from them stays removed.
    """
    values: dict[str, object] = {}
    for name in ATTRIBUTES:
        old = getattr(parent, name)
        changed = [getattr(child, name) for child in children if getattr(child, name) != old]
        if not changed:
            continue
        values[name] = _merge_names(old, changed) if isinstance(old, tuple) else changed[0]
    if "window_words" in values:
        # The overlap was chosen for its size: they come from the same child.
        first = next(child for child in children if child.window_words == values["window_words"])
        values["window_overlap"] = first.window_overlap
    return msgspec.structs.replace(parent, **values).bounded()


def _merge_names(old: tuple[object, ...], changed: Sequence[tuple[object, ...]]) -> tuple[object, ...]:
    def key(item: object) -> object:
        return item[0] if isinstance(item, tuple) else item

    merged: dict[object, object] = {}
    kept = [key(item) for item in old if all(key(item) in map(key, new) for new in changed)]
    for new in changed:
        for item in new:
            added = key(item) not in map(key, old)
            if (added and key(item) not in merged) or (key(item) in kept and item not in old):
                merged.setdefault(key(item), item)
    for item in old:
        if key(item) in kept:
            merged.setdefault(key(item), item)
    order = [key(item) for item in old] + [key(item) for new in changed for item in new]
    return tuple(merged[name] for name in dict.fromkeys(order) if name in merged)


def _listed(names: Sequence[str]) -> str:
    """Return up to three names for a sentence, without anything that could end a docstring."""
    clean = ["".join(char if char.isalnum() or char in " _.-" else "?" for char in name) for name in names]
    more = f" and {len(clean) - 3} more" if len(clean) > 3 else ""
    return ", ".join(clean[:3]) + more


_TIMES = {2: "twice", 3: "three times", 4: "four times", 5: "five times"}


def phrases(recipe: Recipe) -> list[str]:
    """Return what the recipe does, one short phrase for each operator, in a fixed order."""
    found: list[str] = []

    def say(condition: object, phrase: str) -> None:
        if condition:
            found.append(phrase)

    say(recipe.title_times > 1, f"title {_TIMES.get(recipe.title_times, '')}")
    say(recipe.opening_times, f"opening paragraph {_TIMES.get(recipe.opening_times + 1, '')}")
    say(recipe.text_words, f"only {recipe.text_words} words of text")
    say(recipe.added_fields, f"with {_listed([name for name, _ in recipe.added_fields])}")
    say(recipe.added_prefixes, f"with the fields {_listed([name + '...' for name in recipe.added_prefixes])}")
    say(recipe.dropped_sections, f"without the sections {_listed(recipe.dropped_sections)}")
    say(recipe.code_above >= 0, "without code")
    say(recipe.latex_above >= 0, "without LaTeX")
    say(recipe.markup_above >= 0, "without markup")
    say(recipe.identifiers, "identifiers split")
    say(recipe.opening_paragraphs == 1, "opening paragraph as a passage")
    say(recipe.opening_paragraphs > 1, f"opening {recipe.opening_paragraphs} paragraphs as a passage")
    say(recipe.lead_words, f"first {recipe.lead_words} words as a passage")
    say(recipe.section_passage, f"a passage of {_listed(recipe.section_passage)}")
    say(recipe.summary_fields, f"a passage of title, {_listed(recipe.summary_fields)}")
    say(recipe.title_passage, "title as a passage")
    say(recipe.dense_sentences, f"densest {recipe.dense_sentences} sentences as a passage")
    say(recipe.key_words, f"{recipe.key_words} key words as a passage")
    say(recipe.window_words, f"windows of {recipe.window_words} words as passages")
    return found
