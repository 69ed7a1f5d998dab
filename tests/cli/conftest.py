import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from autoindex_pyserini.cli import main


class Answer(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def autoindex(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run the command in this process, so that one JVM serves all tests."""

    def call(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["autoindex", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return call


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """Documents of 5 to 60 words; a query's relevant documents share its words more often than others."""
    chance = random.Random(5)
    words = [f"{a}{b}" for a in ("lu", "ce", "ne", "in", "dex", "ra", "nk", "to") for b in range(40)]
    common = [1 / (rank + 2) for rank in range(len(words))]
    folder = tmp_path / "collection"
    (folder / "qrels").mkdir(parents=True)
    corpus = [chance.choices(words, common, k=chance.randint(5, 60)) for _ in range(500)]
    queries, qrels = [], ["query-id\tcorpus-id\tscore"]
    for number in range(40):
        terms = chance.sample(words[5:], 3)
        queries.append({"_id": f"q{number}", "text": " ".join(terms)})
        for document in chance.sample(range(500), 6):
            place = chance.randrange(len(corpus[document]))
            corpus[document][place:place] = chance.sample(terms, chance.randint(1, 2))
            qrels.append(f"q{number}\td{document}\t{chance.randint(1, 3)}")
    rows = [{"_id": f"d{n}", "title": "", "text": " ".join(text)} for n, text in enumerate(corpus)]
    for name, lines in (("corpus", rows), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "qrels" / "test.tsv").write_text("\n".join(dict.fromkeys(qrels)) + "\n")
    return folder
