"""What the benchmarks share: a contender in a process of its own, its memory, and Anserini's own path."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

K1, B, DEPTH, THREADS = 1.5, 0.75, 100, 2


def measure(script: str, contender: str, work: Path, *arguments: str) -> dict[str, float]:
    """Run ``script --contender NAME --work DIR`` in a fresh process; what it printed, and ``peak_mb``.

    The peak is the sum of the resident memory of all its processes, sampled every 20 ms.
    """
    import psutil

    for directory in work.glob("index-*"):
        shutil.rmtree(directory)
    command = [sys.executable, script, "--contender", contender, "--work", str(work), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peak = 0
        done = threading.Event()

        def watch() -> None:
            nonlocal peak
            root = psutil.Process(process.pid)
            while not done.wait(0.02):
                total = 0
                try:
                    for one in [root, *root.children(recursive=True)]:
                        total += one.memory_info().rss
                except psutil.Error:
                    continue  # it ended between the listing and the look
                peak = max(peak, total)

        watcher = threading.Thread(target=watch)
        watcher.start()
        output, _ = process.communicate()
        done.set()
        watcher.join()
    if process.returncode:
        raise SystemExit(f"{contender} failed with status {process.returncode}")
    return {**json.loads(output.splitlines()[-1]), "peak_mb": peak / 1e6}


def anserini(work: Path, topics: list[tuple[str, str]]) -> dict[str, float]:
    """Raw Anserini: IndexCollection on ``work/jsonl``, then SimpleSearcher.batch_search. Seconds of each.

    Its hits stay in Java within the time measured; bringing them into Python would take it as long again.

    Args:
        work: holds the folder ``jsonl``, one file a thread.
        topics: qid and text.
    """
    from autoindex_pyserini.lucene.index import directory_size
    from autoindex_pyserini.lucene.jvm import java_class, start

    start()
    args = java_class("io.anserini.index.IndexCollection$Args")()
    args.index, args.input = str(work / "index-anserini"), str(work / "jsonl")
    args.collectionClass, args.generatorClass = "JsonCollection", "DefaultLuceneDocumentGenerator"
    args.threads, args.memoryBuffer, args.quiet = THREADS, 256, True
    texts, qids = java_class("java.util.ArrayList")(), java_class("java.util.ArrayList")()
    for qid, text in topics:
        texts.add(text)
        qids.add(qid)
    before = time.process_time()
    began = time.perf_counter()
    java_class("io.anserini.index.IndexCollection")(args).run()
    indexed = time.perf_counter()
    cpu = time.process_time() - before
    searcher = java_class("io.anserini.search.SimpleSearcher")(args.index)
    searcher.set_bm25(K1, B)
    results = searcher.batch_search(texts, qids, DEPTH, THREADS)
    ended = time.perf_counter()
    hits = sum(len(results.get(qid)) for qid, _ in topics)
    found = timing(began, indexed, ended, hits)
    return {**found, "size_mb": directory_size(work / "index-anserini") / 1e6, "cpu_host": cpu}


def timing(began: float, indexed: float, ended: float, hits: int) -> dict[str, float]:
    """Seconds of each part, from three readings of the clock."""
    return {"index": indexed - began, "search": ended - indexed, "total": ended - began, "hits": hits}
