"""What was put in stays, whatever stops the process, and whoever else writes."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autoindex_pyserini.dense import VectorCache, clear_cache, list_caches
from autoindex_pyserini.dense.cache import text_key
from autoindex_pyserini.errors import EnvironmentProblemError, InputError

SPACE: dict[str, str | int | bool] = {"model": "m", "identity": "i", "prompt": "", "side": "document"}
KEYS = [text_key(str(number)) for number in range(2500)]
VECTORS = np.random.default_rng(3).standard_normal((len(KEYS), 8)).astype(np.float32)

WRITE = """
import sys
from pathlib import Path
import numpy as np
from autoindex_pyserini.dense import VectorCache
from autoindex_pyserini.dense.cache import text_key
space = {"model": "m", "identity": "i", "prompt": "", "side": "document"}
first, last, forever = (int(one) for one in sys.argv[2:])
vectors = np.random.default_rng(3).standard_normal((2500, 8)).astype(np.float32)
with VectorCache(Path(sys.argv[1]), space) as cache:
    for number in range(first, last):
        cache.put([text_key(str(number))], vectors[number : number + 1])
        print(number, flush=True)
    while forever:
        pass
"""


def test_vectors_come_back_as_they_were_in_the_order_asked_for(tmp_path: Path) -> None:
    with VectorCache(tmp_path, SPACE) as cache:
        assert cache.missing(KEYS[:3]) == [0, 1, 2]
        cache.put(KEYS[1:], VECTORS[1:])
        assert cache.missing(KEYS) == [0]
        cache.put(KEYS[:2], np.zeros((2, 8), np.float32))
        assert (cache.get([KEYS[1], KEYS[0], KEYS[1]]) == [VECTORS[1], np.zeros(8), VECTORS[1]]).all()
    with VectorCache(tmp_path, SPACE) as cache:
        assert (cache.get(KEYS[1:][::-1]) == VECTORS[1:][::-1]).all()
        with pytest.raises(EnvironmentProblemError, match="lacks vectors"):
            cache.get([text_key("never seen")])


def test_another_space_has_other_vectors_and_another_name_of_the_model_the_same(tmp_path: Path) -> None:
    with VectorCache(tmp_path, SPACE) as cache:
        cache.put(KEYS[:1], VECTORS[:1])
    for change, missing in (({"prompt": "query: "}, [0]), ({"identity": "j"}, [0]), ({"model": "n"}, [])):
        with VectorCache(tmp_path, SPACE | change) as cache:
            assert cache.missing(KEYS[:1]) == missing


def test_what_was_put_survives_kill_9_and_a_torn_write(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE, str(tmp_path), "0", "20", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [int(process.stdout.readline()) for _ in range(20)] == list(range(20))
        os.kill(process.pid, signal.SIGKILL)
    (journal,) = tmp_path.glob("*-wal")
    torn = shutil.copytree(tmp_path, tmp_path.with_name("torn"))
    with VectorCache(tmp_path, SPACE) as cache:
        assert cache.missing(KEYS[:20]) == []
        assert (cache.get(KEYS[:20]) == VECTORS[:20]).all()
    with (torn / journal.name).open("r+b") as file:
        file.truncate((torn / journal.name).stat().st_size - 100)
    with VectorCache(torn, SPACE) as cache:
        kept = [key for place, key in enumerate(KEYS[:20]) if place not in cache.missing(KEYS[:20])]
        assert kept == KEYS[:19]
        assert (cache.get(kept) == VECTORS[:19]).all()
        cache.put(KEYS[:20], VECTORS[:20])
        assert cache.missing(KEYS[:20]) == []


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(tmp_path), first, last, "0"], stdout=subprocess.DEVNULL
        )
        for first, last in (("0", "150"), ("75", "225"))
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    with VectorCache(tmp_path, SPACE) as cache:
        assert (cache.get(KEYS[:225]) == VECTORS[:225]).all()


def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    with VectorCache(tmp_path, SPACE) as cache:
        path = cache.path
        cache.put(KEYS, VECTORS)
    path.write_bytes(b"not a database at all" * 1000)
    with pytest.raises(EnvironmentProblemError, match=f"{path.name}.*delete it"):
        VectorCache(tmp_path, SPACE)
    assert clear_cache(tmp_path, path.stem) == 21_000
    with VectorCache(tmp_path, SPACE) as cache:
        assert cache.missing(KEYS[:1]) == [0]


def test_caches_are_listed_and_cleared(tmp_path: Path) -> None:
    assert list_caches(tmp_path / "absent") == []
    for name in "ab":
        with VectorCache(tmp_path, SPACE | {"identity": name}) as cache:
            cache.put(KEYS[:7], VECTORS[:7])
    listed = list_caches(tmp_path)
    assert [(one.space["model"], one.vectors) for one in listed] == [("m", 7), ("m", 7)]
    with pytest.raises(InputError, match="'c'"):
        clear_cache(tmp_path, "c")
    assert clear_cache(tmp_path, listed[0].name) == listed[0].size_bytes
    assert list_caches(tmp_path) == listed[1:]
    clear_cache(tmp_path, "all")
    assert list(tmp_path.iterdir()) == []
