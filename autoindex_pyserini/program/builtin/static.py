"""Static rules: what is usually done by hand, the same for every collection, without any search.

The title counts three times, and the other fields come after the text. LaTeX and markup are removed where
there is much of them. The first paragraph is a passage of its own; where there is but one paragraph, the
sentences with the most telling words are. The rules and their numbers are common practice: they were
written down once, and not chosen by results.
"""

from autoindex_pyserini.program.operators import (
    count_latex,
    count_markup,
    densest_sentences,
    distinct,
    fields_text,
    join,
    paragraphs,
    repeat,
    sentences,
    strip_latex,
    strip_markup,
)

TITLE_TIMES = 3
LATEX_ALLOWED = 10
MARKUP_ALLOWED = 10
DENSEST_SENTENCES = 3


def plain_text(doc):
    """Return the text without LaTeX and markup where it has much of them; all of it if nothing is left."""
    text = doc.text
    if count_latex(text) > LATEX_ALLOWED:
        text = strip_latex(text)
    if count_markup(text) > MARKUP_ALLOWED:
        text = strip_markup(text)
    return join(text) or doc.text


def gist(text, corpus):
    """Return the first of several paragraphs, or the densest of many sentences; empty for a short text."""
    found = paragraphs(text)
    if len(found) > 1:
        return found[0]
    if len(sentences(text)) > 2 * DENSEST_SENTENCES:
        return densest_sentences(text, corpus, DENSEST_SENTENCES)
    return ""


def represent(doc, corpus):
    """Yield the whole document, then its title with what its text is about where that says less."""
    text = plain_text(doc)
    short = gist(text, corpus)
    found = [join(repeat(doc.title, TITLE_TIMES), text, fields_text(doc))]
    if short:
        found.append(join(doc.title, short))
    yield from distinct(found)
