"""Prompts: every placeholder is filled, and nothing that is filled in is lost."""

import re
from pathlib import Path
from string import Template

import pytest

from autoindex_pyserini.agents.llm import prompts
from autoindex_pyserini.agents.llm.prompts import prompt, prompt_names, prompts_version

FOLDER = Path(prompts.__file__).parent.parent / "prompts"
CALLED = re.compile(r"prompt\(\s*\"(\w+)\"")


def test_every_prompt_is_used_and_every_used_one_exists() -> None:
    sources = [path.read_text() for path in Path(prompts.__file__).parent.glob("*.py")]
    assert {name for source in sources for name in CALLED.findall(source)} == set(prompt_names())


@pytest.mark.parametrize("name", prompt_names())
def test_every_placeholder_is_filled(name: str) -> None:
    template = Template((FOLDER / f"{name}.txt").read_text())
    assert template.is_valid()
    wanted = template.get_identifiers()
    filled = prompt(name, **{one: f"<{one} $1 {{x}}>" for one in wanted})
    assert all(f"<{one} $1 {{x}}>" in filled for one in wanted)
    assert not re.search(r"\$[a-z]", filled)
    for one in wanted:
        with pytest.raises(ValueError, match=one):
            prompt(name, **{other: "" for other in wanted if other != one})
    with pytest.raises(ValueError, match="surplus"):
        prompt(name, surplus="", **dict.fromkeys(wanted, ""))


@pytest.mark.parametrize("name", prompt_names())
def test_what_is_left_empty_leaves_no_gap(name: str) -> None:
    wanted = Template((FOLDER / f"{name}.txt").read_text()).get_identifiers()
    assert "\n\n\n" not in prompt(name, **dict.fromkeys(wanted, ""))


def test_prompts_have_a_version() -> None:
    assert re.fullmatch(r"[0-9a-f]{12}", prompts_version())
