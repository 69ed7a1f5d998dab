"""The fixed retriever: the JVM, Lucene indexes and search. The only room that imports jnius or pyserini.

Importing it starts no JVM; building or opening an index does.
"""

from autoindex_pyserini.lucene.analyzers import analyzer_config
from autoindex_pyserini.lucene.index import IndexBuilder, IndexCounts, IndexOptions
from autoindex_pyserini.lucene.inspect import Inspection, inspect_index
from autoindex_pyserini.lucene.jvm import start as start_jvm
from autoindex_pyserini.lucene.manifest import Manifest, read_manifest, software_versions
from autoindex_pyserini.lucene.publish import check_place, publishing
from autoindex_pyserini.lucene.queries import NoTermVectorsError, UnknownFieldError
from autoindex_pyserini.lucene.scoring import BM25, BM25F, RM3, FieldSum, Rocchio, Scoring
from autoindex_pyserini.lucene.search import Searcher, SearchFailedError
from autoindex_pyserini.lucene.statistics import corpus_statistics
from autoindex_pyserini.publish import write_manifest

__all__ = [
    "BM25",
    "BM25F",
    "RM3",
    "FieldSum",
    "IndexBuilder",
    "IndexCounts",
    "IndexOptions",
    "Inspection",
    "Manifest",
    "NoTermVectorsError",
    "Rocchio",
    "Scoring",
    "SearchFailedError",
    "Searcher",
    "UnknownFieldError",
    "analyzer_config",
    "check_place",
    "corpus_statistics",
    "inspect_index",
    "publishing",
    "read_manifest",
    "software_versions",
    "start_jvm",
    "write_manifest",
]
