"""The transfer retriever: encoders and FAISS. The only room that imports faiss, torch or transformers.

Importing it loads none of them; making an `Encoder`, building or opening an index does.
"""

from autoindex_pyserini.dense.cache import CacheFile, VectorCache, clear_cache, default_folder, list_caches
from autoindex_pyserini.dense.encoder import Encoder, EncodingError
from autoindex_pyserini.dense.index import DenseCounts, Source, build_index, check_place, publish_index
from autoindex_pyserini.dense.locate import ModelNotFoundError
from autoindex_pyserini.dense.manifest import DenseManifest, read_manifest
from autoindex_pyserini.dense.search import DenseSearcher
from autoindex_pyserini.dense.settings import Encoding, FaissOptions, Machine

__all__ = [
    "CacheFile",
    "DenseCounts",
    "DenseManifest",
    "DenseSearcher",
    "Encoder",
    "Encoding",
    "EncodingError",
    "FaissOptions",
    "Machine",
    "ModelNotFoundError",
    "Source",
    "VectorCache",
    "build_index",
    "check_place",
    "clear_cache",
    "default_folder",
    "list_caches",
    "publish_index",
    "read_manifest",
]
