"""The whole path with sensible programs: what a person would write after looking at the products."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .scripted_server import Play, ScriptedServer

ICECAT = Path(__file__).parents[4] / "shared" / "collections" / "icecat_products"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ICECAT.is_dir(), reason="the collection icecat_products is not here"),
]

TYPES = '''Hypothesis: what a product is stands in attributes of type and purpose, not in its short text
```python
"""Title, text, and the attributes that say what a product is and does."""

KINDS = ("type", "purpose", "form_factor", "device", "recommended", "connectivity")


def kind_words(doc):
    """Return the values of attributes whose names say that they name a kind."""
    return [value for name, value in doc.fields.items() if name.startswith("attr_t_") and any(
        kind in name for kind in KINDS)]


def represent(doc):
    """Yield one passage."""
    yield "\\n".join([doc.title, doc.text, *kind_words(doc)])
```
'''
HEAD = '''Hypothesis: in a title what stands before "for" is the product, what follows is what it fits
```python
"""The head of the title three times, then the rest once."""

import re

TIMES = 3


def head(title):
    """Return the title up to the words that name what a product fits."""
    return re.split(r"\\b(?:for|compatible with|fits)\\b", title, maxsplit=1)[0]


def represent(doc):
    """Yield one passage."""
    yield "\\n".join([head(doc.title)] * TIMES + [doc.title, doc.text])
```
'''
ALL = '''Hypothesis: shoppers use words of any attribute, so all text attributes but compatibility lists count
```python
"""Title, text and all text attributes but what a product is compatible with; the title again alone."""


def attributes(doc):
    """Return the values of text attributes, without lists of other products' names."""
    return [value for name, value in doc.fields.items()
            if name.startswith("attr_t_") and "compatib" not in name]


def represent(doc):
    """Yield the whole, and the title with the supplier."""
    yield "\\n".join([doc.title, doc.text, *attributes(doc)])
    yield doc.title + " " + doc.fields.get("supplier", "")
```
'''
SUMMARY = (
    "Failure patterns. Queries name a kind of product; the kind stands in attributes that are not indexed "
    "(D-AAAAAA, D-BBBBBB, D-CCCCCC). Accessories outrank products because their titles name what they fit. "
    "What works: titles. Do: index attributes of kind, weigh the head of the title. "
) * 3
SYNTHESIS = TYPES.replace("[doc.title, doc.text,", "[doc.title, doc.title, doc.text,").replace(
    "Title, text, and", "Title twice, text, and"
)


def play(body: dict[str, Any]) -> Play | str:
    messages = body["messages"]
    if messages[0]["content"].startswith("You are a search engineer"):
        if messages[-1]["role"] == "user":
            return Play(tool_calls=(("bm25_retrieve", '{"query": "video camera", "k": 5}'),))
        return SUMMARY
    if "Several programs of this round" in messages[1]["content"]:
        return SYNTHESIS
    return TYPES + HEAD + ALL


def test_sensible_programs_gain_on_products(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "autoindex_pyserini", "optimize", str(ICECAT), "--out", str(run)]
    command += ["--proposer", "llm", "--model", "played", "--rounds", "2", "--candidates", "3"]
    with ScriptedServer(play) as server:
        done = subprocess.run([*command, "--base-url", server.base_url], capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    tried = [event for event in events if event["event"] == "tried"]
    assert [event["kind"] for event in tried[:4]] == ["start", "candidate", "candidate", "candidate"]
    assert not [event["fault"] for event in tried if event["fault"]]
    test = json.loads((run / "test.json").read_text())
    before, after = (test[one]["evaluation"]["means"] for one in ("baseline", "winner"))
    assert after["R@100"] > before["R@100"]
    assert "gain" in done.stdout
    assert (run / "index" / "autoindex.json").exists()
