"""Find a model's files: a folder, the hub's cache on this machine, or the hub itself."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from autoindex_pyserini.errors import InputError

_PATIENCE_S = 10.0  # until the hub is given up
_OTHER_FORMATS = ["*.onnx", "*.onnx_data", "*.h5", "*.msgpack", "*.ot", "*.gguf", "*.tflite", "onnx/*"]
_OTHER_FORMATS += ["openvino/*", "coreml/*", "*.mlmodel", "*.pt", "*.pth"]
_WEIGHTS = (".safetensors", ".bin")


class ModelNotFoundError(InputError):
    """A model is neither a folder, nor on this machine, nor to be had."""


class Located(msgspec.Struct, frozen=True):
    """A model's files.

    Attributes:
        folder: where they are.
        identity: ``commit:`` with the hub's commit, or ``sha256:`` with the hash of the folder's files. Equal
            identities give equal vectors.
    """

    folder: Path
    identity: str


def locate(model: str, revision: str = "") -> Located:
    """Find a model, and fetch it if it is nowhere on this machine.

    Raises:
        ModelNotFoundError: it cannot be had; says where it was looked for, and what to do. Without a network
            this takes seconds, not minutes.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if revision:
            raise InputError(f"a revision is given, and {model} is a folder; leave the revision away")
        return Located(folder.resolve(), f"sha256:{_hash(_weighty(folder, model))}")
    if _is_path(model):
        raise ModelNotFoundError(f"{model} is not a folder; give the folder of a sentence-transformers model")
    snapshot = _cached(model, revision) or _fetched(model, revision)
    return Located(snapshot, f"commit:{snapshot.name}")


def _is_path(model: str) -> bool:
    """No name on the hub looks like this."""
    return model.startswith((".", "/", "~")) or model.count("/") > 1


def _weighty(folder: Path, model: str) -> Path:
    if not any(path.suffix in _WEIGHTS for path in folder.rglob("*")):
        raise ModelNotFoundError(
            f"{model} holds no weights ({' or '.join(_WEIGHTS)}); "
            "give the folder of a sentence-transformers model"
        )
    return folder


def _hash(folder: Path) -> str:
    """A hash of the names and contents of a folder's files, but for those that only describe the model."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts) and path.suffix != ".md":
            with path.open("rb") as file:
                total.update(
                    f"{name.as_posix()}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode()
                )
    return total.hexdigest()


def _cached(model: str, revision: str) -> Path | None:
    """The model in the hub's cache on this machine; None if it is not there with its weights."""
    import huggingface_hub
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        found = huggingface_hub.snapshot_download(model, revision=revision or None, local_files_only=True)
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as error:
        raise ModelNotFoundError(
            f"{model!r} is neither a folder nor a name on the model hub (owner/name): "
            f"{' '.join(str(error).split())}"
        ) from error
    snapshot = Path(found)
    return snapshot if any(path.suffix in _WEIGHTS for path in snapshot.rglob("*")) else None


def _fetched(model: str, revision: str) -> Path:
    import huggingface_hub
    from huggingface_hub import constants
    from huggingface_hub.errors import HfHubHTTPError

    try:
        found = huggingface_hub.snapshot_download(
            model,
            revision=revision or None,
            etag_timeout=_PATIENCE_S,
            ignore_patterns=_OTHER_FORMATS,
        )
    except (HfHubHTTPError, OSError) as error:
        why = " ".join(str(error).split(". ")[0].split())
        raise ModelNotFoundError(
            f"the model {model!r}{f' at revision {revision!r}' if revision else ''} is not to be had: "
            f"no folder has this name, it is not in {constants.HF_HUB_CACHE}, and the model hub gave none "
            f"({why}); where there is a network, run `hf download {model} --local-dir FOLDER`, "
            "copy the folder here, and give its path"
        ) from error
    return Path(found)
