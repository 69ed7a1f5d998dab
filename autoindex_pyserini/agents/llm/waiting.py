"""Waiting for a coroutine in a way that the user can end at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from typing import Any

from autoindex_pyserini.agents.proposer import RequestCancelledError

_POLL_S = 0.1
_CLOSING_S = 0.5


def wait_for[T](work: Coroutine[Any, Any, T], cancelled: Callable[[], bool]) -> T:
    """Run a coroutine to its end and return its result, or end it when `cancelled` says so.

    It runs in a loop and a thread of its own, so that this works below another event loop, too; `cancelled`
    is asked ten times a second, in the thread of the caller. Ending it closes its connections.

    Raises:
        RequestCancelledError: `cancelled` said so. Whatever the coroutine raises is raised here as well.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=_serve, args=(loop,), name="model-request", daemon=True).start()
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        while not wait({future}, _POLL_S).done:
            if cancelled():
                raise RequestCancelledError("stopped while the model was waited for; resume to go on")
        return future.result()
    finally:
        future.cancel()
        # A name that is being looked up cannot be interrupted: then the thread is left to end by itself.
        wait({asyncio.run_coroutine_threadsafe(_end_tasks(), loop)}, _CLOSING_S)
        loop.call_soon_threadsafe(loop.stop)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _end_tasks() -> None:
    """Cancel what still runs, and wait until it has cleaned up."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
