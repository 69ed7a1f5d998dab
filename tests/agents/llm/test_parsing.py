"""Replies as models write them."""

import pytest

from autoindex_pyserini.agents.llm.parsing import Draft, TextCall, drafts, text_calls

ONE = "def represent(doc):\n    yield doc.text\n"
TWO = "N = 2\n\n\ndef represent(doc):\n    yield doc.title * N\n"


def test_programs_with_their_hypotheses() -> None:
    reply = (
        f"Hypothesis: titles matter\n\n```python\n{TWO}```\n\nHypothesis: keep it\n```python\n{ONE}```\nDone."
    )
    assert drafts(reply) == [Draft(TWO, "titles matter"), Draft(ONE, "keep it")]


@pytest.mark.parametrize(
    "line",
    [
        "Hypothesis: more weight",
        "**Hypothesis:** more weight",
        "**Hypothesis 1**: more weight",
        "### 1. Hypothesis - more weight",
        "- hypothesis: `more weight`",
        "1) HYPOTHESIS: more   weight",
        "Program 1: more weight",
        "## more weight",
    ],
)
def test_a_hypothesis_in_many_dresses(line: str) -> None:
    (found,) = drafts(f"Some words.\n{line}\n\n```python\n{ONE}```")
    assert found.hypothesis.removeprefix("Program 1: ") == "more weight"


@pytest.mark.parametrize("fence", ["```python", "```py", "```", "~~~python", "````python", "   ```Python"])
def test_fences(fence: str) -> None:
    mark = "".join(char for char in fence if char in "`~")
    (found,) = drafts(f"Hypothesis: x\n{fence}\n{ONE}{mark}\n")
    assert found.source == ONE


def test_a_fence_inside_a_longer_fence_is_text() -> None:
    source = (
        'FENCE = "```"\n\n\ndef represent(doc):\n    """Like so:\n\n```\nx\n```\n"""\n    yield doc.text\n'
    )
    (found,) = drafts(f"````python\n{source}````")
    assert found.source == source


def test_a_hypothesis_in_the_block() -> None:
    (found,) = drafts(f"```python\n# Hypothesis: inside\n{ONE}```")
    assert found.hypothesis == "inside"


def test_half_a_reply_keeps_what_is_there() -> None:
    found = drafts(f"Hypothesis: a\n```python\n{ONE}```\nHypothesis: b\n```python\n{TWO[:-8]}")
    assert [draft.hypothesis for draft in found] == ["a", "b"]
    assert found[0].source == ONE


def test_a_reply_that_is_nothing_but_a_program() -> None:
    assert drafts(ONE) == [Draft(ONE, "")]
    assert drafts("class Preprocessor:\n    def preprocess(self, docs):\n        return []\n")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot help with that.",
        "Use def represent(doc) and yield doc.title.",
        "```bash\npip install x\n```",
        "```python\nprint('hello')\n```",
        "```json\n{\"def represent\": 1}\n```",
        "```",
    ],
)  # fmt: skip
def test_replies_without_a_program(reply: str) -> None:
    assert drafts(reply) == []


def test_the_same_program_counts_once() -> None:
    assert len(drafts(f"```python\n{ONE}```\nagain\n```python\n{ONE}```")) == 1


def test_line_ends_of_another_system() -> None:
    (found,) = drafts(f"Hypothesis: x\r\n```python\r\n{ONE}```".replace("\n", "\r\n").replace("\r\r", "\r"))
    assert found.source == ONE


def test_a_long_hypothesis_is_cut() -> None:
    (found,) = drafts(f"Hypothesis: {'word ' * 200}\n```python\n{ONE}```")
    assert len(found.hypothesis) <= 300
    assert found.hypothesis.endswith("...")


def test_calls_as_text() -> None:
    reply = (
        'Let me see.\n```tool\n{"name": "bm25_retrieve", "arguments": {"query": "x", "k": 3}}\n```\n'
        '<tool_call>\n{"name": "read_document", "arguments": {"ref": "D-AAAA"}}\n</tool_call>\n'
        '```json\n[{"name": "term_stats", "parameters": {"term": "x"}}]\n```'
    )
    assert text_calls(reply) == [
        TextCall("bm25_retrieve", {"query": "x", "k": 3}),
        TextCall("term_stats", {"term": "x"}),
        TextCall("read_document", {"ref": "D-AAAA"}),
    ]


def test_calls_that_cannot_be_read() -> None:
    assert text_calls('```tool\n{"name": "x", "arguments": "query"}\n```') == [TextCall("x", None)]
    assert text_calls('```tool\n{"name": "x", "argum\n```') == []
    assert text_calls("```json\n{}\n```") == []
    assert text_calls("no calls") == []


def test_several_calls_in_one_block() -> None:
    reply = '```tool\n{"name": "a", "arguments": {}}\n{"name": "b", "arguments": {}}\n```'
    assert [call.name for call in text_calls(reply)] == ["a", "b"]
