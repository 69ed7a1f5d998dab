"""Ten thousand, a hundred thousand, a million documents: ours against raw Anserini in one run.

    python benchmarks/scale.py [--sizes 10000 100000 1000000] [--repeats 3]

Documents of about 200 words are made by a seeded generator with a vocabulary whose frequencies fall as in
text; ours takes them as a stream, and only what raw Anserini reads (JSONL, one file a thread) is stored.
The program is `full_text`, one passage a document. Printed for each size: documents a second through
sandbox and index, peak memory of all processes, size of the index, seconds of 1,000 queries at depth 100,
and each in multiples of Anserini's: medians where the contenders take several turns. Processor seconds of
indexing show where the time goes; those of making the documents are in our host's.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import harness

from autoindex_pyserini.types import Document, Topic

SEED = 13
_VOCABULARY = 60_000
_PIECE_WORDS, _PIECES, _A_DOCUMENT = 25, 20_000, 8


class Synthetic:
    """A collection that is never stored: every document is drawn anew from pieces of running words."""

    name = "synthetic"
    fingerprint = f"seed-{SEED}"

    def __init__(self, num_documents: int) -> None:
        self.num_documents = num_documents
        chance = random.Random(SEED)
        syllables = [c + v for c in "bcdfghjklmnprstvz" for v in "aeiou"]
        self._words = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(_VOCABULARY)]
        weights = list(accumulate(1 / (rank + 3) for rank in range(_VOCABULARY)))
        self._pieces = [
            " ".join(chance.choices(self._words, cum_weights=weights, k=_PIECE_WORDS)) for _ in range(_PIECES)
        ]

    def documents(self) -> Iterator[Document]:
        """The documents, the same ones each time."""
        chance = random.Random(SEED)
        pieces, many = self._pieces, len(self._pieces)
        for number in range(self.num_documents):
            drawn = [pieces[int(chance.random() * many)] for _ in range(_A_DOCUMENT)]
            yield Document(f"doc{number}", drawn[0][:60], " ".join(drawn))

    def topics(self, count: int = 1000) -> list[Topic]:
        """Queries of three to six words, rarer ones among them."""
        chance = random.Random(SEED + 1)
        return [
            Topic(str(number), " ".join(chance.choices(self._words[200:20_000], k=chance.randint(3, 6))))
            for number in range(count)
        ]


def main() -> None:
    """Run both contenders at every size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=1, help="turns of each contender (default 1)")
    parser.add_argument("--contender", choices=("autoindex", "anserini"), help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contender:
        run = {"autoindex": run_autoindex, "anserini": run_anserini}[options.contender]
        print(json.dumps(run(options.work, options.sizes[0])))
        return
    print(
        f"{'documents':>10} {'contender':10} {'docs/s':>8} {'index s':>8} {'search s':>9} {'peak MB':>8} "
        f"{'index MB':>9}   CPU s"
    )
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="autoindex-scale-") as scratch:
            work = Path(scratch)
            write_jsonl(work, size)
            turns: dict[str, list[dict[str, float]]] = {"anserini": [], "autoindex": []}
            for _ in range(options.repeats):
                for name, rows in turns.items():
                    rows.append(harness.measure(__file__, name, work, "--sizes", str(size)))
        found = {
            name: {key: statistics.median(row[key] for row in rows) for key in rows[0]}
            for name, rows in turns.items()
        }
        for name, row in found.items():
            cpu = ", ".join(f"{key[4:]} {row[key]:.0f}" for key in row if key.startswith("cpu_"))
            print(
                f"{size:10,} {name:10} {size / row['index']:8,.0f} {row['index']:8.1f} {row['search']:9.2f} "
                f"{row['peak_mb']:8.0f} {row['size_mb']:9.1f}   {cpu}"
            )
        ours, theirs = found["autoindex"], found["anserini"]
        print(
            f"{'':10} ratio: index {ours['index'] / theirs['index']:.2f} (at most 1.4), "
            f"search {ours['search'] / theirs['search']:.2f} (at most 1.2), "
            f"memory {ours['peak_mb'] / theirs['peak_mb']:.2f}",
            flush=True,
        )


def write_jsonl(work: Path, size: int) -> None:
    """What raw Anserini reads: one file a thread."""
    import msgspec

    from autoindex_pyserini.program.contract import full_text

    (work / "jsonl").mkdir()
    files = [(work / "jsonl" / f"{number}.jsonl").open("wb") for number in range(harness.THREADS)]
    encode = msgspec.json.encode
    for number, doc in enumerate(Synthetic(size).documents()):
        line = encode({"id": doc.docid, "contents": full_text(doc)})
        files[number % len(files)].write(line + b"\n")
    for file in files:
        file.close()


def run_anserini(work: Path, size: int) -> dict[str, float]:
    """Anserini on the stored JSONL."""
    return harness.anserini(work, [(topic.qid, topic.text) for topic in Synthetic(1).topics()])


def run_autoindex(work: Path, size: int) -> dict[str, float]:
    """Our path on the stream, and the processor seconds of making them, of the host, and of the workers."""
    from autoindex_pyserini.lucene.jvm import start
    from autoindex_pyserini.pipeline import Pipeline
    from autoindex_pyserini.program import Program
    from autoindex_pyserini.settings import Execution, Settings

    collection = Synthetic(size)
    began = time.process_time()
    for _ in collection.documents():
        pass
    making = time.process_time() - began
    topics = collection.topics()
    start()
    settings = Settings(execution=Execution(workers=harness.THREADS))
    pipeline = Pipeline(collection, settings, work / "scratch")
    before = time.process_time()
    began = time.perf_counter()
    costs = pipeline.build(Program.builtin("full_text"), work / "index-autoindex")
    indexed = time.perf_counter()
    host = time.process_time() - before
    run = pipeline.search(work / "index-autoindex", topics, name="autoindex")
    ended = time.perf_counter()
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        **harness.timing(began, indexed, ended, sum(map(len, run.rankings.values()))),
        "size_mb": costs.index_bytes / 1e6,
        "cpu_host": host,
        "cpu_making": making,
        "cpu_workers": workers.ru_utime + workers.ru_stime,
    }


if __name__ == "__main__":
    main()
