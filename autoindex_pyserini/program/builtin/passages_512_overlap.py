"""Overlapping passages of 512 tokens, a new one every 256, the title at the head of each.

A token here is a run of characters without white space. A document that would need more than
MAX_PASSAGES windows gets MAX_PASSAGES longer ones with the same overlap, so no text is ever lost.
"""

from autoindex_pyserini.program.operators import windows

WINDOW = 512
OVERLAP = 256
MAX_PASSAGES = 16


def represent(doc):
    """Yield the windows in the order of the text, each after the title, which says what it is about."""
    for window in windows(doc.text, WINDOW, overlap=OVERLAP, at_most=MAX_PASSAGES) or [""]:
        yield doc.title + "\n" + window
