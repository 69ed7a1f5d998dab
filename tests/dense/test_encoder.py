"""The Qwen3 path against transformers alone, and real weights."""

import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from autoindex_pyserini.dense import Encoder, Encoding, Machine
from autoindex_pyserini.errors import InputError

TEXTS = ["lion hunts zebra", "whale", "otter eats " * 20, "panda sleeps near koala", ""]


def directly(folder: Path, texts: list[str], length: int = 128) -> npt.NDArray[np.float32]:
    """One text at a time, without padding: the state of the last token, by transformers alone."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    states = []
    for text in texts:
        tokens = tokenizer(text, truncation=True, max_length=length, return_tensors="pt")
        assert tokens["input_ids"][0, -1] == tokenizer.eos_token_id
        with torch.inference_mode():
            states.append(model(**tokens).last_hidden_state[0, -1].numpy())
    return np.stack(states)


def unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def encoder(folder: Path, collection: str = "", **settings: object) -> Encoder:
    encoding = Encoding(model=str(folder), precision="float32", **settings)  # type: ignore[arg-type]
    return Encoder(encoding, Machine(device="cpu", batch_size=3, threads=1), collection=collection)


def test_documents_are_the_last_tokens_states_without_a_prefix(qwen: Path) -> None:
    own = encoder(qwen)
    assert own.model.tokenizer.padding_side == "left"
    assert own.prompts["document"] == ""
    vectors = own.encode(TEXTS, "document")
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, unit(directly(qwen, TEXTS)), atol=2e-6)


def test_queries_carry_the_instruction(qwen: Path) -> None:
    own = encoder(qwen, task="eats far")
    assert own.prompts["query"] == "Instruct: eats far\nQuery:"
    expected = unit(directly(qwen, [f"Instruct: eats far\nQuery:{text}" for text in TEXTS]))
    vectors = own.encode(TEXTS, "query")
    np.testing.assert_allclose(vectors, expected, atol=2e-6)
    assert np.abs(vectors - own.encode(TEXTS, "document")).max() > 0.1


def test_what_is_too_long_is_cut_and_still_ends_as_the_author_means(qwen: Path) -> None:
    vectors = encoder(qwen, max_length=8).encode(TEXTS, "document")
    np.testing.assert_allclose(vectors, unit(directly(qwen, TEXTS, 8)), atol=2e-6)


def test_a_lower_dimension_is_cut_first_and_normalised_then(qwen: Path) -> None:
    expected = unit(directly(qwen, TEXTS)[:, :12])
    np.testing.assert_allclose(encoder(qwen, dimension=12).encode(TEXTS, "document"), expected, atol=5e-6)


def test_sentence_transformers_own_folder_gives_the_same_vectors_and_its_prompt(
    qwen: Path, tmp_path: Path
) -> None:
    bare = encoder(qwen)
    own = {"query": "Instruct: hunts\nQuery:", "document": ""}
    bare.model.prompts = own
    bare.model.save_pretrained(str(tmp_path / "model"))
    assert (tmp_path / "model" / "modules.json").is_file()
    composed = encoder(tmp_path / "model", task="sleeps")
    assert composed.prompts == {"query": "Instruct: sleeps\nQuery:", "document": ""}
    np.testing.assert_allclose(composed.encode(TEXTS, "document"), bare.encode(TEXTS, "document"), atol=2e-6)


def test_the_task_is_the_collections_own_unless_one_is_given(qwen: Path) -> None:
    assert "scientific claim" in encoder(qwen, "scifact").prompts["query"]
    assert "web search" in encoder(qwen, "somebody's notes").prompts["query"]
    assert encoder(qwen, query_prompt="find: ").prompts["query"] == "find: "


def test_running_out_of_memory_halves_the_batch(qwen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    own = encoder(qwen)
    whole, sizes = own.model.encode, []

    def scarce(texts: list[str], *, batch_size: int, **options: object) -> object:
        sizes.append(batch_size)
        if batch_size > 1:
            raise torch.OutOfMemoryError("no room")
        return whole(texts, batch_size=batch_size, **options)

    monkeypatch.setattr(own.model, "encode", scarce)
    np.testing.assert_allclose(own.encode(TEXTS, "document"), unit(directly(qwen, TEXTS)), atol=2e-6)
    assert sizes == [3, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"max_length": 129}, "at most 128 tokens"), ({"dimension": 33}, "32 components")],
)
def test_settings_that_do_not_fit_the_model_are_refused(
    qwen: Path, settings: dict[str, int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        encoder(qwen, **settings).encode(["lion"], "document")


@pytest.mark.parametrize(
    ("encoding", "machine", "message"),
    [
        (Encoding(model=" "), Machine(), "no model"),
        (Encoding(model="x", precision="int4"), Machine(), "int4"),
        (Encoding(model="x", dimension=-1), Machine(), "dimension is -1"),
        (Encoding(model="x", task="t", query_prompt="p"), Machine(), "give one of the two"),
        (Encoding(model="x"), Machine(batch_size=-1), "batch_size is -1"),
    ],
)
def test_wrong_settings_are_named(encoding: Encoding, machine: Machine, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Encoder(encoding, machine)


def test_an_unknown_device_is_named(qwen: Path) -> None:
    with pytest.raises(InputError, match="'abacus'"):
        Encoder(Encoding(model=str(qwen)), Machine(device="abacus"))


def test_the_identity_follows_the_files_and_not_their_place(qwen: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(qwen, tmp_path / "copy")
    (copy / "README.md").write_text("words about the model")
    assert encoder(copy).located.identity == encoder(qwen).located.identity
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x01")
    assert encoder(copy).located.identity != encoder(qwen).located.identity


def test_real_weights_know_what_is_alike(minilm: Path) -> None:
    own = encoder(minilm)
    assert own.prompts == {"query": "", "document": ""}
    cat, kitten, bank = own.encode(["a cat", "a small kitten", "the interest rate of a bank"], "document")
    assert len(cat) == 384
    assert cat @ kitten > 0.6 > 0.3 > cat @ bank
    with pytest.raises(InputError, match="takes no instruction"):
        encoder(minilm, task="find cats")
