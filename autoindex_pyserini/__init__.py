"""Learn how documents should be represented before Lucene indexes them.

A *representation program* is plain Python that maps one raw document to the passages and fields that
are indexed. This package searches for better programs while the retriever stays fixed, and builds the
winner's Lucene index.

Importing this package starts no JVM and loads no model library.
"""

__version__ = "0.1.0"
