"""What a worker does to itself before it looks at a program: give up everything but computing.

The layers, from the one that must hold to those that are taken where they are to be had:

- ``seccomp``: only system calls of a process that computes (`autoindex_pyserini.sandbox.seccomp`). This
  is the wall: it denies files, network, processes, signals and new kernel interfaces alike, it needs no
  privilege, and it holds in a container too.
- ``landlock``: no file can be opened, no TCP port used, and no process outside signalled, even if a
  system call had been forgotten above.
- ``namespaces``: a user, network and IPC namespace of its own, without an interface. Containers and some
  distributions refuse this to ordinary users.
- resource limits: memory, processor time, no files, no children, no core dump.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys

from autoindex_pyserini.sandbox import seccomp
from autoindex_pyserini.settings import Limits

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446  # the same numbers on every architecture
_LANDLOCK_VERSION = 1


def die_with(parent: int) -> None:
    """End this process when the thread that started it ends. On Linux only; elsewhere a closed pipe does.

    Args:
        parent: process id of the host, which may be gone already.
    """
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def limit_resources(limits: Limits, max_files: int) -> None:
    """Set hard resource limits. A limit that the system does not know, or refuses, is passed over.

    Args:
        limits: gives memory and time.
        max_files: descriptors below which a new one may be opened; open ones are not touched.
    """
    cpu = int(limits.program_timeout_s) + 60  # the host's clock decides; this is for when the host is gone
    memory = limits.memory_mb << 20
    wanted = [
        ("RLIMIT_CPU", cpu),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_NOFILE", max_files),
        ("RLIMIT_NPROC", 0),
        ("RLIMIT_MEMLOCK", 0),
        ("RLIMIT_MSGQUEUE", 0),
        ("RLIMIT_AS", memory),
    ]
    for name, value in wanted:
        kind = getattr(resource, name, None)
        if kind is not None:
            try:
                resource.setrlimit(kind, (value, value))
            except (OSError, ValueError):  # macOS refuses some, and a hard limit may be lower already
                continue


def apply(limits: Limits) -> list[str]:
    """Confine this process for good, resource limits included.

    Returns:
        The layers that took hold. Without ``seccomp`` among them a program must not be run.
    """
    layers: list[str] = []
    if sys.platform != "linux":
        limit_resources(limits, max_files=3)
        return layers
    if _unshare():
        layers.append("namespaces")
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_DUMPABLE, 0)
    if _landlock():
        layers.append("landlock")
    limit_resources(limits, max_files=3)  # before the filter, which would deny it
    if seccomp.is_available():
        try:
            seccomp.install()
            layers.append("seccomp")
        except OSError:
            pass
    return layers


def landlock_abi() -> int:
    """The version of Landlock that the kernel offers; 0 if it offers none."""
    if sys.platform != "linux":
        return 0
    version: int = _syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    return max(0, version)


def _unshare() -> bool:
    try:
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET | os.CLONE_NEWIPC)
    except OSError:
        return False
    return True


def _landlock() -> bool:
    """Handle every right that this kernel knows, and grant none."""
    abi = landlock_abi()
    if not abi:
        return False
    files = (1 << (13 if abi == 1 else 14 if abi == 2 else 15 if abi < 5 else 16)) - 1
    network = 0b11 if abi >= 4 else 0
    scopes = 0b11 if abi >= 6 else 0
    attributes = struct.pack("<QQQ", files, network, scopes)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = _syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    refused = _syscall(_LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)
    return refused == 0


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _syscall(number: int, *arguments: object) -> int:
    result: int = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    return result
