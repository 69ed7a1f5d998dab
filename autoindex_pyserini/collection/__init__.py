"""What is searched: documents, topics, judgments, and the split into validation and test.

`load` gives a `Collection`; a search gets only its `SearchView`, from which no way leads to the test
queries. Every source (one file each) finds the parts; `assemble` checks them and counts what it finds.
"""

from autoindex_pyserini.collection.loading import builtin_names, load
from autoindex_pyserini.collection.model import Collection, LoadReport, Progress, SearchView, Split
from autoindex_pyserini.collection.topics import read_topics

__all__ = [
    "Collection",
    "LoadReport",
    "Progress",
    "SearchView",
    "Split",
    "builtin_names",
    "load",
    "read_topics",
]
