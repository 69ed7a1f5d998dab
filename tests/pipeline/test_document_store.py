"""References: opaque, the same everywhere, and never two documents' at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from autoindex_pyserini.errors import CollectionError
from autoindex_pyserini.pipeline import DocumentStore, UnknownReferenceError, document_store
from autoindex_pyserini.types import Document

DOCUMENTS = [
    Document(docid, f"title {number}", "text\n" * number, {"kind": "é" * number})
    for number, docid in enumerate(["a b", "D-7GQ2MX", "#1", "日本", "x'; DROP TABLE refs", "2020/path.txt"])
]
FINGERPRINT = "0f" * 32


def write(
    path: Path, documents: list[Document] = DOCUMENTS, *, fingerprint: str = FINGERPRINT
) -> DocumentStore:
    DocumentStore.write(path, documents, fingerprint=fingerprint, count=len(documents))
    return DocumentStore(path)


def test_documents_come_back_in_order_and_by_reference(tmp_path: Path) -> None:
    store = write(tmp_path / "new" / "store")
    assert store.num_documents == len(DOCUMENTS)
    streamed = list(store.documents())
    for document, (reference, raw) in zip(DOCUMENTS, streamed, strict=True):
        assert (raw.title, raw.text, raw.fields) == (document.title, document.text, document.fields)
        assert store.reference(document.docid) == reference
        assert store.docid(reference) == document.docid
        assert store.document(f" {reference.lower().removeprefix('d-')} ") == raw
        assert store.canonical(reference[2:]) == reference
    store.close()


def test_references_say_nothing_of_docids_and_depend_on_the_collection(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one"), write(tmp_path / "other", fingerprint="1f" * 32)
    references = [one.reference(document.docid) for document in DOCUMENTS]
    assert all(len(reference) == 8 and reference.startswith("D-") for reference in references)
    assert not set(references) & {other.reference(document.docid) for document in DOCUMENTS}
    assert not any(raw.fields.get("docid") or hasattr(raw, "docid") for _, raw in one.documents())


def test_a_later_process_gives_the_same_references(tmp_path: Path) -> None:
    store = write(tmp_path / "store")
    code = (
        "import sys; from pathlib import Path; from autoindex_pyserini.pipeline import DocumentStore\n"
        "print(DocumentStore(Path(sys.argv[1])).reference('a b'))"
    )
    command = [sys.executable, "-c", code, tmp_path / "store"]
    told = subprocess.run(command, check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": "7"})
    assert told.stdout.strip() == store.reference("a b")


@pytest.mark.parametrize("reference", ["", "D-", "D-AAAAAA", "a b", "' OR 1=1 --", "x" * 5000, "\x00"])
def test_an_unknown_reference_is_named(reference: str, tmp_path: Path) -> None:
    store = write(tmp_path / "store")
    for ask in (store.docid, store.document, store.canonical):
        with pytest.raises(UnknownReferenceError, match="no document has the reference"):
            ask(reference)


def test_references_grow_until_all_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one character is tried first, many of a hundred documents share it."""
    monkeypatch.setattr(document_store, "_chars_for", lambda count: 1)
    documents = [Document(f"d{number}", "", "") for number in range(100)]
    store = write(tmp_path / "store", documents)
    references = {store.reference(document.docid) for document in documents}
    assert len(references) == 100
    assert {store.docid(reference) for reference in references} == {one.docid for one in documents}


def test_large_collections_have_longer_references() -> None:
    lengths = [document_store._chars_for(count) for count in (10, 1400, 20_000, 1_000_000)]
    assert lengths == sorted(lengths)
    assert lengths[0] == 6
    assert lengths[-1] <= 12


def test_two_documents_of_one_docid_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="same docid"):
        write(tmp_path / "store", [DOCUMENTS[0], DOCUMENTS[0]])


def test_a_store_is_only_read(tmp_path: Path) -> None:
    import sqlite3

    store = write(tmp_path / "store")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store._rows.execute("DELETE FROM documents")
