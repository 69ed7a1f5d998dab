"""One candidate through the whole path, against raw Anserini and bm25s on the same documents and queries.

    python benchmarks/candidate.py [COLLECTION] [--documents 50000] [--repeats 3]

The collection is repeated until it has at least that many documents; its own queries are searched at depth
100. Each contender runs in a fresh process (its start and imports are not counted; the JVM's warming up is)
and the contenders take turns, so that a noisy machine disturbs all of them. Printed are the median of each
contender's wall-clock seconds and its peak memory: the sum of the resident memory of all its processes,
sampled every 20 ms.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import harness

CONTENDERS = ("autoindex", "anserini", "bm25s")


def main() -> None:
    """Prepare the documents, run the contenders in turns, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("collection", nargs="?", default="pydata-api")
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--contender", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contender:
        print(json.dumps(globals()[f"run_{options.contender}"](options.work)))
        return
    with tempfile.TemporaryDirectory(prefix="autoindex-benchmark-") as scratch:
        work = Path(scratch)
        documents, queries = prepare(options.collection, options.documents, work)
        print(
            f"{options.collection}: repeated to {documents:,} documents, {queries:,} queries, "
            f"depth {harness.DEPTH}"
        )
        found: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
        for _ in range(options.repeats):
            for name in CONTENDERS:
                found[name].append(harness.measure(__file__, name, work))
        show(found)


def prepare(name: str, least: int, work: Path) -> tuple[int, int]:
    """Write the repeated collection: in BEIR layout, and as JSONL for Anserini in one file a thread."""
    import msgspec

    from autoindex_pyserini.collection import load
    from autoindex_pyserini.program.contract import EMPTY_CONTENTS, full_text

    collection = load(name)
    copies = -(-least // collection.num_documents)
    beir, jsonl = work / "beir", work / "jsonl"
    beir.mkdir()
    jsonl.mkdir()
    count = 0
    with (
        (beir / "corpus.jsonl").open("wb") as corpus,
        (jsonl / "0.jsonl").open("wb") as even,
        (jsonl / "1.jsonl").open("wb") as odd,
    ):
        for copy in range(copies):
            for doc in collection.documents():
                docid = f"{doc.docid}.{copy}"
                row = {"_id": docid, "title": doc.title, "text": doc.text, "metadata": doc.fields}
                corpus.write(msgspec.json.encode(row) + b"\n")
                line = {"id": docid, "contents": full_text(doc) or EMPTY_CONTENTS}
                (odd if count % 2 else even).write(msgspec.json.encode(line) + b"\n")
                count += 1
    topics = collection.validation.topics + collection.open_test().topics
    with (beir / "queries.jsonl").open("wb") as queries, (beir / "qrels.txt").open("w") as qrels:
        first = next(iter(collection.documents())).docid
        for topic in topics:
            queries.write(msgspec.json.encode({"_id": topic.qid, "text": topic.text}) + b"\n")
            qrels.write(f"{topic.qid} 0 {first}.0 1\n")
    return count, len(topics)


def run_autoindex(work: Path) -> dict[str, float]:
    """Our path: read, sandbox, index, verify, search with MaxP."""
    from autoindex_pyserini.collection import load
    from autoindex_pyserini.lucene.jvm import start
    from autoindex_pyserini.pipeline import Pipeline
    from autoindex_pyserini.program import Program
    from autoindex_pyserini.settings import Settings

    collection = load(str(work / "beir"))
    topics = collection.validation.topics + collection.open_test().topics
    start()
    pipeline = Pipeline(collection, Settings(), work / "scratch")
    began = time.perf_counter()
    directory = work / "index-autoindex"
    pipeline.build(Program.builtin("full_text"), directory)
    indexed = time.perf_counter()
    run = pipeline.search(directory, topics, name="autoindex")
    ended = time.perf_counter()
    return harness.timing(began, indexed, ended, sum(map(len, run.rankings.values())))


def run_anserini(work: Path) -> dict[str, float]:
    """Raw Anserini: IndexCollection on JSONL with two threads, SimpleSearcher.batch_search."""
    lines = map(json.loads, (work / "beir" / "queries.jsonl").read_bytes().splitlines())
    return harness.anserini(work, [(line["_id"], line["text"]) for line in lines])


def run_bm25s(work: Path) -> dict[str, float]:
    """Tokenize, index and retrieve with bm25s, Porter stemmer and English stop words."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("porter")
    topics = [
        json.loads(line)["text"] for line in (work / "beir" / "queries.jsonl").read_bytes().splitlines()
    ]
    files = sorted((work / "jsonl").iterdir())
    began = time.perf_counter()
    texts = [json.loads(line)["contents"] for file in files for line in file.read_bytes().splitlines()]
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    retriever = bm25s.BM25(k1=harness.K1, b=harness.B, method="lucene")
    retriever.index(tokens, show_progress=False)
    indexed = time.perf_counter()
    queries = bm25s.tokenize(topics, stopwords="en", stemmer=stemmer, show_progress=False)
    found, _ = retriever.retrieve(queries, k=harness.DEPTH, show_progress=False, n_threads=2)
    ended = time.perf_counter()
    return harness.timing(began, indexed, ended, int(found.size))


def show(found: dict[str, list[dict[str, float]]]) -> None:
    """Print medians, and ours in multiples of the others."""
    print(f"{'':10} {'index s':>8} {'search s':>9} {'total s':>8} {'peak MB':>8}   totals")
    middle = {name: statistics.median(row["total"] for row in rows) for name, rows in found.items()}
    for name, rows in found.items():
        parts = [
            statistics.median(row[key] for row in rows) for key in ("index", "search", "total", "peak_mb")
        ]
        totals = " ".join(f"{row['total']:.2f}" for row in rows)
        print(f"{name:10} {parts[0]:8.2f} {parts[1]:9.2f} {parts[2]:8.2f} {parts[3]:8.0f}   {totals}")
    print(f"autoindex / anserini: {middle['autoindex'] / middle['anserini']:.2f} (at most 1.5)")
    print(f"autoindex / bm25s:    {middle['autoindex'] / middle['bm25s']:.2f} (below 1)")


if __name__ == "__main__":
    main()
