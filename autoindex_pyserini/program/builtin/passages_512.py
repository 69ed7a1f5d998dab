"""Passages of 512 tokens: the usual fixed windows, side by side, the title at the head of each.

A token here is a run of characters without white space. A document that would need more than
MAX_PASSAGES windows gets MAX_PASSAGES longer ones of equal size instead, so no text is ever lost.
"""

WINDOW = 512
MAX_PASSAGES = 16


def represent(doc):
    """Yield the windows in the order of the text, each after the title, which says what it is about."""
    tokens = doc.text.split()
    size = window_size(len(tokens))
    for start in range(0, max(1, len(tokens)), size):
        yield doc.title + "\n" + " ".join(tokens[start : start + size])


def window_size(num_tokens):
    """The length of a window: WINDOW tokens, or more where MAX_PASSAGES of them would not do."""
    return max(WINDOW, -(-num_tokens // MAX_PASSAGES))
