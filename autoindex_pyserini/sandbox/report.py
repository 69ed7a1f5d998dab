"""What this machine can do to keep a program in: for `Sandbox`, and for `autoindex doctor`."""

from __future__ import annotations

import platform
import sys

import msgspec

from autoindex_pyserini.errors import AutoIndexError
from autoindex_pyserini.program import Program
from autoindex_pyserini.sandbox import confine, seccomp


class Confinement(msgspec.Struct, frozen=True):
    """What the kernel offers.

    Attributes:
        system: operating system, release and machine.
        seccomp: system calls can be filtered: the layer that must hold.
        landlock_abi: version of Landlock; 0 if there is none.
        namespaces: a process may enter user, network and IPC namespaces of its own; None if not tried.
        problem: why a confined worker did not start, when one was tried; empty if it did.
    """

    system: str
    seccomp: bool
    landlock_abi: int
    namespaces: bool | None = None
    problem: str = ""

    @property
    def is_sufficient(self) -> bool:
        """True if any program can be run confined."""
        return self.seccomp and not self.problem

    @property
    def missing(self) -> str:
        """What is lacking, in words; empty if nothing that matters is."""
        if self.problem:
            return f"what a confined worker needs ({self.problem})"
        return "" if self.seccomp else "seccomp filters (Linux on x86_64 or aarch64 has them)"

    @property
    def remedy(self) -> str:
        """What to do, in one line; empty if nothing needs doing."""
        if not self.is_sufficient:
            return (
                "use Linux on x86_64 or aarch64 with CONFIG_SECCOMP_FILTER; elsewhere built-in programs run, "
                "and others with --sandbox process"
            )
        if not self.landlock_abi or self.namespaces is False:
            return "confinement holds; Linux 5.13+ with Landlock and user namespaces would add further layers"
        return ""


def capabilities() -> Confinement:
    """What the kernel says it offers, asked without starting anything."""
    return Confinement(
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        seccomp=seccomp.is_available(),
        landlock_abi=confine.landlock_abi(),
    )


def confinement_report() -> Confinement:
    """What the kernel really does: a confined worker is started, and says which layers took hold."""
    from autoindex_pyserini.sandbox.pool import Sandbox  # which asks this module first
    from autoindex_pyserini.settings import Execution, Limits

    offered = capabilities()
    if not offered.is_sufficient or sys.platform != "linux":
        return offered
    with Sandbox(Program("def represent(doc): ..."), limits=Limits(), execution=Execution()) as sandbox:
        worker = sandbox.fresh_worker(0)
        try:
            worker.start()
        except AutoIndexError as error:
            return msgspec.structs.replace(offered, problem=str(error))
        finally:
            worker.close()
    return msgspec.structs.replace(offered, namespaces="namespaces" in worker.layers)
