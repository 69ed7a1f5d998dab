"""The command line: its commands, and what becomes of errors."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated, NoReturn

import typer

from autoindex_pyserini import __version__
from autoindex_pyserini.cli import (
    ablate,
    by_hand,
    collection,
    compare,
    dense,
    doctor,
    evaluate,
    index,
    inspect,
    mcp,
    optimize,
    options,
    search,
    show,
)
from autoindex_pyserini.errors import AutoIndexError, EnvironmentProblemError, InputError

app = typer.Typer(
    name="autoindex",
    help="Learn how documents should be represented before Lucene indexes them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


for _command in (
    optimize.demo,
    optimize.optimize,
    ablate.ablate,
    by_hand.start,
    by_hand.brief,
    by_hand.ask,
    by_hand.try_,
    by_hand.finish,
    mcp.mcp,
    evaluate.evaluate,
    compare.compare,
    dense.dense,
    dense.vectors,
    index.index,
    search.search,
    collection.collection,
    show.show,
    inspect.inspect,
    doctor.doctor,
):
    app.command(_command.__name__.rstrip("_"))(_command)


_WRONG_PATH = (
    PermissionError,
    FileExistsError,
    FileNotFoundError,
    NotADirectoryError,
    IsADirectoryError,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn how documents should be represented before Lucene indexes them."""


def run_app() -> None:
    """Run the command of `sys.argv` and exit: 0, 1 for a failure, 2 for wrong input, 130 for Ctrl-C."""
    try:
        app(standalone_mode=True)
    except SystemExit as stop:
        # Typer makes of Ctrl-C an exit with status 130, without a word.
        if isinstance(stop.__context__, typer.Exit) and stop.__context__.__cause__ is not None:
            print("autoindex: interrupted", file=sys.stderr)
        raise
    except InputError as error:
        _fail(error, 2)
    except AutoIndexError as error:
        _fail(error, 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except _WRONG_PATH as error:
        _fail(InputError(options.os_problem(error)), 2)
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            _fail(InputError(options.os_problem(error)), 2)
        _fail(EnvironmentProblemError(options.os_problem(error)), 1)


def _fail(error: Exception, status: int) -> NoReturn:
    print(f"autoindex: {' '.join(str(error).split())}", file=sys.stderr)
    sys.exit(status)
