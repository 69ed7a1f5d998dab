"""Full text: the title and the text of each document as one passage."""


def represent(doc):
    """Yield the whole document. This is the baseline that every learned program has to beat."""
    yield f"{doc.title}\n{doc.text}"
