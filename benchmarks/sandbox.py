"""What the sandbox costs: `python benchmarks/sandbox.py [--documents 50000]`.

Prints, for the identity program (`full_text`) on abstract-like documents of about 1.2 KB: wall-clock time
and processor time of host and workers, in microseconds a document, against the same program called
directly; the time until the first passage; and how much faster two workers are than one on a program that
works hard. Processor time is what counts beside an indexer that keeps all cores busy.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Iterator

from autoindex_pyserini.program import Program
from autoindex_pyserini.sandbox import Sandbox
from autoindex_pyserini.settings import Execution, Limits
from autoindex_pyserini.types import Document

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


def direct(program: Program, stream: list[Document]) -> float:
    """Seconds of the program called in this process: only for programs that are known."""
    namespace: dict[str, object] = {}
    exec(program.source, namespace)
    represent = namespace["represent"]
    began = time.process_time()
    for document in stream:
        list(represent(document))  # type: ignore[operator]
    return time.process_time() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--documents", type=int, default=50_000)
    count = parser.parse_args().documents
    stream = list(documents(count))
    mean = sum(len(d.title) + len(d.text) for d in stream) / count
    print(f"{count:,} documents of {mean:,.0f} characters; microseconds a document")
    program = Program.builtin("full_text")
    print(f"identity, called directly: {direct(program, stream) / count * 1e6:6.2f} cpu")
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
    hard = Program(HARD)
    few = stream[:4000]
    one = run(hard, few, 1)[1]
    two = run(hard, few, 2)[1]
    print(f"hard work: {one:.2f} s with one worker, {two:.2f} s with two: {one / two:.2f} times as fast")


if __name__ == "__main__":
    main()
