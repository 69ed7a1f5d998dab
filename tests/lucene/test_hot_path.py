"""What this stack does to those who use it as it comes: none of it happens on the way from program to run."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import autoindex_pyserini.lucene as room
from autoindex_pyserini.lucene import IndexBuilder, IndexOptions, Searcher
from autoindex_pyserini.lucene.java import heap_mb, jvm_config
from autoindex_pyserini.lucene.jvm import options
from autoindex_pyserini.settings import Retriever
from autoindex_pyserini.types import Passage, Represented, Topic

EVALUATE = """
import os, sys
def forbidden():
    raise RuntimeError("a child that is forked beside a running JVM hangs")
os.fork = forbidden
from autoindex_pyserini.cli import main
sys.argv = ["autoindex", "evaluate", sys.argv[1], "--program", "full_text", "--program", "passages_512"]
try:
    main()
finally:
    print([name for name in ("pyserini", "torch", "transformers", "faiss", "openai") if name in sys.modules])
"""


def test_an_evaluation_loads_no_pyserini_and_forks_nothing(toy: Path) -> None:
    done = subprocess.run([sys.executable, "-c", EVALUATE, toy], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "passages_512" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_command_line_class_of_anserini_is_called() -> None:
    """They end the process on a bad option."""
    sources = "".join(path.read_text() for path in Path(room.__file__).parent.glob("*.py"))
    named = set(re.findall(r'java_class\(\s*"(io\.anserini\.[\w.]+)"', sources))
    assert "io.anserini.index.SimpleIndexer" in named
    assert "io.anserini.index.IndexCollection" not in named
    assert ".main(" not in sources


def test_memory_follows_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = jvm_config()
    heap = heap_mb(config)
    assert config.heap_min_mb <= heap <= config.heap_max_mb
    assert f"-Xmx{heap}m" in options()
    with IndexBuilder(tmp_path / "index", IndexOptions()) as builder:
        arguments = builder._args()
    buffer = int(arguments[arguments.index("-memoryBuffer") + 1])
    assert 16 <= buffer < heap
    small = msgspec.structs.replace(config, heap_min_mb=64, heap_max_mb=65)
    assert heap_mb(small) in (64, 65)


def test_threads_change_nothing_but_the_time(tmp_path: Path) -> None:
    words = [f"w{number % 37} w{number % 11} w{number % 5}" for number in range(400)]
    runs = []
    for threads in (1, 4):
        directory = tmp_path / str(threads)
        with IndexBuilder(directory, IndexOptions(threads=threads)) as builder:
            for number, text in enumerate(words):
                builder.add([Represented(f"d{number}", [Passage(text), Passage(text + " w1")])])
        with Searcher(directory, Retriever(depth=20), threads=threads) as searcher:
            runs.append(searcher.search([Topic(f"q{n}", f"w{n} w{n + 1} w3") for n in range(60)]))
    assert list(runs[0].rankings) == [f"q{n}" for n in range(60)]
    assert runs[0].rankings == runs[1].rankings
