"""Texts to vectors, by a sentence-transformers model on the best device of the machine.

Pooling is what the model's author configured. A bare causal model of the Qwen3 kind, without
sentence-transformers' list of modules, is pooled as Qwen3-Embedding's authors do: the last token's state.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from autoindex_pyserini.dense.locate import locate
from autoindex_pyserini.dense.prompts import document_prompt, query_prompt, read_facts
from autoindex_pyserini.dense.settings import Encoding, Machine
from autoindex_pyserini.errors import AutoIndexError, EnvironmentProblemError, InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

type Side = Literal["query", "document"]
type Vectors = npt.NDArray[np.float32]

_MOST_TOKENS = 8192  # by default: Qwen3-Embedding's model card
_CPU_BATCH, _GPU_BATCH = 32, 512
# Of free memory: some 100 KB for each of 8,192 tokens, with a model of 0.6 B parameters.
_CHARS_A_GIB = 32_768
_CPU_CHARS = 65_536


class EncodingError(AutoIndexError):
    """A model gave no usable vectors."""


class Encoder:
    """One model with its settings. The weights are loaded when the first text is encoded.

    Args:
        encoding: the model and its settings.
        machine: device, batch size and threads.
        collection: the collection's name, for the default task.

    Raises:
        InputError: a setting is not allowed, or the model cannot be had.
    """

    def __init__(self, encoding: Encoding, machine: Machine | None = None, *, collection: str = "") -> None:
        encoding.check()
        self._machine = machine or Machine()
        self._machine.check()
        self.encoding = encoding
        self.located = locate(encoding.model, encoding.revision)
        self._facts = read_facts(self.located.folder)
        self.prompts: dict[Side, str] = {
            "query": query_prompt(self._facts, encoding, collection),
            "document": document_prompt(self._facts, encoding),
        }
        self.device = _device(self._machine.device)
        self.precision = _precision(self.device) if encoding.precision == "auto" else encoding.precision
        self.normalize = (
            not self._facts.similarity.startswith("dot") if encoding.normalize is None else encoding.normalize
        )
        self.threads = self._machine.threads or os.cpu_count() or 1
        self._shrunk = 1  # batches are divided by this, since the device ran out of memory

    def space(self, side: Side) -> dict[str, str | int | bool]:
        """All that decides what vector a text gets; texts of equal spaces share their vectors."""
        return {
            "model": self.encoding.model,
            "identity": self.located.identity,
            "prompt": self.prompts[side],
            "side": side,
            "max_length": self.encoding.max_length,
            "dimension": self.encoding.dimension,
            "normalize": self.normalize,
            "precision": self.precision,
        }

    @cached_property
    def model(self) -> Any:
        """The `SentenceTransformer`, on its device.

        Raises:
            InputError: the files are no such model, or lengths and dimension do not fit it.
        """
        import torch
        import transformers
        from sentence_transformers import SentenceTransformer

        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        if self._machine.threads:
            torch.set_num_threads(self._machine.threads)
        options: dict[str, Any] = {
            "device": self.device,
            "local_files_only": True,
            "model_kwargs": {"dtype": getattr(torch, self.precision)},
            "processor_kwargs": {"padding_side": "left"} if self._facts.kind == "qwen3" else {},
        }
        try:
            if self._facts.kind == "qwen3" and not self._facts.composed:
                model = SentenceTransformer(modules=self._last_token_modules(options), device=self.device)
            else:
                model = SentenceTransformer(str(self.located.folder), **options)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise InputError(
                f"{self.located.folder} cannot be loaded as a sentence-transformers model: "
                f"{' '.join(str(error).split())}"
            ) from error
        model.eval()
        model.max_seq_length = self._length(model)
        dimension = int(model.get_embedding_dimension())
        if self.encoding.dimension > dimension:
            raise InputError(
                f"dimension is {self.encoding.dimension}, and vectors of {self.encoding.model} have "
                f"{dimension} components; give at most that"
            )
        return model

    def _last_token_modules(self, options: dict[str, Any]) -> list[Any]:
        from sentence_transformers.sentence_transformer import modules

        transformer = modules.Transformer(
            str(self.located.folder),
            model_kwargs={**options["model_kwargs"], "local_files_only": True},
            processor_kwargs={**options["processor_kwargs"], "local_files_only": True},
            config_kwargs={"local_files_only": True},
        )
        dimension = transformer.get_embedding_dimension()
        return [transformer, modules.Pooling(dimension, "lasttoken"), modules.Normalize()]

    def _length(self, model: Any) -> int:
        """Tokens that a text may have."""
        positions = getattr(model.config, "max_position_embeddings", None) or _MOST_TOKENS
        wanted = self.encoding.max_length
        if wanted > positions:
            raise InputError(
                f"max_length is {wanted}, and {self.encoding.model} reads at most {positions} tokens; "
                "give at most that"
            )
        return int(wanted or min(model.max_seq_length or positions, _MOST_TOKENS))

    def batch_size(self, longest: int) -> int:
        """How many texts to encode at once, the longest of which has this many characters."""
        if self._machine.batch_size:
            return max(1, self._machine.batch_size // self._shrunk)
        if self.device.startswith("cuda"):
            import torch

            free, _ = torch.cuda.mem_get_info(self.device)
            most, chars = _GPU_BATCH, (free >> 30) * _CHARS_A_GIB
        else:
            most, chars = _CPU_BATCH, _CPU_CHARS
        # A token has some four characters of English; what the model cuts off costs nothing.
        longest = min(longest, 4 * self.model.max_seq_length)
        return int(max(1, min(most, chars // max(1, longest)) // self._shrunk))

    def encode(self, texts: Sequence[str], side: Side) -> Vectors:
        """Encode texts; where the device runs out of memory, in ever smaller batches.

        Returns:
            float32 [len(texts), dimension], in the order of the texts; length 1 if vectors are normalised.

        Raises:
            InputError: the model cannot be loaded with these settings.
            EnvironmentProblemError: not even one text fits into the device's memory.
            EncodingError: a vector is not finite.
        """
        import torch

        model = self.model
        while True:
            size = self.batch_size(max(map(len, texts), default=1))
            try:
                found = model.encode(
                    list(texts),
                    prompt=self.prompts[side],
                    batch_size=size,
                    show_progress_bar=False,
                    convert_to_tensor=True,
                )
                return self._finished(found.float().cpu().numpy())
            except torch.OutOfMemoryError as error:
                if size == 1:
                    raise EnvironmentProblemError(
                        f"one text of {max(map(len, texts)):,} characters does not fit into the memory of "
                        f"{self.device}; give a smaller maximum length, or another device"
                    ) from error
                self._shrunk *= 2
                torch.cuda.empty_cache()

    def _finished(self, vectors: Vectors) -> Vectors:
        """Cut to the dimension, then scaled to length 1."""
        import numpy as np

        vectors = vectors[:, : self.encoding.dimension or None]
        if not np.isfinite(vectors).all():
            raise EncodingError(
                f"{self.encoding.model} gave a vector that is not finite with {self.precision}; "
                "use precision float32"
            )
        if self.normalize:
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return np.ascontiguousarray(vectors, dtype=np.float32)


def _device(wanted: str) -> str:
    """The device, `auto` resolved.

    Raises:
        InputError: torch does not have it.
    """
    import torch

    if wanted == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(0, device=wanted)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            f"the device {wanted!r} cannot be used ({str(error).splitlines()[0]}); use cpu, or auto"
        ) from error
    return wanted


def _precision(device: str) -> str:
    import torch

    if not device.startswith("cuda"):
        return "float32"
    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"
