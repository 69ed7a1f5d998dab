"""Recipes, the programs they render to, and back."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoindex_pyserini.agents import ProposerError, wrap
from autoindex_pyserini.agents.parse import TAKEN, parse, recipe_of
from autoindex_pyserini.agents.recipe import OFF, Recipe, changed_attributes, merge, phrases
from autoindex_pyserini.agents.render import CONSTANTS, render
from autoindex_pyserini.program import Program, check
from autoindex_pyserini.program.contract import RawDocument, max_chars, raw_length
from autoindex_pyserini.settings import Limits

from .proposer_contract import DOCUMENTS, ODD_DOCUMENTS, run

NAMES = st.one_of(
    st.sampled_from(
        ["whatis", "SEE ALSO", 'a"b', "a'b", "back\\slash", '"""', "new\nline", "\ud800", "é", ""]
    ),
    st.text(max_size=12),
)
THRESHOLDS = st.sampled_from([OFF, 0, 2, 10])
SETS = st.lists(NAMES, max_size=3, unique=True).map(tuple)
RECIPES = st.builds(
    Recipe,
    title_times=st.integers(1, 5),
    opening_times=st.integers(0, 3),
    text_words=st.sampled_from([0, 200]),
    added_fields=st.dictionaries(NAMES, st.integers(1, 3), max_size=3).map(
        lambda found: tuple(found.items())
    ),
    added_prefixes=SETS,
    dropped_sections=SETS,
    code_above=THRESHOLDS,
    latex_above=THRESHOLDS,
    markup_above=THRESHOLDS,
    identifiers=st.booleans(),
    opening_paragraphs=st.integers(0, 2),
    lead_words=st.sampled_from([0, 40]),
    section_passage=SETS,
    summary_fields=SETS,
    title_passage=st.booleans(),
    dense_sentences=st.sampled_from([0, 3]),
    key_words=st.sampled_from([0, 30]),
    window_words=st.sampled_from([0, 100, 200]),
).map(lambda recipe: msgspec.structs.replace(recipe, window_overlap=25 if recipe.window_words else 0))
BASES = st.sampled_from(
    ["", *(Program.builtin(n).source for n in ("first_passage_plus_full", "passages_512"))]
)


@given(recipe=RECIPES, base=BASES)
@settings(max_examples=80, deadline=None)
def test_a_program_gives_its_recipe_back(recipe: Recipe, base: str) -> None:
    if base:
        recipe = msgspec.structs.replace(recipe, base=wrap.adopt(base, TAKEN))
    source = render(recipe)
    if recipe == Recipe(base=recipe.base) and base:
        return  # nothing is added, so the program is the kept one under its new names
    assert parse(source) == recipe
    check(Program(source), Limits())


@given(recipe=RECIPES)
@settings(max_examples=40, deadline=None)
def test_programs_of_bounded_recipes_keep_the_limits(recipe: Recipe) -> None:
    source = render(recipe.bounded())
    for doc in ODD_DOCUMENTS:
        found = run(source, doc)
        assert len(found) <= 16
        assert all(len(contents) <= max_chars(raw_length(doc), Limits()) for contents in found)


@given(recipe=RECIPES)
@settings(max_examples=40, deadline=None)
def test_every_word_stays_unless_something_is_dropped(recipe: Recipe) -> None:
    kept = msgspec.structs.replace(
        recipe, text_words=0, dropped_sections=(), code_above=OFF, latex_above=OFF, markup_above=OFF
    )
    doc = DOCUMENTS[2]
    raw = RawDocument(title=doc.title, text=doc.text, fields=doc.fields)
    full = run(render(kept), raw)[0].split()
    assert set(f"{doc.title} {doc.text}".split()) <= set(full)


def test_full_text_is_the_empty_recipe() -> None:
    assert parse(Program.builtin("full_text").source) == Recipe()
    assert parse(render(Recipe())) == Recipe()
    assert parse('def represent(doc):\n    # as shipped\n    yield f"{doc.title}\\n{doc.text}"\n') == Recipe()


GOLDEN = '''"""Full text; title three times; with whatis; opening paragraph as a passage."""

from autoindex_pyserini.program.operators import distinct, field, first_paragraphs, join, repeat

TITLE_TIMES = 3
ADDED_FIELDS = {"whatis": 1}
OPENING_PARAGRAPHS = 1


def full_passage(doc):
    """Return the whole document as one passage."""
    return join(
        repeat(doc.title, TITLE_TIMES),
        doc.text,
        *(repeat(field(doc, name), times) for name, times in ADDED_FIELDS.items()),
    )


def opening_passage(doc):
    """Return the title with how the text begins: there most writers say what it is about."""
    return join(doc.title, first_paragraphs(doc.text, OPENING_PARAGRAPHS))


def represent(doc):
    """Yield the passages of one document."""
    yield from distinct([full_passage(doc), opening_passage(doc)])
'''


