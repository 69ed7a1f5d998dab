"""What the README says works: its commands, its program, its Python."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autoindex_pyserini.program import Program, check
from autoindex_pyserini.sandbox import represent_all
from autoindex_pyserini.settings import Execution, Limits
from autoindex_pyserini.types import Document

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="the README is not beside the tests")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_its_program_is_a_program() -> None:
    source = next(block for block in blocks("python") if "def represent" in block)
    program = Program(source)
    check(program, Limits())
    documents = [Document("1", "Title", "First paragraph.\n\nSecond."), Document("2", "", "")]
    made = [
        one
        for batch in represent_all(program, documents, limits=Limits(), execution=Execution(workers=1))
        for one in batch
    ]
    assert [passage.contents for passage in made[0].passages] == [
        "Title\nTitle\nTitle\nFirst paragraph.\n\nSecond.",
        "Title\nFirst paragraph.",
    ]
    assert made[1].fallback


def test_its_commands_run_in_their_order(toy: Path, tmp_path: Path) -> None:
    shutil.copytree(toy, tmp_path / "my_collection")
    for path in ("corpus.jsonl", "qrels/test.tsv"):  # a TREC run carries no docid with a space
        file = tmp_path / "my_collection" / path
        file.write_text(file.read_text().replace("d ", "d"))
    (tmp_path / "topics.tsv").write_text("1\twhere does the lion live\n")
    lines = [line for block in blocks("") for line in block.splitlines() if line.startswith("autoindex ")]
    assert len(lines) >= 5
    for line in lines:
        command = shlex.split(line, comments=True)
        assert command[0] == "autoindex"
        done = subprocess.run(
            [sys.executable, "-m", "autoindex_pyserini", *command[1:]],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    assert (tmp_path / "run.txt").read_text().startswith("1 Q0 d")


def test_every_command_has_help() -> None:
    from typer.main import get_command

    from autoindex_pyserini.cli.app import app

    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        assert command.help, name
        assert all(getattr(option, "help", "x") for option in command.params), name


@pytest.mark.parametrize(
    "page", [README, *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"], ids=str
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
