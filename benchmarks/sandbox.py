"""What the sandbox costs: `python benchmarks/sandbox.py [--documents 50000] [--repeats 3]`.

Prints, on abstract-like documents of about 1.3 KB:

- for the identity program (`full_text`), wall-clock time and processor time of host and workers in
  microseconds a document, against the same program called directly, and the time until the first passage;
- how much faster two workers are than one on a program that works hard;
- the time of a whole candidate evaluation (represent, index, search 300 queries, score) against the same
  path with the program called directly in the host: medians of turns, each in a fresh process.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import batched
from pathlib import Path

import harness

from autoindex_pyserini.program import Program
from autoindex_pyserini.sandbox import Sandbox
from autoindex_pyserini.settings import Execution, Limits
from autoindex_pyserini.types import Document, Passage, Represented, Topic

HARD = '''"""Work hard: count characters, many times over."""

def represent(doc):
    """Yield the text after some 2 ms of work."""
    total = 0
    for _ in range(20):
        for character in doc.text:
            total += ord(character) & 7
    yield f"{doc.text} {total}"
'''


def documents(count: int, seed: int = 0) -> Iterator[Document]:
    """Abstract-like documents: a title of 12 words, a text of about 180; one in five is not ASCII."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("etaoinshrdlucmfw", k=chance.randint(2, 10))) for _ in range(5000)]
    texts = [" ".join(chance.choices(words, k=180)) for _ in range(500)]
    for number in range(count):
        text = texts[number % 500]
        yield Document(f"d{number}", text[:80], text + (" \u03b2-catenin" if number % 5 == 0 else ""))


def cpu() -> tuple[float, float]:
    """Processor seconds of this process, and of its children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime


def run(program: Program, stream: list[Document], workers: int) -> tuple[float, float, float, float]:
    """Seconds until the first passage, in all, of the host's processor, of the workers'."""
    own, children = cpu()
    began = time.perf_counter()
    first = 0.0
    with Sandbox(program, limits=Limits(), execution=Execution(workers=workers)) as sandbox:
        for _ in sandbox.represent(stream):
            first = first or time.perf_counter() - began
        wall = time.perf_counter() - began
    own_after, children_after = cpu()
    return first, wall, own_after - own, children_after - children


def represent_directly(program: Program, stream: Iterable[Document]) -> Iterator[list[Represented]]:
    """Call the program in this process: only for programs that are known."""
    namespace: dict[str, object] = {}
    exec(program.source, namespace)
    represent = namespace["represent"]
    for some in batched(stream, 128):
        yield [
            Represented(doc.docid, tuple(Passage(text) for text in represent(doc)))  # type: ignore[operator]
            for doc in some
        ]


class Stream:
    """The documents as a collection."""

    name = fingerprint = "abstracts"

    def __init__(self, count: int) -> None:
        self.num_documents = count

    def documents(self) -> Iterator[Document]:
        """The same ones each time."""
        return documents(self.num_documents)


def evaluate(count: int, work: Path, *, sandboxed: bool) -> dict[str, float]:
    """Seconds of one candidate evaluation, the JVM's warming up within."""
    from autoindex_pyserini.collection import Split
    from autoindex_pyserini.lucene import start_jvm
    from autoindex_pyserini.pipeline import Pipeline, pipeline
    from autoindex_pyserini.settings import Settings

    if not sandboxed:
        pipeline.represent_all = lambda program, stream, **rest: represent_directly(program, stream)  # type: ignore[assignment]
    chance = random.Random(1)
    words = " ".join(document.text for document in documents(100)).split()
    topics = [Topic(str(number), " ".join(chance.choices(words, k=5))) for number in range(300)]
    qrels = {topic.qid: {f"d{chance.randrange(count)}": 1} for topic in topics}
    start_jvm()
    settings = Settings(execution=Execution(workers=harness.THREADS))
    began = time.perf_counter()
    Pipeline(Stream(count), settings, work / "scratch").evaluate(
        Program.builtin("full_text"), Split("validation", tuple(topics), qrels)
    )
    return {"seconds": time.perf_counter() - began}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--contender", choices=("sandboxed", "direct"), help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    count = options.documents
    if options.contender:
        print(json.dumps(evaluate(count, options.work, sandboxed=options.contender == "sandboxed")))
        return
    stream = list(documents(count))
    mean = sum(len(d.title) + len(d.text) for d in stream) / count
    print(f"{count:,} documents of {mean:,.0f} characters; microseconds a document")
    program = Program.builtin("full_text")
    began = time.process_time()
    for _ in represent_directly(program, stream):
        pass
    print(f"identity, called directly: {(time.process_time() - began) / count * 1e6:6.2f} cpu")
    for workers in (1, 2):
        first, wall, host, worker = run(program, stream, workers)
        _, _, host_0, worker_0 = run(program, stream[:16], workers)
        host, worker = host / count * 1e6, worker / count * 1e6
        print(
            f"identity, {workers} worker(s):   {host + worker:6.2f} cpu "
            f"(host {host:.2f}, workers {worker:.2f}); "
            f"{wall / count * 1e6:.2f} wall; first passage after {first * 1000:.0f} ms; "
            f"start and end cost {(host_0 + worker_0) * 1000:.0f} ms cpu"
        )
    hard, few = Program(HARD), stream[:4000]
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(options.repeats):
        for workers, turns in seconds.items():
            turns.append(run(hard, few, workers)[1])
    one, two = (statistics.median(turns) for turns in seconds.values())
    print(f"hard work: {one:.2f} s with one worker, {two:.2f} s with two: {one / two:.2f} times as fast")
    del stream
    whole: dict[str, list[float]] = {"direct": [], "sandboxed": []}
    with tempfile.TemporaryDirectory(prefix="autoindex-sandbox-") as scratch:
        for _ in range(options.repeats):
            for name, turns in whole.items():
                found = harness.measure(__file__, name, Path(scratch), "--documents", str(count))
                turns.append(found["seconds"])
    direct, sandboxed = (statistics.median(turns) for turns in whole.values())
    print(
        f"whole evaluation: {direct:.2f} s with the program called directly, {sandboxed:.2f} s in the "
        f"sandbox: {100 * (sandboxed / direct - 1):+.1f}%"
    )


if __name__ == "__main__":
    main()
