"""A system-call filter for a process that only computes: the wall around a program.

After the filter is in place a process can compute, allocate memory, read and write the descriptors that
it already holds, and end. Every other system call (open, socket, clone, execve, kill, ptrace, io_uring,
whatever the kernel learns next year) fails with EPERM before the kernel looks at its arguments, and no
memory can be made executable any more. The filter cannot be lifted.

It is written for `prctl(2)` directly, as classic BPF (`seccomp(2)`): a list of allowed numbers is all it
takes, and a worker must start in a tenth of a second.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

_PR_GET_SECCOMP, _PR_SET_SECCOMP, _MODE_FILTER = 21, 22, 2
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _THIRD_ARGUMENT = 0, 4, 32  # offsets in struct seccomp_data, little-endian
_PROT_EXEC = 4
_X32 = 0x40000000

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""machine -> (audit architecture, column in the tables below)"""

_MEMORY_PROTECTION = {"mmap": (9, 222), "mprotect": (10, 226)}
"""Allowed unless they ask for executable memory."""

_ALLOWED = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "futex": (202, 98),
    "close": (3, 57),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "sched_yield": (24, 124),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
"""System calls of a process that computes: name -> numbers on the two architectures."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def is_available() -> bool:
    """True if this kernel filters system calls and this architecture's numbers are known."""
    if sys.platform != "linux" or platform.machine() not in _ARCHITECTURES or sys.byteorder != "little":
        return False
    # The call fails where the kernel was built without seccomp; a process under filter can still ask.
    return _libc().prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) in (0, _MODE_FILTER)


def install() -> None:
    """Put the filter around this process, for good. The process must have no other thread.

    Raises:
        OSError: the kernel refused; nothing has changed.
    """
    code = filter_code(platform.machine())
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(buffer))
    if _libc().prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0):
        error = ctypes.get_errno()
        raise OSError(error, f"cannot filter system calls: {os.strerror(error)}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def filter_code(machine: str) -> bytes:
    """The filter as an array of struct sock_filter: code, jump if true, jump if false, constant."""
    architecture, column = _ARCHITECTURES[machine]
    deny = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    rules = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_ABOVE, 0, 1, _X32),  # the x32 calls of x86_64 share its architecture
        deny,
    ]
    for numbers in _ALLOWED.values():
        rules += [(_JUMP_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, _ALLOW)]
    for numbers in _MEMORY_PROTECTION.values():
        rules += [
            (_JUMP_EQUAL, 0, 4, numbers[column]),
            (_LOAD, 0, 0, _THIRD_ARGUMENT),
            (_JUMP_BITS, 0, 1, _PROT_EXEC),
            deny,
            (_RETURN, 0, 0, _ALLOW),
        ]
    rules.append(deny)
    return b"".join(struct.pack("<HBBI", *rule) for rule in rules)
