"""`autoindex mcp`: a run by hand as an MCP server, so that an assistant can drive it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from autoindex_pyserini.cli.by_hand import SHORT_NAMES, RunArgument, by_hand_run, load_recorded, opened
from autoindex_pyserini.errors import AutoIndexError

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from autoindex_pyserini.optimize import RunSettings
    from autoindex_pyserini.optimize.session import Session

INSTRUCTIONS = """\
You improve how documents are represented before a fixed BM25 retriever indexes them. Read `brief`, look
into the index and the documents with `ask`, and `try` complete programs: each is scored on the validation
queries and becomes the incumbent if the objective rises. When nothing more helps, and the user agrees, call
`finish`: it opens the test queries, once, and no program can be tried after it."""


def mcp(run: RunArgument) -> None:
    """Serve a run by hand to an assistant: an MCP server on stdin and stdout."""
    from autoindex_pyserini.optimize import Journal

    _, recorded = by_hand_run(run)
    Journal(run).close()  # says now, and not at the first call, that another process works on the run
    with Served(run, recorded) as served:
        served.server().run(transport="stdio", show_banner=False, log_level="ERROR")


class Served:
    """A run by hand, and one thread that does all work on it, in the order of the calls. A context manager.

    The run is opened when the server is up, because a large collection takes longer than an assistant waits
    for a server; calls wait for it.

    Args:
        run: the run directory.
        recorded: its settings.
    """

    def __init__(self, run: Path, recorded: RunSettings) -> None:
        self._run = run
        self._recorded = recorded
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="run-by-hand")
        self._stack = ExitStack()
        self._opened: Future[Session] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._thread.submit(self._stack.close)
        self._thread.shutdown()

    def server(self) -> FastMCP:
        """The server with its tools."""
        from fastmcp import FastMCP

        server: FastMCP = FastMCP("autoindex", INSTRUCTIONS)
        reading = {"readOnlyHint": True, "openWorldHint": False}
        writing = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
        server.tool(self.brief, annotations=reading)
        server.tool(self.ask, description=_ask_description(), annotations=reading)
        server.tool(self.try_program, name="try", annotations=writing)
        server.tool(self.finish, annotations={**writing, "destructiveHint": True})
        return server

    async def brief(self, history: bool = True) -> str:
        """Tell all that is known: contract, retriever, collection, incumbent, what was tried, cases."""
        from autoindex_pyserini.agents.briefing import briefing

        def answer(session: Session) -> str:
            found, cases = session.brief()
            return briefing(found, cases, self._recorded.settings.retriever, history=history)

        return await self._do(answer)

    async def ask(self, tool: str, arguments: dict[str, Any]) -> str:
        """See `_ask_description`."""
        return await self._do(lambda session: session.ask(SHORT_NAMES.get(tool, tool), arguments))

    async def try_program(
        self,
        program: Annotated[str, "The complete Python source of the program."],
        because: Annotated[str, "Why it should be better, in one line."],
    ) -> str:
        """Check, run, index and score a program on validation; keep it if the objective rises."""
        from autoindex_pyserini.program import Program
        from autoindex_pyserini.report import attempt_text

        objective = self._recorded.settings.search.objective
        given = Program(program)
        return await self._do(lambda session: attempt_text(session.attempt(given, because), objective))

    async def finish(self) -> str:
        """End the search for good: build the best program's index, and open the test queries, once."""
        from autoindex_pyserini.report import run_table

        def answer(session: Session) -> str:
            result = session.finish(lambda: load_recorded(self._recorded).open_test())
            table = _plain(run_table(result))
            return f"{table}\nprogram: {result.directory / 'best.py'}\nindex: {result.index}"

        return await self._do(answer)

    async def _do(self, work: Callable[[Session], str]) -> str:
        """Do some work on the run's thread; what goes wrong with the input is told in one line."""
        from fastmcp.exceptions import ToolError

        if self._opened is None:
            self._opened = self._thread.submit(self._open)
        try:
            session = await asyncio.wrap_future(self._opened)
            return await asyncio.wrap_future(self._thread.submit(work, session))
        except AutoIndexError as error:
            raise ToolError(" ".join(str(error).split())) from error

    def _open(self) -> Session:
        session, _ = self._stack.enter_context(opened(self._run))
        return session


def _ask_description() -> str:
    """What `ask` can do, from the tools themselves."""
    from autoindex_pyserini.agents.tools import TOOLS

    lines = ["Look into the incumbent's index and the documents behind it, with one of these tools:"]
    for tool in TOOLS:
        lines += ["", f"`{tool.name}`: {tool.description}"]
        required = tool.parameters.get("required", [])
        for name, schema in tool.parameters["properties"].items():
            optional = "" if name in required else f" Default: {schema.get('default')}."
            lines.append(f"- {name}: {schema.get('description', '')}{optional}")
    return "\n".join(lines)


def _plain(table: Any) -> str:
    """A table as text."""
    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=200, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())
