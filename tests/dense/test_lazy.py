"""Weights and their libraries are loaded by dense commands alone."""

import subprocess
import sys
from pathlib import Path

HEAVY = "{'torch', 'transformers', 'sentence_transformers', 'faiss', 'huggingface_hub'}"

IMPORT_ALL = f"""
import importlib, pkgutil, sys
import autoindex_pyserini
for module in pkgutil.walk_packages(autoindex_pyserini.__path__, "autoindex_pyserini."):
    if not module.name.endswith(("__main__", "sandbox.worker")):  # programs, not libraries
        importlib.import_module(module.name)
assert "autoindex_pyserini.dense.encoder" in sys.modules
print(sorted({HEAVY} & set(sys.modules)))
"""

EVALUATE = f"""
import sys
from autoindex_pyserini.cli import main
sys.argv = ["autoindex", "evaluate", sys.argv[1], "--program", "full_text", "--sandbox", "process"]
try:
    main()
finally:
    print(sorted({HEAVY} & set(sys.modules)))
"""


def heavy(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]


def test_importing_everything_loads_none_of_them() -> None:
    assert heavy(IMPORT_ALL) == "[]"


def test_a_lexical_command_loads_none_of_them(toy: Path) -> None:
    assert heavy(EVALUATE, str(toy)) == "[]"
