"""Programs that reach out: files, network, processes, the environment, other programs, Python's insides."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autoindex_pyserini.errors import InvalidProgramError

LIBC = """
libc = module("ctypes").CDLL(None, use_errno=True)
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(module("ctypes").get_errno(), "refused")
"""

CASES: dict[str, tuple[str, str, str]] = {
    "read the qrels": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    yield REAL["op" + "en"]("@TMP/qrels.txt").read()  # HERE""",
    ),
    "read another candidate's program": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    yield " ".join(os.listdir("@TMP"))  # HERE""",
    ),
    "read its own environment by /proc": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    yield REAL["op" + "en"]("/proc/self/environ").read()  # HERE""",
    ),
    "read the host's environment by /proc": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    yield REAL["op" + "en"]("/proc/@HOST/environ").read()  # HERE""",
    ),
    "read the host's memory": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    os.close(os.open("/proc/@HOST/mem", os.O_RDONLY))  # HERE""",
    ),
    "look whether a file exists": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    yield str(os.stat("@TMP/qrels.txt"))  # HERE""",
    ),
    "write beside the qrels": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    REAL["op" + "en"]("@TMP/left-behind", "w").write("x")  # HERE""",
    ),
    "write where it stands": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
REAL["op" + "en"]("left-behind", "w")  # HERE
def represent(doc): ...""",
    ),
    "remove the qrels": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    os.unlink("@TMP/qrels.txt")  # HERE""",
    ),
    "make a directory": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    os.mkdir("@TMP/left-behind")  # HERE""",
    ),
    "keep data in shared memory": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    os.memfd_create("left-behind")  # HERE""",
    ),
    "open a socket": (
        "ProgramCrashedError",
        "[Errno 1]",
        """ESCAPE
LIBC
def represent(doc):
    if libc.socket(2, 1, 0) < 0:
        raise OSError(module("ctypes").get_errno(), "no socket")  # HERE
    yield "connected" """,
    ),
    "import socket": (
        "ProgramCrashedError",
        "ModuleNotFoundError",
        """ESCAPE
def represent(doc):
    module("socket")""",
    ),
    "import multiprocessing": (
        "ProgramCrashedError",
        "ModuleNotFoundError",
        """ESCAPE
def represent(doc):
    module("multiprocessing")""",
    ),
    "import by importlib": (
        "ProgramCrashedError",
        "ModuleNotFoundError",
        """ESCAPE
def represent(doc):
    sys.modules["importlib"].import_module("sqlite3")  # HERE""",
    ),
    "import a file of its choice": (
        "ProgramCrashedError",
        "ModuleNotFoundError",
        """ESCAPE
sys.path.insert(0, "@TMP")
def represent(doc):
    module("qrels")""",
    ),
    "import from a built string, by its own __import__": (
        "ProgramCrashedError",
        "ImportError: a program may not import 'os'",
        """
def represent(doc):
    builtins = globals()["__built" + "ins__"]
    builtins["__im" + "port__"]("os")  # HERE""",
    ),
    "pickle bomb": (
        "ProgramCrashedError",
        "ModuleNotFoundError",
        """ESCAPE
def represent(doc):
    module("pickle").loads(b"cos\\nsystem\\n(S'touch @TMP/left-behind'\\ntR.")""",
    ),
    "start a shell": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    os.posix_spawn("/bin/sh", ["sh", "-c", "touch @TMP/left-behind"], {})  # HERE""",
    ),
    "become a shell": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    os.execv("/bin/sh", ["sh", "-c", "touch @TMP/left-behind"])  # HERE""",
    ),
    "kill another process": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    os.kill(@VICTIM, 9)  # HERE""",
    ),
    "kill the process group of another": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    os.killpg(@VICTIM, 9)  # HERE""",
    ),
    "trace another process": (
        "ProgramCrashedError",
        "[Errno 1]",
        """ESCAPE
LIBC
def represent(doc):
    call(101, 16, @VICTIM, 0, 0)""",
    ),
    "read another process's memory": (
        "ProgramCrashedError",
        "[Errno 1]",
        """ESCAPE
LIBC
def represent(doc):
    call(310, @HOST, 0, 0, 0, 0, 0)""",
    ),
    "use io_uring, which goes around system calls": (
        "ProgramCrashedError",
        "[Errno 1]",
        """ESCAPE
LIBC
def represent(doc):
    call(425, 1, 0)""",
    ),
    "use the 32-bit numbers": (
        "ProgramCrashedError",
        "[Errno 1]",
        """ESCAPE
LIBC
def represent(doc):
    call(0x40000000 + 41, 2, 1, 0)""",
    ),
    "leave its namespace": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    os.unshare(os.CLONE_NEWUSER)  # HERE""",
    ),
    "make memory executable": (
        "ProgramCrashedError",
        "[Errno 1]",
        """ESCAPE
LIBC
def represent(doc):
    libc.mmap.restype = module("ctypes").c_ssize_t
    if libc.mmap(0, 4096, 7, 0x22, -1, 0) == -1:
        raise OSError(module("ctypes").get_errno(), "refused")  # HERE
    yield "executable" """,
    ),
    "learn random numbers from the kernel": (
        "ProgramCrashedError",
        "PermissionError",
        """ESCAPE
def represent(doc):
    yield os.urandom(8).hex()  # HERE""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_is_refused_by_the_kernel(name: str, contain: Any, escape: str, tmp_path: Path) -> None:
    expected, says, source = CASES[name]
    source = source.replace("ESCAPE\n", escape).replace("LIBC\n", LIBC)
    victim = subprocess.Popen(["sleep", "100"], start_new_session=True)
    try:
        for word, value in {"@TMP": tmp_path, "@HOST": os.getpid(), "@VICTIM": victim.pid}.items():
            source = source.replace(word, str(value))
        contain(source, expected, says)
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()
    assert (tmp_path / "qrels.txt").read_text().startswith("SECRET")  # which the host can read


def test_the_environment_and_arguments_hold_no_secret(contain: Any, escape: str) -> None:
    result = contain(escape + "def represent(doc):\n    yield f'{dict(os.environ)} {sys.argv} {sys.path}'\n")
    assert result[0].passages[0].contents == "{} [''] []"


def test_no_docid_reaches_the_program(contain: Any, escape: str) -> None:
    """Not by the document, and not by searching all that the process holds."""
    gc = """
def represent(doc):
    found = [str(one) for one in module("gc").get_objects() if "secret-docid" in str(one)[:10000]]
    yield f"found {len([one for one in found if 'found' not in one])} and {hasattr(doc, 'docid')}"
"""
    assert contain(escape + gc, says="")[0].passages[0].contents == "found 0 and False"


def test_nothing_is_open_but_the_channel(contain: Any, escape: str) -> None:
    source = """
def represent(doc):
    descriptors = []
    for fd in range(3, 64):
        try: os.write(fd, b"")
        except PermissionError: raise
        except OSError: continue
        descriptors.append(fd)
    yield str(len(descriptors))
"""
    assert contain(escape + source)[0].passages[0].contents == "2"  # reply pipe, progress word


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import os\ndef represent(doc): ...", "line 1: imports 'os'"),
        ("def represent(doc):\n    import importlib", "line 2: imports 'importlib'"),
        ("from . import program\ndef represent(doc): ...", "line 1: imports '.'"),
        ("def represent(doc):\n    __import__('os')", "line 2: uses '__import__'"),
        ("def represent(doc):\n    return eval('1')", "line 2: uses 'eval'"),
        ("def represent(doc):\n    open('/etc/passwd')", "line 2: uses 'open'"),
        ("def represent(doc):\n    return __builtins__", "line 2: uses '__builtins__'"),
        ("def represent(doc):\n    object.__subclasses__()", "line 2: names '__subclasses__'"),
        ("def represent(doc):\n    getattr(doc, '__class__')", "line 2: names '__class__'"),
        ("def represent(doc):\n    return represent.__globals__", "line 2: names '__globals__'"),
    ],
)
def test_what_can_be_named_is_refused_before_it_runs(source: str, says: str, contain: Any) -> None:
    error = contain(source, "InvalidProgramError", says)
    assert isinstance(error, InvalidProgramError)
    assert error.line == int(says[5])


def test_the_suite_runs_where_reading_would_succeed(tmp_path: Path) -> None:
    """The same reads and system calls work outside the sandbox, so their refusal says something."""
    (tmp_path / "qrels.txt").write_text("SECRET")
    assert Path(f"/proc/{os.getpid()}/environ").read_bytes()
    source = f"""
import ctypes
print(ctypes.CDLL(None).socket(2, 1, 0))
print(open({str(tmp_path / "qrels.txt")!r}).read())"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[0]) >= 0
    assert "SECRET" in done.stdout