def test_a_rendered_program_reads_as_if_written_by_hand() -> None:
    assert render(Recipe(title_times=3, added_fields=(("whatis", 1),), opening_paragraphs=1)) == GOLDEN


def test_components_are_named_functions_and_constants() -> None:
    assert list(Program(GOLDEN).components) == [
        "TITLE_TIMES", "ADDED_FIELDS", "OPENING_PARAGRAPHS", "full_passage", "opening_passage", "represent",
    ]  # fmt: skip


def test_what_the_program_does() -> None:
    doc = RawDocument(title="ls", text="List files.\n\nSEE ALSO\ndir", fields={"whatis": "list directory"})
    assert run(GOLDEN, doc) == [
        "ls ls ls\nList files.\n\nSEE ALSO\ndir\nlist directory",
        "ls\nList files.",
    ]
    cleaned = Recipe(dropped_sections=("see also",), title_passage=True, window_words=2)
    assert run(render(cleaned), doc) == ["ls\nList files.\n", "ls", "ls\nList files."][:2]


def test_a_text_of_nothing_but_what_is_dropped_stays() -> None:
    doc = RawDocument(title="", text="SEE ALSO\ndir", fields={})
    assert run(render(Recipe(dropped_sections=("SEE ALSO",))), doc) == ["SEE ALSO\ndir"]


@pytest.mark.parametrize(
    "source",
    [
        GOLDEN.replace("= 3", "= 4", 1),
        GOLDEN.replace("= 3", '= "3"'),
        GOLDEN.replace("= 3", "= len([1])"),
        GOLDEN + "\n# edited\n",
        "def represent(doc: yield",
        "",
    ],
)
def test_what_render_would_not_write_is_no_recipe(source: str) -> None:
    assert parse(source) is None


def test_every_attribute_shows_in_program_and_description() -> None:
    differing = {
        name: msgspec.structs.replace(Recipe(), **{name: value})
        for name, value in {
            **dict.fromkeys(CONSTANTS, 2),
            "added_fields": (("f", 1),),
            **dict.fromkeys(
                ("added_prefixes", "dropped_sections", "section_passage", "summary_fields"), ("f",)
            ),
            "identifiers": True,
            "title_passage": True,
        }.items()
        if name != "window_overlap"
    }
    assert {*differing, "base", "window_overlap"} == set(Recipe.__struct_fields__)
    for name, recipe in differing.items():
        assert render(recipe) != render(Recipe()), name
        assert len(phrases(recipe)) == 1, name
        assert changed_attributes(Recipe(), recipe) == (name,)


def test_merging_unites_names_and_obeys_the_first_child() -> None:
    parent = Recipe(added_fields=(("a", 1), ("b", 1)), dropped_sections=("X",), title_times=2)
    merged = merge(
        parent,
        [
            msgspec.structs.replace(parent, added_fields=(("a", 2), ("b", 1)), title_times=3),
            msgspec.structs.replace(
                parent, added_fields=(("a", 1),), title_times=5, dropped_sections=("X", "Y")
            ),
            msgspec.structs.replace(parent, added_fields=(("a", 3), ("b", 1), ("c", 1)), lead_words=40),
        ],
    )
    assert merged == Recipe(
        added_fields=(("a", 2), ("c", 1)), dropped_sections=("X", "Y"), title_times=3, lead_words=40
    )


def test_windows_keep_their_own_overlap_when_merged() -> None:
    children = [Recipe(window_words=200, window_overlap=50), Recipe(window_words=100, window_overlap=25)]
    assert merge(Recipe(), children) == children[0]


FOREIGN = '''"""A program of one's own."""
from __future__ import annotations
import re

WORD = re.compile(r"\\w+")
text = "é \x0c"  # a name of the module


def join(parts):
    """Join, in its own way."""
    return " + ".join(parts)


def represent(doc, corpus):
    """Yield words; calls itself never."""
    yield join(WORD.findall(doc.title + "\\n" + doc.text))
'''


def test_a_kept_program_works_on_under_other_names() -> None:
    recipe = recipe_of(FOREIGN)
    assert "original_join(WORD" in recipe.base
    source = render(msgspec.structs.replace(recipe, title_times=2, title_passage=True))
    check(Program(source), Limits())
    assert parse(source) == msgspec.structs.replace(recipe, title_times=2, title_passage=True)
    assert Program(source).wants_corpus
    assert Program(source).summary.startswith("A program of one's own; title twice")
    doc = RawDocument(title="one", text="two", fields={})
    assert run(source, doc) == ["one + one + two", "one"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class Preprocessor:\n    pass\n", "no function 'represent"),
        ("def represent(doc", "cannot be built upon"),
        ('"""One line."""; X = 1\ndef represent(doc):\n    yield ""\n', "line of its docstring"),
        ("def represent(doc):\n    yield ''\ndef f(represent):\n    return represent\n", "rename it by hand"),
    ],
)
def test_what_cannot_be_kept_is_a_named_error(source: str, message: str) -> None:
    with pytest.raises(ProposerError, match=message):
        recipe_of(source)
