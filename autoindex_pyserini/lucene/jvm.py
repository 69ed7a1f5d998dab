"""The JVM: started once, in this process, before anything of Pyserini is imported.

Pyserini starts a JVM on import with options that some runtimes refuse; a JVM that runs already is taken as
it is. Once it runs this process must not fork (pyserini#15): spawn.
"""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from autoindex_pyserini.errors import EnvironmentProblemError, LuceneError
from autoindex_pyserini.lucene.java import find_jar, find_java, heap_mb, jvm_config
from autoindex_pyserini.resources import data_dir

_lock = threading.Lock()


def start() -> None:
    """Start the JVM, or join the one that runs. Safe to call often and from several threads.

    Raises:
        EnvironmentProblemError: no Java, no jar, or a JVM that somebody else started without Anserini.
    """
    with _lock:
        import jnius_config

        if not jnius_config.vm_running:
            runtime = find_java()
            os.environ["JAVA_HOME"] = str(runtime.home)
            jnius_config.set_options(*options())
            jnius_config.set_classpath(str(find_jar()))
        import jnius

        try:
            jnius.autoclass("io.anserini.index.SimpleIndexer")
        except jnius.JavaException as error:
            raise EnvironmentProblemError(
                "a JVM without Anserini runs in this process already; start autoindex_pyserini or "
                "pyserini before other users of pyjnius"
            ) from error


def options() -> list[str]:
    """The options that `start` gives the JVM on this machine."""
    config = jvm_config()
    runtime = find_java()
    folder = data_dir("java_config")
    modules = [name for name in config.optional_modules if name in runtime.modules]
    return [
        f"-Xmx{heap_mb(config)}m",
        *config.options,
        *(f"--add-modules={name}" for name in modules),
        f"-Dlog4j2.configurationFile={folder / 'log4j2.xml'}",
        f"-Djava.util.logging.config.file={folder / 'logging.properties'}",
        *shlex.split(os.environ.get("AUTOINDEX_JAVA_OPTIONS", "")),
    ]


@cache
def java_class(name: str) -> Any:
    """The Java class of this name (``$`` separates nested classes), starting the JVM if need be."""
    start()
    import jnius

    return jnius.autoclass(name)


@contextmanager
def java_errors(what: str) -> Iterator[None]:
    """Turn exceptions that come out of Java into `LuceneError`, named by what was being done."""
    import jnius

    try:
        yield
    except jnius.JavaException as error:
        raise LuceneError(f"{what}: {java_error(error)}") from error


def java_error(error: Exception) -> str:
    """The one-line message of an exception that came out of Java."""
    text = str(error).split("\n", 1)[0]
    return text.removeprefix("JVM exception occurred: ").strip()
