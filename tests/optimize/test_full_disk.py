"""A full disk stops a search with a line that says how to go on; then it ends as if nothing had been.

Runs in a mount namespace of its own, on a small file system in memory that is enlarged between two tries.
"""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")
OPTIMIZE = shlex.join([sys.executable, "-m", "autoindex_pyserini", "optimize"])
KNOBS = "--rounds 2 --candidates 2 --objective nDCG@10"


def allowed(folder: Path) -> bool:
    """Whether this machine lets a user mount a file system of his own."""
    if shutil.which("unshare") is None:
        return False
    mount = f"mount -t tmpfs -o size=1m tmpfs {shlex.quote(str(folder))}"
    return subprocess.run([*UNSHARE, "sh", "-c", mount], capture_output=True).returncode == 0


def leaves(run: Path) -> dict[str, object]:
    """What must equal an undisturbed run's: the journal, the winner, the test result without its costs."""
    test = json.loads((run / "test.json").read_text())
    return {
        "journal": (run / "journal.jsonl").read_bytes(),
        "best": (run / "best.py").read_bytes(),
        "test": {who: {**outcome, "costs": None} for who, outcome in test.items()},
        "files": sorted(path.name for path in run.iterdir()),
    }


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, make_toy: Callable[[Path], Path]
) -> dict[str, object]:
    """What a run leaves that had room enough."""
    folder = tmp_path_factory.mktemp("undisturbed")
    command = f"{OPTIMIZE} {shlex.quote(str(make_toy(folder)))} --out {folder}/run {KNOBS}"
    subprocess.run(command, shell=True, check=True, capture_output=True)
    return leaves(folder / "run")


@pytest.mark.parametrize(
    ("kib", "place"),
    [
        (4, "journal.jsonl"),
        pytest.param(8, "programs/", marks=pytest.mark.slow),
        pytest.param(12, "index", marks=pytest.mark.slow),  # the first program's
        (100, "index"),  # a candidate's
    ],
)
def test_it_says_how_to_go_on_and_the_run_ends_as_an_undisturbed_one(
    kib: int, place: str, undisturbed: dict[str, object], toy: Path, tmp_path: Path
) -> None:
    small = tmp_path / "small disk"
    small.mkdir()
    if not allowed(small):
        pytest.skip("this machine allows no mount namespace (unshare --user --mount)")
    quoted, kept = shlex.quote(str(small)), shlex.quote(str(tmp_path / "kept"))
    start = f"{OPTIMIZE} {shlex.quote(str(toy))} --out {quoted}/run"
    first = f"{start} {KNOBS} 2>{kept}.err; echo $? > {kept}.status"
    script = (
        f"mount -t tmpfs -o size={kib}k tmpfs {quoted} || exit 9; {first}; "
        f"mount -o remount,size=32m {quoted}; {start} --resume || exit 8; cp -r {quoted}/run {kept}"
    )
    done = subprocess.run([*UNSHARE, "sh", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    last = (tmp_path / "kept.err").read_text().splitlines()[-1]
    how = shlex.join(["autoindex", "optimize", str(toy), "--out", f"{small}/run", "--resume"])
    assert last.startswith("autoindex: ")
    assert place in last
    assert "make room there" in last
    assert last.endswith(f"; then go on with: {how}")
    assert "Errno" not in last
    assert (tmp_path / "kept.status").read_text() == "1\n"
    assert leaves(tmp_path / "kept") == undisturbed
