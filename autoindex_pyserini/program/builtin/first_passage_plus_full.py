"""Full text, and the first paragraph beside it as a passage of its own.

Under MaxP a document scores as its best passage. A short query that says what the document is about
matches the opening better than the whole, where its words drown; a query about a detail still finds the
full text.
"""

import re

BLANK_LINE = re.compile(r"\n[ \t]*\n")


def represent(doc):
    """Yield the whole document, then its title with its first paragraph if that says less."""
    yield f"{doc.title}\n{doc.text}"
    paragraphs = BLANK_LINE.split(doc.text.strip(), maxsplit=1)
    if len(paragraphs) > 1:
        yield f"{doc.title}\n{paragraphs[0]}"
