"""The prompts: text files in ``agents/prompts``, with ``$name`` where something is filled in."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent.parent / "prompts"
_BLANK = re.compile(r"\n{3,}")


def prompt(name: str, **values: object) -> str:
    """Return the prompt of this name with every placeholder filled; empty values leave no gap.

    Raises:
        ValueError: a placeholder has no value, or a value no placeholder.
    """
    template = Template(_text(name))
    wanted = set(template.get_identifiers())
    if wanted != set(values):
        raise ValueError(f"prompt {name}: placeholders {sorted(wanted)}, values {sorted(values)}")
    filled = template.substitute({key: str(value).strip() for key, value in values.items()})
    return _BLANK.sub("\n\n", filled).strip()


def prompt_names() -> list[str]:
    """The names of all prompts, sorted."""
    return sorted(file.stem for file in _FOLDER.glob("*.txt"))


def prompts_version() -> str:
    """Hash of all prompts: runs with equal versions asked with the same words."""
    digest = hashlib.sha256()
    for name in prompt_names():
        digest.update(f"{name}\0{_text(name)}\0".encode())
    return digest.hexdigest()[:12]


@cache
def _text(name: str) -> str:
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
