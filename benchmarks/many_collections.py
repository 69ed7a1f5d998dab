"""`autoindex optimize` on many collections: one row each, baseline and learned, validation and test.

    python benchmarks/many_collections.py COLLECTION [COLLECTION ...] [--out runs/collections] [--seed 0]

A run that is there already is not repeated, so the table can be printed again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Run what has not run, print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("collections", nargs="+")
    parser.add_argument("--out", type=Path, default=Path("runs/collections"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(
        "| collection | docs | queries val/test | val R@100 | val nDCG@10 | test R@100 | test nDCG@10 | s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for collection in options.collections:
        run = options.out / f"{Path(collection).name}-{options.seed}"
        if not (run / "test.json").exists():
            resume = ["--resume"] if (run / "settings.toml").exists() else []
            command = ["optimize", collection, "--out", str(run), "--seed", str(options.seed), *resume]
            began = time.monotonic()
            subprocess.run([sys.executable, "-m", "autoindex_pyserini", *command, "--json"], check=True,
                           stdout=subprocess.DEVNULL)  # fmt: skip
            (run / "seconds").write_text(f"{time.monotonic() - began:.0f}")
        print(row(Path(collection).name, run), flush=True)


def row(name: str, run: Path) -> str:
    """One collection's row: the learned value after the baseline's."""
    events = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    tried = {event["program"]: event for event in events if event["event"] == "tried"}
    selected = next(event["program"] for event in events if event["event"] == "selected")
    first, best = next(iter(tried.values())), tried[selected]
    if best["means"]["R@100"] < first["means"]["R@100"]:
        raise SystemExit(f"{run}: the selected program is below the baseline on validation")
    test = json.loads((run / "test.json").read_text())
    documents = test["winner"]["costs"]["documents"]
    queries = (
        len(json.loads((run / "evaluations" / f"{selected}.json").read_text())["ranks"]),
        len(test["winner"]["ranks"]),
    )
    cells = [f"{first['means'][m]:.4f} -> {best['means'][m]:.4f}" for m in ("R@100", "nDCG@10")]
    means = [test[who]["evaluation"]["means"] for who in ("baseline", "winner")]
    cells += [f"{means[0][m]:.4f} -> {means[1][m]:.4f}" for m in ("R@100", "nDCG@10")]
    seconds = (run / "seconds").read_text()
    return f"| {name} | {documents:,} | {queries[0]}/{queries[1]} | {' | '.join(cells)} | {seconds} |"


if __name__ == "__main__":
    main()
