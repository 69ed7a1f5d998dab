"""`autoindex doctor`: what this machine has, what it lacks, and what to do."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import typer

from autoindex_pyserini.cli import options
from autoindex_pyserini.cli.console import out, print_json
from autoindex_pyserini.errors import AutoIndexError

_MEMORY_MB = 2048
_DISK_MB = 2048


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at. `remedy` is empty where nothing needs doing."""

    what: str
    found: str
    ok: bool
    remedy: str = ""


def doctor(json: options.Json = False) -> None:
    """Look for Java, the Anserini jar, the sandbox, memory and disk; exit with 1 if something is missing."""
    findings = [
        _try("Python", _python),
        _try("Java", _java),
        _try("Anserini jar", _jar),
        _try("JVM", _jvm),
        _try("sandbox", _sandbox),
        _try("memory", _memory),
        _try("disk", _disk),
    ]
    if json:
        print_json(findings)
    else:
        for finding in findings:
            out.print(f"{'ok ' if finding.ok else 'NO '} {finding.what:13} {finding.found}")
            if finding.remedy:
                out.print(f"    {'':13} -> {finding.remedy}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def _try(what: str, look: Callable[[], Finding]) -> Finding:
    """A look that fails is a finding too."""
    try:
        return look()
    except AutoIndexError as error:
        return Finding(what, "not usable", False, str(error))


def _python() -> Finding:
    return Finding("Python", f"{platform.python_version()} ({sys.executable})", True)


def _java() -> Finding:
    from autoindex_pyserini.lucene.java import find_java

    runtime = find_java()
    return Finding("Java", f"{runtime.version}, from {runtime.source} ({runtime.home})", True)


def _jar() -> Finding:
    from autoindex_pyserini.lucene.java import find_jar

    return Finding("Anserini jar", find_jar().name, True)


def _jvm() -> Finding:
    from autoindex_pyserini.lucene.jvm import java_class

    version = java_class("org.apache.lucene.util.Version").LATEST.toString()
    heap = java_class("java.lang.Runtime").getRuntime().maxMemory() >> 20
    return Finding("JVM", f"starts; Lucene {version}, heap up to {heap:,} MiB", True)


def _sandbox() -> Finding:
    from autoindex_pyserini.sandbox import confinement_report

    report = confinement_report()
    layers = [
        *(["seccomp"] if report.seccomp else []),
        *([f"Landlock {report.landlock_abi}"] if report.landlock_abi else []),
        *(["namespaces"] if report.namespaces else []),
    ]
    found = ", ".join(layers) or "no confinement"
    return Finding("sandbox", f"{found} ({report.system})", report.is_sufficient, report.remedy)


def _memory() -> Finding:
    import psutil

    memory = psutil.virtual_memory()
    found = f"{memory.available >> 20:,} MiB free of {memory.total >> 20:,}"
    if memory.available >> 20 >= _MEMORY_MB:
        return Finding("memory", found, True)
    return Finding("memory", found, False, f"free {_MEMORY_MB:,} MiB: the JVM and two workers need them")


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free >> 20
    if free >= _DISK_MB:
        return Finding("disk", f"{free:,} MiB free here", True)
    return Finding("disk", f"{free:,} MiB free here", False, f"free {_DISK_MB:,} MiB for indexes")
