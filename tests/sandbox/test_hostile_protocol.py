"""Programs that know the harness: they print on its channel, forge its messages, replace its functions."""

from __future__ import annotations

from typing import Any

import pytest

from autoindex_pyserini.settings import Limits

# What a program that has read the source of the harness would do to get at the channel.
CHANNEL = """
def channel():
    frame = sys._getframe()
    while "channel" not in getattr(frame, "f_lo" + "cals") or frame.f_lineno == 0:
        frame = getattr(frame, "f_ba" + "ck")
    return getattr(frame, "f_lo" + "cals")["channel"]
def header(c, length):
    return protocol.REPLY_HEADER.pack(c._token, protocol.RESULTS, c._sequence, 0, 1, length)
protocol = sys.modules["autoindex_pyserini.sandbox.protocol"]
harness = sys.modules["autoindex_pyserini.sandbox.harness"]
"""

CASES: dict[str, tuple[str, str, str]] = {
    "write on every descriptor": (
        "ProgramCrashedError",
        "wrote on the protocol's channel",
        """ESCAPE
def represent(doc):
    for fd in range(3, 64):
        try: os.write(fd, b"passages! " * 100)
        except OSError: pass
    yield doc.text""",
    ),
    "write a header of noughts": (
        "ProgramCrashedError",
        "wrote on the protocol's channel",
        """ESCAPE
CHANNEL
def represent(doc):
    os.write(channel()._replies, bytes(1000))
    yield doc.text""",
    ),
    "close every descriptor": (
        "ProgramCrashedError",
        "",
        """ESCAPE
def represent(doc):
    for fd in range(64):
        try: os.close(fd)
        except OSError: pass
    yield doc.text""",
    ),
    "close the reply pipe and go on": (
        "ProgramCrashedError",
        "closed its pipe",
        """ESCAPE
CHANNEL
def represent(doc):
    os.close(channel()._replies)
    while True: pass""",
    ),
    "answer for more documents than were asked": (
        "ProgramCrashedError",
        "not asked for",
        """ESCAPE
CHANNEL
def represent(doc):
    channel().send(protocol.RESULTS, protocol.Results([[b"x"]] * 100, 0), 0, 100)""",
    ),
    "answer for another document": (
        "ProgramCrashedError",
        "not asked for",
        """ESCAPE
CHANNEL
def represent(doc):
    channel().send(protocol.RESULTS, protocol.Results([[b"x"]], 0), 3, 1)""",
    ),
    "answer for no document": (
        "ProgramCrashedError",
        "not asked for",
        """ESCAPE
CHANNEL
def represent(doc):
    channel().send(protocol.RESULTS, protocol.Results([], 0), 0, 0)""",
    ),
    "say one number of documents and send another": (
        "ProgramCrashedError",
        "passages of 1 documents for 2",
        """ESCAPE
CHANNEL
def represent(doc):
    channel().send(protocol.RESULTS, protocol.Results([[b"x"]], 0), 0, 2)""",
    ),
    "another sequence number": (
        "ProgramCrashedError",
        "wrote on the protocol's channel",
        """ESCAPE
CHANNEL
def represent(doc):
    channel()._sequence += 5
    yield doc.text""",
    ),
    "another worker's token": (
        "ProgramCrashedError",
        "wrote on the protocol's channel",
        """ESCAPE
CHANNEL
def represent(doc):
    channel().sign(b"0123456789abcdef")
    yield doc.text""",
    ),
    "announce a terabyte": (
        "ProgramOutputError",
        "announces 1,099,511,627,776 bytes",
        """ESCAPE
CHANNEL
def represent(doc):
    c = channel()
    os.write(c._replies, header(c, 1 << 40))""",
    ),
    "announce and never send": (
        "ProgramTimeoutError",
        "still running",
        """ESCAPE
CHANNEL
def represent(doc):
    c = channel()
    os.write(c._replies, header(c, 1000))
    while True: pass  # HERE""",
    ),
    "send drop by drop": (
        "ProgramTimeoutError",
        "still running",
        """ESCAPE
CHANNEL
def represent(doc):
    c = channel()
    os.write(c._replies, header(c, 1000))
    while True:
        os.write(c._replies, b"x")
        module("time").sleep(0.05)""",
    ),
    "send what is not MessagePack": (
        "ProgramCrashedError",
        "malformed message",
        """ESCAPE
CHANNEL
def represent(doc):
    c = channel()
    os.write(c._replies, header(c, 9) + b"!" * 9)
    while True: pass""",
    ),
    "send numbers for passages": (
        "ProgramCrashedError",
        "malformed message",
        """ESCAPE
CHANNEL
def represent(doc):
    channel().send(protocol.RESULTS, [[[17]], 0], 0, 1)""",
    ),
    "send a million nested lists": (
        "ProgramCrashedError",
        "malformed message",
        """ESCAPE
CHANNEL
def represent(doc):
    c = channel()
    c._encoder = type("E", (), {"encode": lambda self, body: b"\\x91" * 1_000_000})()
    c.send(protocol.RESULTS, None, 0, 1)""",
    ),
    "an endless fault message": (
        "ProgramOutputError",
        "bytes, and 65,536 are the most",
        """ESCAPE
CHANNEL
def represent(doc):
    channel().send(protocol.FAULT, protocol.Fault("crashed", "x" * 1_000_000, 1, 0))""",
    ),
    "a fault of its own wording": (
        "ProgramCrashedError",
        "line 3: two [31m lines (document 0 of the stream)",
        """ESCAPE
CHANNEL
def represent(doc):
    channel().send(protocol.FAULT, protocol.Fault("nonsense", "two\\n\\x1b[31m lines", 3, 0))""",
    ),
    "say that there is no sandbox": (
        "ProgramCrashedError",
        "wrote on the protocol's channel",
        """ESCAPE
CHANNEL
def represent(doc):
    channel().send(protocol.PROBLEM, "please run me without")""",
    ),
    "a checked passage that is too long": (
        "ProgramOutputError",
        "a passage of 2,000,000 characters, and the limit is 1,000 (document 0 of the stream)",
        """ESCAPE
CHANNEL
harness.Harness.passages = lambda self, index, document: [b"x" * 2_000_000]
def represent(doc): ...""",
    ),
    "more checked passages than allowed": (
        "ProgramOutputError",
        "1000 passages, and the limit is 16",
        """ESCAPE
CHANNEL
harness.Harness.passages = lambda self, index, document: [b"x"] * 1000
def represent(doc): ...""",
    ),
    "checked passages in bytes that are no text": (
        "ProgramOutputError",
        "not UTF-8",
        """ESCAPE
CHANNEL
harness.Harness.passages = lambda self, index, document: [b"\\xff\\xfe"]
def represent(doc): ...""",
    ),
    "checked fields that were not declared": (
        "ProgramOutputError",
        "the fields ['x'], and FIELDS declares []",
        """ESCAPE
CHANNEL
harness.Harness.passages = lambda self, index, document: [(b"x", {"x": b"x"})]
def represent(doc): ...""",
    ),
    "checked fields that are too long": (
        "ProgramOutputError",
        "fields together of 1,001 characters, and the limit is 1,000",
        """ESCAPE
CHANNEL
FIELDS = ("x",)
harness.Harness.passages = lambda self, index, document: [(b"x", {"x": b"x" * 1001})]
def represent(doc): ...""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_is_found_out(name: str, contain: Any, escape: str) -> None:
    expected, says, source = CASES[name]
    limits = {"limits": Limits(document_timeout_s=0.5)} if expected == "ProgramTimeoutError" else {}
    contain(source.replace("ESCAPE\n", escape).replace("CHANNEL\n", CHANNEL), expected, says, **limits)


def test_blank_and_dirty_passages_that_were_let_through_are_mended(contain: Any, escape: str) -> None:
    source = """
harness = sys.modules["autoindex_pyserini.sandbox.harness"]
harness.Harness.passages = lambda self, index, document: [b"", b" \\x00 ", b"a\\x07b\\xc2\\x9fc"]
def represent(doc): ...
"""
    assert [p.contents for p in contain(escape + source)[0].passages] == ["a b c"]


def test_printing_disturbs_nothing(contain: Any, escape: str) -> None:
    source = """
def represent(doc):
    print("out" * 100_000)
    print("err\\n" * 100_000, file=sys.stderr)
    os.write(2, b'File "<program>", line 1' * 10_000)
    yield doc.title
"""
    assert [p.contents for p in contain(escape + source)[5].passages] == ["title 5"]
