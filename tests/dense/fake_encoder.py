"""An encoder without a model: a text's vector is drawn by chance, seeded by the text."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from autoindex_pyserini.dense import Encoding
from autoindex_pyserini.dense.locate import Located

DIMENSION = 24


def vector(text: str) -> npt.NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    drawn = np.random.default_rng(seed).standard_normal(DIMENSION)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


class FakeEncoder:
    """What index and search need of an `Encoder`; `asked` holds every text that it encoded."""

    encoding = Encoding(model="fake")
    located = Located(Path("fake"), "fake")
    prompts = {"query": "", "document": ""}  # noqa: RUF012
    precision = "float32"
    threads = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def space(self, side: str) -> dict[str, str | int | bool]:
        return {"model": "fake", "side": side}

    def batch_size(self, longest: int) -> int:
        return 2

    def encode(self, texts: Sequence[str], side: str) -> npt.NDArray[np.float32]:
        self.asked += texts
        return np.stack([vector(text) for text in texts])
