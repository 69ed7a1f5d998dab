"""All fields: the title, the text and every other field of each document as one passage."""


def represent(doc):
    """Yield the title and the text, then the fields in the order of their names.

    The order is the names' own, because a collection need not give the fields of every document in the
    same order. Only the values are indexed: a name that stands in every document tells none apart.
    """
    values = [doc.fields[name] for name in sorted(doc.fields)]
    yield "\n".join([doc.title, doc.text, *values])
