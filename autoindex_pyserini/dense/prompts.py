"""What stands before a text when it is encoded: nothing, the model's own prompt, or an instruction.

Qwen3-Embedding's authors put an instruction before each query and nothing before documents; theirs reads
``Instruct: {task}`` on one line and ``Query:{query}``, without a space, on the next. The task is best one
English sentence that says what is searched for.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from autoindex_pyserini.dense.settings import Encoding
from autoindex_pyserini.errors import InputError

WEB_SEARCH = "Given a web search query, retrieve relevant passages that answer the query"
"""The task that Qwen3-Embedding carries in its own configuration."""

TASKS = {
    "cacm": "Given an information need, retrieve relevant abstracts of computer science articles",
    "cosqa": "Given a web search query about programming, retrieve Python code that answers it",
    "cranfield": "Given a question about aerodynamics, retrieve abstracts of articles that help to answer it",
    "icecat": "Given a product search query, retrieve products that match it",
    "manpages": "Given a task on the command line, retrieve manual pages of commands that do it",
    "medquad": "Given a medical question, retrieve passages that answer it",
    "nfcorpus": "Given a question, retrieve relevant documents that best answer the question",
    "npl": "Given an information need, retrieve relevant abstracts of articles on electronics",
    "pydata-api": "Given what a programmer wants to do, retrieve the API documentation for it",
    "scifact": "Given a scientific claim, retrieve documents that support or refute the claim",
    "se_quantum": "Given a question on quantum computing or mathematics education, retrieve answers to it",
}
"""Beginning of a collection's name -> task."""


class ModelFacts(msgspec.Struct, frozen=True):
    """What a model's configuration files say, read without loading it.

    Attributes:
        kind: transformers' ``model_type``, such as ``bert`` or ``qwen3``; empty if unknown.
        prompts: prompt by name.
        similarity: how the model compares: ``cosine``, ``dot``, ...; empty if it does not say.
        composed: sentence-transformers' own list of modules is there, so pooling is the author's choice.
    """

    kind: str = ""
    prompts: dict[str, str] = {}
    similarity: str = ""
    composed: bool = False

    @property
    def instructed(self) -> bool:
        """The model takes an instruction with each query, in Qwen3's form."""
        return self.prompts.get("query", "").startswith("Instruct:") or self.kind == "qwen3"


class _TransformerConfig(msgspec.Struct):
    model_type: str = ""


class _SentenceConfig(msgspec.Struct):
    prompts: dict[str, str] | None = None
    similarity_fn_name: str | None = None


def read_facts(folder: Path) -> ModelFacts:
    """Read a model folder's configuration files; what is absent stays empty.

    Raises:
        InputError: a file is not what its name says.
    """
    transformer = _read(folder / "config.json", _TransformerConfig)
    sentence = _read(folder / "config_sentence_transformers.json", _SentenceConfig)
    return ModelFacts(
        kind=transformer.model_type,
        prompts=sentence.prompts or {},
        similarity=sentence.similarity_fn_name or "",
        composed=(folder / "modules.json").is_file(),
    )


def _read[T](path: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return kind()
    except msgspec.DecodeError as error:
        raise InputError(f"{path}: {error}; the model is damaged, so fetch it again") from error


def default_task(collection: str) -> str:
    """The task of a collection, by the longest beginning of its name that `TASKS` knows; else web search."""
    known = [name for name in TASKS if collection.lower().startswith(name)]
    return TASKS[max(known, key=len)] if known else WEB_SEARCH


def query_prompt(facts: ModelFacts, encoding: Encoding, collection: str) -> str:
    """What stands before each query.

    Raises:
        InputError: a task is given, and the model takes none.
    """
    if encoding.query_prompt is not None:
        return encoding.query_prompt
    if facts.instructed:
        return f"Instruct: {encoding.task or default_task(collection)}\nQuery:"
    if encoding.task:
        raise InputError(
            f"a task is given, and {encoding.model} takes no instruction; leave it away, "
            "or give the whole text before a query as a query prompt"
        )
    return facts.prompts.get("query", "")


def document_prompt(facts: ModelFacts, encoding: Encoding) -> str:
    """What stands before each passage: with Qwen3-Embedding, nothing."""
    if encoding.document_prompt is not None:
        return encoding.document_prompt
    names = ("document", "passage", "corpus")  # sentence-transformers' order
    return next((facts.prompts[name] for name in names if name in facts.prompts), "")
