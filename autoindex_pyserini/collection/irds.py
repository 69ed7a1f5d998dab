"""Data sets of ir_datasets: ``irds:ID``. The only importer of ir_datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autoindex_pyserini.collection.assemble import Parts, QuerySet
from autoindex_pyserini.collection.judgments import Judgments, check_grade
from autoindex_pyserini.collection.model import Tally
from autoindex_pyserini.collection.records import Columns, as_text, document
from autoindex_pyserini.collection.splits import TEST, VALIDATION
from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.types import Document, Qrels, Topic

PREFIX = "irds:"
_TEXTS = ("text", "body", "contents", "abstract")
_RAW = "marked_up_doc"


class IrDatasetsDocuments:
    """The documents of a data set of ir_datasets.

    The id is ``doc_id``; title and text are the fields of these names (or ``body``, ``contents``,
    ``abstract``, or else what ir_datasets takes as default text); all other fields are kept, except the
    raw source of marked-up documents.
    """

    def __init__(self, identifier: str) -> None:
        """Look the data set up, and which fields its documents have."""
        self.identifier = identifier
        self._dataset = _dataset(identifier)
        if not self._dataset.has_docs():
            raise CollectionError(f"{self.where}: has no documents; choose a data set that has some")
        names = getattr(self._dataset.docs_cls(), "_fields", ())
        text = next((name for name in _TEXTS if name in names), None)
        self._columns = Columns(id=("doc_id",), text=(text or "default_text",))

    @property
    def where(self) -> str:
        """The data set."""
        return PREFIX + self.identifier

    def documents(self, tally: Tally | None = None) -> Iterator[Document]:
        """Stream the documents in the data set's order; the first time, this may download them."""
        tally = tally or Tally()
        for position, item in enumerate(self._dataset.docs_iter()):
            record = item._asdict()
            record.pop(_RAW, None)
            if self._columns.text == ("default_text",):
                record["default_text"] = item.default_text()
            yield document(record, self.locate(position), tally, self._columns)

    def locate(self, position: int) -> str:
        """Say where the document at a 0-based position stands."""
        return f"{self.where}, document {position + 1}"


def read_irds(identifier: str, *, validation: str | None = None) -> Parts:
    """Read a data set of ir_datasets.

    Args:
        identifier: as ir_datasets names it, such as ``beir/scifact/test``.
        validation: another data set over the same documents, whose queries are the validation split; if
            None, the queries are split by hash.

    Raises:
        CollectionError: there is no such data set, or it lacks documents, queries or judgments.
    """
    documents = IrDatasetsDocuments(identifier)
    if validation is None:
        queries = {"": _queries(identifier)}
    else:
        queries = {VALIDATION: _queries(validation), TEST: _queries(identifier)}
    name = PREFIX + identifier
    return Parts(name=name, where=name, documents=documents, queries=queries)


def _dataset(identifier: str) -> Any:
    import ir_datasets

    try:
        return ir_datasets.load(identifier)
    except KeyError as error:
        raise CollectionError(
            f"{PREFIX}{identifier}: ir_datasets knows no such data set; see https://ir-datasets.com"
        ) from error


def _queries(identifier: str) -> QuerySet:
    where = PREFIX + identifier
    dataset = _dataset(identifier)
    if not dataset.has_queries() or not dataset.has_qrels():
        lacking = "queries" if not dataset.has_queries() else "judgments"
        raise CollectionError(f"{where}: has no {lacking}; choose a data set that has both")
    tally = Tally()
    topics = [
        Topic(query.query_id, (as_text(query.default_text(), tally) or "").strip())
        for query in dataset.queries_iter()
    ]
    if len({topic.qid for topic in topics}) < len(topics):
        raise CollectionError(f"{where}: two queries share an id")
    qrels: Qrels = {}
    repeated = 0
    for qrel in dataset.qrels_iter():
        pairs = qrels.setdefault(qrel.query_id, {})
        grade = _grade(qrel.relevance, where)
        if pairs.get(qrel.doc_id, grade) != grade:
            raise CollectionError(
                f"{where}: query '{qrel.query_id}', document '{qrel.doc_id}' has grade {grade}, and also "
                f"{pairs[qrel.doc_id]}"
            )
        repeated += qrel.doc_id in pairs
        pairs[qrel.doc_id] = grade
    if not topics or not qrels:
        raise CollectionError(f"{where}: holds no {'judgments' if topics else 'queries'}")
    return QuerySet(topics, Judgments(where, qrels, repeated))


def _grade(value: float, where: str) -> int:
    if not float(value).is_integer():
        raise CollectionError(f"{where}: grade {value} is not a whole number; grades are 0, 1, 2, ...")
    check_grade(int(value), where)
    return int(value)
