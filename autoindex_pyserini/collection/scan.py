"""One pass over the documents of a collection: everything that only reading all of them can tell."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter

from autoindex_pyserini.collection.model import DocumentSource, Progress, Split, Tally
from autoindex_pyserini.errors import CollectionError

_PROGRESS_EVERY = 1000
_HASHED_TOGETHER = 64


class Scan:
    """What one pass found. Memory: eight bytes a document, and the judged docids.

    Attributes:
        documents: how many there are.
        empty: how many have neither title nor text.
        fields: field name -> documents in which it is not blank.
        unknown: judged docids that are not in the collection.
        tally: what had to be mended.
    """

    def __init__(self, source: DocumentSource, judged: set[str], progress: Progress | None = None) -> None:
        """Read all documents.

        Args:
            source: the documents.
            judged: docids that the judgments name; changed by this call.
            progress: told about documents read.

        Raises:
            CollectionError: a document cannot be read, two share a docid, or there are none.
        """
        self.tally = Tally()
        self.documents = 0
        self.empty = 0
        self.fields: Counter[str] = Counter()
        self.unknown = judged
        self._hasher = hashlib.sha256()
        self._read(source, progress)

    def _read(self, source: DocumentSource, progress: Progress | None) -> None:
        # A hash for each docid: a set of strings would be ten times as large. Equal hashes are only a
        # suspicion, which _refuse_duplicates follows up on the documents themselves.
        hashes = array("q")
        unknown = self.unknown
        waiting: list[str] = []
        for document in source.documents(self.tally):
            hashes.append(hash(document.docid))
            unknown.discard(document.docid)
            fields = document.fields
            waiting += (str(len(fields)), document.docid, document.title, document.text)
            if fields:
                self.fields.update([name for name, value in fields.items() if value and not value.isspace()])
                for item in sorted(fields.items()):
                    waiting += item
            if not document.text.strip() and not document.title.strip():
                self.empty += 1
            if len(hashes) % _HASHED_TOGETHER == 0:
                self._hash(waiting)
                waiting = []
                if progress and len(hashes) % _PROGRESS_EVERY < _HASHED_TOGETHER:
                    progress("reading documents", len(hashes), None)
        self._hash(waiting)
        self.documents = len(hashes)
        if not hashes:
            raise CollectionError(f"{source.where}: holds no documents; add at least one")
        if progress:
            progress("reading documents", self.documents, self.documents)
        _refuse_duplicates(source, hashes)

    def _hash(self, parts: list[str]) -> None:
        """Each part ends with NUL, which no part holds, and counts come first: no two contents look alike."""
        self._hasher.update("\0".join([*parts, ""]).encode("utf-8", "surrogatepass"))

    def fingerprint(self, splits: tuple[Split, ...]) -> str:
        """SHA-256, in hex, over the documents in order and over splits, whatever their topics' order.

        A field's place among the fields, and a judgment's place in its file, make no difference.
        """
        for split in splits:
            parts = [split.name, str(len(split.topics))]
            for topic in sorted(split.topics, key=lambda topic: topic.qid):
                pairs = sorted(split.qrels[topic.qid].items())
                parts += (topic.qid, topic.text, str(len(pairs)))
                for docid, grade in pairs:
                    parts += (docid, str(grade))
            self._hash(parts)
        return self._hasher.hexdigest()


def _refuse_duplicates(source: DocumentSource, hashes: array[int]) -> None:
    import numpy as np  # takes 0.1 s, and is needed only where documents are read

    ordered = np.sort(np.frombuffer(hashes, dtype=np.int64))
    repeated = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
    if not repeated:
        return
    first: dict[str, int] = {}
    for position, document in enumerate(source.documents()):
        if hashes[position] in repeated:
            if document.docid in first:
                raise CollectionError(
                    f"{source.locate(position)}: document id '{document.docid}' is taken already by "
                    f"{source.locate(first[document.docid])}; every document needs an id of its own"
                )
            first[document.docid] = position
