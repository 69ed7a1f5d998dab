"""Every knob of the dense retriever, typed, with its default and where the default comes from."""

from __future__ import annotations

import msgspec

from autoindex_pyserini.errors import InputError

PRECISIONS = ("auto", "float32", "bfloat16", "float16")
KINDS = ("flat", "hnsw")


class Encoding(msgspec.Struct, frozen=True, kw_only=True):
    """The model, and what it makes of a text: everything that can change a vector.

    Attributes:
        model: a folder, or a name on the model hub.
        revision: branch, tag or commit on the hub; empty for its main branch. Not for a folder.
        task: one English sentence for models that take an instruction with each query; empty for the
            collection's own, see `prompts.default_task`.
        query_prompt: put before each query as it is, instead of the model's own; None for the model's own.
        document_prompt: the same for passages.
        max_length: tokens of a text, prompt included; what is longer is cut. 0 for the model's own limit, but
            at most 8,192 (Qwen3-Embedding's model card).
        dimension: leading components of a vector that are kept, before it is normalised; 0 for all. Models
            that were trained for it (Matryoshka) lose little.
        normalize: scale vectors to length 1; None for yes, unless the model says it compares by dot product.
        precision: of the model's weights: ``float32``, ``bfloat16``, ``float16``, or ``auto`` (float32 on a
            CPU, else the best half precision of the device). Vectors are float32 always.
    """

    model: str
    revision: str = ""
    task: str = ""
    query_prompt: str | None = None
    document_prompt: str | None = None
    max_length: int = 0
    dimension: int = 0
    normalize: bool | None = None
    precision: str = "auto"

    def check(self) -> None:
        """Check every value.

        Raises:
            InputError: names the first that is not allowed.
        """
        if not self.model.strip():
            raise InputError("no model is given; give a folder, or a name on the model hub")
        if self.precision not in PRECISIONS:
            raise InputError(f"unknown precision {self.precision!r}; use one of {', '.join(PRECISIONS)}")
        for name in ("max_length", "dimension"):
            value = getattr(self, name)
            if value < 0:
                raise InputError(f"{name} is {value}; give a number of at least 1, or 0 for the model's own")
        if self.task and self.query_prompt is not None:
            raise InputError(
                "a task and a query prompt are given; a prompt says it all, so give one of the two"
            )


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """How the work is done on this machine. It moves vectors in their last digits at most.

    Attributes:
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``, or ``auto`` for the best there is.
        batch_size: passages that are encoded at once; 0 to choose by their length and the device's memory.
        threads: of the CPU, for encoding and for FAISS; 0 for one for each core.
    """

    device: str = "auto"
    batch_size: int = 0
    threads: int = 0

    def check(self) -> None:
        """Check every value but the device, which torch knows.

        Raises:
            InputError: names the first that is not allowed.
        """
        for name in ("batch_size", "threads"):
            value = getattr(self, name)
            if value < 0:
                raise InputError(f"{name} is {value}; give a number of at least 1, or 0 to have it chosen")


class FaissOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The index over the vectors; always by inner product.

    Attributes:
        kind: ``flat`` (every vector is compared: exact) or ``hnsw`` (a graph: fast and approximate; built by
            several threads it is not the same twice).
        m: hnsw: links of a node.
        ef_construction: hnsw: candidates looked at for each vector when the graph is built.
        ef_search: hnsw: candidates looked at for each query, and never fewer than the hits asked for.
    """

    kind: str = "flat"
    m: int = 32
    ef_construction: int = 200
    ef_search: int = 256

    def check(self) -> None:
        """Check every value.

        Raises:
            InputError: names the first that is not allowed.
        """
        if self.kind not in KINDS:
            raise InputError(f"unknown kind of index {self.kind!r}; use one of {', '.join(KINDS)}")
        for name, least in (("m", 2), ("ef_construction", 1), ("ef_search", 1)):
            value = getattr(self, name)
            if value < least:
                raise InputError(f"{name} is {value}; give a number of at least {least}")
