"""What import contracts cannot say."""

import ast
from pathlib import Path

import autoindex_pyserini

PACKAGE = Path(autoindex_pyserini.__file__).parent


def calls(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def test_only_the_sandbox_runs_source_text() -> None:
    runners = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        if calls(path) & {"exec", "eval", "__import__"}
    }
    assert runners == {"sandbox"}


def test_the_library_does_not_print() -> None:
    printers = {
        path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if "print" in calls(path)
    }
    assert printers <= {"cli"}


def test_the_loop_never_names_the_test_split() -> None:
    """Only the step after the choice opens it, and commands that were asked for test results."""
    openers = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if any(
            isinstance(node, ast.Attribute) and node.attr == "open_test"
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
        )
    }
    assert {path for path in openers if not path.startswith("cli/")} == {"optimize/run.py"}
    assert openers >= {"optimize/run.py", "cli/evaluate.py"}
