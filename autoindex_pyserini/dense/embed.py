"""Encode what has no vector yet, and keep it; a killed encoding goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoindex_pyserini.dense.cache import VectorCache, text_key
from autoindex_pyserini.dense.encoder import Encoder, Side

type Progress = Callable[[str, int, int | None], None]
"""Told how far long work has come: what is being done, how many are done, how many there are."""

_BATCHES = 4  # between two commits: what a kill may cost


def embed(
    encoder: Encoder,
    cache: VectorCache,
    side: Side,
    keys: Sequence[bytes],
    text: Callable[[int], str],
    progress: Progress | None = None,
) -> int:
    """Give every key its vector in the cache.

    Args:
        encoder: computes what is missing; its weights are loaded only then.
        cache: of the encoder's space on this side.
        side: whether the texts are queries or documents.
        keys: distinct; the longest text first, so that texts of one batch are about equally long, and the
            largest batch comes first.
        text: gives the text of a place in `keys`.
        progress: told about texts encoded.

    Returns:
        how many were encoded.
    """
    missing = cache.missing(keys)
    start = 0
    while start < len(missing):
        size = _BATCHES * encoder.batch_size(len(text(missing[start])))
        places = missing[start : start + size]
        cache.put([keys[place] for place in places], encoder.encode([text(p) for p in places], side))
        start += len(places)
        if progress:
            progress(f"encode {'passages' if side == 'document' else 'queries'}", start, len(missing))
    return len(missing)


def embed_texts(encoder: Encoder, cache: VectorCache, side: Side, texts: Sequence[str]) -> int:
    """`embed` for texts that stand in memory; duplicates are encoded once."""
    distinct = sorted(dict.fromkeys(texts), key=len, reverse=True)
    return embed(encoder, cache, side, [text_key(one) for one in distinct], distinct.__getitem__)
