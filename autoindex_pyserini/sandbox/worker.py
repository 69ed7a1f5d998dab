"""The worker's entry: `python worker.py REQUEST_FD REPLY_FD PROGRESS_FD HOST_PID PATH...`.

Run as a script in an interpreter without `site`, so that it starts fast and sees no environment. It loads
what a program may import, confines itself, and only then looks at the program.
"""

import os
import sys
from types import ModuleType


def main() -> None:
    """Serve requests until the pipe closes or the program fails."""
    requests, replies, progress, host = (int(argument) for argument in sys.argv[1:5])
    sys.path.extend(sys.argv[5:])
    sys.argv[1:] = []
    for package in ("program", "sandbox"):
        _hollow(f"autoindex_pyserini.{package}", package)
    from autoindex_pyserini.sandbox.serve import serve  # only now on the path

    serve(requests, replies, progress, host)


def _hollow(name: str, folder: str) -> None:
    """Register a package without running its `__init__`, which imports what only the host needs.

    That takes half as long, and a program finds no `subprocess` or `tempfile` in its process.
    """
    package = ModuleType(name)
    package.__path__ = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), folder)]
    sys.modules[name] = package


main()
