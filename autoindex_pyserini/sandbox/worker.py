"""The worker's entry: `python worker.py REQUEST_FD REPLY_FD PROGRESS_FD HOST_PID PATH...`.

Run as a script in an interpreter without `site`, so that it starts fast and sees no environment. It loads
what a program may import, confines itself, and only then looks at the program.
"""

import sys


def main() -> None:
    """Serve requests until the pipe closes or the program fails."""
    requests, replies, progress, host = (int(argument) for argument in sys.argv[1:5])
    sys.path.extend(sys.argv[5:])
    sys.argv[1:] = []
    from autoindex_pyserini.sandbox.serve import serve  # only now on the path

    serve(requests, replies, progress, host)


main()
