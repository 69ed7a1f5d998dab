"""The dense commands as a user sees them, with a tiny model that has no meaning."""

import json
import subprocess
import sys
from pathlib import Path
from string import ascii_lowercase

import pytest

from autoindex_pyserini.dense import read_manifest


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one small layer that reads letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "bert"
    vocabulary = {one: place for place, one in enumerate(["[PAD]", "[UNK]", *ascii_lowercase])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")
    fast.save_pretrained(folder)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, **sizes)).save_pretrained(
        folder
    )
    return folder


@pytest.fixture
def autoindex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("AUTOINDEX_CACHE", str(tmp_path / "cache"))

    def run(*arguments: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "autoindex_pyserini", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        return done

    return run


def test_dense_scores_publishes_writes_a_run_and_encodes_once(  # type: ignore[no-untyped-def]
    autoindex, toy: Path, model: Path, tmp_path: Path
) -> None:
    common = [
        "dense",
        toy,
        "--program",
        "full_text",
        "--encoder",
        model,
        "--sandbox",
        "process",
        "--threads",
        1,
    ]
    place, runs = tmp_path / "index", tmp_path / "runs"
    done = autoindex(*common, "--index", place, "--run-out", runs, "--split", "test", "--depth", 5)
    assert "full_text-dense" in done.stdout
    assert "12 passages, 12 encoded now" in done.stdout
    assert "float32 on cpu, 16 dimensions" in done.stderr
    manifest = read_manifest(place)
    assert (manifest.passages, manifest.dimension, manifest.encoding.model) == (12, 16, str(model))
    (written,) = runs.iterdir()
    assert written.name == "full_text-dense.test.jsonl"  # the docids hold spaces
    queries = {json.loads(line)["qid"] for line in written.read_text().splitlines()}
    assert len(written.read_text().splitlines()) == 5 * len(queries)

    again = autoindex(*common, "--split", "test", "--json")
    assert json.loads(again.stdout)["encoded"] == 0
    taken = autoindex(*common, "--index", place, status=2)
    assert "exists already" in taken.stderr

    listed = json.loads(autoindex("vectors", "--json").stdout)
    assert {(one["space"]["side"], one["vectors"]) for one in listed["caches"]} >= {("document", 12)}
    assert "2 caches" in autoindex("vectors").stdout
    assert "MB are free again" in autoindex("vectors", "--clear", "all").stdout
    assert "0 caches" in autoindex("vectors").stdout


def test_a_model_that_is_not_there_is_one_line_before_any_work(autoindex, toy: Path) -> None:  # type: ignore[no-untyped-def]
    done = autoindex("dense", toy, "--program", "full_text", "--encoder", "./absent", status=2)
    assert done.stderr.strip().endswith("give the folder of a sentence-transformers model")
    assert len(done.stderr.strip().splitlines()) == 1
