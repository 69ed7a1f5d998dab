"""Where the kernel can confine, what it says; where it cannot, what still runs."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from autoindex_pyserini.errors import EnvironmentProblemError, InputError
from autoindex_pyserini.program import CorpusStatistics, Program, builtin_names
from autoindex_pyserini.sandbox import Confinement, Sandbox, confinement_report, represent_all, seccomp
from autoindex_pyserini.sandbox import pool as pool_module
from autoindex_pyserini.settings import Execution, Limits
from autoindex_pyserini.types import Document

WITHOUT = Confinement(system="Linux 3.2 riscv64", seccomp=False, landlock_abi=0)
DOCUMENTS = [Document("a", "title", "text")]
OWN = Program("def represent(doc):\n    yield doc.title")


def test_a_confined_worker_says_which_layers_hold() -> None:
    report = confinement_report()
    assert report.is_sufficient
    assert report.missing == ""
    assert report.seccomp
    assert platform.machine() in report.system
    with Sandbox(OWN, limits=Limits(), execution=Execution(workers=1)) as sandbox:
        list(sandbox.represent(DOCUMENTS))
        assert "seccomp" in sandbox.layers
        assert ("landlock" in sandbox.layers) == bool(report.landlock_abi)
        assert ("namespaces" in sandbox.layers) == report.namespaces


@pytest.mark.parametrize("name", builtin_names())
def test_built_in_programs_run_where_the_kernel_cannot_confine(name: str) -> None:
    program = Program(
        Program.builtin(name).source.replace("\n", "\r\n")
    )  # known by its text, not by its name
    corpus = CorpusStatistics(1, 1.0)
    with Sandbox(program, limits=Limits(), execution=Execution(1), corpus=corpus, kernel=WITHOUT) as sandbox:
        assert sum(map(len, sandbox.represent(DOCUMENTS))) == 1
        assert sandbox.layers == []


def test_other_programs_are_refused_there_unless_they_are_trusted_or_asked_for() -> None:
    with pytest.raises(EnvironmentProblemError, match=r"lacks seccomp .* use --sandbox process"):
        Sandbox(OWN, limits=Limits(), execution=Execution(), kernel=WITHOUT)
    forged = Program(OWN.source, name="full_text")
    with pytest.raises(EnvironmentProblemError):
        Sandbox(forged, limits=Limits(), execution=Execution(), kernel=WITHOUT)
    for execution, trusted in ((Execution(1, sandbox="process"), None), (Execution(1), lambda p: p == OWN)):
        with Sandbox(OWN, limits=Limits(), execution=execution, kernel=WITHOUT, trusted=trusted) as sandbox:
            assert sum(map(len, sandbox.represent(DOCUMENTS))) == 1
            assert sandbox.layers == []


def test_a_kernel_that_refuses_after_all_runs_no_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The worker itself does not look at the program unless the filter holds."""
    script = tmp_path / "worker.py"
    script.write_text(_WORKER_WITHOUT_SECCOMP)
    monkeypatch.setattr("autoindex_pyserini.sandbox.process._WORKER", str(script))
    with (
        Sandbox(OWN, limits=Limits(), execution=Execution(workers=1)) as sandbox,
        pytest.raises(
            EnvironmentProblemError, match="refused to filter system calls; run 'autoindex doctor'"
        ),
    ):
        list(sandbox.represent(DOCUMENTS))


_WORKER_WITHOUT_SECCOMP = """
import sys
sys.path.extend(sys.argv[5:])
from autoindex_pyserini.sandbox import seccomp
from autoindex_pyserini.sandbox.serve import serve
seccomp.is_available = lambda: False
serve(*map(int, sys.argv[1:5]))
"""


def test_the_process_sandbox_still_limits_kills_and_hides_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_VARIABLE", "SECRET")
    source = """
import textwrap
builtins = getattr(textwrap.dedent, "__glo" + "bals__")["__built" + "ins__"]
os = builtins["__im" + "port__"]("os")
def represent(doc):
    try:
        large = bytearray(4 << 30)
    except MemoryError:
        yield f"{dict(os.environ)} limited"
"""
    execution = Execution(workers=1, sandbox="process")
    parts = represent_all(Program(source), DOCUMENTS, limits=Limits(), execution=execution)
    assert [one.passages[0].contents for part in parts for one in part] == ["{} limited"]


def test_an_unknown_kind_of_sandbox_is_refused() -> None:
    with pytest.raises(InputError, match="illegal sandbox 'none', must be 'confined' or 'process'"):
        Sandbox(OWN, limits=Limits(), execution=Execution(sandbox="none"))


def test_a_module_of_the_list_that_does_not_exist_is_named() -> None:
    limits = Limits(allowed_imports=("re", "no_such_module"))
    with (
        Sandbox(OWN, limits=limits, execution=Execution(workers=1)) as sandbox,
        pytest.raises(EnvironmentProblemError, match="allowed_imports: No module named 'no_such_module'"),
    ):
        list(sandbox.represent(DOCUMENTS))


def test_the_filter_covers_both_architectures() -> None:
    for machine in ("x86_64", "aarch64"):
        code = seccomp.filter_code(machine)
        assert len(code) % 8 == 0
        assert len(code) < 8 * 4096  # BPF_MAXINSNS


def test_the_report_says_what_to_do() -> None:
    assert "--sandbox process" in WITHOUT.remedy
    assert "seccomp" in WITHOUT.missing
    partly = Confinement(system="Linux", seccomp=True, landlock_abi=0, namespaces=False)
    assert partly.is_sufficient
    assert "further layers" in partly.remedy
    assert Confinement(system="Linux", seccomp=True, landlock_abi=4, namespaces=True).remedy == ""
    assert pool_module.capabilities().system
